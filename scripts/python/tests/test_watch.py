import json
import unittest

import numpy as np

from common import Case, FewShotClassifier, MetaqdaError, emoji, run, split, taught


def stream(X, seed=0):
    """Returns times and vectors of a stream: each row of X for some seconds, with noise, and None between."""
    r, seconds, rows = np.random.default_rng(seed), 0.0, []
    for x in X:
        for _ in range(r.integers(8, 14)):
            rows.append((seconds, (x + r.normal(size=x.shape) * x.std() * .1).astype(np.float32)))
            seconds += r.uniform(.1, .4)
        for _ in range(r.integers(0, 5)):
            rows.append((seconds, None))
            seconds += .25
    rows.append((seconds + 60, None))
    return rows


class Watching(Case):
    def test_events_are_those_of_the_command_line(self):
        X, y, _, _ = split(*emoji(), 2)
        c = FewShotClassifier('pictures').fit(X, y)
        watch, session, lines = c.watch(10), self.folder / 'session', self.folder / 'stream'
        rows = stream(X[::3])
        got = [event for seconds, x in rows for event in watch.next(x, seconds)]
        c.save(session)
        lines.write_text(''.join(','.join(map(str, [seconds, *([] if x is None else x.tolist())])) + '\n' for seconds, x in rows))
        printed = run('metaqda', 'watch', '--classifier', session, '--data', lines, '--false-events-per-hour', 10)
        want = [json.loads(line) for line in printed.splitlines()]
        self.assertGreater(len(want), 10)
        self.assertEqual([(e.label, e.here) for e in got], [(e['label'], e['here']) for e in want])
        np.testing.assert_allclose([e[2:] for e in got], [(e['since'], e['probability']) for e in want], rtol=0, atol=1e-9)
        self.assertIsNone(watch.here)

    def test_a_watch_takes_one_vector_of_either_shape(self):
        X = np.eye(2, 40) + np.random.default_rng(0).normal(size=(6, 2, 40)) * .02
        c = FewShotClassifier().fit(X.reshape(-1, 40), [0, 1] * 6)
        one, other = c.watch(), c.watch()
        for i in range(8):
            self.assertEqual(one.next(X[0, 1], i / 4), other.next(X[0, 1:2], i / 4))
        self.assertEqual(other.here, 1)
        for wrong in [X[0], X[:1], 3.0]:
            with self.assertRaisesRegex(MetaqdaError, 'one vector at a time'):
                one.next(wrong, 9)

    def test_what_is_shown_names_the_class_that_is_here(self):
        X = np.eye(2, 40) + np.random.default_rng(0).normal(size=(6, 2, 40)) * .02
        c = FewShotClassifier().fit(X.reshape(-1, 40), [0, 1] * 6)
        watch = c.watch()
        self.assertEqual(watch.shown, (None, ''))
        for i in range(8):
            watch.next(X[0, 1], i / 4)
        self.assertEqual((watch.here, watch.shown[0]), (1, 1))
        self.assertIn('1', watch.shown[1])
        watch.next(None, 2)
        self.assertEqual(watch.shown, (None, ''))

    def test_labels_keep_their_kind_and_classes_may_come_meanwhile(self):
        X = np.eye(3, 40) + np.random.default_rng(0).normal(size=(6, 3, 40)) * .02
        c = FewShotClassifier().fit(X[:5, :2].reshape(-1, 40), [7, 9] * 5)
        watch = c.watch(100)
        events = [e for t in range(12) for e in watch.next(X[5, 0], t / 4)]
        self.assertEqual([(e.label, e.here) for e in events], [(7, True)])
        self.assertEqual(watch.here, 7)
        self.assertIsInstance(watch.here, c.classes_.dtype.type)
        c.partial_fit(X[:5, 2], [8] * 5)
        events = [e for t in range(12, 24) for e in watch.next(X[5, 2], t / 4)]
        self.assertEqual([(e.label, e.here) for e in events], [(7, False), (8, True)])

    def test_a_watch_that_nobody_uses_leaves_the_engine(self):
        c, X, _ = taught()
        number = c.watch()._number
        watch = c.watch()  # frees the one before
        self.refused('disposed', 'watch', c._engine.next, number, 0, None)
        watch.next(X[0], 0)

    def test_refused_answers_change_nothing(self):
        c, X, _ = taught()
        watch = c.watch()
        self.refused('value', 'per hour', c.watch, 0)
        self.refused('unfitted', 'call fit', FewShotClassifier().watch)
        self.refused('dimension', '1280', watch.next, X[0, :7], 0)
        watch.next(X[0], 10)
        self.refused('value', 'begin another watch', watch.next, X[0], 9)
        self.refused('value', 'time', watch.next, None, float('nan'))
        watch.next(X[0], 10)
        shown = watch.here, watch.shown
        self.assertIn(shown[1][0], c.classes_)
        c.fit(X, np.arange(len(X)) % 2)
        self.assertEqual((watch.here, watch.shown), shown)
        self.refused('disposed', 'call watch again', watch.next, X[0], 11)


if __name__ == '__main__':
    unittest.main()
