"""Trains a tiny network for a few steps on pictures of one colour a class; says so where PyTorch is not there."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
try:
    import numpy as np
    import torch
    from PIL import Image
except ImportError:
    torch = None


def run(*arguments):
    done = subprocess.run([sys.executable, HERE, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


class Missing(unittest.TestCase):
    def test_what_is_missing_is_said(self):
        done = subprocess.run([sys.executable, "-S", HERE, "pack", "."], capture_output=True, text=True)
        self.assertIn("backbone: numpy is missing: install numpy, pillow and torch", done.stderr)


@unittest.skipIf(torch is None, "PyTorch, NumPy and Pillow are not installed: the backbones' training was not tried")
class Backbone(unittest.TestCase):
    def test_pictures_to_features(self):
        random = np.random.default_rng(0)
        splits = {"train": ["a", "b", "c", "d"], "val": ["e", "f"], "test": ["g", "h"]}
        with tempfile.TemporaryDirectory() as folder:
            for i, c in enumerate("abcdefgh"):
                os.makedirs(os.path.join(folder, "in", c))
                for j in range(24):
                    picture = np.clip(random.normal((40 + 25 * i, 230 - 25 * i, 128), 12, (16, 16, 3)), 0, 255).astype(np.uint8)
                    Image.fromarray(picture).save(os.path.join(folder, "in", c, "%d.png" % j))
            names = os.path.join(folder, "splits.json")
            with open(names, "w") as f:
                json.dump(splits, f)
            archives = run("pack", os.path.join(folder, "in"), "--splits", names, "--out", os.path.join(folder, "p"), "--limit", "60000").split()
            self.assertGreater(len(archives), 1)
            self.assertTrue(all(os.path.getsize(a) <= 60000 for a in archives))
            network = ["--splits", names, "--network", "tiny", "--side", "16", "--test-size", "16,12", "--out", os.path.join(folder, "run")]
            how = ["--sizes", "12,16", "--batch", "16", "--turn", "0.5", "--mix", "0.5"]
            run("train", *archives, *network, *how, "--steps", "12")
            run("train", *archives, *network, *how, "--steps", "24")  # goes on from step 12
            with open(os.path.join(folder, "run", "log.jsonl")) as f:
                lines = [json.loads(line) for line in f]
            self.assertEqual([line["step"] for line in lines if line["step"] in (12, 24)], [12, 24])
            said = run("features", *archives, *network, "--name", "x", "--part", "2000", "--train-each", "20")
            self.assertIn("nearest centroid", said)
            parts = [os.path.join(folder, "run", f) for f in os.listdir(os.path.join(folder, "run")) if f.startswith("x-")]
            self.assertGreater(len(parts), 1)
            run("join", *parts, "--out", os.path.join(folder, "x"))
            rows = np.load(os.path.join(folder, "x.npz"))
            self.assertEqual(rows["embeddings"].shape, (4 * 20 + 4 * 24, 16))
            self.assertEqual(rows["embeddings"].dtype, np.float16)
            self.assertEqual(np.bincount(rows["labels"]).tolist(), [20] * 4 + [24] * 4)
            # Colours that were not trained on are told apart all the same.
            mean = [rows["embeddings"][rows["labels"] == i].astype(float).mean(0) for i in (6, 7)]
            tell = rows["embeddings"][rows["labels"] >= 6].astype(float)
            right = (((tell - mean[0]) ** 2).sum(1) > ((tell - mean[1]) ** 2).sum(1)) == (rows["labels"][rows["labels"] >= 6] == 7)
            self.assertGreater(right.mean(), 0.8)


if __name__ == "__main__":
    unittest.main()
