// @ts-check
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { leaveOutParts } from '../../extractor/cells.js';
import { recipeText } from '../../extractor/manifest.js';
import { rectangleOf } from '../../extractor/preprocess.js';
import { buildExtractor } from '../../build/extractor.mjs';
import { pruneGraph } from '../../build/prune.mjs';
import { decodePicture } from '../../../scripts/embed/decode.mjs';
import { loadExtractor } from '../../../scripts/embed/extractor.mjs';

const parity = fileURLToPath(new URL('../../../testdata/parity/', import.meta.url));
/** @type {string} */
let folder;
/** @type {Awaited<ReturnType<typeof buildExtractor>>} */
let record;

before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'extractor-'));
  record = await buildExtractor(folder);
});
after(() => rm(folder, { recursive: true, force: true }));

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function cosine(a, b) {
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / Math.sqrt(aa * bb);
}

test('the built graph has a free input size, no signature and no node too many', async () => {
  const model = JSON.parse(await readFile(path.join(folder, 'model.json'), 'utf8'));
  assert.equal(model.signature, undefined);
  const nodes = model.modelTopology.node;
  const input = nodes.find((/** @type {any} */ n) => n.op === 'Placeholder');
  assert.deepEqual(input.attr.shape.shape.dim.map((/** @type {any} */ d) => d.size), ['-1', '-1', '-1', '3']);
  const used = new Set(nodes.flatMap((/** @type {any} */ n) => n.input ?? []));
  const unused = nodes.map((/** @type {any} */ n) => n.name).filter((/** @type {string} */ name) => !used.has(name));
  assert.deepEqual(unused, [model.outputNames[1]], 'only the last average feeds nothing');
  const types = model.weightsManifest[0].weights.map((/** @type {any} */ w) => w.quantization?.dtype ?? w.dtype);
  assert.deepEqual([...new Set(types)].sort(), ['float16', 'int32']);
});

test('the record tells sizes and a hash that a second build repeats', async () => {
  assert.equal(record.dimension, 384 + 720);
  for (const { name, bytes } of [...record.files, ...Object.values(record.runtimes)]) {
    assert.equal((await readFile(path.join(folder, name))).length, bytes, name);
  }
  const again = await mkdtemp(path.join(os.tmpdir(), 'extractor-'));
  try {
    assert.deepEqual(await buildExtractor(again), record);
  } finally {
    await rm(again, { recursive: true, force: true });
  }
});

test('nothing in the bundles evaluates text or asks another host', async () => {
  for (const name of (await readdir(folder)).filter((n) => n.endsWith('.js'))) {
    const code = await readFile(path.join(folder, name), 'utf8');
    assert.doesNotMatch(code, /\bnew Function\b|[^.\w]eval\(/, name);
    assert.doesNotMatch(code, /\brequire\(/, name);
  }
});

test('embeddings agree with references made with another decoder and runtime', async (t) => {
  // They are of one view, the largest centred square at 160 pixels.
  const extractor = await loadExtractor(folder, { recipe: { inputSize: 160, views: [{ name: 'square', share: 1 }] } });
  const references = JSON.parse(await readFile(path.join(parity, 'embeddings.json'), 'utf8'));
  assert.equal(references.length, 10);
  let worst = 1;
  for (const { file, embedding } of references) {
    const similarity = cosine(await extractor.embed(await decodePicture(path.join(parity, file))), embedding);
    assert.ok(similarity > 0.9999, `${file}: ${similarity}`);
    worst = Math.min(worst, similarity);
  }
  t.diagnostic(`smallest cosine similarity ${worst.toFixed(6)}`);
});

test('an embedding is the mean of what each view alone gives', async () => {
  const extractor = await loadExtractor(folder);
  const pixels = await decodePicture(path.join(parity, 'ibis_image_0036.jpg'));
  const { inputSize, views } = record;
  assert.deepEqual(views.map(({ name }) => name), ['whole', 'middle']);
  const [whole, middle] = await Promise.all(views.map(async (view) =>
    (await loadExtractor(folder, { recipe: { inputSize, views: [view] } })).embed(pixels)));
  assert.ok(cosine(whole, middle) < 0.99, 'the views differ');
  assert.deepEqual(await extractor.embed(pixels), whole.map((value, i) => (value + middle[i]) / 2));
});

test('the embedding is the mean over the cells of the feature maps, and a part left out changes it', async () => {
  const extractor = await loadExtractor(folder);
  const pixels = await decodePicture(path.join(parity, 'ibis_image_0036.jpg'));
  const views = (await extractor.maps(pixels)).map((/** @type {any} */ maps, /** @type {number} */ i) =>
    ({ maps, rectangle: rectangleOf(record.views[i], pixels.width, pixels.height) }));
  assert.deepEqual(views[0].maps.map((/** @type {any} */ map) => [map.height, map.width, map.channels]), [[14, 14, 384], [7, 7, 720]]);
  const { embedding, without } = leaveOutParts(views, pixels.width, pixels.height, 7);
  const plain = await extractor.embed(pixels);
  assert.ok(cosine(embedding, plain) > 1 - 1e-9);
  assert.equal(without.length, 49);
  for (const one of without) assert.ok(cosine(one, plain) > 0.9 && cosine(one, plain) < 1 - 1e-9);
});

test('the hash covers graph, weights and recipe', async () => {
  const read = (/** @type {string} */ name) => readFile(path.join(folder, name));
  const hash = async (/** @type {import('../../../scripts/embed/extractor.mjs').Recipe} */ recipe) =>
    createHash('sha256').update(await read('model.json')).update(await read('weights.bin')).update(recipeText(recipe)).digest('hex');
  assert.equal(await hash(record), record.sha256);
  assert.notEqual(await hash({ ...record, inputSize: 160 }), record.sha256);
  assert.notEqual(await hash({ ...record, views: record.views.slice(1) }), record.sha256);
});

test('the shipped prior was learned with the extractor that is built', async () => {
  const file = await readFile(new URL('../../prior/default.safetensors', import.meta.url));
  const header = JSON.parse(file.subarray(8, 8 + Number(file.readBigUInt64LE(0))).toString());
  assert.deepEqual(JSON.parse(header.__metadata__.extractor), { id: record.id, sha256: record.sha256 });
});

test('the same picture gives the same numbers, after any other', async () => {
  const extractor = await loadExtractor(folder);
  const [first, second] = await Promise.all(
    ['anchor_image_0001.jpg', 'tick_image_0006.jpg'].map((name) => decodePicture(path.join(parity, name))));
  const once = await extractor.embed(first);
  assert.ok(cosine(once, await extractor.embed(second)) < 0.95);
  assert.deepEqual(await extractor.embed(first), once);
});

const tiny = {
  modelTopology: {
    node: [
      { name: 'x', op: 'Placeholder', attr: {} },
      { name: 'w', op: 'Const' }, { name: 'v', op: 'Const' }, { name: 'axis', op: 'Const' },
      { name: 'conv', op: '_FusedConv2D', input: ['x', 'w'] },
      { name: 'other', op: '_FusedConv2D', input: ['conv', 'v'] },
      { name: 'mean', op: 'Mean', input: ['conv:0', 'axis', '^x'] },
    ],
  },
  weightsManifest: [{
    weights: [
      { name: 'v', shape: [1, 1, 2, 1], dtype: 'float32' },
      { name: 'w', shape: [1, 1, 3, 2], dtype: 'float32', quantization: { dtype: 'float16' } },
      { name: 'axis', shape: [2], dtype: 'int32' },
    ],
  }],
};

test('pruning keeps ancestors and exactly their bytes', () => {
  const packed = Uint8Array.from({ length: 8 + 12 + 8 }, (_, i) => i);
  const { model, weights, dimension } = pruneGraph(tiny, packed, ['mean']);
  assert.deepEqual(model.modelTopology.node.map((/** @type {any} */ n) => n.name), ['x', 'w', 'axis', 'conv', 'mean']);
  assert.deepEqual(weights, packed.slice(8));
  assert.equal(dimension, 2);
});

test('pruning refuses a missing node and a weight file of another length', () => {
  assert.throws(() => pruneGraph(tiny, new Uint8Array(28), ['nope']), /no node 'nope'/);
  assert.throws(() => pruneGraph(tiny, new Uint8Array(27), ['mean']), /27 bytes, expected 28/);
});
