import contextlib
import io
import re
import sys
import unittest
import warnings

from sklearn.datasets import load_wine

from common import ROOT


class Readme(unittest.TestCase):
    def test_the_example_prints_what_it_says(self):
        text = (ROOT / 'scripts/python/README.md').read_text()
        program = re.search(r'```python\n(.*?)```', text, re.S)[1]
        self.assertEqual(len(program.splitlines()), 5)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, {})
        self.assertEqual(printed.getvalue().splitlines(), re.findall(r'print.*# (.*)', program))

    def test_the_comparison_measures_every_method(self):
        sys.path.insert(0, str(ROOT / 'scripts/python/examples'))
        self.addCleanup(sys.path.pop, 0)
        import compare
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            rows = dict(compare.methods(*load_wine(return_X_y=True), 'standardise', 1))
        self.assertGreaterEqual(len(rows), 2 + len(compare.COMPETITORS))
        accuracy, ece, nll = rows['**metaqda**'].T
        self.assertTrue((accuracy > 50).all() and (ece < 40).all() and (nll < 1.1).all())
        bayes = next(f for name, f in rows.items() if name.startswith('Gaussian'))
        self.assertTrue((nll[1:] < bayes[1:, 2]).all())


if __name__ == '__main__':
    unittest.main()
