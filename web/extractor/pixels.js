// @ts-check
/**
 * Reads what a browser calls a picture and feeds it to the reducer in bands: a Blob, an ImageBitmap
 * (also of a video frame) or ImageData. Works in a worker and in a window.
 */
import { ExtractorError } from './errors.js';
import { Reducer, preprocess } from './preprocess.js';

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
  return new ExtractorError('unreadable-picture', `${name} is not a picture this browser can read; use a JPEG, PNG, WebP or GIF file.`);
}

/**
 * @param {Blob | ImageBitmap | ImageData} source
 * @param {number} size edge of the extractor's input
 * @param {import('./preprocess.js').View[]} views
 * @param {() => Promise<void>} [pause] called between bands, so that a window stays responsive
 * @returns {Promise<Float32Array[]>} for each view size*size*3
 */
export async function pixelsOf(source, size, views, pause = async () => {}) {
  if (source instanceof ImageData) return preprocess(source, size, views);
  if (source instanceof ImageBitmap) return reduceBitmap(source, size, views, pause);
  if (source instanceof Blob) {
    const bitmap = await decodePicture(source);
    try {
      return await reduceBitmap(bitmap, size, views, pause);
    } finally {
      bitmap.close();
    }
  }
  throw new ExtractorError('unreadable-picture', 'Give the extractor a picture: a file, an ImageBitmap or an ImageData.');
}

/**
 * @param {ImageBitmap} bitmap @param {number} size
 * @param {import('./preprocess.js').View[]} views @param {() => Promise<void>} pause
 */
async function reduceBitmap(bitmap, size, views, pause) {
  const { width, height } = bitmap;
  if (width === 0) {
    throw new ExtractorError('unreadable-picture', 'This picture has been closed already; add it once more.');
  }
  const reducer = new Reducer(width, height, size, views);
  const rows = Math.min(height, Math.max(1, Math.floor(bandPixels / width)));
  const context = context2d(width, rows);
  for (let row = 0; row < height; row += rows) {
    if (row > 0) await pause();
    const count = Math.min(rows, height - row);
    context.clearRect(0, 0, width, rows);
    context.drawImage(bitmap, 0, row, width, count, 0, 0, width, count);
    reducer.addRows(context.getImageData(0, 0, width, count).data, count);
  }
  return reducer.finish();
}

/**
 * A canvas that lives in main memory: the pixels are read back at once.
 * @param {number} width @param {number} height
 * @returns {OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D}
 */
function context2d(width, height) {
  const canvas =
    typeof OffscreenCanvas === 'function' ? new OffscreenCanvas(width, height) : Object.assign(document.createElement('canvas'), { width, height });
  const context = /** @type {CanvasRenderingContext2D | null} */ (canvas.getContext('2d', { willReadFrequently: true }));
  if (!context) {
    throw new ExtractorError('no-canvas', 'This browser gave no canvas to read the picture with; close some tabs and try again.');
  }
  context.imageSmoothingEnabled = false;
  return context;
}
