"""Embeddings of pictures by the network of the page. web/extractor is the model: the same weights,
views and filter."""
import functools
import io
import json
import os
from pathlib import Path

import numpy as np

from .errors import MetaqdaError

__all__ = ['embed']

NETWORK = Path(__file__).with_name('efficientnet-lite0.onnx')
BATCH = 16  # pictures at once


def embed(images):
    """Returns the embeddings of n pictures, n×1280 in float32, as the page makes them: what
    FewShotClassifier('pictures') takes.

    `images` are paths, bytes of files, Pillow images, or uint8 arrays of shape (height, width),
    (height, width, 3) or (height, width, 4); an iterable of them, or a single one. Needs
    the packages onnxruntime and Pillow.
    """
    session, manifest = _network()
    if isinstance(images, (str, bytes, os.PathLike)) or hasattr(images, 'convert') or getattr(images, 'ndim', 4) < 4 and images.dtype != object:
        images = [images]
    embeddings, batch = [np.zeros((0, manifest['dimension']), np.float32)], []

    def look():
        pixels = np.concatenate(batch)
        found, = session.run(['embedding'], {'pixels': pixels})
        embeddings.append(found.reshape(len(batch), -1, found.shape[1]).mean(1))
        batch.clear()

    for image in images:
        batch.append(_views(_rgb(image), manifest))
        if len(batch) == BATCH:
            look()
    if batch:
        look()
    return np.concatenate(embeddings)


@functools.cache
def _network():
    """Returns onnxruntime's session, and what says how pictures are laid before it."""
    try:
        import onnxruntime
        import PIL  # noqa: F401
    except ImportError as error:
        raise ImportError('metaqda.embed needs the packages onnxruntime and Pillow: pip install onnxruntime pillow') from error
    if not NETWORK.exists():
        raise ImportError(f'{NETWORK} is missing: install the wheel that `make wheel` builds')
    session = onnxruntime.InferenceSession(NETWORK, providers=['CPUExecutionProvider'])
    return session, json.loads(session.get_modelmeta().custom_metadata_map['manifest'])


def _rgb(image):
    """Returns a picture as a Pillow image, upright, RGB, over white where it is transparent."""
    from PIL import Image, ImageOps
    try:
        if isinstance(image, (bytes, bytearray)):
            image = Image.open(io.BytesIO(image))
        elif isinstance(image, np.ndarray):
            if image.dtype != np.uint8:
                raise ValueError(f'its numbers are {image.dtype}, and 0 to 255 in uint8 are wanted')
            image = Image.fromarray(image)
        elif not isinstance(image, Image.Image):
            image = Image.open(image)
        image = ImageOps.exif_transpose(image)
        if image.mode.startswith('I'):  # 16 bits of grey
            image = Image.fromarray((np.asarray(image) >> 8).clip(0, 255).astype(np.uint8))
        if not image.has_transparency_data:
            return image.convert('RGB')
        rgba = np.asarray(image.convert('RGBA'), np.uint32)
        alpha = rgba[..., 3:]
        return Image.fromarray(((rgba[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8))
    except (AttributeError, OSError, TypeError, ValueError, Image.DecompressionBombError) as error:
        raise MetaqdaError('unreadable-picture', f'This is no picture that can be read ({error}): give a JPEG, PNG, WebP or GIF file, or pixels in uint8.') from error


def _views(image, manifest):
    """Returns what the network looks at: views×size×size×3. Pillow's BILINEAR is the antialiased triangle
    of preprocess.js."""
    from PIL import Image
    size, (width, height) = manifest['inputSize'], image.size
    views = []
    for view in manifest['views']:
        part = image
        if 'share' in view:
            side = max(1, int(view['share'] * min(width, height) + .5))
            x, y = (width - side) // 2, (height - side) // 2
            part = image.crop((x, y, x + side, y + side))  # resize's own box would blend its surroundings in
        views.append(np.asarray(part.resize((size, size), Image.Resampling.BILINEAR), np.float32))
    return np.stack(views)
