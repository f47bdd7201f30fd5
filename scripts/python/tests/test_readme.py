import contextlib
import io
import re
import shutil
import sys
import unittest
import warnings

from PIL import Image, ImageOps
from sklearn.datasets import load_wine

from common import Case, ROOT


class Readme(Case):
    def test_the_examples_print_what_they_say(self):
        for name, picture in [('mug.jpg', 'anchor_image_0001'), ('key.jpg', 'ant_image_0011'), ('new.jpg', 'anchor_image_0001')]:
            shutil.copy(ROOT / f'testdata/parity/{picture}.jpg', self.folder / name)
        key = Image.open(self.folder / 'key.jpg')
        for i in range(1, 4):
            ImageOps.crop(key, 5 * i).save(self.folder / f'good{i}.jpg')
        programs = re.findall(r'```python\n(.*?)```', (ROOT / 'scripts/python/README.md').read_text(), re.S)
        self.assertEqual([len(program.splitlines()) for program in programs], [5, 3, 3])
        names = {}
        for program in programs:
            printed = io.StringIO()
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
                exec(program, names)
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
