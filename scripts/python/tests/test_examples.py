import re
import subprocess
import sys
import unittest

import numpy as np
from sklearn.datasets import load_iris

import metaqda
from common import Case, FewShotClassifier, ROOT

STYLES = 'noto twemoji openmoji fluent-emoji-flat fxemoji emojione'.split()


class Examples(Case):
    def render(self, count):
        """Renders so many emoji in each style: half of the styles into taught/CONCEPT, half into new/CONCEPT."""
        program = f'''
            const {{ buildSamples }} = await import('{ROOT}/web/build/samples.mjs');
            const {{ allConcepts }} = await import('{ROOT}/web/samples/concepts.mjs');
            const taught = {STYLES[:3]};
            await buildSamples('{self.folder}/all', allConcepts.slice(0, {count}), (style, concept) => `${{taught.includes(style) ? 'taught' : 'new'}}/${{concept}}/${{style}}.png`);
        '''
        subprocess.run(['node', '--input-type=module', '-e', program], check=True, capture_output=True)
        return self.folder / 'all/taught', self.folder / 'all/new'

    def ten_things(self, *paths):
        return subprocess.run([sys.executable, ROOT / 'scripts/python/examples/ten_things.py', *paths], check=True, capture_output=True, text=True).stdout

    def test_ten_things_are_enrolled_and_told_apart(self):
        taught, new = self.render(10)
        printed = self.ten_things(taught, new, self.folder / 'session.safetensors')
        self.assertIn('10 things: ', printed)
        judged = re.findall(r'^(\S+)/\S+ +(\S+) +\d+%, none of them +\d+%$', printed, re.M)
        self.assertEqual(len(judged), 30)
        right = np.mean([a == b for a, b in judged])
        self.assertGreater(right, .7)
        self.assertIn(f'{right:.1%} right one by one', printed)
        bars = re.findall(r'^ *(\d+)% +(\d+)%  [#| ]+$', printed, re.M)
        self.assertEqual(len(bars), 5)
        self.assertAlmostEqual(np.mean([int(hit) for _, hit in bars]) / 100, right, delta=.011)
        sure = [int(sure) for sure, _ in bars]
        self.assertEqual(sure, sorted(sure))
        self.assertRegex(printed, r'label next: (\S+/\S+\.png, ){2}\S+/\S+\.png')

        # The session answers the same, and takes the place of the pictures.
        again = self.ten_things(self.folder / 'session.safetensors', new, self.folder / 'again.safetensors')
        self.assertEqual(again, printed)
        self.assertEqual((self.folder / 'again.safetensors').read_bytes(), (self.folder / 'session.safetensors').read_bytes())
        c, path = FewShotClassifier.load(self.folder / 'session.safetensors'), sorted(taught.glob('*/*'))[0]
        self.assertEqual(c.predict(metaqda.embed(path)), [path.parent.name])

    def test_the_comparison_takes_tables(self):
        X, y = load_iris(return_X_y=True)
        np.savez(self.folder / 'iris.npz', X=X, y=y)
        printed = subprocess.run([sys.executable, ROOT / 'scripts/python/examples/compare.py', '2', self.folder / 'iris.npz'], check=True, capture_output=True, text=True).stdout
        rows = re.findall(r'^\| 1 tables, (.*?) \| ([\d.]+) / [\d./ ]+ ([\d.]+) \| [\d./ ]+ \| [\d./ ]+ \|$', printed, re.M)
        self.assertEqual(len(rows), 8)  # LDA refuses one example
        for _, one, ten in rows:
            self.assertGreater(min(float(one), float(ten)), 60)
        ten = {way: float(ten) for way, _, ten in rows}
        self.assertGreater(ten['standardised beforehand, a constant column'], ten['standardised beforehand'] + 10)

    def test_the_benchmark_measures_the_boundary(self):
        printed = subprocess.run([sys.executable, ROOT / 'scripts/python/examples/speed.py', '30', '2'], check=True, capture_output=True, text=True).stdout
        self.assertRegex(printed, r'\| 30 vectors of 1,280 numbers \|')
        self.assertEqual(len(re.findall(r'^\| \d+ classes \| [\d.]+ ms \| [\d.]+ ms \| [\d.]+ ms \| [\d.]+ \|$', printed, re.M)), 2)


if __name__ == '__main__':
    unittest.main()
