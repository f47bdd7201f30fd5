import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
import wasmtime

from common import Case, FewShotClassifier, MetaqdaError, emoji, split, taught


class Missing:
    """As pandas.NA."""
    def __ne__(self, other):
        return self

    def __bool__(self):
        raise TypeError('boolean value of NA is ambiguous')


class Contract(Case):
    def test_check_estimator_passes(self):
        for options in [{}, {'scale': 'standardise'}, {'none_prior': 0}]:
            for check in check_estimator(FewShotClassifier(**options), on_skip=None, on_fail='raise'):
                self.assertIn(check['status'], ['passed', 'skipped'])

    def test_the_tag_poor_score_is_about_two_columns(self):
        X, y = make_blobs(n_samples=300, random_state=0)
        X = StandardScaler().fit_transform(X)
        self.assertLess(FewShotClassifier().fit(X, y).score(X, y), .83)
        X = np.c_[X, np.full(300, 2)]
        self.assertGreater(FewShotClassifier().fit(X, y).score(X, y), .9)

    def test_pipelines_clones_and_searches_work(self):
        X, y = load_iris(return_X_y=True)
        piped = make_pipeline(StandardScaler(), FewShotClassifier())
        self.assertGreater(cross_val_score(piped, X, y, cv=3, n_jobs=2).mean(), .7)
        search = GridSearchCV(clone(piped), {'fewshotclassifier__none_prior': [0, .2]}, cv=2, scoring='neg_log_loss')
        self.assertTrue(np.isfinite(search.fit(X, y).best_score_))
        groups = np.arange(len(X)) // 2
        piped.fit(X, y, fewshotclassifier__groups=groups)
        np.testing.assert_array_equal(piped[-1].predict(StandardScaler().fit_transform(X)), piped.predict(X))

    def test_log_probabilities_are_those_of_scikit_learn(self):
        c, X, _ = taught()
        np.testing.assert_allclose(c.predict_log_proba(X), np.log(c.predict_proba(X)), rtol=0, atol=1e-9)
        c.partial_fit(X[:1], c.classes_[:1], classes=['zebra'])
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            self.assertEqual(c.predict_log_proba(X)[:, -1].max(), -np.inf)

    def test_partial_fit_answers_as_fit_does(self):
        X, y, queries, _ = split(*emoji(), 2)
        c = FewShotClassifier('pictures').fit(X, y)
        d = FewShotClassifier('pictures').partial_fit(X[:10], y[:10])
        self.assertEqual(len(d.classes_), 5)
        d.partial_fit(X[10:], y[10:], classes=[*np.unique(y), 'zebra'])
        self.assertEqual(d.classes_.tolist(), [*np.unique(y), 'zebra'])
        np.testing.assert_allclose(d.predict_proba(queries)[:, :-1], c.predict_proba(queries), atol=1e-12)
        self.assertEqual(d.predict_proba(queries)[:, -1].max(), 0)
        np.testing.assert_allclose(d.leave_one_out().proba[:, :-1], c.leave_one_out().proba, atol=1e-12)

    def test_pickles_answer_the_same_in_the_same_order(self):
        X, y, queries, _ = split(*emoji(), 2)
        shuffled = np.random.default_rng(2).permutation(len(y))
        c = FewShotClassifier('pictures').partial_fit(X[shuffled[:20]], y[shuffled[:20]]).partial_fit(X[shuffled[20:]], y[shuffled[20:]])
        d = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(c))))
        np.testing.assert_array_equal(d.predict_proba(queries), c.predict_proba(queries))
        np.testing.assert_array_equal(d.leave_one_out().proba, c.leave_one_out().proba)
        d.partial_fit(queries[:3], ['new'] * 3)
        self.assertEqual(len(d.classes_), len(c.classes_) + 1)
        self.assertEqual(len(d.leave_one_out().none), len(y) + 3)

    def test_labels_keep_their_kind(self):
        X = np.eye(4)
        for y in [[3, 1, 3, 1], [True, False, True, False], [2.0, 1.0, 2.0, 1.0], ['b', 'a', 'b', 'a'], np.array(['b', 'a', 'b', 'a'], object)]:
            c = FewShotClassifier().fit(X, y)
            self.assertEqual(c.classes_.dtype, np.asarray(y).dtype)
            self.assertEqual(c.predict(X).tolist(), list(y))

    def test_a_label_of_another_kind_of_number_is_the_same_class(self):
        X, more = np.eye(6), np.eye(6)[:2]
        for y, again in [([3, 1] * 3, [3., 1.]), ([3., 1.] * 3, [3, 1]), ([True, False] * 3, [1, 0]), ([1, 0] * 3, [True, False])]:
            c = FewShotClassifier().fit(X, y).partial_fit(more, again)
            self.assertEqual(c.classes_.dtype, np.asarray(y).dtype)
            self.assertEqual(c.classes_.tolist(), sorted(set(y)))
            self.assertEqual(len(c._engine.describe()['classes']), 2)
        self.assertEqual(FewShotClassifier().partial_fit(X, [2., 1.] * 3, classes=[1, 2]).classes_.dtype.kind, 'i')
        self.refused('label', 'use one kind', FewShotClassifier().fit(X, [True, False] * 3).partial_fit, more, [1, 2])

    def test_labels_and_groups_of_pandas(self):
        class Nullable:  # as a series of Int64, which scikit-learn makes floats of
            class dtype:
                numpy_dtype = np.dtype('int64')

            def to_numpy(self, dtype):
                return np.array([1, 2, 1, 2], dtype)

            def __array__(self, *_, **__):
                return np.array([1., 2., 1., 2.])

        X = np.eye(4)
        self.assertEqual(FewShotClassifier().fit(X, Nullable()).classes_.dtype.kind, 'i')
        named = FewShotClassifier().fit(X, list('abab'), groups=['1', '2', None, '3'])
        for groups in [np.array([1, 2, Missing(), 3], object), [1., 2., np.nan, 3.]]:
            c = FewShotClassifier().fit(X, list('abab'), groups=groups)
            c.save(self.folder / 'c')
            named.save(self.folder / 'named')
            self.assertEqual((self.folder / 'c').read_bytes(), (self.folder / 'named').read_bytes())

    def test_a_missing_label_is_named(self):
        class Series(list):  # as a series of Int64
            def isna(self):
                return np.array([v is None for v in self])

        class Column:  # as a series of polars, or an array of pyarrow
            def is_null(self):
                return np.array([False, True, False])

            def __array__(self, dtype=None, copy=None):
                return np.array(['a', None, 'b'], object)

        for y in [Column(), ['a', None, 'b'], ['a', np.nan, 'b'], np.array(['a', Missing(), 'b'], object), np.array(['a', None, 'b'], object), Series([1, None, 2])]:
            self.refused('value', 'row 1 has no label', FewShotClassifier().fit, np.eye(3), y)

    def test_numbers_kept_as_objects_are_numbers(self):
        for labels in [[2, 1, 2], [True, False, True]]:
            c = FewShotClassifier().partial_fit(np.eye(3), np.array(labels, object), classes=np.array(labels, object))
            self.assertEqual(c.predict(np.eye(3)).tolist(), labels)
            self.assertEqual(c.classes_.dtype, np.array(labels).dtype)

    def test_labels_of_two_kinds_are_refused(self):
        for teach in [FewShotClassifier().fit, FewShotClassifier().partial_fit]:
            self.refused('label', 'use one kind', teach, np.eye(2), np.array(['a', 1], object))

    def test_classes_of_partial_fit_are_a_list_or_a_set(self):
        for classes, want in [({'z'}, 'abz'), ([], 'ab'), (np.array(['z']), 'abz')]:
            c = FewShotClassifier().partial_fit(np.eye(4), list('abab'), classes=classes)
            self.assertEqual(c.classes_.tolist(), list(want))
        for classes in ['z', 7, {}, 2**70, [['z']], [['z'], []]]:
            self.refused('argument', 'give', FewShotClassifier().partial_fit, np.eye(2), ['a', 'b'], classes=classes)
        for missing in [None, np.nan, Missing()]:
            self.refused('label', 'leave it out', FewShotClassifier().partial_fit, np.eye(2), ['a', 'b'], classes=['a', 'b', missing])
        self.refused('label', 'use one kind', FewShotClassifier().partial_fit, np.eye(2), ['a', 'b'], classes=np.array(['a', 'b', 3], object))

    def test_rows_of_known_classes_are_added_without_a_look_at_all_examples(self):
        X, y = np.random.default_rng(1).normal(size=(12, 8)), list('ab') * 6
        c = FewShotClassifier().partial_fit(X[:4], y[:4])
        c._engine.describe = None  # it takes longer the more examples there are
        for i in range(4, 12):
            c.partial_fit(X[i:i + 1], y[i:i + 1])
        del c._engine.describe
        for ours, want in zip(c.leave_one_out()[1:], FewShotClassifier().fit(X, y).leave_one_out()[1:]):
            np.testing.assert_allclose(ours, want, rtol=0, atol=1e-9)

    def test_a_session_without_examples_can_be_taught(self):
        c = FewShotClassifier()
        engine = c._fresh()
        engine._call('add_class', engine.handle, engine._write(b'cup'))
        (self.folder / 's').write_bytes(engine.file('save'))
        d = FewShotClassifier.load(self.folder / 's')
        for ask in [d.leave_one_out, lambda: d.predict(np.eye(4)), lambda: d.predict_set(np.eye(4))]:
            self.refused('empty', 'add at least one', ask)
        self.assertEqual(d.partial_fit(np.eye(4), ['cup', 'pen'] * 2).predict(np.eye(4)).tolist(), ['cup', 'pen'] * 2)

    def test_errors_have_a_code_and_a_remedy(self):
        c, X, _ = taught()
        fit = FewShotClassifier().fit
        self.refused('dimension', 'is expecting 1280 features', c.predict, X[:, :3])
        self.refused('value', 'NaN', c.predict, np.full((1, 1280), np.nan))
        self.refused('value', 'infinity', c.predict, np.full((1, 1280), 1e300))
        self.refused('label', 'rename one of them', fit, np.eye(2), ['Cup', 'cup'])
        self.refused('label', 'choose another name', fit, np.eye(2), ['a', 'None of these'])
        self.refused('label', 'use one kind', c.partial_fit, X[:2], [0, 1])
        self.refused('argument', 'a group for each row', fit, np.eye(2), ['a', 'b'], groups=['g'])
        self.refused('value', 'none', FewShotClassifier(none_prior=2).fit, np.eye(2), ['a', 'b'])
        self.refused('value', 'leave it out', FewShotClassifier(scale='no').fit, np.eye(2), ['a', 'b'])
        self.refused('prior', 'pictures, hands, sounds', FewShotClassifier(prior='nowhere').fit, np.eye(2), ['a', 'b'])
        for prior in [[], {}, np.eye(1), 'a\0b', '\ud800']:
            self.refused('prior', 'pictures, hands, sounds', FewShotClassifier(prior=prior).fit, np.eye(2), ['a', 'b'])
        self.refused('format', 'not', FewShotClassifier(prior=b'{}').fit, np.eye(2), ['a', 'b'])
        self.refused('empty', 'add another example', fit(np.eye(1, 3), ['a']).leave_one_out)
        self.refused('empty', 'frames of one burst', fit(np.eye(3), ['a'] * 3, groups=['g'] * 3).leave_one_out)
        self.refused('dimension', '1280', FewShotClassifier(prior='pictures').fit, np.eye(2), ['a', 'b'])
        for count in [-1, 1.5, '2', None, np.inf, np.nan]:
            self.refused('argument', 'whole number', c.suggest, X, count)
        self.assertEqual(len(c.suggest(X[:3], 2**40)), 3)
        for code, options in [('argument', {'name': 7}), ('argument', {'extractor': 7}), ('argument', {'scale': True}), ('argument', {'scale': False}),
                              ('argument', {'name': np.eye(2)}), ('argument', {'scale': Missing()}), ('value', {'none_prior': None})]:
            error = self.refused(code, *options, FewShotClassifier(**options).fit, np.eye(2), ['a', 'b'])
            self.assertIn('give', str(error))
        self.refused('value', "coverage is 'x', which is not a number: give", c.predict_set, X, 'x')
        self.refused('value', '1d array', fit, np.eye(2), 'ab')
        (self.folder / 'bad').write_bytes(b'no session')
        self.refused('format', 'not', FewShotClassifier.load, self.folder / 'bad')
        with self.assertRaises(NotFittedError) as caught:
            FewShotClassifier().predict(X)
        self.assertEqual(caught.exception.code, 'unfitted')
        again = pickle.loads(pickle.dumps(MetaqdaError('code', 'text')))
        self.assertEqual((again.code, str(again)), ('code', 'text'))

    def test_an_engine_that_stops_in_a_call_says_so(self):
        def stops(*_):
            raise wasmtime.WasmtimeError('wasm backtrace:\n  0: 0x1\n\nCaused by:\n    out of memory\n')
        c, X, y = taught()
        c._engine._exports.update(dict.fromkeys(['mq_step', 'mq_stop', 'mq_add_rows', 'mq_add_stop'], stops))
        for call, *args in [(c.judge_together, X), (c.leave_one_out,), (c.partial_fit, X[:1], y[:1])]:
            self.refused('failed', 'The engine stopped (out of memory): fit', call, *args)

    def test_a_refused_call_changes_nothing(self):
        c, X, _ = taught()
        before = c.predict_proba(X)
        self.refused('label', 'rename', c.partial_fit, X[:1], ['CAT'])
        self.refused('value', 'NaN', c.partial_fit, np.full((1, 1280), np.nan), ['new'])
        classes = c._engine.describe()['classes']
        self.refused('limit', '2000', c.partial_fit, X[:1], c.classes_[:1], classes=[f'k{i}' for i in range(2001)])
        self.assertEqual(c._engine.describe()['classes'], classes)
        # After many answers the engine computes scores by weights, which changes the last bits.
        np.testing.assert_allclose(c.predict_proba(X), before, rtol=0, atol=1e-12)
        self.assertNotIn('new', c.classes_)
        self.refused('label', 'rename', c.fit, np.eye(2), ['Cup', 'cup'])
        c.set_params(prior='hands')
        self.refused('dimension', '672', c.fit, X, np.arange(len(X)))
        np.testing.assert_allclose(pickle.loads(pickle.dumps(c)).predict_proba(X), before, rtol=0, atol=1e-12)

    def test_a_session_under_an_unknown_prior_needs_it(self):
        c, X, _ = taught(prior='pictures')
        c.save(self.folder / 's')
        d = FewShotClassifier.load(self.folder / 's', prior='pictures')
        np.testing.assert_array_equal(d.predict_proba(X), c.predict_proba(X))
        self.refused('extractor', 'feature extractor', FewShotClassifier.load, self.folder / 's', prior='hands')

    def test_threads_share_a_classifier_and_have_their_own(self):
        c, X, _ = taught(prior='pictures')
        want, got = c.predict_proba(X), {}

        def ask(i):
            own = clone(c).fit(*split(*emoji(), 2)[:2]) if i % 2 else c
            got[i] = own.predict_proba(X)

        threads = [threading.Thread(target=ask, args=[i]) for i in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for i in range(6):
            np.testing.assert_allclose(got[i], want, rtol=0, atol=1e-12)

    @unittest.skipUnless(hasattr(os, 'fork'), 'no fork on this system')
    def test_a_process_that_is_forked_while_a_thread_predicts_predicts_too(self):
        c, X, _ = taught(prior='pictures')
        want, over = c.predict_proba(X[:1]), threading.Event()

        def ask():
            while not over.is_set():
                c.predict_proba(X)

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            for _ in range(3):
                with warnings.catch_warnings():
                    warnings.simplefilter('ignore', DeprecationWarning)  # Python 3.12 warns of any fork beside threads
                    child = os.fork()
                if child == 0:
                    same = False
                    try:
                        signal.alarm(20)  # a child that waits forever ends
                        same = np.allclose(c.predict_proba(X[:1]), want, rtol=0, atol=1e-12) and np.array_equal(clone(c).fit(X[:2], ['a', 'b']).classes_, ['a', 'b'])
                    finally:
                        os._exit(0 if same else 1)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
        finally:
            over.set()
            thread.join()

    def test_a_call_releases_the_lock_of_the_interpreter(self):
        c, X, _ = taught(prior='pictures')
        X = np.tile(X, (8, 1))
        turns, over = 0, False

        def count():
            nonlocal turns
            while not over:
                turns += 1
                time.sleep(0)  # lets others have the lock

        def during(call):
            before = turns
            call()
            return turns - before

        counter, interval = threading.Thread(target=count), sys.getswitchinterval()
        sys.setswitchinterval(1000)  # a thread loses the lock only where it lets it go
        try:
            counter.start()
            c.predict_none(X[:1])
            self.assertEqual(during(lambda: sum(range(3_000_000))), 0, 'a call that keeps the lock')
            c._engine._write(X)
            many = during(lambda: c._engine._call('predict', c._engine.handle, *X.shape))
        finally:
            over = True
            sys.setswitchinterval(interval)
            counter.join()
        self.assertGreater(many, 100)

    def test_scikit_learn_may_be_missing(self):
        program = '''
import sys; sys.modules['sklearn'] = None
import metaqda, numpy, pickle
c = metaqda.FewShotClassifier(none_prior=.1).fit(numpy.eye(4), list('abab'))
assert c.score(numpy.eye(4), list('abab')) == 1 and c.get_params()['none_prior'] == .1
assert pickle.loads(pickle.dumps(c)).set_params(name='n').name == 'n'
for bad in [[1, 2], [[1, 2]], [[1, 2, 3, numpy.nan]]]:
    try: c.predict(bad)
    except metaqda.MetaqdaError as error: print(error.code)
try: metaqda.FewShotClassifier().predict(numpy.eye(2))
except metaqda.MetaqdaError as error: print(error.code)
'''
        run = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
        self.assertEqual(run.stdout.split(), ['value', 'dimension', 'value', 'unfitted'], run.stderr)


if __name__ == '__main__':
    unittest.main()
