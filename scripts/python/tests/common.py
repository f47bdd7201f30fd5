"""What the tests share. `make test-python` runs them on the installed wheel."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

from metaqda import FewShotClassifier, MetaqdaError

ROOT = Path(__file__).resolve().parents[3]
BIN = ROOT / 'build/bin'  # `make test-python` builds metaqda and oracle into it


def emoji():
    """Returns embeddings of 19 emoji in six styles, and their names."""
    about = json.loads((ROOT / 'testdata/dataset/emoji.json').read_text())
    data = np.load(ROOT / 'testdata/dataset/emoji.npz')
    return data['embeddings'].astype(np.float32), np.array(about['classes'])[data['labels']]


def split(X, y, shots):
    """Returns X and y of the first rows of each class, and of the others."""
    first = np.concatenate([np.flatnonzero(y == k)[:shots] for k in np.unique(y)])
    rest = np.setdiff1d(np.arange(len(y)), first)
    return X[first], y[first], X[rest], y[rest]


def run(program, *args):
    return subprocess.run([BIN / program, *map(str, args)], check=True, capture_output=True, text=True).stdout


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def refused(self, code, words, call, *args, **options):
        """Checks that a call raises a MetaqdaError with a code and with words of a remedy."""
        with self.assertRaises(MetaqdaError) as caught:
            call(*args, **options)
        self.assertEqual(caught.exception.code, code)
        self.assertIn(words, str(caught.exception))
        return caught.exception

    def oracle(self, c, X, count=5):
        """Returns what native Go answers for the session that c saves, columns as c has them."""
        session, queries = self.folder / 'session.safetensors', self.folder / 'queries.json'
        c.save(session)
        queries.write_text(json.dumps(np.asarray(X, np.float32).tolist()))
        a = json.loads(run('oracle', session, queries, count))
        columns = [a['labels'].index(str(k)) for k in c.classes_]
        for question in ['predict', 'classify', 'leaveOneOut']:
            p = np.array(a[question])
            a[question] = p[:, 0], p[:, 1:][:, columns]
        return a


def taught(**options):
    """Returns a small classifier, queries, and their labels."""
    X, y, queries, labels = split(*emoji(), 2)
    return FewShotClassifier(**options).fit(X, y), queries, labels
