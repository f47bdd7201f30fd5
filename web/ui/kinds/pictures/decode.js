// @ts-check
/** Decodes picture files, and makes thumbnails. */
import { MetaqdaError } from '../../../base/remote.js';
import { decodePicture } from '../../../extractor/pixels.js';
import { drawing, encoded } from './draw.js';
import { encodeInWorker } from './encoder.js';

/** Edge of the square that a thumbnail fits into, in pixels: enough for a person, and for an extractor to read it again. */
export const THUMBNAIL = 256;

/** Longest edge, in pixels, of a file that is decoded by an <img>, such as a drawing (SVG). */
const LARGEST = 1024;

/** Most pixels of a picture: decoding takes four bytes and some nanoseconds per pixel. */
const MOST_PIXELS = 120e6;

/** Bytes searched for a header: in a JPEG a thumbnail and a colour profile may come first. */
const HEADER = 256 << 10;

const HEIC = /\.(heic|heif)$/i;
const PICTURE = /\.(jpe?g|png|gif|webp|avif|bmp|svg|ico|tiff?|heic|heif|jxl)$/i;

/** Makes the error for a picture that cannot be used. @param {string} sentence that names the file */
const unusable = (sentence) => new MetaqdaError('picture', sentence);

/**
 * Whether a file seems to be a picture, by its type, or by its name if it has
 * no type.
 *
 * @param {{name: string, type: string}} file
 */
export function claimsPicture(file) {
  return file.type.startsWith('image/') || (file.type === '' && PICTURE.test(file.name));
}

/**
 * Whether a file is a drawing (SVG). An <img> may show it differently from the pixels that are
 * read: it animates, and a drawing without a size fills the page.
 *
 * @param {{name: string, type: string}} file
 */
export const isDrawing = (file) => file.type === 'image/svg+xml' || (file.type === '' && /\.svg$/i.test(file.name));

/**
 * The message about a file that could not be decoded.
 *
 * @param {{name: string, type: string, size: number}} file
 */
export function refusal(file) {
  const name = `“${file.name || 'The pasted picture'}”`;
  if (file.size === 0) return `${name} is empty, so there is no picture in it: choose another file.`;
  if (HEIC.test(file.name) || /hei[cf]/.test(file.type)) {
    return `${name} is a HEIC picture, which this browser cannot open: save it as JPEG or PNG and add that file.`;
  }
  if (/\.safetensors$/i.test(file.name)) return `${name} is not a picture: open a saved session under Sessions.`;
  if (!claimsPicture(file)) return `${name} is not a picture: choose a JPEG, PNG or WebP file.`;
  return `${name} could not be read as a picture: it may be damaged, or in a format that this browser does not know. Save it as JPEG or PNG and add that file.`;
}

/**
 * Decodes a file, upright as its EXIF data says.
 *
 * @param {File} file
 * @returns {Promise<ImageBitmap>} the caller closes it
 * @throws {MetaqdaError} with a message that names the file
 */
export async function decode(file) {
  if (file.size === 0 || !(claimsPicture(file) || file.type === '')) throw unusable(refusal(file));
  const claimed = claimedSize(
    new Uint8Array(
      await file
        .slice(0, HEADER)
        .arrayBuffer()
        .catch(() => new ArrayBuffer(0)),
    ),
  ); // an unreadable file is refused below
  if (claimed && claimed.width * claimed.height > MOST_PIXELS) {
    throw unusable(
      `“${file.name}” has ${claimed.width} × ${claimed.height} pixels, and this page reads at most ${MOST_PIXELS / 1e6} million: make the picture smaller and add it again.`,
    );
  }
  try {
    return await decodePicture(file);
  } catch {
    // SVG has no ImageBitmap decoder in some browsers, but an <img> draws it.
    return decodeByElement(file);
  }
}

/**
 * The width and height in the header of a JPEG, PNG, GIF or WebP file, without decoding it; null for other files.
 *
 * @param {Uint8Array} bytes the beginning of the file
 * @returns {{width: number, height: number}|null}
 */
export function claimedSize(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const has = (/** @type {number} */ at, /** @type {string} */ text) => [...text].every((c, i) => bytes[at + i] === c.charCodeAt(0));
  const size = (/** @type {number} */ width, /** @type {number} */ height) => ({ width, height });
  const upTo = 0x3fff; // WebP has fourteen bits for a side
  if (bytes.length < 30) return null;
  if (has(1, 'PNG') && has(12, 'IHDR')) return size(view.getUint32(16), view.getUint32(20));
  if (has(0, 'GIF8')) return size(view.getUint16(6, true), view.getUint16(8, true));
  if (has(8, 'WEBPVP8X')) return size((view.getUint32(23, true) >>> 8) + 1, (view.getUint32(26, true) >>> 8) + 1);
  if (has(8, 'WEBPVP8L')) return size((view.getUint32(21, true) & upTo) + 1, ((view.getUint32(21, true) >>> 14) & upTo) + 1);
  if (has(8, 'WEBPVP8 ')) return size(view.getUint16(26, true) & upTo, view.getUint16(28, true) & upTo);
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; at += 2 + view.getUint16(at + 2)) {
    const frame = bytes[at + 1] >= 0xc0 && bytes[at + 1] <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(bytes[at + 1]); // these codes are tables
    if (frame) return size(view.getUint16(at + 7), view.getUint16(at + 5));
  }
  return null;
}

/**
 * Decodes a file by an <img>. An edge longer than LARGEST is reduced, and a drawing without a size gets the size of a thumbnail.
 *
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
    if (!hasPixels(bitmap))
      throw unusable(
        `“${file.name}” contains HTML (foreignObject), and browsers do not let a page read the pixels of such a file: save it as PNG and add that file.`,
      );
    return bitmap;
  } catch (error) {
    throw error instanceof MetaqdaError ? error : unusable(refusal(file));
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Whether the browser lets this page read the pixels. @param {ImageBitmap} bitmap */
function hasPixels(bitmap) {
  try {
    return Boolean(drawing(bitmap, { width: 1, height: 1 }).getContext('2d')?.getImageData(0, 0, 1, 1));
  } catch {
    return false;
  }
}

/**
 * Encodes the whole picture, reduced to fit a square, as a JPEG on white.
 *
 * @param {ImageBitmap} bitmap
 * @param {number} edge of the square, in pixels; a smaller picture is not enlarged
 * @returns {Promise<Uint8Array>}
 */
export async function preview(bitmap, edge) {
  return (await encodeInWorker(bitmap, fitted(bitmap, edge))) ?? encoded(drawn(bitmap, edge));
}

/** @param {ImageBitmap} bitmap @param {number} edge */
function fitted(bitmap, edge) {
  const scale = Math.min(1, edge / Math.max(bitmap.width, bitmap.height));
  const pixels = (/** @type {number} */ side) => Math.max(1, Math.round(scale * side));
  return { width: pixels(bitmap.width), height: pixels(bitmap.height) };
}

/** Draws the whole picture on white, reduced to fit a square. @param {ImageBitmap} bitmap @param {number} edge of the square, in pixels; a smaller picture is not enlarged */
export const drawn = (bitmap, edge) => drawing(bitmap, fitted(bitmap, edge));
