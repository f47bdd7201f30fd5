"""Embeddings and cells of pictures by the network of the page, with the weights, views and filter of
web/extractor."""
import functools
import io
import json
import os
from collections import namedtuple
from pathlib import Path

import numpy as np

from .errors import MetaqdaError

__all__ = ['Cells', 'cells', 'embed']

NETWORK = Path(__file__).with_name('efficientnet-lite0.onnx')
BATCH = 16  # pictures at once

Cells = namedtuple('Cells', 'embedding values views')
Cells.__doc__ = """The cells of n pictures. An embedding is the mean of the cells of its picture. `embedding`
(n×1280) is as `embed` gives it. `values` (n×views×rows×columns×1280) has a vector for each cell of each view's
grid. `views` (n×views×4) has the rectangle of each view: x, y, width and height in shares of the
picture's width and height."""


def embed(images):
    """Returns the embeddings of n pictures, n×1280 in float32, as the page makes them.
    FewShotClassifier('pictures') takes them.

    `images` are paths, open files, bytes of files, Pillow images, or uint8 arrays of shape (height, width),
    (height, width, 3) or (height, width, 4): an iterable of them, or a single one. Needs
    the packages onnxruntime and Pillow.
    """
    _, manifest = _network()
    found = [np.zeros((0, manifest['dimension']), np.float32)]
    for batch in _batches(images):
        found.append(_look(batch, 'embedding').mean(1))
    return np.concatenate(found)


def cells(images):
    """Returns the `Cells` of n pictures, which `FewShotClassifier.explain` and `anomaly` take. The
    network runs once for them and the embeddings. `images` are as for `embed`. A picture's cells
    take 0.4 MB."""
    _, manifest = _network()
    values, views = [], []
    for batch in _batches(images):
        values.append(_look(batch, 'cells'))
        for image in batch:
            size = np.array(image.size * 2)
            views.append([_rectangle(view, *image.size) / size for view in manifest['views']])
    if not values:  # the network says how many cells a picture has
        none = cells(np.zeros((1, 1, 3), np.uint8))
        return Cells(*(part[:0] for part in none))
    values = np.concatenate(values)
    return Cells(values.mean((1, 2, 3)), values, np.array(views))


def _batches(images):
    """Yields lists of pictures, upright and in RGB."""
    pixels = getattr(images, 'ndim', 1) in (0, 2, 3) and images.dtype != object  # an array of one axis has paths
    if images is None:
        raise MetaqdaError('unreadable-picture', 'The picture is None: give a path, bytes, a Pillow image or pixels in uint8.')
    if isinstance(images, (str, bytes, bytearray, os.PathLike)) or hasattr(images, 'convert') or hasattr(images, 'read') or pixels:
        images = [images]
    batch = []
    for at, image in enumerate(images):
        batch.append(_rgb(image, at))
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _look(batch, output):
    """Returns an output of the network for pictures, n×views×..."""
    session, manifest = _network()
    found, = session.run([output], {'pixels': np.concatenate([_views(image, manifest) for image in batch])})
    return found.reshape(len(batch), -1, *found.shape[1:])


@functools.cache
def _network():
    """Returns onnxruntime's session, and the manifest that says how to prepare pictures for it."""
    try:
        import onnxruntime
        import PIL  # noqa: F401
    except ImportError as error:
        raise ImportError('metaqda.embed and metaqda.cells need the packages onnxruntime and Pillow: pip install onnxruntime pillow') from error
    if not NETWORK.exists():
        raise ImportError(f'{NETWORK} is missing: install the wheel that `make wheel` builds')
    session = onnxruntime.InferenceSession(NETWORK, providers=['CPUExecutionProvider'])
    return session, json.loads(session.get_modelmeta().custom_metadata_map['manifest'])


def _rgb(image, at):
    """Returns the picture number `at` as a Pillow image, upright, RGB, over white where it is transparent."""
    from PIL import Image, ImageOps
    try:
        if isinstance(image, (bytes, bytearray)):
            image = Image.open(io.BytesIO(image))
        elif isinstance(image, np.ndarray):
            if image.dtype != np.uint8:
                raise ValueError(f'its numbers are {image.dtype}, not uint8')
            image = Image.fromarray(image)
        elif not isinstance(image, Image.Image):
            image = Image.open(image)
        if 0 in image.size:
            raise ValueError('it has no pixels')
        image = ImageOps.exif_transpose(image)
        if image.mode.startswith('I'):  # 16 bits of grey
            image = Image.fromarray((np.asarray(image) >> 8).clip(0, 255).astype(np.uint8))
        if not image.has_transparency_data:
            return image.convert('RGB')
        rgba = np.asarray(image.convert('RGBA'), np.uint32)
        alpha = rgba[..., 3:]
        return Image.fromarray(((rgba[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8))
    except (AttributeError, OSError, TypeError, ValueError, Image.DecompressionBombError) as error:
        raise MetaqdaError('unreadable-picture', f'Picture {at}, counted from 0, cannot be read ({error}): give a JPEG, PNG, WebP or GIF file, or pixels in uint8.') from error


def _views(image, manifest):
    """Returns the views of a picture, views×size×size×3. Pillow's BILINEAR is the antialiased triangle
    of preprocess.js."""
    from PIL import Image
    size, views = manifest['inputSize'], []
    for view in manifest['views']:
        x, y, width, height = map(int, _rectangle(view, *image.size))
        part = image
        if (width, height) != image.size:
            part = image.crop((x, y, x + width, y + height))  # resize's own box would blend its surroundings in
        views.append(np.asarray(part.resize((size, size), Image.Resampling.BILINEAR), np.float32))
    return np.stack(views)


def _rectangle(view, width, height):
    """Returns the rectangle of a view: x, y, width and height in pixels."""
    if 'share' not in view:
        return np.array([0, 0, width, height])
    side = max(1, int(view['share'] * min(width, height) + .5))
    return np.array([(width - side) // 2, (height - side) // 2, side, side])
