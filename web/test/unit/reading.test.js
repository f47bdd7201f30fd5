// @ts-check
/**
 * Packs of records are what wasm/store/testdata/packs.json has, which the tests of wasm/store read: so one writes what
 * the other reads. UPDATE=1 writes that file anew. Reading itself is tested in a browser.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import test from 'node:test';
import { Packer } from '../../engine/reading.js';

const FILE = new URL('../../../wasm/store/testdata/packs.json', import.meta.url);
const EXAMPLE = ['id', 'session', 'class', 'order', 'embedding', 'thumbnail', 'group'];
const SESSION = ['id', 'name', 'created', 'updated', 'saved', 'sort', 'nonePrior', 'prior', 'extractor', 'extractorSum'];
const bytes = (/** @type {number[]} */ ...some) => new Uint8Array(some);

/** @type {Record<string, {table: string, fields: string[], records: [string, unknown][]}>} */
const cases = {
  'as they are written now': { table: 'examples', fields: EXAMPLE, records: [
    ['a', { id: 'a', session: 's', class: 'cat', order: 1, embedding: bytes(0, 0, 128, 63, 0, 0, 0, 64) }],
    ['b', { id: 'b', session: 's', class: 'dog', order: -2.5, embedding: bytes(0, 0, 64, 64, 0, 0, 128, 64) }],
  ] },
  'with a thumbnail, as before, or a group': { table: 'examples', fields: EXAMPLE, records: [
    ['a', { id: 'a', session: 's', class: 'cat', order: 1, embedding: bytes(1, 2, 3, 4), thumbnail: bytes(9) }],
    ['b', { id: 'b', session: 's', class: 'cat', order: 1, embedding: bytes(1, 2, 3, 4), group: 'walk' }],
  ] },
  'what is wrong': { table: 'examples', fields: EXAMPLE, records: [
    ['a', { id: 'another', session: 's', class: null, order: 'first', embedding: 'none' }],
    ['b', { session: 's', class: 'cat', order: true, embedding: bytes() }],
    ['c', { id: 'c', session: 's', class: ['cat'], order: 1, embedding: bytes(1) }], // odd
    ['d', 'oops'], // odd
    ['e', { id: 'e', session: 's', class: 'cat', order: NaN, embedding: bytes(1) }], // odd
    ['f', { id: 'f', session: 's', class: 'cat', order: 3, embedding: bytes(7, 8) }],
  ] },
  'words of all kinds': { table: 'classes', fields: ['id', 'session', 'name', 'order'], records: [
    ['\uFEFFa', { id: '\uFEFFa', session: 's', name: 'Émile – 猫 🐈', order: 0 }],
    ['half \uD83D', { id: '', session: 's', name: '\uDC08 the other half', order: 1 }],
    ['nothing', { id: 'n', session: 's', name: '\0', order: 2 }],
  ] },
  'a session': { table: 'sessions', fields: SESSION, records: [['s', { id: 's', name: 'Kitchen', created: 1.5e12, nonePrior: true, prior: '' }]] },
};

/** What the pack of a case is, and how many were odd. @param {{table: string, fields: string[], records: [string, unknown][]}} one */
function packed({ table, fields, records }) {
  /** @type {import('../../engine/reading.js').Pack[]} */
  const packs = [];
  const packer = new Packer(table, fields, (pack) => { if (pack) packs.push(pack); });
  for (const [key, record] of records) packer.add(key, record);
  packer.send();
  assert.equal(packs.length, 1);
  return { pack: Buffer.from(packs[0].pack).toString('base64'), odd: packs[0].odd };
}

/** A record for JSON, which has neither bytes nor NaN nor halves of characters. @param {any} record @returns {unknown} */
const plain = (record) => (typeof record !== 'object' ? record : Object.fromEntries(Object.entries(record).filter(([, v]) => v !== null).map(([name, v]) =>
  [name, v instanceof Uint8Array ? { bytes: [...v] } : typeof v === 'string' ? Buffer.from(v).toString() : v])));

test('packs are those that the program is tested with', async () => {
  const made = Object.fromEntries(Object.entries(cases).map(([name, one]) => {
    const { pack, odd } = packed(one);
    const records = one.records.map(([key, record]) => ({ key: Buffer.from(key).toString(), record: odd.includes(record) ? null : plain(record) }));
    return [name, { table: one.table, fields: one.fields, records, pack }];
  }));
  if (process.env.UPDATE) await writeFile(FILE, `${JSON.stringify(made)}\n`);
  assert.deepEqual(made, JSON.parse(await readFile(FILE, 'utf8')));
  assert.deepEqual(made['what is wrong'].records.map(({ record }) => record === null), [false, false, true, true, true, false]);
});

test('a pack is handed out when it is large, or has many records', () => {
  /** @type {number[]} */
  const counts = [];
  const packer = new Packer('examples', EXAMPLE, (pack) => counts.push(new Float64Array(/** @type {any} */ (pack).pack.buffer, 0, 1)[0]));
  const add = (/** @type {number} */ n, /** @type {number} */ length) => { for (let i = 0; i < n; i++) packer.add(`${i}`, { id: `${i}`, session: 's', class: 'k', order: i, embedding: new Uint8Array(length) }); };
  add(100, 4416);
  packer.send();
  add(600, 8);
  packer.send();
  packer.send(); // of nothing
  packer.add(/** @type {any} */ (7), {}); // a key that nothing writes
  packer.send();
  assert.deepEqual(counts, [58, 42, 250, 250, 100]);
});
