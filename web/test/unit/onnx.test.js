// @ts-check
/** A classifier as an ONNX file, in ONNX Runtime, beside the classifier itself. */
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { readdir, readFile } from 'node:fs/promises';
import { unzipSync } from 'fflate';
import * as ort from 'onnxruntime-web';
import sharp from 'sharp';
import { library } from '../../build/written.mjs';
import { onnxOf } from '../../share/onnx.js';
import { decodePicture } from '../../../scripts/embed/decode.mjs';
import { loadExtractor } from '../../../scripts/embed/extractor.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const site = path.join(root, 'build/site');
const { createClassifier, init } = await library(site);
await init({ wasm: await readFile(path.join(site, 'share/engine.wasm')) });
ort.env.wasm.numThreads = 1;

/** An array of the emoji's file, as it is. @param {Record<string, Uint8Array>} files @param {string} name */
function array(files, name) {
  const file = files[`${name}.npy`];
  const view = new DataView(file.buffer, file.byteOffset);
  const size = 10 + view.getUint16(8, true);
  return { head: new TextDecoder().decode(file.subarray(10, size)), view: new DataView(file.buffer, file.byteOffset + size) };
}

/** Half precision. @param {number} bits */
function half(bits) {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : (2 ** -14 * fraction) / 1024);
}

const files = unzipSync(new Uint8Array(await readFile(path.join(root, 'testdata/dataset/emoji.npz'))));
const [embeddings, labels] = ['embeddings', 'labels'].map((name) => array(files, name));
const [rows, d] = [114, 1280];
assert.match(embeddings.head, /'<f2', 'fortran_order': False, 'shape': \(114, 1280\)/);
assert.match(labels.head, /'<i4'.*\(114,\)/);
const emoji = Array.from({ length: rows }, (_, i) => ({
  label: labels.view.getInt32(4 * i, true),
  x: Float32Array.from({ length: d }, (_, j) => half(embeddings.view.getUint16(2 * (i * d + j), true))),
}));

/**
 * Teaches five classes of emoji and asks both about a hundred vectors, taught ones and others.
 *
 * @param {Parameters<typeof createClassifier>[0]} options @param {number} shots @param {(x: Float32Array) => Float32Array} [change] of all vectors
 */
async function furthest(options, shots, change = (x) => x) {
  const classifier = await createClassifier({ onNote: () => {}, ...options });
  const all = emoji.map(({ label, x }) => ({ label, x: change(x) }));
  for (let k = 0; k < 5; k++) for (const { x } of all.filter(({ label }) => label === k).slice(0, shots)) await classifier.addExample(x, `Ω ${k}`);
  const asked = all.slice(0, 100);
  const { bytes, dimension, classes } = onnxOf(classifier.export());
  const session = await ort.InferenceSession.create(bytes);
  const n = asked[0].x.length;
  assert.deepEqual([dimension, classes], [n, classifier.labels]);
  const { probabilities, none } = await session.run({ embedding: new ort.Tensor('float32', Float32Array.from(asked.flatMap(({ x }) => [...x])), [100, n]) });
  assert.deepEqual(
    [probabilities.dims, none.dims],
    [
      [100, classes.length],
      [100, 1],
    ],
  );
  let most = 0;
  for (const [i, { x }] of asked.entries()) {
    const want = classifier.predictSync(x);
    for (const [j, label] of classes.entries()) most = Math.max(most, Math.abs(Number(probabilities.data[i * classes.length + j]) - want.probabilities[label]));
    most = Math.max(most, Math.abs(Number(none.data[i]) - want.none));
  }
  const spread = asked.map(({ x }) => classifier.predictSync(x).probabilities[classes[0]]);
  assert.ok(Math.max(...spread) - Math.min(...spread) > 0.3, 'vectors of a class and others are among them');
  classifier.dispose();
  return most;
}

const prior = await readFile(path.join(site, 'prior.safetensors'));
for (const [name, options, shots, change] of /** @type {[string, any, number, ((x: Float32Array) => Float32Array)?][]} */ ([
  ['with the prior of pictures, one example of each', { prior }, 1],
  ['with the prior of pictures, five examples of each', { prior }, 5],
  ['without a prior', {}, 3],
  ['without a prior, of 40 numbers', {}, 3, (x) => x.slice(0, 40)],
  ['standardised, of 12 columns', { scale: 'standardise' }, 5, (x) => x.slice(0, 12)],
])) {
  test(`ONNX Runtime answers as the classifier does: ${name}`, async () => {
    const most = await furthest(options, shots, change);
    console.log(`# ${name}: ${most.toExponential(1)} at most`);
    assert.ok(most < 1e-5, `${most}`);
  });
}

test('from a picture of any size ONNX Runtime answers as extractor and classifier do', async () => {
  const [extractor, json] = [
    await loadExtractor(),
    async (/** @type {string} */ name) => JSON.parse(await readFile(path.join(site, 'extractor', name), 'utf8')),
  ];
  const classifier = await createClassifier({ prior });
  const samples = (await readdir(path.join(site, 'samples'), { recursive: true }))
    .filter((name) => name.endsWith('.png'))
    .map((name) => path.join(site, 'samples', name));
  const photographs = (await readdir(path.join(root, 'testdata/parity')))
    .filter((name) => name.endsWith('.jpg'))
    .map((name) => path.join(root, 'testdata/parity', name));
  for (const name of ['cat', 'rocket', 'banana']) {
    for (const file of samples.filter((one) => one.endsWith(`${name}.png`)).slice(0, 2))
      await classifier.addExample(await extractor.embed(await decodePicture(file)), name);
  }
  const network = {
    recipe: await json('extractor.json'),
    model: await json('model.json'),
    weights: new Uint8Array(await readFile(path.join(site, 'extractor/weights.bin'))),
  };
  const { bytes } = onnxOf(classifier.export(), network);
  const session = await ort.InferenceSession.create(bytes);
  const turned = await sharp(samples[0]).resize(77, 201, { fit: 'fill' }).png().toBuffer();
  const large = await sharp(samples[0]).resize(1000, 640, { fit: 'fill' }).png().toBuffer();
  let most = 0;
  for (const file of [...samples, ...photographs, turned, large]) {
    const pixels = await decodePicture(file);
    const { width, height, data } = pixels;
    const rgb = Uint8Array.from({ length: 3 * width * height }, (_, i) => {
      const [at, c] = [4 * Math.floor(i / 3), i % 3];
      return (data[at + c] * data[at + 3] + 255 * (255 - data[at + 3]) + 127) / 255; // over white
    });
    const { probabilities, none } = await session.run({ picture: new ort.Tensor('uint8', rgb, [height, width, 3]) });
    const want = classifier.predictSync(await extractor.embed(pixels));
    const off = Math.max(
      Math.abs(Number(none.data[0]) - want.none),
      ...classifier.labels.map((label, j) => Math.abs(Number(probabilities.data[j]) - want.probabilities[label])),
    );
    assert.ok(off < 1e-5, `${file}: ${off}`);
    most = Math.max(most, off);
  }
  console.log(`# ${samples.length} emoji, ${photographs.length} photographs: ${most.toExponential(1)} at most, ${bytes.length} bytes`);
});

test('other files are refused', () => {
  assert.throws(() => onnxOf(new Uint8Array(prior)), /not the numbers of a classifier/);
});
