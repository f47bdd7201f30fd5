// @ts-check
/**
 * Reads a data set of embeddings: an .npz file (a zip of .npy arrays) with `embeddings`,
 * n rows of d floats, and `labels`, n whole numbers. Pure but for the browser's own
 * decompression.
 *
 * Formats: PKWARE's APPNOTE.TXT 4.3 for zip, numpy.lib.format for .npy.
 */

/** @typedef {import('../engine/trainer.js').Dataset} Dataset */
/** @typedef {{shape: number[], data: Float32Array|Float64Array|Int32Array|BigInt64Array|Uint16Array, half: boolean}} Npy */

const END = 0x06054b50; // end of central directory
const ENTRY = 0x02014b50; // one file in the central directory
/** Most bytes that are unpacked. */
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
  const entries = directory(file);
  const embeddings = parseNpy(await unpack(file, entries, 'embeddings.npy'), 'embeddings');
  const labels = parseNpy(await unpack(file, entries, 'labels.npy'), 'labels');
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
 * Finds the files of a zip by its central directory.
 *
 * @param {Uint8Array} file
 * @returns {Map<string, {method: number, packed: number, size: number, offset: number}>}
 */
function directory(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let at = file.length - 22;
  while (at >= 0 && at > file.length - 22 - 65536 && view.getUint32(at, true) !== END) at--;
  if (at < 0 || view.getUint32(at, true) !== END) throw unusable('it is no .npz file, or not all of one');
  const count = view.getUint16(at + 10, true);
  let next = view.getUint32(at + 16, true);
  const entries = new Map();
  for (let i = 0; i < count; i++) {
    if (next + 46 > file.length || view.getUint32(next, true) !== ENTRY) throw unusable('its list of arrays is damaged');
    const nameLength = view.getUint16(next + 28, true);
    const name = new TextDecoder().decode(file.subarray(next + 46, next + 46 + nameLength));
    entries.set(name, {
      method: view.getUint16(next + 10, true), packed: view.getUint32(next + 20, true),
      size: view.getUint32(next + 24, true), offset: view.getUint32(next + 42, true),
    });
    next += 46 + nameLength + view.getUint16(next + 30, true) + view.getUint16(next + 32, true);
  }
  return entries;
}

/**
 * @param {Uint8Array} file
 * @param {ReturnType<typeof directory>} entries
 * @param {string} name
 * @returns {Promise<Uint8Array>}
 */
async function unpack(file, entries, name) {
  const entry = entries.get(name);
  if (!entry) throw unusable(`it has no “${name.replace('.npy', '')}”`);
  if (entry.size > LIMIT) throw unusable(`“${name}” is larger than ${LIMIT >> 20} MiB`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (entry.offset + 30 > file.length) throw unusable('it is not all there');
  // The local header's own lengths count: its extra field may differ from the directory's.
  const from = entry.offset + 30 + view.getUint16(entry.offset + 26, true) + view.getUint16(entry.offset + 28, true);
  const packed = file.subarray(from, from + entry.packed);
  if (packed.length !== entry.packed) throw unusable('it is not all there');
  const bytes = entry.method === 0 ? packed : await inflate(packed, entry);
  if (bytes.length !== entry.size) throw unusable('it is damaged');
  return bytes;
}

/** @param {Uint8Array} packed @param {{method: number}} entry */
async function inflate(packed, { method }) {
  if (method !== 8) throw unusable(`it is packed by method ${method}, which browsers do not know`);
  const stream = new Blob([new Uint8Array(packed)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer().catch(() => { throw unusable('it is damaged'); }));
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

/** The IEEE 754 binary16 number with these bits. @param {number} bits */
function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = bits >> 10 & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}
