// @ts-check
/**
 * Reads what a browser calls a picture (Blob, ImageBitmap, ImageData, a video
 * frame already caught in an ImageBitmap) and feeds it to the reducer in bands.
 * Works in a worker and in a window.
 */
import { ExtractorError } from './errors.js';
import { Reducer, centreSquare, preprocess } from './preprocess.js';

/** Pixels read back at a time: 4 MB of RGBA. */
const bandPixels = 1 << 20;

/** No colour management and no premultiplication: the bytes of the file, upright. @type {ImageBitmapOptions} */
const asStored = { colorSpaceConversion: 'none', premultiplyAlpha: 'none', imageOrientation: 'from-image' };

/**
 * Decodes a picture file the way the extractor wants it.
 * @param {Blob} blob
 * @returns {Promise<ImageBitmap>} rejects with code 'unreadable-picture'
 */
export async function decodePicture(blob) {
  try {
    return await createImageBitmap(blob, asStored);
  } catch (error) {
    if (error instanceof TypeError) return decodePlainly(blob); // a browser that knows not all options
    throw unreadable(blob);
  }
}

/** @param {Blob} blob */
async function decodePlainly(blob) {
  try {
    return await createImageBitmap(blob);
  } catch {
    throw unreadable(blob);
  }
}

/** @param {Blob} blob */
function unreadable(blob) {
  const name = 'name' in blob && blob.name ? `'${blob.name}'` : 'This file';
  return new ExtractorError('unreadable-picture',
    `${name} is not a picture this browser can read; use a JPEG, PNG, WebP or GIF file.`);
}

/**
 * @param {Blob | ImageBitmap | ImageData} source
 * @param {number} size edge of the extractor's input
 * @param {() => Promise<void>} [pause] called between bands, so that a window stays responsive
 * @returns {Promise<Float32Array>} size*size*3
 */
export async function pixelsOf(source, size, pause = async () => {}) {
  if (source instanceof ImageData) return preprocess(source, size);
  if (source instanceof ImageBitmap) return reduceBitmap(source, size, pause);
  if (source instanceof Blob) {
    const bitmap = await decodePicture(source);
    try {
      return await reduceBitmap(bitmap, size, pause);
    } finally {
      bitmap.close();
    }
  }
  throw new ExtractorError('unreadable-picture', 'Give the extractor a picture: a file, an ImageBitmap or an ImageData.');
}

/** @param {ImageBitmap} bitmap @param {number} size @param {() => Promise<void>} pause */
async function reduceBitmap(bitmap, size, pause) {
  if (bitmap.width === 0) {
    throw new ExtractorError('unreadable-picture', 'This picture has been closed already; add it once more.');
  }
  const { x, y, side } = centreSquare(bitmap.width, bitmap.height);
  const reducer = new Reducer(side, size);
  const rows = Math.min(side, Math.max(1, Math.floor(bandPixels / side)));
  const context = context2d(side, rows);
  for (let row = 0; row < side; row += rows) {
    if (row > 0) await pause();
    const count = Math.min(rows, side - row);
    context.clearRect(0, 0, side, rows);
    context.drawImage(bitmap, x, y + row, side, count, 0, 0, side, count);
    reducer.addRows(context.getImageData(0, 0, side, count).data, count);
  }
  return reducer.finish();
}

/**
 * A canvas that lives in main memory: the pixels are read back at once.
 * @param {number} width @param {number} height
 * @returns {OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D}
 */
function context2d(width, height) {
  const canvas = typeof OffscreenCanvas === 'function'
    ? new OffscreenCanvas(width, height)
    : Object.assign(document.createElement('canvas'), { width, height });
  const context = /** @type {CanvasRenderingContext2D | null} */ (
    canvas.getContext('2d', { willReadFrequently: true }));
  if (!context) {
    throw new ExtractorError('no-canvas', 'This browser gave no canvas to read the picture with; close some tabs and try again.');
  }
  context.imageSmoothingEnabled = false;
  return context;
}
