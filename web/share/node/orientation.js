// @ts-check
/** Turns a photograph as its Exif metadata say: cameras store pictures as their sensor sees them. */

/** @typedef {import('../../extractor/preprocess.js').Pixels} Pixels */

const [APP1, SCAN, TAG] = [0xffe1, 0xffda, 0x0112];

/** The orientation that a JPEG file names, 1 to 8; 1 is upright. @param {Uint8Array} file */
export function orientationOf(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  for (let at = 2; at + 4 <= view.byteLength; ) {
    const [marker, length] = [view.getUint16(at), view.getUint16(at + 2)];
    if (marker === SCAN || length < 2) return 1;
    if (marker === APP1 && length > 16 && at + 2 + length <= view.byteLength && view.getUint32(at + 4) === 0x45786966)
      return inExif(new DataView(file.buffer, file.byteOffset + at + 10, length - 8));
    at += 2 + length;
  }
  return 1;
}

/** @param {DataView} exif from the byte order mark on */
function inExif(exif) {
  const little = exif.getUint16(0) === 0x4949;
  const from = exif.getUint32(4, little);
  if (from + 2 > exif.byteLength) return 1;
  for (let i = 0, at = from + 2, n = exif.getUint16(from, little); i < n && at + 12 <= exif.byteLength; i++, at += 12) {
    const value = exif.getUint16(at + 8, little);
    if (exif.getUint16(at, little) === TAG) return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

/**
 * A picture turned upright. From 5 on rows and columns are exchanged.
 *
 * @param {Pixels} pixels @param {number} orientation @returns {Pixels}
 */
export function upright({ data, width, height }, orientation) {
  if (orientation === 1) return { data, width, height };
  const turned = orientation > 4;
  const [w, h] = turned ? [height, width] : [width, height];
  const from = new Uint32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength));
  const to = new Uint32Array(w * h);
  const acrossBack = [2, 3, 7, 8].includes(orientation);
  const downBack = [3, 4, 6, 7].includes(orientation);
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const [a, b] = turned ? [y, x] : [x, y]; // before anything is mirrored
      to[y * w + x] = from[(downBack ? height - 1 - b : b) * width + (acrossBack ? width - 1 - a : a)];
    }
  }
  return { data: new Uint8Array(to.buffer), width: w, height: h };
}
