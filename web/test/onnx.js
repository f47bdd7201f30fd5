// @ts-check
/** Classifiers as ONNX files, with what they are asked and what the classifier itself answers. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readdir, readFile } from 'node:fs/promises';
import { unzipSync } from 'fflate';
import sharp from 'sharp';
import { library } from '../build/written.mjs';
import { onnxOf } from '../share/onnx.js';
import { decodePicture } from '../../scripts/embed/decode.mjs';
import { loadExtractor } from '../../scripts/embed/extractor.mjs';
import { LONG } from './long.js';

/** @typedef {{probabilities: number[], none: number}} Answer */
/** @typedef {{input: 'embedding'|'picture', type: 'float32'|'uint8', data: Float32Array|Uint8Array, dims: number[], want: Answer}} Asked `data` has the shape `dims` */
/** @typedef {{bytes: Uint8Array, classes: string[], asked: Asked[]}} Case a file and what it is asked */

export const root = fileURLToPath(new URL('../../', import.meta.url));
const site = path.join(root, 'build/site');
export const { createClassifier, init } = await library(site);
await init({ wasm: await readFile(path.join(site, 'share/engine.wasm')) });

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
export const emoji = Array.from({ length: rows }, (_, i) => ({
  label: labels.view.getInt32(4 * i, true),
  x: Float32Array.from({ length: d }, (_, j) => half(embeddings.view.getUint16(2 * (i * d + j), true))),
}));

export const prior = await readFile(path.join(site, 'prior.safetensors'));

/** @param {import('../library/index.js').Classifier} classifier @param {ArrayLike<number>} x @returns {Answer} */
function answerOf(classifier, x) {
  const { probabilities, none } = classifier.predictSync(Float32Array.from(x));
  return { probabilities: classifier.labels.map((label) => probabilities[label]), none };
}

/**
 * Five classes of emoji, asked about a hundred vectors, taught ones and others.
 *
 * @param {Parameters<typeof createClassifier>[0]} options @param {number} shots @param {(x: Float32Array) => Float32Array} [change] of all vectors
 * @returns {Promise<Case>}
 */
export async function ofVectors(options, shots, change = (x) => x) {
  const classifier = await createClassifier({ onNote: () => {}, ...options });
  const all = emoji.map(({ label, x }) => ({ label, x: change(x) }));
  for (let k = 0; k < 5; k++) for (const { x } of all.filter(({ label }) => label === k).slice(0, shots)) await classifier.addExample(x, `Ω ${k}`);
  const { bytes, dimension, classes } = onnxOf(classifier.export());
  assert.deepEqual([dimension, classes], [all[0].x.length, classifier.labels]);
  const asked = all.slice(0, 100).map(({ x }) => ({
    input: /** @type {const} */ ('embedding'),
    type: /** @type {const} */ ('float32'),
    data: x,
    dims: [1, x.length],
    want: answerOf(classifier, x),
  }));
  const first = asked.map(({ want }) => want.probabilities[0]);
  assert.ok(Math.max(...first) - Math.min(...first) > 0.3, 'vectors of a class and others are among them');
  assert.equal(asked.length, 100);
  classifier.dispose();
  return { bytes, classes, asked };
}

/** Three classes of emoji, with the network of pictures, asked about a hundred emoji and photographs of any size, or each fifth of them. @returns {Promise<Case>} */
export async function ofPictures() {
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
  const { bytes, classes } = onnxOf(classifier.export(), network);
  const sizes = [
    [77, 201],
    [1000, 640],
    [192, 192],
    [31, 40],
  ];
  const others = await Promise.all(
    sizes.flatMap(([width, height]) => samples.map((file) => sharp(file).resize(width, height, { fit: 'fill' }).png().toBuffer())),
  );
  const asked = [];
  const all = [...samples, ...photographs, ...others].slice(0, 100);
  for (const file of all.filter((_, i) => !LONG.skip || i % 5 === 0)) {
    const pixels = await decodePicture(file);
    const { width, height, data } = pixels;
    const rgb = Uint8Array.from({ length: 3 * width * height }, (_, i) => {
      const [at, c] = [4 * Math.floor(i / 3), i % 3];
      return (data[at + c] * data[at + 3] + 255 * (255 - data[at + 3]) + 127) / 255; // over white
    });
    const want = answerOf(classifier, await extractor.embed(pixels));
    asked.push({ input: /** @type {const} */ ('picture'), type: /** @type {const} */ ('uint8'), data: rgb, dims: [height, width, 3], want });
  }
  assert.equal(asked.length, LONG.skip ? 20 : 100);
  classifier.dispose();
  return { bytes, classes, asked };
}

/** How far a runtime's answers are from the classifier's at most. @param {Case} of @param {(asked: Asked) => Promise<Answer>} ask */
export async function furthest({ asked, classes }, ask) {
  let most = 0;
  for (const one of asked) {
    const { probabilities, none } = await ask(one);
    assert.equal(probabilities.length, classes.length);
    most = Math.max(most, Math.abs(none - one.want.none), ...probabilities.map((p, j) => Math.abs(p - one.want.probabilities[j])));
  }
  return most;
}

/**
 * Asks ONNX Runtime for JavaScript.
 *
 * @param {any} ort the module @param {Uint8Array} bytes of the file
 * @returns {Promise<(asked: Asked) => Promise<Answer>>}
 */
export async function runtime(ort, bytes) {
  const session = await ort.InferenceSession.create(bytes);
  return async ({ input, type, data, dims }) => {
    const { probabilities, none } = await session.run({ [input]: new ort.Tensor(type, data, dims) });
    return { probabilities: Array.from(probabilities.data, Number), none: Number(none.data[0]) };
  };
}
