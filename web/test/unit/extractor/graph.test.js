// @ts-check
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import test, { before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { recipeText } from '../../../extractor/manifest.js';
import { buildExtractor } from '../../../build/extractor.mjs';
import { decodePicture } from '../../../../scripts/embed/decode.mjs';
import { loadExtractor } from '../../../../scripts/embed/extractor.mjs';
import { cosine } from '../../../ui/kinds/pictures/pace.js';
import { temporaryFolder } from '../../temporary.js';

const parity = fileURLToPath(new URL('../../../../testdata/parity/', import.meta.url));
const folder = temporaryFolder('extractor');
/** @type {Awaited<ReturnType<typeof buildExtractor>>} */
let record;

before(async () => {
  record = await buildExtractor(folder);
});

test('the built graph has a free input size, no node too many and weights of 8 bits', async () => {
  const model = JSON.parse(await readFile(path.join(folder, 'model.json'), 'utf8'));
  const nodes = model.modelTopology.node;
  const input = nodes.find((/** @type {any} */ n) => n.op === 'Placeholder');
  assert.deepEqual(
    input.attr.shape.shape.dim.map((/** @type {any} */ d) => d.size),
    ['-1', '-1', '-1', '3'],
  );
  const used = new Set(nodes.flatMap((/** @type {any} */ n) => n.input ?? []));
  const unused = nodes.map((/** @type {any} */ n) => n.name).filter((/** @type {string} */ name) => !used.has(name));
  assert.deepEqual(
    unused,
    record.outputs?.map(({ node }) => node),
    'only the last layer feeds nothing',
  );
  for (const { name, dtype, quantization } of model.weightsManifest[0].weights) {
    assert.deepEqual([dtype, quantization?.dtype], ['float32', name.endsWith('/weights') ? 'int8' : undefined], name);
  }
  assert.ok(record.files.reduce((sum, { bytes }) => sum + bytes, 0) < 5e6);
});

test('the record tells sizes and a hash of graph, weights and recipe, that a second build repeats', async () => {
  assert.equal(record.dimension, 1280);
  for (const { name, bytes } of [...record.files, record.program]) {
    assert.equal((await readFile(path.join(folder, name))).length, bytes, name);
  }
  const parts = await Promise.all(['model.json', 'weights.bin'].map((name) => readFile(path.join(folder, name))));
  assert.equal(
    createHash('sha256')
      .update(Buffer.concat([...parts, Buffer.from(recipeText(record))]))
      .digest('hex'),
    record.sha256,
  );
  assert.deepEqual(await buildExtractor(temporaryFolder('again')), record);
});

test('nothing in the bundles evaluates text or asks another host', async () => {
  for (const name of (await readdir(folder)).filter((n) => n.endsWith('.js'))) {
    const code = await readFile(path.join(folder, name), 'utf8');
    assert.doesNotMatch(code, /\bnew Function\b|[^.\w]eval\(/, name);
    assert.doesNotMatch(code, /\brequire\(/, name);
  }
});

test('embeddings agree with references made with another decoder and runtime', async (t) => {
  // By Pillow and ONNX Runtime, from the package's floats with the weights rounded to 8 bits.
  const extractor = await loadExtractor(folder);
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
  assert.deepEqual(
    views.map(({ name }) => name),
    ['whole', 'middle'],
  );
  const [whole, middle] = await Promise.all(views.map(async (view) => (await loadExtractor(folder, { recipe: { inputSize, views: [view] } })).embed(pixels)));
  assert.ok(cosine(whole, middle) < 0.99, 'the views differ');
  assert.deepEqual(
    await extractor.embed(pixels),
    whole.map((value, i) => (value + middle[i]) / 2),
  );
});

test('the shipped prior was learned with the extractor that is built', async () => {
  const file = await readFile(new URL('../../../prior/default.safetensors', import.meta.url));
  const header = JSON.parse(file.subarray(8, 8 + Number(file.readBigUInt64LE(0))).toString());
  assert.deepEqual(JSON.parse(header.__metadata__.extractor), { id: record.id, sha256: record.sha256 });
});
