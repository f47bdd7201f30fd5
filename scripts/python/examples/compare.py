"""Compares FewShotClassifier with scikit-learn's classifiers at few examples of each class.

    build/venv/bin/python scripts/python/examples/compare.py [TASKS [TABLE.npz ...]]

`make wheel test-python` makes the environment. Each of TASKS tasks (120) draws 1, 2, 5 or 10
examples of every class, and up to 15 others to be asked about. Accuracy and ECE (20 bins) are
in percent. NLL clips probabilities at 1e-6.

Every classifier of scikit-learn gets an advantage. It is tried with three ways to prepare the
columns: as they are, standardised, and rows of length one. The table has the way with the highest
accuracy on these very tasks, and the way with the lowest NLL if that is another one. LDA refuses
a single example of each class.

With data sets (`make any-prior` makes build/any/raw-*.npz, tables in units of their own; arrays X
and y) it prints the means over them: metaqda's figures by the ways to prepare a table, and those of
the others on standardised columns.
"""
import importlib
import inspect
import sys
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

from metaqda import FewShotClassifier

SHOTS, QUERIES, BINS = [1, 2, 5, 10], 15, 20

PREPARED = {'as they are': FunctionTransformer, 'standardised': StandardScaler, 'length one': Normalizer}
COMPETITORS = {
    'logistic regression': lambda shots: LogisticRegression(max_iter=1000),
    'Gaussian naive Bayes': lambda shots: GaussianNB(),
    'LDA, shrinkage auto': lambda shots: LinearDiscriminantAnalysis('lsqr', shrinkage='auto'),
    'nearest neighbours': lambda shots: KNeighborsClassifier(1 if shots == 1 else 3),
}


def texts():
    """Returns the docstrings of scikit-learn's functions and classes as 100 numbers each, and
    their modules. The corpora that scikit-learn loads need a network; these come with it."""
    docs, modules = [], []
    for module in ['cluster', 'decomposition', 'ensemble', 'linear_model', 'metrics', 'preprocessing']:
        for name, what in inspect.getmembers(importlib.import_module('sklearn.' + module)):
            text = inspect.getdoc(what)
            if callable(what) and text and what.__module__.startswith('sklearn.' + module):
                docs.append(text.split('Parameters\n')[0].split('.. version')[0].replace(module, ''))
                modules.append(module)
    words = TfidfVectorizer(stop_words='english', sublinear_tf=True).fit_transform(docs)
    return TruncatedSVD(100, random_state=0).fit_transform(words), np.array(modules)


SETS = {  # data, and the scale that the columns want
    'digits': (lambda: load_digits(return_X_y=True), None),
    'wine': (lambda: load_wine(return_X_y=True), 'standardise'),
    'breast cancer': (lambda: load_breast_cancer(return_X_y=True), 'standardise'),
    'docstrings': (texts, None),
}


def tasks(y, shots, n):
    """Returns n pairs of rows: of the examples, and of the queries."""
    for seed in range(n):
        r, examples, queries = np.random.default_rng(seed), [], []
        for k in np.unique(y):
            rows = r.permutation(np.flatnonzero(y == k))
            examples.extend(rows[:shots])
            queries.extend(rows[shots:shots + QUERIES])
        yield np.array(examples), np.array(queries)


def measure(answers):
    """Returns accuracy, ECE and NLL of pairs of probabilities and right columns."""
    p, right = (np.concatenate(a) for a in zip(*answers))
    top, hit = p.max(1), p.argmax(1) == right
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    ece = sum(abs(np.sum(top[bins == b] - hit[bins == b])) for b in range(BINS)) / len(p)
    return 100 * hit.mean(), 100 * ece, -np.log(np.maximum(p[np.arange(len(p)), right], 1e-6)).mean()


def figures(X, y, n, make, ask=lambda c, X: c.predict_proba(X)):
    """Returns accuracy, ECE and NLL for each number of shots, NaN where fit refuses."""
    right, rows = np.searchsorted(np.unique(y), y), []
    for shots in SHOTS:
        try:
            rows.append(measure([(ask(make(shots).fit(X[a], y[a]), X[b]), right[b]) for a, b in tasks(y, shots, n)]))
        except ValueError:
            rows.append([np.nan] * 3)
    return np.array(rows)


def together(c, X):
    return c.judge_together(X).proba


def methods(X, y, scale, n):
    """Yields each method's name and its figures."""
    def own(shots):
        return FewShotClassifier(scale=scale)

    yield '**metaqda**', figures(X, y, n, own)
    yield '**metaqda**, judged together', figures(X, y, n, own, together)
    for name, make in COMPETITORS.items():
        ways = {way: figures(X, y, n, lambda shots: make_pipeline(prepare(), make(shots))) for way, prepare in PREPARED.items()}
        means = {way: np.nanmean(f, axis=0) for way, f in ways.items()}
        for way in dict.fromkeys([max(means, key=lambda way: means[way][0]), min(means, key=lambda way: means[way][2])]):
            yield f'{name}, {way}', ways[way]


def constant(X):
    """Appends a column that is about as large as the others together."""
    return np.c_[X, np.full(len(X), X.shape[1] ** .5)]


TABLES = {
    "scale='standardise'": lambda shots: FewShotClassifier(scale='standardise'),
    'standardised beforehand': lambda shots: make_pipeline(StandardScaler(), FewShotClassifier()),
    'standardised beforehand, a constant column': lambda shots: make_pipeline(StandardScaler(), FunctionTransformer(constant), FewShotClassifier()),
    'standardised beforehand, a signed square root': lambda shots: make_pipeline(StandardScaler(), FunctionTransformer(lambda X: np.sign(X) * abs(X) ** .5), FewShotClassifier()),
}


def row(method, figures):
    cells = (' / '.join(f'{v:.{digits}f}' for v in column).replace('nan', '-') for column, digits in zip(figures.T, [1, 1, 2]))
    print(f'| {method} | {" | ".join(cells)} |', flush=True)


def main():
    warnings.simplefilter('ignore')
    n, files = int(sys.argv[1]) if len(sys.argv) > 1 else 120, sys.argv[2:]
    print(f'| {" / ".join(map(str, SHOTS))} examples | accuracy | ECE | NLL |\n|---|---|---|---|')
    if files:
        tables = [np.load(file) for file in files]
        for way, make in TABLES.items():
            row(f'{len(tables)} tables, {way}', np.mean([figures(t['X'], t['y'], n, make) for t in tables], axis=0))
        way, make = next(iter(TABLES.items()))
        row(f'{len(tables)} tables, {way}, judged together', np.mean([figures(t['X'], t['y'], n, make, together) for t in tables], axis=0))
        for name, make in COMPETITORS.items():
            row(f'{len(tables)} tables, {name}', np.mean([figures(t['X'], t['y'], n, lambda shots: make_pipeline(StandardScaler(), make(shots))) for t in tables], axis=0))
        return
    for name, (data, scale) in SETS.items():
        X, y = data()
        print(f'| *{name}*, {len(np.unique(y))} classes | | | |')
        for method, rows in methods(X, y, scale, n):
            row(method, rows)


if __name__ == '__main__':
    main()
