// @ts-check
/** From a file or a video frame to pixels, and from pixels to a small thumbnail. */
import { MetaqdaError } from '../../../base/remote.js';
import { decodePicture } from '../../../extractor/pixels.js';
import { drawing, encoded } from './draw.js';
import { encodeInWorker } from './encoder.js';
import { claimedSize } from './size.js';

/** Edge of a square that a thumbnail fits, in pixels: enough to see what is on it, and for an extractor to read it again. */
export const THUMBNAIL = 256;

/** Drawings without pixels of their own (SVG) are drawn no larger than this edge. */
const LARGEST = 1024;

/** A picture of more pixels is not decoded, which takes four bytes and some nanoseconds for each. */
const MOST_PIXELS = 120e6;

/** A header is looked for in so many bytes: before it a JPEG may have a thumbnail and a colour profile. */
const HEADER = 256 << 10;

const HEIC = /\.(heic|heif)$/i;
const PICTURE = /\.(jpe?g|png|gif|webp|avif|bmp|svg|ico|tiff?|heic|heif|jxl)$/i;

/** Of a picture that cannot be used. @param {string} sentence that names the file */
const unusable = (sentence) => new MetaqdaError('picture', sentence);

/**
 * Whether a file claims to be a picture, by its type or, where the system gives
 * none, by its name.
 *
 * @param {{name: string, type: string}} file
 */
export function claimsPicture(file) {
  return file.type.startsWith('image/') || (file.type === '' && PICTURE.test(file.name));
}

/**
 * Whether a file is a drawing (SVG). An <img> may show another thing than the pixels that are
 * read: it animates, and takes the size from the page where the file names none.
 *
 * @param {{name: string, type: string}} file
 */
export const isDrawing = (file) => file.type === 'image/svg+xml' || (file.type === '' && /\.svg$/i.test(file.name));

/**
 * The one sentence for a file that could not be decoded.
 *
 * @param {{name: string, type: string, size: number}} file
 */
export function refusal(file) {
  const name = `“${file.name || 'The pasted picture'}”`;
  if (file.size === 0) return `${name} is empty, so there is no picture in it.`;
  if (HEIC.test(file.name) || /hei[cf]/.test(file.type)) {
    return `${name} is a HEIC picture, which this browser cannot open: save it as JPEG or PNG and add that.`;
  }
  if (!claimsPicture(file)) return `${name} is not a picture: choose a JPEG, PNG or WebP file.`;
  return `${name} could not be read as a picture: it may be damaged, or in a format this browser does not know.`;
}

/**
 * Decodes a file, upright as its EXIF data says.
 *
 * @param {File} file
 * @returns {Promise<ImageBitmap>} the caller closes it
 * @throws {MetaqdaError} one sentence naming the file
 */
export async function decode(file) {
  if (file.size === 0 || !(claimsPicture(file) || file.type === '')) throw unusable(refusal(file));
  const claimed = claimedSize(new Uint8Array(await file.slice(0, HEADER).arrayBuffer().catch(() => new ArrayBuffer(0)))); // a file that cannot be read is told below
  if (claimed && claimed.width * claimed.height > MOST_PIXELS) {
    throw unusable(`“${file.name}” has ${claimed.width} × ${claimed.height} pixels, and at most ${MOST_PIXELS / 1e6} million are read here: save it smaller and add that.`);
  }
  try {
    return await decodePicture(file);
  } catch {
    // SVG has no ImageBitmap decoder in some browsers, but an <img> draws it.
    return decodeByElement(file);
  }
}

/**
 * @param {File} file
 * @returns {Promise<ImageBitmap>}
 */
async function decodeByElement(file) {
  const url = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const scale = Math.min(1, LARGEST / Math.max(image.naturalWidth, image.naturalHeight, 1));
    const width = Math.max(1, Math.round((image.naturalWidth || THUMBNAIL) * scale));
    const height = Math.max(1, Math.round((image.naturalHeight || THUMBNAIL) * scale));
    const bitmap = await createImageBitmap(image, { resizeWidth: width, resizeHeight: height });
    if (!hasPixels(bitmap)) throw unusable(`“${file.name}” has parts of a web page in it (foreignObject), which browsers show but give no pixels of: save it as PNG and add that.`);
    return bitmap;
  } catch (error) {
    throw error instanceof MetaqdaError ? error : unusable(refusal(file));
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Whether the browser lets pixels be read. @param {ImageBitmap} bitmap */
function hasPixels(bitmap) {
  try {
    return Boolean(drawing(bitmap, { width: 1, height: 1 }).getContext('2d')?.getImageData(0, 0, 1, 1));
  } catch {
    return false;
  }
}

/**
 * Encodes the whole picture, as large as fits a square, as a JPEG on white.
 *
 * @param {ImageBitmap} bitmap
 * @param {number} edge of the square, in pixels; a smaller picture is not enlarged
 * @returns {Promise<Uint8Array>}
 */
export async function preview(bitmap, edge) {
  return await encodeInWorker(bitmap, fitted(bitmap, edge)) ?? encoded(drawn(bitmap, edge));
}

/** @param {ImageBitmap} bitmap @param {number} edge */
function fitted(bitmap, edge) {
  const scale = Math.min(1, edge / Math.max(bitmap.width, bitmap.height));
  const pixels = (/** @type {number} */ side) => Math.max(1, Math.round(scale * side));
  return { width: pixels(bitmap.width), height: pixels(bitmap.height) };
}

/** Draws the whole picture on white, as large as fits a square. @param {ImageBitmap} bitmap @param {number} edge of the square, in pixels; a smaller picture is not enlarged */
export const drawn = (bitmap, edge) => drawing(bitmap, fitted(bitmap, edge));
