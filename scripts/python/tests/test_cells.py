import collections
import json
import pickle
import subprocess
import unittest

import numpy as np
from PIL import Image

import metaqda
from common import Case, FewShotClassifier, ROOT, emoji, run, split

PHOTOGRAPHS = sorted((ROOT / 'testdata/parity').glob('*.jpg'))
DECODE = """
import { decodePicture } from './scripts/embed/decode.mjs';
import { loadExtractor } from './scripts/embed/extractor.mjs';
const { cells } = await loadExtractor();
const found = [];
for (const file of process.argv.slice(1)) found.push(await cells(await decodePicture(file)));
console.log(JSON.stringify(found.map(({ embedding, values, views }) => ({ embedding: [...embedding], values: [...values], views }))));
"""


def grids(n, shape, d, seed=0):
    """Returns cells of n pictures: positive numbers that differ more between cells than between pictures."""
    r = np.random.default_rng(seed)
    return (np.abs(r.normal(size=(1, *shape, d))) + np.abs(r.normal(size=(n, *shape, d))) * .3).astype(np.float32)


class Series(collections.UserList):
    """As a series of pandas: a sequence, and neither list nor array."""
    ndim = 1


class CellsOfVectors(Case):
    def native(self, c, cells):
        """Returns what native Go answers for the session that c saves."""
        session, pictures = self.folder / 'session.safetensors', self.folder / 'pictures.json'
        c.save(session)
        pictures.write_text(json.dumps(cells.reshape(len(cells), -1, cells.shape[-1]).tolist()))
        return json.loads(run('oracle', session, pictures))

    def same(self, found, want, shape):
        for score, rest, values, row in zip(found.score, found.rest, found.values, want, strict=True):
            self.assertEqual(values.shape, shape)
            np.testing.assert_allclose([score, rest, *values.ravel()], row, rtol=0, atol=1e-9)
            self.assertAlmostEqual(values.sum() + rest, score, delta=1e-9)

    def test_explanations_are_those_of_native_go(self):
        X, y, queries, _ = split(*emoji(), 2)
        for options, d in [({'prior': 'pictures'}, 1280), ({}, 40), ({'scale': 'standardise'}, 6)]:
            c = FewShotClassifier(**options).fit(X[::-1, :d], y[::-1])
            cells = queries[:48, :d].reshape(4, 2, 2, 3, d)
            want = self.native(c, cells)
            first, last = want['labels'][0], want['labels'][-1]
            self.same(c.explain(cells, first), want['explain'], (2, 2, 3))
            self.same(c.explain(cells, first, last), want['against'], (2, 2, 3))
            back = c.explain(cells, Series([last] * 4), np.array([first] * 4))
            np.testing.assert_allclose(-back.score, c.explain(cells, first, last).score, rtol=0, atol=1e-9)
            own = c.explain(cells)
            self.assertEqual(own.label, c.predict(cells.mean((1, 2, 3))).tolist())
            self.assertEqual(own.against, [None] * 4)
            np.testing.assert_array_equal(own.score[2], c.explain(cells[2:3], own.label[2]).score[0])

    def test_anomalies_are_those_of_native_go(self):
        cells = grids(9, (2, 3, 3), 30)
        cells[8, 1, 0, 2] *= -1
        order = [3, 0, 4, 1, 2]
        X = cells[:5].mean((1, 2, 3))
        c = FewShotClassifier().fit(X[order], ['good'] * 5).set_cells(cells[order])
        want = self.native(c, np.concatenate([cells[order], cells[5:]]))['anomalies']
        found = c.anomaly(cells[5:])
        self.assertEqual((found.wrong.shape, found.good, found.values.shape), ((4,), 5, (4, 2, 3, 3)))
        for wrong, values, row in zip(found.wrong, found.values, want, strict=True):
            np.testing.assert_allclose([wrong, found.good, *values.ravel()], row, rtol=0, atol=1e-9)
        self.assertEqual(found.values[3].argmax(), np.ravel_multi_index((1, 0, 2), (2, 3, 3)))
        self.assertGreater(found.wrong[3], found.wrong[:3].max())

    def test_cells_may_be_told_one_by_one(self):
        cells = grids(6, (4,), 20)
        X = cells.mean(1)
        c = FewShotClassifier().fit(X[:3], [1, 1, 1])
        self.refused('few', '3 good examples', c.anomaly, cells[5:])
        c.set_cells(cells[2:3], [2]).set_cells(cells[:2], [0, 1]).partial_fit(X[3:5], [1, 1]).set_cells(cells[3:5], range(3, 5))
        all_at_once = FewShotClassifier().fit(X[:5], [1] * 5).set_cells(cells[:5])
        np.testing.assert_array_equal(c.anomaly(cells[5:]).values, all_at_once.anomaly(cells[5:]).values)
        self.assertEqual(c.anomaly(cells[:0]).values.shape, (0, 4))
        self.refused('few', '3 good examples', pickle.loads(pickle.dumps(c)).anomaly, cells[5:])
        c.partial_fit(-X[:1], [2])
        self.refused('classes', 'which of them', c.anomaly, cells[5:])

    def test_wrong_cells_are_refused(self):
        cells = grids(3, (4,), 20)
        c = FewShotClassifier().fit(cells.mean(1), ['a', 'a', 'b'])
        for question in [c.explain, c.set_cells, c.anomaly]:
            self.refused('dimension', 'one network', question, cells[..., :7])
            for bad in [cells[0], cells[:, :0], 'cells', None, [[[1], [2, 3]]], {}]:
                self.refused('argument', 'metaqda.cells', question, bad)
        for number in [np.nan, np.inf, 1e300]:
            bad = cells.astype(float)
            bad[1, 2, 3] = number
            for question in [lambda x: c.explain(x, 'a'), c.set_cells]:
                self.refused('value', '', question, bad)
        self.refused('argument', 'choose among a, b', c.explain, cells, 'c')
        self.refused('argument', 'choose among a, b', c.explain, cells, 'a', 3)
        many = FewShotClassifier().fit(np.repeat(cells.mean(1)[:1], 15, 0), [f'class {i:02}' for i in range(15)])
        self.refused('argument', 'class 11 and 3 more.', many.explain, cells, 'c')
        self.refused('argument', 'one for each', c.explain, cells, ['a', 'b'])
        self.refused('argument', 'another one', c.explain, cells, 'a', 'a')
        self.refused('argument', 'as rows', c.set_cells, cells[:2])
        self.refused('argument', 'The rows [3] are not all places of examples: give places from 0 to 2.', c.set_cells, cells[:1], [3])
        self.refused('argument', 'The rows 3 are', c.set_cells, cells[:1], 3)
        self.refused('unfitted', 'fit', FewShotClassifier().explain, cells)
        self.assertEqual(c.explain(cells[:0]).values.shape, (0, 4))


class CellsOfPictures(Case):
    def test_cells_are_those_of_the_page(self):
        images = PHOTOGRAPHS[:3] + [self.folder / 'wide.png']
        Image.open(PHOTOGRAPHS[3]).resize((400, 131)).save(images[3])
        found = metaqda.cells(images)
        self.assertEqual((found.values.shape, found.values.dtype, found.views.shape), ((4, 2, 6, 6, 1280), np.float32, (4, 2, 4)))
        got = subprocess.run(['node', '--input-type=module', '-e', DECODE, *map(str, images)], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for i, want in enumerate(json.loads(got)):
            for view, place in zip(want['views'], found.views[i], strict=True):
                self.assertEqual((view['rows'], view['columns']), found.values.shape[2:4])
                np.testing.assert_allclose(place, [view[k] for k in ['x', 'y', 'width', 'height']], rtol=0, atol=1e-12)
            a, b = found.values[i].reshape(72, -1), np.reshape(want['values'], (72, -1))
            cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
            self.assertGreater(cosines.min(), .999, images[i])
        np.testing.assert_allclose(found.embedding, metaqda.embed(images), atol=1e-4)
        np.testing.assert_allclose(found.embedding, found.values.mean((1, 2, 3)), atol=1e-4)
        many = metaqda.cells(PHOTOGRAPHS * 2)  # more than one batch
        np.testing.assert_allclose(many.values[:3], found.values[:3], atol=1e-3)
        self.assertEqual([part.shape for part in metaqda.cells([])], [(0, 1280), (0, 2, 6, 6, 1280), (0, 2, 4)])

    def test_each_half_speaks_for_what_it_shows(self):
        one, other = (Image.open(PHOTOGRAPHS[i]).convert('RGB').resize((200, 200)) for i in [0, 8])
        both = Image.new('RGB', (400, 200))
        both.paste(one, (0, 0))
        both.paste(other, (200, 0))
        c = FewShotClassifier('pictures').fit(metaqda.embed([one, other]), ['one', 'other'])
        whole, _ = c.explain(metaqda.cells(both), 'one', 'other').values[0]
        self.assertGreater(whole[:, :3].sum(), 0)
        self.assertLess(whole[:, 3:].sum(), 0)

    def test_a_spot_is_found_on_a_thing_that_should_have_none(self):
        r = np.random.default_rng(0)
        image = np.asarray(Image.open(PHOTOGRAPHS[4]).convert('RGB').resize((240, 240))).astype(float)
        many = [(image * r.uniform(.9, 1.1) + r.normal(size=image.shape) * 6).clip(0, 255).astype(np.uint8) for _ in range(7)]
        many[6][40:80, 160:200] = [250, 0, 200]
        cells = metaqda.cells(many)
        c = FewShotClassifier('pictures').fit(cells.embedding[:5], ['good'] * 5).set_cells(metaqda.cells(many[:5]))
        found = c.anomaly(metaqda.Cells(*(part[5:] for part in cells)))
        row, column = np.unravel_index(found.values[1, 0].argmax(), (6, 6))
        self.assertTrue(row < 3 <= column, found.values[1, 0])  # the quarter of the spot: a cell depends on what is around it
        self.assertLess(found.wrong[0], .5)
        self.assertGreater(found.wrong[1], .9)


if __name__ == '__main__':
    unittest.main()
