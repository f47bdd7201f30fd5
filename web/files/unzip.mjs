// @ts-check
/**
 * Arrays in a zip: where they lie, and their bytes as a stream. fflate inflates, but
 * unpacks an entry to its end, whatever the zip says of its length; here the reader
 * stops at the first byte too many. Part of npz.js.
 *
 * Format: APPNOTE.TXT of PKWARE, sections 4.3 and 4.5.3 (Zip64).
 */
import { Inflate } from 'fflate';

/**
 * @typedef {object} Entry
 * @property {string} name
 * @property {number} method 0 stored, 8 deflated
 * @property {number} flags
 * @property {number} crc
 * @property {number} packed bytes in the file
 * @property {number} size bytes unpacked, as the zip says
 * @property {number} at where its local header begins
 */

const END = 0x06054b50;
const END64 = 0x06064b50;
const LOCATOR64 = 0x07064b50;
const LISTED = 0x02014b50;
const LOCAL = 0x04034b50;
/** Stands for a number of 64 bits that is told elsewhere. */
const WIDE = 0xffffffff;

/** Packed bytes that are unpacked at once. Deflate makes at most 1032 of one, hence 16 MiB. */
const STEP = 1 << 14;

/**
 * What the zip lists.
 *
 * @param {Uint8Array} file
 * @returns {Entry[]}
 * @throws {RangeError} where the file is no zip, or not all of one
 */
export function entries(file) {
  const view = viewOf(file);
  let { count, at } = directory(view);
  const found = [];
  for (; count > 0; count--) {
    if (view.getUint32(at, true) !== LISTED) throw new RangeError('no entry where one is listed');
    const [name, extra, comment] = [28, 30, 32].map((field) => view.getUint16(at + field, true));
    const rest = at + 46 + name;
    const wide = wideNumbers(view, rest, rest + extra);
    const number = (/** @type {number} */ field) => {
      const value = view.getUint32(at + field, true);
      return value === WIDE ? wide() : value;
    };
    const [size, packed, local] = [number(24), number(20), number(42)];
    found.push({
      name: new TextDecoder().decode(file.subarray(at + 46, rest)), flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true), crc: view.getUint32(at + 16, true), packed, size, at: local,
    });
    at = rest + extra + comment;
  }
  return found;
}

/** @param {Uint8Array} bytes */
function viewOf(bytes) {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Number and place of the listed entries, from the record at the end of the file.
 *
 * @param {DataView} view
 */
function directory(view) {
  const last = view.byteLength - 22;
  let end = last;
  while (view.getUint32(end, true) !== END) { // a comment of 16 bits of length may follow; below 0 is a RangeError
    if (--end < last - 0xffff) throw new RangeError('no end record');
  }
  const count = view.getUint16(end + 10, true);
  const at = view.getUint32(end + 16, true);
  if (count !== 0xffff && at !== WIDE || view.getUint32(end - 20, true) !== LOCATOR64) return { count, at };
  const end64 = long(view, end - 12);
  if (view.getUint32(end64, true) !== END64) throw new RangeError('no end record');
  return { count: long(view, end64 + 32), at: long(view, end64 + 48) };
}

/** @param {DataView} view @param {number} at */
function long(view, at) {
  return Number(view.getBigUint64(at, true));
}

/**
 * The numbers of 64 bits in an entry's extra fields, one by one.
 *
 * @param {DataView} view
 * @param {number} at
 * @param {number} end
 */
function wideNumbers(view, at, end) {
  while (at < end && view.getUint16(at, true) !== 1) at += 4 + view.getUint16(at + 2, true);
  at += 4;
  return () => long(view, (at += 8) - 8);
}

/**
 * Unpacks an entry, a part at a time, and compares length and checksum with what the
 * zip says of it.
 *
 * @param {Uint8Array} file
 * @param {Entry} entry
 * @param {(part: Uint8Array) => void} take may throw to stop
 * @throws where the entry is damaged
 */
export function unpack(file, { at, packed, size, crc, method }, take) {
  const view = viewOf(file);
  if (view.getUint32(at, true) !== LOCAL) throw new RangeError('no entry where one is listed');
  const start = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  if (start + packed > file.length) throw new RangeError('an entry ends after the file');
  let done = 0;
  let sum = -1;
  const stream = method === 0 ? { push: (/** @type {Uint8Array} */ part) => checked(part) } : new Inflate((part) => checked(part));
  const checked = (/** @type {Uint8Array} */ part) => {
    done += part.length;
    if (done > size) throw new RangeError('an entry is longer than it says');
    sum = checksum(sum, part);
    take(part);
  };
  for (let i = 0; i < packed; i += STEP) {
    stream.push(file.subarray(start + i, start + Math.min(packed, i + STEP)), i + STEP >= packed);
  }
  if (done !== size || ~sum >>> 0 !== crc) throw new RangeError('an entry is not what it says');
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? n >>> 1 ^ 0xedb88320 : n >>> 1;
  return n;
});

/** CRC-32, the bits reversed at begin and end by the caller. @param {number} sum @param {Uint8Array} bytes */
function checksum(sum, bytes) {
  for (let i = 0; i < bytes.length; i++) sum = TABLE[(sum ^ bytes[i]) & 255] ^ sum >>> 8;
  return sum;
}
