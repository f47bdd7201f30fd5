"""Times the dense formulation of the paper's model in numpy or torch, for the table beside `make bench`:

    make bench-torch

Every class gets its posterior scale matrix S_j (d x d) and that matrix's inverse and determinant by Cholesky; a
query costs one quadratic form of size d for each class. This is how MetaQDA is usually written down; metaqda has
one scale matrix for all classes and factorises the smaller form of it (core/qda/covariance.go). 5 classes x 5
shots, float64, as many threads as the library takes. Writes build/bench-dense.json, rows as in build/bench.json with
where = numpy-dense or torch-dense.
"""
import json
import math
import os
import sys
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None

CLASSES, SHOTS = 5, 5
BUDGET, LEAST = 1.0, 3


def posterior(x, m, kappa, s, nu):
    """Location, degrees of freedom, and the factor of the FB Student-t's quadratic form for one class."""
    k, d = x.shape
    mean = x.mean(0)
    centred, shift = x - mean, mean - m
    scale = s + centred.T @ centred + kappa * k / (kappa + k) * (shift[:, None] * shift[None, :])
    location = (kappa * m + k * mean) / (kappa + k)
    return location, scale, nu + k, kappa + k


def log_density(z, inverse, log_det, nu, kappa, d):
    """Multivariate Student-t of eq:studentt-test, z = query - location, one class."""
    q = float(z @ (inverse @ z)) * kappa / (kappa + 1)
    return (math.lgamma((nu + 1) / 2) - math.lgamma((nu - d + 1) / 2) - d / 2 * math.log(math.pi * (kappa + 1) / kappa)
            - log_det / 2 - (nu + 1) / 2 * math.log1p(q))


class Numpy:
    """The dense operations in numpy."""
    name = "numpy-dense"
    array = staticmethod(np.asarray)

    @staticmethod
    def factor(s):
        chol = np.linalg.cholesky(s)
        return np.linalg.inv(s), 2 * np.log(np.diag(chol)).sum()


class Torch:
    """The same in torch, on the processor."""
    name = "torch-dense"
    array = staticmethod(lambda x: torch.from_numpy(np.asarray(x)))

    @staticmethod
    def factor(s):
        chol = torch.linalg.cholesky(s)
        return torch.cholesky_inverse(chol), float(2 * chol.diagonal().log().sum())


def repeat(operation):
    """Milliseconds of each repetition, after one to warm up."""
    operation()
    times, end = [], time.perf_counter() + BUDGET
    while len(times) < LEAST or time.perf_counter() < end:
        start = time.perf_counter()
        operation()
        times.append(1e3 * (time.perf_counter() - start))
    return sorted(times)


def measure(library, d):
    """Rows for prediction and enrolment at dimension d."""
    rng = np.random.default_rng(d)
    lower = np.tril(rng.normal(size=(d, d))) * 0.1 / math.sqrt(d) + np.diag(0.5 + 0.2 * rng.random(d))
    m, s = library.array(np.zeros(d)), library.array(lower @ lower.T)
    classes = [library.array(rng.normal(size=(SHOTS, d)) / math.sqrt(d)) for _ in range(CLASSES)]
    query = library.array(rng.normal(size=d) / math.sqrt(d))

    def enrol():
        location, scale, nu, kappa = posterior(classes[0], m, 1.0, s, float(d))
        return (location, *library.factor(scale), nu, kappa)

    taught = [enrol() for _ in classes]

    def predict():
        l = np.array([log_density(query - location, inverse, log_det, nu, kappa, d) for location, inverse, log_det, nu, kappa in taught])
        p = np.exp(l - l.max())
        return p / p.sum()

    for name, operation in (("predict", predict), ("enrol", enrol)):
        times = repeat(operation)
        yield {"name": name, "where": library.name, "dimension": d, "classes": CLASSES, "shots": SHOTS,
               "median_ms": times[len(times) // 2], "p95_ms": times[int(0.95 * len(times))], "bytes_per_op": None}


def main():
    quick = "-quick" in sys.argv[1:]  # one case, to see that all of it runs
    out = "build/bench-dense.json"
    rows = []
    for library in [Numpy] + ([Torch] if torch else []):
        for d in (64,) if quick else (64, 256, 640, 1280):
            for row in measure(library, d):
                rows.append(row)
                print(f"{row['where']:12} {row['name']:8} d = {d:5}: {row['median_ms']:10.3f} ms ({row['p95_ms']:.3f})")
    os.makedirs(os.path.dirname(out) or ".", exist_ok=True)
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
