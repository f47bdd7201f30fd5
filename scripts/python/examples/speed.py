"""Measures the time to pass vectors to the engine, and the time to predict them.

    build/venv/bin/python scripts/python/examples/speed.py [VECTORS [RUNS]]

Each of RUNS runs (20) passes VECTORS (1,000) of 1,280 numbers and predicts them, with five
examples of each class. The table has medians. The ratio is (passing + reading the answer) /
predicting.
"""
import statistics
import sys
import time

import numpy as np

from metaqda import FewShotClassifier


def seconds(step):
    start = time.perf_counter()
    result = step()
    return time.perf_counter() - start, result


def measure(classes, vectors, runs):
    """Returns the median seconds of passing, predicting, and reading the answer."""
    r = np.random.default_rng(0)
    means = r.normal(size=(classes, 1280))
    y = np.repeat(np.arange(classes), 5)
    c = FewShotClassifier().fit(means[y] + r.normal(size=(len(y), 1280)), y)
    X = (means[r.integers(0, classes, vectors)] + r.normal(size=(vectors, 1280))).astype(np.float32)
    want, engine, rows = c.predict_none(X), c._engine, []
    for _ in range(runs):
        over, _ = seconds(lambda: engine._write(X))
        predicting, n = seconds(lambda: engine._call('predict', engine.handle, *X.shape))
        back, answer = seconds(lambda: engine._numbers(n).reshape(vectors, -1))
        rows.append((over, predicting, back))
    if not np.allclose(answer[:, 0], want, rtol=0, atol=1e-12):  # the first answers are computed in another order
        raise SystemExit('speed: the timed answers differ from those of predict_none')
    return [statistics.median(column) for column in zip(*rows)]


def main():
    vectors, runs = (list(map(int, sys.argv[1:])) + [1000, 20][len(sys.argv) - 1:])[:2]
    print(f'| {vectors} vectors of 1,280 numbers | passing | predicting | reading the answer | ratio |\n|---|---|---|---|---|')
    for classes in [5, 50]:
        over, predicting, back = measure(classes, vectors, runs)
        print(f'| {classes} classes | {1000 * over:.2f} ms | {1000 * predicting:.1f} ms | {1000 * back:.2f} ms | {(over + back) / predicting:.3f} |', flush=True)


if __name__ == '__main__':
    main()
