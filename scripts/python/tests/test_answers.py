import unittest
import warnings

import numpy as np

import metaqda
from common import Case, FewShotClassifier, ROOT, emoji, run, split, taught


class Answers(Case):
    def equal(self, c, X):
        """Compares every answer with that of native Go."""
        a = self.oracle(c, X)
        together, left = c.judge_together(X), c.leave_one_out()
        for question, none, p in [('predict', c.predict_none(X), c.predict_proba(X)),
                                  ('classify', together.none, together.proba), ('leaveOneOut', left.none, left.proba)]:
            want_none, want = a[question]
            if question == 'leaveOneOut':
                want_none, want = want_none[c._order()], want[c._order()]
            np.testing.assert_allclose(none, want_none, rtol=0, atol=1e-12, err_msg=question)
            np.testing.assert_allclose(p * (1 - none)[:, None], want, rtol=0, atol=1e-12, err_msg=question)
        return a

    def test_pictures_are_answered_as_native_go_does(self):
        X, y, queries, _ = split(*emoji(), 2)
        shuffled = np.random.default_rng(0).permutation(len(y))
        X, y = X[shuffled], y[shuffled]
        c = FewShotClassifier('pictures').fit(X, y)
        a = self.equal(c, queries)
        # Four rows of each class are left. The last bits may decide between these.
        self.assertEqual((c.suggest(queries, 5) // 4).tolist(), [i // 4 for i in a['suggest']])

    def test_vectors_without_a_prior_are_answered_as_native_go_does(self):
        X, y, queries, _ = split(*emoji(), 3)
        self.equal(FewShotClassifier(none_prior=.5).fit(X[:, :40], y), queries[:, :40])

    def test_tables_are_answered_as_native_go_does(self):
        r = np.random.default_rng(1)
        y = r.integers(0, 3, 30)
        X = (r.normal(size=(30, 7)) + y[:, None]) * 10.0 ** np.arange(7)
        self.equal(FewShotClassifier(scale='standardise', none_prior=0).fit(X[:20], y[:20]), X[20:])

    def test_a_wrong_label_is_found_as_native_go_does(self):
        X, y, queries, _ = split(*emoji(), 4)
        order = np.random.default_rng(2).permutation(len(y))
        X, y = X[order], y[order]
        wrong = y.copy()
        wrong[7] = next(k for k in y if k != y[7])
        c = FewShotClassifier('pictures').fit(X, wrong)
        a, found = self.oracle(c, queries), c.influence()
        self.assertEqual((found[0].rows, found[0].label, found[0].like), ([7], wrong[7], y[7]))
        self.assertGreater(found[0].log_proba, 0)
        self.assertEqual(len(found), len(a['influence']))
        filed = list(c._order())
        for x, want in zip(found, a['influence']):
            self.assertEqual(([filed[i] for i in x.rows], x.label, x.like, x.asked, x.right), tuple(want[k] for k in ['rows', 'label', 'like', 'asked', 'right']))
            np.testing.assert_allclose([x.odds, x.log_proba], [want['odds'], want['logProb']], rtol=0, atol=1e-9)
        self.assertEqual(list(c.needs()[:2]), a['need'])
        self.assertIsNone(FewShotClassifier().fit(X[:2], ['one', 'one']).needs())

    def test_sets_are_those_of_native_go(self):
        X, y, queries, labels = split(*emoji(), 2)
        c = FewShotClassifier('pictures').fit(X[::-1], y[::-1])
        a, sets = self.oracle(c, queries), c.predict_set(queries)
        names = [*a['labels'], None]  # -1 is the last one
        self.assertEqual(sets.labels, [[names[i] for i in one] for one in a['sets']])
        self.assertIs(sets.borrowed, False)
        self.assertTrue(len(y) - 4 < sets.examples <= len(y), sets.examples)  # two may be nearly the same
        self.assertGreater(np.mean([k in one for k, one in zip(labels, sets.labels)]), .85)
        self.assertTrue(FewShotClassifier('pictures').fit(X[::2], y[::2]).predict_set(queries[:1]).borrowed)
        self.refused('value', 'between 0 and 1', c.predict_set, queries, 1)

    def test_a_saved_session_answers_the_same_after_load(self):
        for options in [{'prior': 'pictures', 'name': 'Emoji'}, {'none_prior': .1}, {'scale': 'standardise', 'extractor': {'id': 'mine', 'sha256': ''}}]:
            c, X, _ = taught(**options)
            c.save(self.folder / 'a')
            d = FewShotClassifier.load(self.folder / 'a')
            np.testing.assert_array_equal(d.predict_proba(X), c.predict_proba(X))
            np.testing.assert_array_equal(d.predict_none(X), c.predict_none(X))
            d.save(self.folder / 'b')
            self.assertEqual((self.folder / 'a').read_bytes(), (self.folder / 'b').read_bytes())
            self.assertEqual({**d.get_params(), 'extractor': None}, {**c.get_params(), 'extractor': None})

    def test_a_session_of_the_command_line_is_answered_as_it_does(self):
        data, session, table = ROOT / 'testdata/dataset/emoji.npz', self.folder / 's', self.folder / 't.csv'
        run('metaqda', 'teach', '--examples', data, '--out', session, '--none-prior', '.3')
        c = FewShotClassifier.load(session)
        self.assertEqual((c.prior, c.none_prior, c.name), ('pictures', .3, 'emoji'))
        self.assertEqual(c.extractor['id'], 'efficientnet-lite0-192-2@0.1.0')
        X, y = emoji()
        for command, none, p in [('predict', c.predict_none(X), c.predict_proba(X)), ('classify', *c.judge_together(X)[:0:-1])]:
            run('metaqda', command, '--classifier', session, '--data', data, '--out', table)
            head, *rows = [line.split(',') for line in table.read_text().splitlines()]
            at = [head.index(k) for k in c.classes_]
            got = np.array([[float(r[i]) for i in at] for r in rows])
            np.testing.assert_allclose(p * (1 - none)[:, None], got, rtol=0, atol=6e-7)

    def test_an_exported_classifier_answers_the_same(self):
        c, X, _ = taught(prior='pictures')
        c.export(self.folder / 'plain')
        plain = metaqda.load(self.folder / 'plain')
        p = plain.predict_proba(X)
        self.assertEqual(plain.classes_.tolist(), c.classes_.tolist())
        np.testing.assert_allclose(c.predict_none(X), plain.none_, rtol=0, atol=1e-10)
        np.testing.assert_allclose(c.predict_proba(X) * (1 - plain.none_)[:, None], p, rtol=0, atol=1e-10)

    def test_an_exported_classifier_of_another_version_is_refused(self):
        c, _, _ = taught()
        c.export(self.folder / 'plain')
        (self.folder / 'new').write_bytes((self.folder / 'plain').read_bytes().replace(b'"version":"2"', b'"version":"9"'))
        with self.assertRaisesRegex(ValueError, 'version 9; this package reads metaqda.plain, versions 2 and 3: export'):
            metaqda.load(self.folder / 'new')

    def test_the_answers_are_right(self):
        c, X, y = taught(prior='pictures')
        self.assertGreater(np.mean(c.predict(X) == y), .8)
        self.assertGreater(np.mean(c.judge_together(X).labels == y), .8)
        shuffled = np.random.default_rng(0).permutation(len(y))
        left = c.fit(X[shuffled], y[shuffled]).leave_one_out()
        self.assertGreater(np.mean(left.labels == y[shuffled]), .8)
        self.assertGreater(c.predict_none(-X).mean(), c.predict_none(X).mean() + .2)

    def test_a_row_far_from_every_class_has_finite_probabilities(self):
        X = np.eye(3, 400).repeat(4, 0) + np.random.default_rng(0).normal(size=(12, 400)) * 1e-4
        c = FewShotClassifier(none_prior=1 - 1e-15).fit(X, np.arange(12) // 4)
        far = np.concatenate([-X, X])
        for p in (c.predict_proba(far), c.judge_together(far).proba):
            self.assertTrue(np.isfinite(p).all())
            np.testing.assert_allclose(p.sum(1), 1)

    def test_frames_of_a_group_count_as_one_example(self):
        r = np.random.default_rng(0)
        a, b = r.normal(size=(2, 60))
        frames = a + r.normal(size=(5, 60)) * .3
        c = FewShotClassifier().fit([frames[0], b, *frames[1:]], [0, 1] + [0] * 4, groups=['x', None] + ['x'] * 4)
        self.equal(c, [a, b])
        left = c.leave_one_out()
        np.testing.assert_array_equal(left.labels, [1, 0, 1, 1, 1, 1])
        self.assertEqual(len(np.unique(left.proba, axis=0)), 2)

    def test_suggest_needs_no_fit(self):
        X = np.eye(3, 20).repeat(30, 0) + np.random.default_rng(0).normal(size=(90, 20)) * .01
        rows = FewShotClassifier().suggest(X, 3)
        self.assertEqual(sorted(i // 30 for i in rows), [0, 1, 2])

    def test_rows_that_differ_in_length_are_warned_of(self):
        X = np.array([[1, 1], [1.2, .9], [5, 5], [5.1, 4.8]])  # their directions are the same
        with self.assertWarnsRegex(UserWarning, "scale='standardise'"):
            FewShotClassifier().fit(X, [0, 0, 1, 1])
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            FewShotClassifier().fit(X[:2], [0, 1])

    def test_columns_of_different_units_are_warned_of(self):
        X = np.random.default_rng(0).normal(size=(20, 3)) * [1, 1, 1e4]
        y = np.arange(20) % 2
        with self.assertWarnsRegex(UserWarning, "scale='standardise'"):
            FewShotClassifier().fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            FewShotClassifier(scale='standardise').fit(X, y)

    def test_a_warning_that_is_an_error_leaves_a_classifier_that_was_taught(self):
        even = np.random.default_rng(0).normal(size=(6, 3))
        c = FewShotClassifier().fit(even / np.linalg.norm(even, axis=1, keepdims=True), list('aabbcc'))
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            with self.assertRaises(UserWarning):
                c.partial_fit(even * [1, 1e4, 1], list('aabbdd'))
            self.assertEqual(list(c.classes_), list('abcd'))
            self.assertEqual(c.predict_proba(even).shape, (6, 4))
            c.partial_fit(even * [1, 1e4, 1], list('aabbdd'))  # it warns once
            c.save(self.folder / 'taught')
            FewShotClassifier.load(self.folder / 'taught')


if __name__ == '__main__':
    unittest.main()
