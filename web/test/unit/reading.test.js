// @ts-check
/**
 * The pack of these examples is what wasm/store/testdata/pack.json has, which the tests of wasm/store read: so one writes
 * what the other reads. UPDATE=1 writes that file anew. Reading itself is tested in a browser.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import test from 'node:test';
import { Packer } from '../../engine/reading.js';

const FILE = new URL('../../../wasm/store/testdata/pack.json', import.meta.url);
const example = { session: 's', class: 'cat', order: 1, embedding: Uint8Array.of(0, 0, 128, 63, 0, 0, 0, 64) };

/** Packs them under their ids or other keys. @param {string} table @param {[unknown, any][]} records */
function packed(table, records) {
  /** @type {import('../../engine/reading.js').Pack[]} */
  const packs = [];
  const packer = new Packer(table, (pack) => { if (pack) packs.push(pack); });
  for (const [key, record] of records) packer.add(/** @type {any} */ (key), record);
  packer.send();
  packer.send(); // of nothing
  return packs;
}

test('packs are those that the program is tested with', async () => {
  const all = [{ ...example, id: 'a' }, { ...example, id: 'b', class: 'dog', order: -2.5 }, { ...example, id: 'c', group: 'walk', embedding: Uint8Array.of(7) }, { ...example, id: 'd', class: '', embedding: new Uint8Array() }];
  const [{ pack, keys }] = packed('examples', all.map((one) => [one.id, one]));
  assert.deepEqual(keys, []);
  const base64 = (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes).toString('base64');
  const made = { examples: all.map(({ embedding, ...one }) => ({ ...one, embedding: base64(embedding) })), pack: base64(pack) };
  if (process.env.UPDATE) await writeFile(FILE, `${JSON.stringify(made)}\n`);
  assert.deepEqual(made, JSON.parse(await readFile(FILE, 'utf8')));
});

test('what is not as it is written now goes as it is', () => {
  const odd = /** @type {[string, unknown][]} */ ([
    ['a', { ...example, id: 'another' }], ['b', example], ['c', { ...example, id: 'c', class: ['cat'] }], ['d', 'oops'], ['e', { ...example, id: 'e', order: NaN }],
    ['f', { ...example, id: 'f', thumbnail: Uint8Array.of(9) }], ['g', { ...example, id: 'g', embedding: 'none' }], ['h', null], ['é', { ...example, id: 'é' }], ['i', { ...example, id: 'i', group: null }],
    ['half \uD83D', { ...example, id: 'half \uD83D' }],
  ]);
  assert.deepEqual(packed('examples', [...odd, [7, example]]), [{ table: 'examples', pack: new Uint8Array(8), keys: odd.map(([key]) => key), records: odd.map(([, record]) => record) }]);
  assert.deepEqual(packed('classes', [['k', { id: 'k', name: 'cat' }]])[0].keys, ['k']);
});

test('a pack is handed out when it is large, or has many records', () => {
  const counts = (/** @type {number} */ n, /** @type {number} */ length) =>
    packed('examples', Array.from({ length: n }, (_, i) => [`${i}`, { ...example, id: `${i}`, embedding: new Uint8Array(length) }])).map(({ pack }) => new Float64Array(pack.buffer, 0, 1)[0]);
  assert.deepEqual(counts(100, 4480), [58, 42]);
  assert.deepEqual(counts(600, 8), [250, 250, 100]);
});
