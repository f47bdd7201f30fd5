// @ts-check
/** Data sets: .npz files as numpy writes them, and what is no such file. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
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

test('an array that is not as large as the file says is refused', async () => {
  const bytes = npy('<f4', [4, 3], rows);
  const file = zipSync({ 'embeddings.npy': bytes, 'labels.npy': labels });
  for (const more of [-1, 1]) {
    await assert.rejects(readNpz(lying(file, 'embeddings.npy', bytes.length + more)), { code: 'format', message: /not all there|it is damaged/ });
  }
  const wrong = npy('<f4', [5, 3], rows);
  await assert.rejects(readNpz(lying(zipSync({ 'embeddings.npy': wrong, 'labels.npy': labels }), 'embeddings.npy', wrong.length + 12)), { code: 'format', message: /it is damaged/ });
});

test('every changed bit of what is read is noticed', async () => {
  const file = zipSync({ 'embeddings.npy': npy('<f4', [4, 3], rows), 'labels.npy': labels }, { level: 0 });
  const first = Buffer.from(file).indexOf('embeddings.npy') + 'embeddings.npy'.length;
  for (let at = first; at < first + 128 + rows.byteLength; at++) {
    const changed = Uint8Array.from(file);
    changed[at] ^= 1 << at % 8;
    await assert.rejects(readNpz(changed), { code: 'format' }, `byte ${at}`);
  }
});

test('a file with an array twice is refused', async () => {
  const file = Buffer.from(zipSync({ 'embeddings.npy': npy('<f4', [4, 3], rows), 'embeddingz.npy': new Uint8Array(1), 'labels.npy': labels }));
  const twice = Buffer.from(file.toString('latin1').replaceAll('embeddingz', 'embeddings'), 'latin1');
  await assert.rejects(readNpz(new Uint8Array(twice)), { code: 'format', message: /it has “embeddings” more than once/ });
});

test('numbers told in 64 bits are read', async () => {
  const file = new Uint8Array(await readFile(new URL('../../../testdata/dataset/float32.npz', import.meta.url)));
  assert.deepEqual((await readNpz(wide(file))).embeddings, (await readNpz(file)).embeddings);
  await assert.rejects(readNpz(wide(file, 2n ** 60n)), { code: 'format', message: /larger than 512 MiB/ });
});

/**
 * The same zip with the size of its first listed entry in 64 bits, as programs write
 * that do not know sizes beforehand, and its directory told by a record of 64 bits.
 *
 * @param {Uint8Array} file
 * @param {bigint} [size]
 */
function wide(file, size) {
  const bytes = Buffer.from(file);
  const end = bytes.length - 22;
  const [at, count] = [bytes.readUInt32LE(end + 16), bytes.readUInt16LE(end + 10)];
  const entry = at + 46 + bytes.readUInt16LE(at + 28);
  const extra = Buffer.alloc(12);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8, 2);
  extra.writeBigUInt64LE(size ?? BigInt(bytes.readUInt32LE(at + 24)), 4);
  const listed = Buffer.from(bytes.subarray(at, entry));
  listed.writeUInt32LE(0xffffffff, 24);
  listed.writeUInt16LE(12, 30);
  const rest = bytes.subarray(entry + bytes.readUInt16LE(at + 30), end);
  const record = Buffer.alloc(56 + 20);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(BigInt(count), 32);
  record.writeBigUInt64LE(BigInt(at), 48);
  record.writeUInt32LE(0x07064b50, 56);
  record.writeBigUInt64LE(BigInt(at + listed.length + 12 + rest.length), 64);
  const tail = Buffer.from(bytes.subarray(end));
  tail.writeUInt16LE(0xffff, 10);
  tail.writeUInt32LE(0xffffffff, 16);
  return new Uint8Array(Buffer.concat([bytes.subarray(0, at), listed, extra, rest, record, tail]));
}

/**
 * Reads a file in a process of its own.
 *
 * @param {Uint8Array} file
 * @returns {Promise<{message: string, took: number, seconds: number}>} what is said, and memory in MiB
 */
async function apart(file) {
  const program = `
    const { readNpz } = await import(${JSON.stringify(new URL('../../files/npz.mjs', import.meta.url).href)});
    const parts = [];
    for await (const part of process.stdin) parts.push(part);
    const file = new Uint8Array(Buffer.concat(parts));
    const before = process.resourceUsage().maxRSS;
    const start = process.cpuUsage().user;
    const message = await readNpz(file).then(() => 'read', (error) => error.message);
    console.log(JSON.stringify({ message, took: (process.resourceUsage().maxRSS - before) / 1024, seconds: (process.cpuUsage().user - start) / 1e6 }));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(file);
  let text = '';
  for await (const part of child.stdout) text += part;
  return JSON.parse(text);
}

test('a bomb is refused in little memory and time, whether it lies or not', async () => {
  const zeros = new Uint8Array(1 << 27);
  const bomb = (/** @type {number[]} */ shape) => zipSync({ 'embeddings.npy': [Buffer.concat([npy('<f4', shape, new Uint8Array(0)), zeros]), { level: 1 }], 'labels.npy': labels });
  const large = bomb([1 << 17, 256]);
  const cases = [
    { file: large, message: /unpacks to 128 MiB from \d+ bytes, at most \d+ MiB are taken/ },
    { file: lying(bomb([4, 3]), 'embeddings.npy', 128 + 48), message: /it is damaged/ },
    { file: lying(large, 'embeddings.npy', 128 + 48), message: /not all there|it is damaged/ },
  ];
  for (const { file, message } of cases) {
    const said = await apart(file);
    assert.match(said.message, message);
    assert.ok(said.took < 100 && said.seconds < 2, `${file.length} bytes took ${said.took} MiB and ${said.seconds} s`);
  }
});

/** Whole numbers below a bound, the same at every run (mulberry32). @param {number} seed */
function random(seed) {
  return (/** @type {number} */ below) => {
    seed = seed + 0x6d2b79f5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return Math.floor(((t ^ t >>> 14) >>> 0) / 2 ** 32 * below);
  };
}

// FUZZ_SECONDS makes it go on for as long, with a seed of its own, which is told.
test('changed files are read or refused, never anything else', async () => {
  const half = npy('<f2', [4, 3], new Uint16Array(12));
  const pool = [
    zipSync({ 'embeddings.npy': npy('<f4', [4, 3], rows), 'labels.npy': labels }),
    zipSync({ 'embeddings.npy': half, 'labels.npy': npy('<i8', [4], BigInt64Array.of(5n, 5n, 9n, 9n)) }, { level: 0 }),
    wide(new Uint8Array(await readFile(new URL('../../../testdata/dataset/float32.npz', import.meta.url)))),
  ];
  const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
  const seed = seconds ? Date.now() | 0 : 1;
  const any = random(seed);
  const end = Date.now() + 1000 * seconds;
  let done = 0;
  let read = 0;
  for (; done < 3000 || Date.now() < end; done++) {
    const file = mutant(pool[any(pool.length)], any);
    try {
      const set = await readNpz(file);
      assert.equal(set.embeddings.length, set.labels.length * set.dimension);
      read++;
    } catch (error) {
      assert.equal(/** @type {any} */ (error).code, 'format', `seed ${seed}, file ${done}: ${/** @type {any} */ (error).stack}`);
    }
  }
  if (seconds) console.log(`npz: ${done} files, ${read} of them read, seed ${seed}`);
});

/**
 * Changes some bytes, or replaces numbers by awkward ones, or moves parts.
 *
 * @param {Uint8Array} file
 * @param {(below: number) => number} any
 */
function mutant(file, any) {
  const bytes = Buffer.from(file);
  for (let n = 1 + any(4); n > 0; n--) {
    const at = any(bytes.length - 8);
    switch (any(5)) {
      case 0: bytes[at] ^= 1 << any(8); break;
      case 1: bytes[at] = any(256); break;
      case 2: bytes.writeUInt32LE([0, 1, 0x7fffffff, 0xffffffff, bytes.length, 1 << 29][any(6)], at); break;
      case 3: bytes.copy(bytes, at, any(bytes.length), any(bytes.length)); break;
      default: bytes.write('0123456789'[any(10)].repeat(1 + any(8)), at, 'latin1');
    }
  }
  return new Uint8Array(bytes.subarray(0, any(10) ? bytes.length : any(bytes.length)));
}

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
