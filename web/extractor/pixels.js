// @ts-check
/**
 * Reads what a browser calls a picture and feeds it to the reducer in bands: a Blob, an ImageBitmap
 * (also of a video frame) or ImageData. Works in a worker and in a window.
 */
import { ExtractorError } from './errors.js';
import { Reducer, preprocess } from './preprocess.js';

/** Pixels read back at a time: 4 MB of RGBA. */
const bandPixels = 1 << 20;
/** Longest side of a canvas. Browsers draw nothing on a longer one: Chrome from 65,536 pixels on, others from fewer. */
const longest = 8192;

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
  const rows = Math.min(height, longest, Math.max(1, Math.floor(bandPixels / width)));
  const context = context2d(Math.min(width, longest), rows);
  /** @param {number} x @param {number} y @param {number} columns @param {number} count of rows */
  const read = (x, y, columns, count) => {
    context.clearRect(0, 0, columns, rows);
    context.drawImage(bitmap, x, y, columns, count, 0, 0, columns, count);
    return context.getImageData(0, 0, columns, count).data;
  };
  for (let row = 0; row < height; row += rows) {
    if (row > 0) await pause();
    const count = Math.min(rows, height - row);
    if (width <= longest) {
      reducer.addRows(read(0, row, width, count), count);
      continue;
    }
    const band = new Uint8ClampedArray(4 * width * count);
    for (let x = 0; x < width; x += longest) {
      const columns = Math.min(longest, width - x);
      const part = read(x, row, columns, count);
      for (let y = 0; y < count; y++) band.set(part.subarray(4 * columns * y, 4 * columns * (y + 1)), 4 * (width * y + x));
    }
    reducer.addRows(band, count);
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
