"""Answers of a metaqda classifier that was exported as plain numbers.

    classifier = metaqda.load('classifier.safetensors')
    probabilities = classifier.predict_proba(X)   # n×C, in the order of classifier.classes_
    classifier.none_                              # n, none of these; each row and it sum to one

*Save the numbers* in the page, `export()` of the npm package and `metaqda export` write the
file. X holds the numbers of the feature extractor that `classifier.extractor` names, a row for each
picture, as that extractor gives them.
"""
import hashlib
import json

import numpy as np

__all__ = ['Classifier', 'load']

# Version 3 has a constant beside the columns of a table (core/model/plain.go).
VERSIONS = '2', '3'

# None of these is the answer from so many whole percent on (core/decide.go).
NONE_FROM = 34


def load(path):
    """Returns the Classifier of a file. Raises ValueError for bytes that are no exported
    classifier, or that have changed since they were written."""
    raw = np.fromfile(path, np.uint8).tobytes()
    try:
        size = 8 + int.from_bytes(raw[:8], 'little')
        head = json.loads(raw[8:size])
        meta = head.pop('__metadata__')
        classes, extractor = json.loads(meta['classes']), json.loads(meta['extractor'])
        arrays = {name: np.frombuffer(raw[size:], '<f8', (t['data_offsets'][1] - t['data_offsets'][0]) // 8, t['data_offsets'][0]).reshape(t['shape'])
                  for name, t in head.items()}
    except (KeyError, TypeError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f'{path} is not an exported classifier: export one with `metaqda export`, and open a session file with FewShotClassifier.load') from error
    if meta.get('format') != 'metaqda.plain' or meta.get('version') not in VERSIONS:
        raise ValueError(f'{path} has the format {meta.get("format")}, version {meta.get("version")}; '
                         f'this package reads metaqda.plain, versions {" and ".join(VERSIONS)}: export the classifier anew')
    checksum = meta.get('sha256')  # older files have none
    if checksum and hashlib.sha256(raw.replace(checksum.encode(), b'0' * 64)).hexdigest() != checksum:
        raise ValueError(f'{path} does not have the checksum that it names: it was damaged or changed after it was written; take another copy')
    return Classifier(classes, extractor, arrays)


class Classifier:
    """An exported classifier. `classes_` are its C labels, and `extractor` says whose numbers it
    takes. `none_` has the probabilities of none of the classes from the last call of predict_proba,
    None before one."""

    def __init__(self, classes, extractor, arrays):
        self.classes_, self.extractor, self.none_ = np.array(classes, object), extractor, None
        self._ = arrays

    def predict_proba(self, X):
        """Returns n×C probabilities for n×d embeddings, and keeps those of none of the
        classes in `none_`. ValueError for rows of another length or that are not finite."""
        c, X = self._, np.atleast_2d(np.asarray(X, float))
        mean, scale = c['columns']
        d = len(mean)
        if X.ndim != 2:
            raise ValueError(f'an array of shape {X.shape}, want two axes: a row of length {d} for each picture')
        if X.shape[1] != d:
            raise ValueError(f'rows of length {X.shape[-1]}, want {d}: use the extractor {self.extractor.get("id") or "it was taught with"}')
        if not np.isfinite(X).all():
            raise ValueError(f'row {np.argmin(np.isfinite(X).all(1))} has a number that is not finite: leave it out')
        shift, floor, power, unit, *constant = c['input']
        v = np.maximum((X - mean) * scale + shift, floor)
        v = np.sign(v) * np.abs(v) ** power
        y = np.c_[v, np.tile(constant, (len(v), 1))] - c['centre']
        if unit:
            length = np.linalg.norm(y, axis=1, keepdims=True)
            y /= np.where(length > 0, length, 1)
        u = y @ c['weights'].T + c['intercept']
        total = np.logaddexp.reduce
        s = total(u + c['prior'], axis=1)
        p = np.zeros_like(u)  # averaged over what the session leaves in doubt
        for inverse_temperature, weight in c['hard'].T:
            e = inverse_temperature * u + c['prior']
            p += weight * np.exp(e - total(e, axis=1)[:, None])
        slope, offset, weight = c['known']
        odds = np.outer(s, slope) + offset
        known = (1 + np.tanh(odds / 2)) / 2 @ weight
        self.none_ = (1 - np.tanh(odds / 2)) / 2 @ weight
        return p * known[:, None]

    def predict(self, X):
        """Returns a label for each row, or None if the row is of none of the classes."""
        p = self.predict_proba(X)
        return np.where(np.floor(100 * self.none_ + 0.5) >= NONE_FROM, None, self.classes_[p.argmax(1)])
