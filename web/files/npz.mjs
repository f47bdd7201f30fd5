// @ts-check
/**
 * Reads a data set of embeddings: an .npz file (a zip of .npy arrays) with `embeddings`,
 * n rows of d floats, and `labels`, n whole numbers. Bundled with fflate into npz.js,
 * which the page fetches when it is first given such a file.
 *
 * Format: numpy.lib.format.
 */
import { entries, unpack } from './unzip.mjs';

/** @typedef {import('../engine/contract.js').Dataset} Dataset */
/** @typedef {Float32Array|Float64Array|Int32Array|BigInt64Array|Uint16Array} Numbers */
/** @typedef {{shape: number[], data: Numbers, half: boolean}} Npy */

/** Most bytes of an array that is unpacked. */
const LIMIT = 1 << 29;

/**
 * A packed array may unpack to so many bytes, and to so many for each packed one
 * beyond these. Embeddings hardly shrink: only what holds next to nothing meets this
 * bound. core/dataset has the same.
 */
const ROOM = 1 << 26;
const INFLATION = 64;

/** Most bytes before the numbers of an array. Real headers take 128. */
const HEADER = 1 << 16;

/** @param {string} message */
function unusable(message) {
  return Object.assign(new Error(`This data set cannot be used: ${message}. It takes an .npz file with “embeddings” (rows of numbers) and “labels” (whole numbers).`), { code: 'format' });
}

/**
 * @param {Uint8Array} file
 * @returns {Promise<Dataset>} classes are named by their numbers
 */
export async function readNpz(file) {
  const list = listed(file);
  const embeddings = readArray(file, list, 'embeddings');
  const labels = readArray(file, list, 'labels');
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

/** @param {Uint8Array} file */
function listed(file) {
  try {
    return entries(file);
  } catch {
    throw unusable('it is no .npz file, or not all of one');
  }
}

/**
 * Unpacks an array. No memory is taken for its numbers before the zip and the array's
 * own header agree on how many there are.
 *
 * @param {Uint8Array} file
 * @param {import('./unzip.mjs').Entry[]} list
 * @param {string} name
 * @returns {Npy}
 */
function readArray(file, list, name) {
  const [entry, ...others] = list.filter((one) => one.name === `${name}.npy`);
  if (!entry) throw unusable(`it has no “${name}”`);
  if (others.length) throw unusable(`it has “${name}” more than once`);
  const { size, packed, method, flags } = entry;
  if (size > LIMIT) throw unusable(`“${name}.npy” is larger than ${LIMIT >> 20} MiB`);
  if (size > ROOM + INFLATION * packed) throw unusable(`“${name}.npy” unpacks to ${size >> 20} MiB from ${packed} bytes, at most ${ROOM + INFLATION * packed >> 20} MiB are taken`);
  if (method !== 0 && method !== 8) throw unusable(`it is packed by method ${method}, which browsers do not know`);
  if (flags & 1) throw unusable('it is encrypted');
  const reader = new ArrayReader(name, size);
  try {
    unpack(file, entry, (part) => reader.take(part));
  } catch (error) {
    if (/** @type {{code?: unknown}} */ (error).code === 'format') throw error;
    throw unusable('it is damaged');
  }
  return reader.end();
}

/** Puts an array together from parts of its file. */
class ArrayReader {
  #name;
  #size;
  #head = new Uint8Array(0);
  /** @type {Npy|null} */
  #array = null;
  /** @type {Uint8Array} bytes of the numbers, and how many are there */
  #bytes = this.#head;
  #done = 0;

  /** @param {string} name @param {number} size of the file */
  constructor(name, size) {
    this.#name = name;
    this.#size = size;
  }

  /** @param {Uint8Array} part */
  take(part) {
    if (this.#array) return this.#fill(part);
    const head = new Uint8Array(this.#head.length + part.length);
    head.set(this.#head);
    head.set(part, this.#head.length);
    this.#head = head;
    const start = headerLength(head, this.#name);
    if (start > head.length) return;
    this.#array = allocate(head, start, this.#size - start, this.#name);
    this.#bytes = new Uint8Array(this.#array.data.buffer);
    this.#head = head.subarray(0, 0);
    this.#fill(head.subarray(start));
  }

  /** @param {Uint8Array} part */
  #fill(part) {
    this.#bytes.set(part, this.#done);
    this.#done += part.length;
  }

  end() {
    if (!this.#array) throw unusable(`“${this.#name}” is no array`);
    return this.#array;
  }
}

/**
 * Where the numbers of an array begin, as far as that is known.
 *
 * @param {Uint8Array} bytes the first of the array's file
 * @param {string} name
 */
function headerLength(bytes, name) {
  if (bytes.length < 12) return 12;
  if (bytes[0] !== 0x93 || new TextDecoder().decode(bytes.subarray(1, 6)) !== 'NUMPY') throw unusable(`“${name}” is no array`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = bytes[6] === 1 ? 10 + view.getUint16(8, true) : 12 + view.getUint32(8, true);
  if (start > HEADER) throw unusable(`“${name}” has a header of ${start} bytes`);
  return start;
}

/**
 * Room for the numbers that a header promises.
 *
 * @param {Uint8Array} bytes header and perhaps more
 * @param {number} start where the header ends
 * @param {number} size bytes that follow it
 * @param {string} name
 * @returns {Npy}
 */
function allocate(bytes, start, size, name) {
  const header = new TextDecoder().decode(bytes.subarray(bytes[6] === 1 ? 10 : 12, start));
  const descr = /'descr':\s*'([<|=]?)([fi])(\d)'/.exec(header);
  const shape = /'shape':\s*\(([\d,\s]*)\)/.exec(header)?.[1].split(',').filter((s) => s.trim()).map(Number);
  if (!descr || !shape || /'fortran_order':\s*True/.test(header)) throw unusable(`“${name}” is stored in a way that cannot be read here (${header.trim().slice(0, 200)})`);
  const kind = descr[2] + descr[3];
  const array = { f2: Uint16Array, f4: Float32Array, f8: Float64Array, i4: Int32Array, i8: BigInt64Array }[kind];
  if (!array) throw unusable(`the numbers of “${name}” are of type ${kind}`);
  const count = shape.reduce((a, b) => a * b, 1);
  if (count * array.BYTES_PER_ELEMENT !== size) throw unusable(`“${name}” is not all there`);
  return { shape, data: new array(count), half: kind === 'f2' };
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
