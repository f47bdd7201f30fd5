import io
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
from PIL import Image

import metaqda
from common import Case, FewShotClassifier, ROOT

PHOTOGRAPHS = sorted((ROOT / 'testdata/parity').glob('*.jpg'))


class Pictures(Case):
    def variants(self):
        """Writes pictures of many kinds, and returns their paths."""
        photograph = Image.open(PHOTOGRAPHS[5])
        width, height = photograph.size
        alpha = Image.fromarray(np.tile(np.linspace(0, 255, width).astype(np.uint8), (height, 1)))
        exif = Image.Exif()
        exif[0x112] = 6  # lies on its side
        saved = {
            'transparent.png': (photograph.copy(), {}), 'grey.jpg': (photograph.convert('L'), {}), 'side.jpg': (photograph, {'exif': exif}),
            'palette.png': (photograph.quantize(64), {}), 'wide.png': (photograph.resize((700, 40)), {}), 'small.png': (photograph.resize((31, 57)), {}),
            'lossless.webp': (photograph, {'lossless': True}), 'large.png': (photograph.resize((2100, 1501)), {}),
        }
        saved['transparent.png'][0].putalpha(alpha)
        for name, (image, options) in saved.items():
            image.save(self.folder / name, **options)
        return sorted(self.folder.iterdir())

    def test_embeddings_are_those_of_the_page(self):
        for path in PHOTOGRAPHS:
            shutil.copy(path, self.folder)
        paths, out = self.variants(), self.folder.with_name(self.folder.name + '.npz')
        self.addCleanup(out.unlink)
        self.addCleanup(out.with_suffix('.json').unlink)
        subprocess.run(['node', ROOT / 'scripts/embed/embed.mjs', self.folder, '--unlabelled', '--quiet', '--out', out], check=True)
        about = json.loads(out.with_suffix('.json').read_text())
        want, got = np.load(out)['embeddings'], metaqda.embed(paths)
        self.assertEqual([Path(name).name for name in about['files']], [path.name for path in paths])
        self.assertEqual((got.shape, got.dtype), ((len(paths), 1280), np.float32))
        cosines = (got * want).sum(1) / np.linalg.norm(got, axis=1) / np.linalg.norm(want, axis=1)
        self.assertGreater(cosines.min(), .9999, dict(zip(about['files'], cosines)))

    def test_pictures_may_be_given_in_many_forms(self):
        path = PHOTOGRAPHS[0]
        image = Image.open(path)
        want = metaqda.embed([path])
        for images in [path, str(path), path.read_bytes(), image, np.asarray(image), [np.asarray(image)], np.asarray(image)[None], (p for p in [path]), np.array([str(path)]), bytearray(path.read_bytes()), io.BytesIO(path.read_bytes())]:
            np.testing.assert_array_equal(metaqda.embed(images), want)
        many = metaqda.embed(PHOTOGRAPHS * 2)  # more than one batch
        np.testing.assert_allclose(many[:1], want, atol=1e-4)
        np.testing.assert_allclose(many[:10], many[10:], atol=1e-4)
        self.assertEqual(metaqda.embed([]).shape, (0, 1280))
        sixteen = Image.fromarray(np.asarray(image.convert('L')).astype(np.uint16) * 257)
        np.testing.assert_allclose(metaqda.embed(sixteen), metaqda.embed(image.convert('L')), atol=1e-4)

    def test_what_is_no_picture_is_refused(self):
        for bad in [b'no picture', self.folder / 'missing.png', np.zeros((4, 4, 3)), np.zeros((4, 4, 7), np.uint8), np.zeros((0, 4, 3), np.uint8), 3]:
            self.refused('unreadable-picture', 'give a JPEG', metaqda.embed, [bad])
        self.refused('unreadable-picture', 'Picture 1, counted', metaqda.embed, [PHOTOGRAPHS[0], b'no picture'])
        self.refused('unreadable-picture', 'The picture is None', metaqda.embed, None)

    def test_the_network_is_the_one_of_the_prior(self):
        _, manifest = metaqda.pictures._network()
        session, X = self.folder / 's', metaqda.embed(PHOTOGRAPHS[:2])
        FewShotClassifier('pictures').fit(X, ['a', 'b']).save(session)
        self.assertEqual(FewShotClassifier.load(session).extractor['id'], manifest['id'])

    def test_onnxruntime_may_be_missing(self):
        program = "import sys; sys.modules['onnxruntime'] = None\nimport metaqda\ntry: metaqda.embed([])\nexcept ImportError as error: print(error)"
        printed = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, check=True, env=os.environ).stdout
        self.assertIn('pip install onnxruntime pillow', printed)


if __name__ == '__main__':
    unittest.main()
