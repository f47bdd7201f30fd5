// @ts-check
/** NumPy's .npz: a zip of .npy arrays. */
import { createRequire } from 'node:module';

const load = createRequire(new URL('../../web/package.json', import.meta.url));
const { zipSync, unzipSync } = load('fflate');

/** @typedef {{shape: number[], data: Float32Array | Int32Array}} Array row major */

/**
 * One array in .npy format 1.0: magic, a Python literal padded to 64 bytes, the values little-endian.
 * @param {Array} array
 */
function npy({ shape, data }) {
  const descr = data instanceof Float32Array ? '<f4' : '<i4';
  const dims = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const literal = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${dims}), }`;
  const header = literal.padEnd(Math.ceil((10 + literal.length + 1) / 64) * 64 - 10 - 1) + '\n';
  const bytes = new Uint8Array(10 + header.length + data.byteLength);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  bytes.set(new TextEncoder().encode(header), 10);
  bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), 10 + header.length);
  return bytes;
}

/**
 * The same arrays always give the same bytes.
 * @param {Record<string, Array>} arrays
 * @returns {Uint8Array}
 */
export function encodeNPZ(arrays) {
  const files = Object.fromEntries(Object.entries(arrays).map(([name, array]) => [`${name}.npy`, npy(array)]));
  return zipSync(files, { level: 6, mtime: new Date(1980, 0, 1) });
}

/**
 * Reads files of encodeNPZ, and of NumPy with '<f4' and '<i4'.
 * @param {Uint8Array} bytes
 * @returns {Record<string, Array>}
 */
export function decodeNPZ(bytes) {
  return Object.fromEntries(Object.entries(unzipSync(bytes)).map(([name, file]) =>
    [name.replace(/\.npy$/, ''), readNPY(/** @type {Uint8Array} */ (file))]));
}

/** @param {Uint8Array} file @returns {Array} */
function readNPY(file) {
  const length = file[8] | (file[9] << 8);
  const header = new TextDecoder().decode(file.subarray(10, 10 + length));
  const [, descr, dims] = /'descr': '(<f4|<i4)', 'fortran_order': False, 'shape': \(([\d, ]*)\)/.exec(header) ?? [];
  if (!descr) throw new Error(`Cannot read an array with the header ${header.trim()}`);
  const values = file.slice(10 + length).buffer;
  return {
    shape: dims.split(',').filter((d) => d.trim() !== '').map(Number),
    data: descr === '<f4' ? new Float32Array(values) : new Int32Array(values),
  };
}
