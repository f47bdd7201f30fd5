"""Reads pictures from folders or zip archives into one array, and packs them into small archives."""
import io
import json
import os
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from PIL import Image

ENDINGS = (".png", ".jpg", ".jpeg", ".webp")


def entries(paths):
    """Pairs (class, function that returns the bytes) of every picture under the folders and in the archives
    given, in order of name. The class of a picture is the name of the folder it lies in."""
    found = []
    for path in paths:
        if os.path.isdir(path):
            for folder, _, files in os.walk(path):
                found += [(os.path.basename(folder), f, open_file(os.path.join(folder, f))) for f in files if f.lower().endswith(ENDINGS)]
        else:
            archive = zipfile.ZipFile(path)
            found += [(*n.split("/")[-2:], lambda a=archive, n=n: a.read(n)) for n in archive.namelist() if n.lower().endswith(ENDINGS)]
    if not found:
        raise SystemExit("no pictures in %s; give folders CLASS/PICTURE or archives of such" % ", ".join(paths))
    return [(c, read) for c, _, read in sorted(found, key=lambda e: e[:2])]


def open_file(path):
    def read():
        with open(path, "rb") as f:
            return f.read()
    return read


def read_splits(path):
    """The classes of each split, from a file {"train": [...], "val": [...], "test": [...]}."""
    with open(path) as f:
        return json.load(f)


def load(paths, side):
    """Every picture, scaled to side x side pixels: (N x side x side x 3 array of uint8, N labels, names of classes)."""
    def decode(read):
        picture = Image.open(io.BytesIO(read())).convert("RGB")
        return np.asarray(picture if picture.size == (side, side) else picture.resize((side, side), Image.BICUBIC))
    pairs = entries(paths)
    names = sorted({c for c, _ in pairs})
    number = {c: i for i, c in enumerate(names)}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        pixels = np.stack(list(pool.map(decode, (read for _, read in pairs), chunksize=64)))
    return pixels, np.array([number[c] for c, _ in pairs]), names


def pack(paths, splits, out, quality, limit):
    """Writes the pictures as WebP (lossless if quality is 0) into archives OUT-0.zip, OUT-1.zip, ... of at most
    limit bytes. The training classes come first, so training can begin while the others are copied."""
    order = {c: i for i, c in enumerate(c for s in ("train", "val", "test") for c in splits[s])}

    def encode(read):
        data = io.BytesIO()
        how = {"quality": quality, "method": 4} if quality else {"lossless": True, "quality": 20, "method": 3}
        Image.open(io.BytesIO(read())).convert("RGB").save(data, "webp", **how)
        return data.getvalue()
    pairs = sorted(((c, read) for c, read in entries(paths) if c in order), key=lambda e: order[e[0]])
    archive, size, written = None, 0, []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for i, ((c, _), data) in enumerate(zip(pairs, pool.map(encode, (read for _, read in pairs)))):
            name = "%s/%d.webp" % (c, i)
            more = len(data) + 2 * len(name) + 76  # its two headers
            if archive is None or size + more > limit:
                written.append("%s-%d.zip" % (out, len(written)))
                archive, size = zipfile.ZipFile(written[-1], "w"), 22
            archive.writestr(zipfile.ZipInfo(name), data)
            size += more
    archive.close()
    return written
