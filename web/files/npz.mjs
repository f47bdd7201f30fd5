// @ts-check
/**
 * Reads a data set of embeddings: an .npz file (a zip of .npy arrays) with `embeddings`,
 * n rows of d floats, and `labels`, n whole numbers. Bundled with fflate into npz.js,
 * which the page fetches when it is first given such a file.
 *
 * Format: numpy.lib.format.
 */
import { FlateErrorCode, unzipSync } from 'fflate';

/** @typedef {import('../engine/trainer.js').Dataset} Dataset */
/** @typedef {{shape: number[], data: Float32Array|Float64Array|Int32Array|BigInt64Array|Uint16Array, half: boolean}} Npy */

/** Most bytes of an array that is unpacked. */
const LIMIT = 1 << 29;

/** @param {string} message */
function unusable(message) {
  return Object.assign(new Error(`This data set cannot be used: ${message}. It takes an .npz file with “embeddings” (rows of numbers) and “labels” (whole numbers).`), { code: 'format' });
}

/**
 * @param {Uint8Array} file
 * @returns {Promise<Dataset>} classes are named by their numbers
 */
export async function readNpz(file) {
  const arrays = unpack(file, ['embeddings.npy', 'labels.npy']);
  const embeddings = parseNpy(arrays[0], 'embeddings');
  const labels = parseNpy(arrays[1], 'labels');
  const [rows, dimension] = embeddings.shape;
  if (embeddings.shape.length !== 2 || !dimension) throw unusable('“embeddings” has not two axes');
  if (labels.shape.length !== 1 || labels.shape[0] !== rows) throw unusable(`there are ${rows} embeddings and ${labels.shape.join('×')} labels`);
  return { embeddings: toFloat32(embeddings), dimension, ...classes(labels.data) };
}

/**
 * Numbers the classes that occur, in ascending order.
 *
 * @param {ArrayLike<number|bigint>} values
 */
function classes(values) {
  const numbers = Array.from(values, Number);
  if (!numbers.every(Number.isInteger)) throw unusable('“labels” are no whole numbers');
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const index = new Map(distinct.map((value, i) => [value, i]));
  return { labels: Int32Array.from(numbers, (value) => /** @type {number} */ (index.get(value))), names: distinct.map(String) };
}

/**
 * Unpacks the named arrays. fflate writes each into as many bytes as the zip declares, so nothing that is packed more
 * tightly than it says takes more memory than the limit.
 *
 * @param {Uint8Array} file
 * @param {string[]} names
 * @returns {Uint8Array[]} in the order of names
 */
function unpack(file, names) {
  /** @type {Map<string, number>} bytes declared, of the arrays that are unpacked */
  const sizes = new Map();
  const arrays = unzipped(file, ({ name, originalSize, compression }) => {
    if (!names.includes(name)) return false;
    if (originalSize > LIMIT) throw unusable(`“${name}” is larger than ${LIMIT >> 20} MiB`);
    if (compression !== 0 && compression !== 8) throw unusable(`it is packed by method ${compression}, which browsers do not know`);
    sizes.set(name, originalSize);
    return true;
  });
  return names.map((name) => {
    if (!sizes.has(name)) throw unusable(`it has no “${name.replace('.npy', '')}”`);
    if (arrays[name].length !== sizes.get(name)) throw unusable('it is damaged');
    return arrays[name];
  });
}

/**
 * fflate's unzipSync with sentences for errors.
 *
 * @param {Uint8Array} file
 * @param {import('fflate').UnzipFileFilter} filter
 */
function unzipped(file, filter) {
  try {
    return unzipSync(file, { filter });
  } catch (error) {
    const { code } = /** @type {{code?: unknown}} */ (error);
    if (code === 'format') throw error;
    throw unusable(code === FlateErrorCode.InvalidZipData ? 'it is no .npz file, or not all of one' : 'it is damaged');
  }
}

/**
 * @param {Uint8Array} bytes
 * @param {string} name
 * @returns {Npy}
 */
function parseNpy(bytes, name) {
  if (bytes.length < 12 || bytes[0] !== 0x93 || new TextDecoder().decode(bytes.subarray(1, 6)) !== 'NUMPY') throw unusable(`“${name}” is no array`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [length, start] = bytes[6] === 1 ? [view.getUint16(8, true), 10] : [view.getUint32(8, true), 12];
  const header = new TextDecoder().decode(bytes.subarray(start, start + length));
  const descr = /'descr':\s*'([<|=]?)([fi])(\d)'/.exec(header);
  const shape = /'shape':\s*\(([\d,\s]*)\)/.exec(header)?.[1].split(',').filter((s) => s.trim()).map(Number);
  if (!descr || !shape || /'fortran_order':\s*True/.test(header)) throw unusable(`“${name}” is stored in a way that cannot be read here (${header.trim()})`);
  const kind = descr[2] + descr[3];
  const array = { f2: Uint16Array, f4: Float32Array, f8: Float64Array, i4: Int32Array, i8: BigInt64Array }[kind];
  const count = shape.reduce((a, b) => a * b, 1);
  const data = bytes.slice(start + length);
  if (!array) throw unusable(`the numbers of “${name}” are of type ${kind}`);
  if (data.length !== count * array.BYTES_PER_ELEMENT) throw unusable(`“${name}” is not all there`);
  return { shape, data: new array(data.buffer), half: kind === 'f2' };
}

/** @param {Npy} array @returns {Float32Array} */
function toFloat32({ data, half }) {
  if (data instanceof Float32Array) return data;
  if (half) return Float32Array.from(/** @type {Uint16Array} */ (data), fromHalf);
  if (data instanceof Float64Array) return Float32Array.from(data);
  throw unusable('“embeddings” are no floats');
}

/**
 * The IEEE 754 binary16 number with these bits. Float16Array would do, but is missing in browsers that can all the rest.
 *
 * @param {number} bits
 */
function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = bits >> 10 & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}
