// @ts-check
/** Data sets: .npz files as numpy writes them, and what is no such file. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { zipSync } from 'fflate';
import { readNpz } from '../../files/npz.mjs';

/**
 * An array file of numpy's format 1.0.
 *
 * @param {string} descr
 * @param {number[]} shape
 * @param {ArrayBufferView} data
 */
function npy(descr, shape, data, order = 'False') {
  const header = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`.padEnd(117) + '\n';
  const head = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, header.length & 255, header.length >> 8]);
  return new Uint8Array(Buffer.concat([head, Buffer.from(header), Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}

const rows = Float32Array.from({ length: 12 }, (_, i) => i / 4 - 1);
const labels = npy('<i4', [4], Int32Array.of(7, 3, 7, -1));

test('rows and labels are read, packed or not, and classes numbered', async () => {
  for (const level of /** @type {const} */ ([0, 6])) {
    const file = zipSync({ 'embeddings.npy': npy('<f4', [4, 3], rows), 'labels.npy': labels }, { level });
    const set = await readNpz(file);
    assert.equal(set.dimension, 3);
    assert.deepEqual([...set.embeddings], [...rows]);
    assert.deepEqual([...set.labels], [2, 1, 2, 0]);
    assert.deepEqual(set.names, ['-1', '3', '7']);
  }
});

test('doubles, half precision and long labels are read', async () => {
  const halves = Uint16Array.of(0x3c00, 0xc000, 0x3555, 0x0001, 0x8000, 0x7bff, 0, 0x3800, 0xbc01, 0x0400, 0x03ff, 0x5640);
  const numbers = [1, -2, 0.333251953125, 2 ** -24, -0, 65504, 0, 0.5, -1.0009765625, 2 ** -14, 1023 * 2 ** -24, 100];
  const file = zipSync({ 'embeddings.npy': npy('<f2', [4, 3], halves), 'labels.npy': npy('<i8', [4], BigInt64Array.of(5n, 5n, 9n, 9n)) });
  const set = await readNpz(file);
  assert.deepEqual([...set.embeddings], numbers);
  assert.deepEqual([...set.labels], [0, 0, 1, 1]);
  const wide = await readNpz(zipSync({ 'embeddings.npy': npy('<f8', [4, 3], Float64Array.from(rows)), 'labels.npy': labels }));
  assert.deepEqual([...wide.embeddings], [...rows]);
});

test('a file that another program wrote is read', async () => {
  const file = new Uint8Array(await readFile(new URL('../../../testdata/dataset/float32.npz', import.meta.url)));
  const set = await readNpz(file);
  assert.equal(set.embeddings.length, set.labels.length * set.dimension);
  assert.ok(set.embeddings.every(Number.isFinite) && set.names.length > 1);
});

test('what cannot be used is refused with a sentence', async () => {
  const good = { 'embeddings.npy': npy('<f4', [4, 3], rows), 'labels.npy': labels };
  const cases = {
    'no zip': new Uint8Array(100),
    'empty': new Uint8Array(0),
    'no labels': zipSync({ 'embeddings.npy': good['embeddings.npy'] }),
    'one axis': zipSync({ ...good, 'embeddings.npy': npy('<f4', [12], rows) }),
    'too few labels': zipSync({ ...good, 'labels.npy': npy('<i4', [3], new Int32Array(3)) }),
    'short data': zipSync({ ...good, 'embeddings.npy': npy('<f4', [5, 3], rows) }),
    'big-endian': zipSync({ ...good, 'embeddings.npy': npy('>f4', [4, 3], rows) }),
    'by columns': zipSync({ ...good, 'embeddings.npy': npy('<f4', [4, 3], rows, 'True') }),
    'no array': zipSync({ ...good, 'embeddings.npy': new Uint8Array(50) }),
    'integers': zipSync({ ...good, 'embeddings.npy': npy('<i4', [4, 3], new Int32Array(12)) }),
    'fractional labels': zipSync({ ...good, 'labels.npy': npy('<f4', [4], Float32Array.of(0, 0.5, 1, 1)) }),
  };
  for (const [name, file] of Object.entries(cases)) {
    await assert.rejects(readNpz(file), (/** @type {any} */ error) => error.code === 'format' && /cannot be used: .*It takes an \.npz file/s.test(error.message), name);
  }
});

/**
 * A zip whose list and headers tell another size of an array than it has.
 *
 * @param {Uint8Array} file
 * @param {string} name
 * @param {number} size
 */
function lying(file, name, size) {
  const lie = Buffer.from(file);
  for (let at = lie.indexOf(name); at >= 0; at = lie.indexOf(name, at + 1)) {
    const local = lie.readUInt32LE(at - 30) === 0x04034b50;
    lie.writeUInt32LE(size, at - (local ? 30 - 22 : 46 - 24));
  }
  return new Uint8Array(lie);
}

test('an array that is too large is refused before it is unpacked', async () => {
  const file = zipSync({ 'embeddings.npy': npy('<f4', [4, 3], rows), 'labels.npy': labels });
  await assert.rejects(readNpz(lying(file, 'embeddings.npy', 2 ** 29 + 1)), { code: 'format', message: /“embeddings\.npy” is larger than 512 MiB/ });
});

test('an array that is not as large as the file says is damaged, and takes no more memory than it says', async () => {
  const bytes = npy('<f4', [4, 3], rows);
  const file = zipSync({ 'embeddings.npy': bytes, 'labels.npy': labels });
  await assert.rejects(readNpz(lying(file, 'embeddings.npy', bytes.length + 1)), { code: 'format', message: /it is damaged/ });
  const bomb = zipSync({ 'embeddings.npy': npy('<f4', [1 << 16, 256], new Float32Array(1 << 24)), 'labels.npy': labels });
  const before = process.memoryUsage().arrayBuffers;
  await assert.rejects(readNpz(lying(bomb, 'embeddings.npy', 1000)), { code: 'format', message: /“embeddings” is not all there/ });
  assert.ok(process.memoryUsage().arrayBuffers - before < 1 << 20);
});

test('an array packed in a way of its own is refused by its number', async () => {
  const file = Buffer.from(zipSync({ 'embeddings.npy': npy('<f4', [4, 3], rows), 'labels.npy': labels }));
  const at = file.lastIndexOf('embeddings.npy');
  file.writeUInt16LE(12, at - 46 + 10);
  await assert.rejects(readNpz(new Uint8Array(file)), { code: 'format', message: /packed by method 12/ });
});

test('no cut of a file is read as if it were whole, and none breaks the reader', async () => {
  const file = zipSync({ 'embeddings.npy': npy('<f4', [4, 3], rows), 'labels.npy': labels });
  for (let n = 0; n < file.length; n++) await assert.rejects(readNpz(file.subarray(0, n)), { code: 'format' }, `${n} bytes`);
});
