// @ts-check
/**
 * Width and height that the header of a picture claims, before anything is decoded; null where it does not tell. JPEG,
 * PNG, GIF and WebP are known.
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
  if (has(8, 'WEBPVP8L')) return size((view.getUint32(21, true) & upTo) + 1, (view.getUint32(21, true) >>> 14 & upTo) + 1);
  if (has(8, 'WEBPVP8 ')) return size(view.getUint16(26, true) & upTo, view.getUint16(28, true) & upTo);
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; at += 2 + view.getUint16(at + 2)) {
    const frame = bytes[at + 1] >= 0xc0 && bytes[at + 1] <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(bytes[at + 1]); // those are tables
    if (frame) return size(view.getUint16(at + 7), view.getUint16(at + 5));
  }
  return null;
}
