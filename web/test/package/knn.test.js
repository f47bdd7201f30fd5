// @ts-check
/** metaqda/knn-classifier beside @tensorflow-models/knn-classifier: the original's own tests, and every call of its README. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { project, root, vector } from './project.js';

const require = createRequire(path.join(root, 'web/package.json'));
const tf = require('@tensorflow/tfjs-core');
require('@tensorflow/tfjs-backend-cpu');
const original = require('@tensorflow-models/knn-classifier');
const installed = project();
/** @type {typeof import('../../library/knn-classifier.js')} */
const ours = await import(pathToFileURL(path.join(installed.package, 'knn-classifier.js')).href);
before(() => tf.setBackend('cpu'));

/** @param {any} got */
const expect = (got) => ({
  toBe: (/** @type {any} */ want) => assert.ok(Object.is(got, want), `${got}, want ${want}`),
  toEqual: (/** @type {any} */ want) => assert.deepEqual(got, want),
  toMatch: (/** @type {RegExp} */ want) => assert.match(got, want),
});

/** Runs the original's own tests, as they are, on an implementation, and answers the names of those that fail. @param {unknown} implementation */
async function ownTests(implementation) {
  const source = readFileSync(path.join(path.dirname(require.resolve('@tensorflow-models/knn-classifier/package.json')), 'dist/index_test.js'), 'utf8');
  /** @type {[string, () => unknown][]} */
  const tests = [];
  /** @type {Record<string, unknown>} */
  const modules = {
    '@tensorflow/tfjs-core': tf,
    './index': implementation,
    '@tensorflow/tfjs-core/dist/jasmine_util': {
      NODE_ENVS: {},
      describeWithFlags: (/** @type {string} */ _, /** @type {object} */ _env, /** @type {() => void} */ define) => define(),
    },
  };
  new Function('require', 'exports', 'it', 'expect', source)(
    (/** @type {string} */ name) => modules[name],
    {},
    (/** @type {string} */ name, /** @type {() => unknown} */ run) => tests.push([name, run]),
    expect,
  );
  assert.ok(tests.length >= 7);
  const failed = [];
  for (const [name, run] of tests) {
    tf.engine().startScope();
    try {
      await run();
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) throw error;
      failed.push(name);
    }
    tf.engine().endScope();
  }
  return failed;
}

test('where the engine could not be started the next question starts it', async () => {
  const c = ours.create();
  const tensor = (/** @type {string} */ label, shot = 0) => ({ dataSync: () => vector(label.charCodeAt(0), shot), shape: [vector(0, 0).length] });
  for (const label of ['cup', 'pen']) c.addExample(tensor(label), label);
  const { instantiate } = WebAssembly;
  const refuse = async (/** @type {any[]} */ ...given) => {
    if (given[1]?.simd) throw new Error('no memory');
    return instantiate(.../** @type {[any]} */ (given));
  };
  Object.assign(WebAssembly, { instantiate: refuse });
  await assert.rejects(c.predictClass(tensor('pen', 1)), /no memory/);
  Object.assign(WebAssembly, { instantiate });
  assert.equal((await c.predictClass(tensor('pen', 1))).label, 'pen');
  c.dispose();
});

test('the tests of the original pass, but where they count votes or tensors held', async () => {
  assert.deepEqual(await ownTests(original), []);
  assert.deepEqual(await ownTests(ours), [
    'examples with classId that does not start at 0 works', // shares of votes
    'examples with classId 5, 7 and 9', // the same
    'examples with string labels', // the same
    'clearClass', // one tensor held for each class: here none is
  ]);
});

/** Teaches both and answers them. @param {number} [shots] @returns {any[]} */
function both(shots = 3) {
  const pair = [original.create(), ours.create()];
  for (const classifier of pair) {
    for (const label of ['cup', 'pen', 'key']) {
      for (let i = 0; i < shots; i++) classifier.addExample(tf.tensor1d(vector(label.charCodeAt(0), i)), label);
    }
  }
  return pair;
}

/** @param {() => unknown} call */
const refusal = async (call) => {
  try {
    await call();
    return null;
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
};

test('every call of the README answers alike, side by side', async () => {
  const [a, b] = both();
  assert.equal(b.getNumClasses(), a.getNumClasses());
  assert.deepEqual(b.getClassExampleCount(), a.getClassExampleCount());
  for (const label of ['cup', 'pen', 'key']) {
    const x = tf.tensor1d(vector(label.charCodeAt(0), 9));
    const [p, q] = [await a.predictClass(x, 3), await b.predictClass(x, 3)];
    assert.equal(q.label, p.label);
    assert.equal(q.classIndex, p.classIndex);
    assert.deepEqual(Object.keys(q.confidences), Object.keys(p.confidences));
    assert.ok(Math.abs(Object.values(q.confidences).reduce((s, v) => s + v) - 1) < 1e-9);
    assert.ok(q.confidences[label] > 0.5);
  }
  for (const [label, rows] of Object.entries(a.getClassifierDataset())) {
    const got = b.getClassifierDataset()[label];
    assert.deepEqual(got.shape, /** @type {any} */ (rows).shape);
    const want = /** @type {any} */ (rows).dataSync();
    got.dataSync().forEach((/** @type {number} */ v, /** @type {number} */ i) => assert.ok(Math.abs(v - want[i]) < 1e-6));
  }
  for (const c of [a, b]) c.clearClass('pen');
  assert.deepEqual(b.getClassExampleCount(), a.getClassExampleCount());
  const x = tf.tensor1d(vector('key'.charCodeAt(0), 4));
  assert.deepEqual(Object.keys((await b.predictClass(x)).confidences), Object.keys((await a.predictClass(x)).confidences));
  assert.equal((await b.predictClass(x)).classIndex, (await a.predictClass(x)).classIndex);
  for (const call of [
    (/** @type {any} */ c) => c.clearClass('pen'),
    (/** @type {any} */ c) => c.predictClass(x, 0),
    (/** @type {any} */ c) => c.addExample(tf.tensor1d([1, 2]), 'cup'),
  ])
    assert.equal(await refusal(() => call(b)), await refusal(() => call(a)));
  for (const c of [a, b]) c.clearAllClasses();
  assert.equal(b.getNumClasses(), a.getNumClasses());
  assert.equal(await refusal(() => b.predictClass(x)), await refusal(() => a.predictClass(x)));
  for (const c of [a, b]) c.dispose();
});

test('labels may be numbers, and shapes any', async () => {
  for (const create of [original.create, ours.create]) {
    const c = create();
    c.addExample(tf.tensor2d([5, 2], [2, 1]), 4);
    c.addExample(tf.tensor2d([1, 6], [2, 1]), 2);
    const { label, classIndex } = await c.predictClass(tf.tensor2d([1, 5], [2, 1]), 1);
    assert.deepEqual([label, classIndex], ['2', 1]);
    c.dispose();
  }
});

test('a data set goes between both, and through JSON', async () => {
  const [a, b] = both();
  const x = tf.tensor1d(vector('pen'.charCodeAt(0), 9));
  const want = await b.predictClass(x);
  const fromOriginal = ours.create();
  fromOriginal.setClassifierDataset(a.getClassifierDataset());
  const throughJSON = ours.create();
  throughJSON.setClassifierDataset(JSON.parse(JSON.stringify(b.getClassifierDataset())));
  for (const c of [fromOriginal, throughJSON]) {
    const got = await c.predictClass(x);
    assert.equal(got.label, 'pen');
    assert.equal(got.classIndex, 1);
    for (const [label, p] of Object.entries(want.confidences)) assert.ok(Math.abs(got.confidences[label] - /** @type {number} */ (p)) < 1e-5);
    c.addExample(tf.tensor1d(vector(1, 1)), 'new');
    assert.equal(c.getClassExampleCount().new, 1);
  }
  // The way that is told everywhere to keep a data set.
  const kept = JSON.stringify(Object.entries(b.getClassifierDataset()).map(([label, rows]) => [label, Array.from(rows.dataSync()), rows.shape]));
  const back = original.create();
  back.setClassifierDataset(Object.fromEntries(JSON.parse(kept).map((/** @type {any} */ [label, values, shape]) => [label, tf.tensor(values, shape)])));
  assert.equal((await back.predictClass(x)).label, 'pen');
  for (const c of [a, b, fromOriginal, throughJSON, back]) c.dispose();
});

test('a number that is not finite is refused at once', async () => {
  const c = ours.create();
  const tensor = (/** @type {number[]} */ ...x) => ({ dataSync: () => Float32Array.from(x), shape: [x.length] });
  const value = { code: 'value', message: /^Entry 1 of the tensor is (NaN|Infinity): hand over finite numbers only\.$/ };
  c.addExample(tensor(1, 0, 0), 'a');
  for (const bad of [NaN, Infinity]) {
    assert.throws(() => c.addExample(tensor(0, bad, 1), 'b'), value);
    await assert.rejects(c.predictClass(tensor(0, bad, 1)), value);
  }
  assert.deepEqual(c.getClassExampleCount(), { a: 1 });
  c.addExample(tensor(0, 1, 0), 'b');
  assert.equal((await c.predictClass(tensor(0.1, 1, 0))).label, 'b');
  for (const [a, b] of [[[1, 2], [1, 3]], [[1, 2], [1.5, 2]], [[-1, -2], [1, 2]]]) // biome-ignore format: three pairs
    assert.throws(
      () => c.setClassifierDataset({ a: { shape: a, values: [1, 0] }, b: { shape: b, values: [0, 1, 0].slice(0, b[0] * b[1]) } }),
      /use one network|must have the shape/,
    );
  assert.deepEqual(c.getClassExampleCount(), { a: 1, b: 1 }, 'what is refused changes nothing');
  c.setClassifierDataset({ a: { shape: [1, 2], values: [1, 0] } });
  assert.throws(() => c.addExample(tensor(0, 1, 0), 'b'), /has length 3, those before it have length 2/);
  assert.deepEqual(c.getClassExampleCount(), { a: 1 });
  c.dispose();
});

test('a refused call changes nothing, and a class may have no examples', async () => {
  const c = /** @type {any} */ (ours.create());
  const tensor = (/** @type {number[]} */ ...x) => ({ dataSync: () => Float32Array.from(x), shape: [x.length] });
  assert.throws(() => c.addExample(tensor(1, NaN, 0), 'a'), { code: 'value' });
  c.addExample(tensor(1, 0), 'a'); // the refused example set no shape
  for (const wrong of [undefined, [1, 0]]) await assert.rejects(c.predictClass(wrong), /must be a tensor/);
  for (const wrong of [null, {}, { shape: [2], values: [1, 0] }]) assert.throws(() => c.setClassifierDataset({ a: wrong }), /must have the shape/);
  assert.deepEqual(c.getClassExampleCount(), { a: 1 });
  c.setClassifierDataset({ a: { shape: [0, 2], values: [] }, b: { shape: [1, 2], values: [0, 1] } });
  const kept = JSON.parse(JSON.stringify(c.getClassifierDataset()));
  assert.deepEqual(kept, { a: { shape: [0, 0], values: [] }, b: { shape: [1, 2], values: [0, 1] } });
  c.setClassifierDataset(kept);
  assert.equal((await c.predictClass(tensor(0, 1))).label, 'b');
  c.dispose();
});

test('examples that are cleared or replaced do not fix the shape of later ones', () => {
  const c = ours.create();
  const ones = (/** @type {number} */ n) => ({ dataSync: () => new Float32Array(n).fill(1), shape: [n] });
  c.addExample(ones(3), 'a');
  c.clearAllClasses();
  c.addExample(ones(2), 'a');
  c.clearClass('a');
  c.addExample(ones(3), 'a');
  c.setClassifierDataset({ a: { shape: [1, 2], values: [1, 0] } });
  assert.throws(() => c.addExample(ones(3), 'a'), { code: 'dimension' });
  c.addExample(ones(2), 'a');
  assert.deepEqual(c.getClassExampleCount(), { a: 2 });
  c.setClassifierDataset({ a: { shape: [1, 2], values: [1, 0] }, empty: { shape: [0, 2], values: [] } });
  c.addExample(ones(2), 'a');
  c.clearClass('a');
  c.addExample(ones(3), 'b');
  c.dispose();
});

test('every refusal has a code', async () => {
  const c = /** @type {any} */ (ours.create());
  const tensor = (/** @type {number[]} */ ...x) => ({ dataSync: () => x, shape: [x.length] });
  await assert.rejects(c.predictClass(tensor(1, 0)), { code: 'empty' });
  c.addExample(tensor(1, 0), 'a');
  for (const [code, call] of /** @type {[string, () => unknown][]} */ ([
    ['argument', () => c.addExample([1, 0], 'a')],
    ['argument', () => c.addExample({ ...tensor(1, 0), dataSync: async () => [1, 0] }, 'a')],
    ['dimension', () => c.addExample(tensor(1, 0, 0), 'a')],
    ['argument', () => c.predictClass([1, 0])],
    ['argument', () => c.predictClass(tensor(1, 0), 0)],
    ['label', () => c.clearClass('b')],
    ['argument', () => c.setClassifierDataset(JSON.parse('null'))], // as of a storage that has none yet
    ['argument', () => c.setClassifierDataset({ a: {} })],
    ['dimension', () => c.setClassifierDataset({ a: { shape: [1, 1], values: [1] }, b: { shape: [1, 2], values: [1, 0] } })],
  ]))
    await assert.rejects(async () => call(), { name: 'MetaqdaError', code }, `${call}`);
  const asked = c.predictClass(tensor(1, 0));
  c.dispose();
  await assert.rejects(asked, { code: 'disposed' });
  await assert.rejects(c.predictClass(tensor(1, 0)), { code: 'disposed' });
  assert.throws(() => c.addExample(tensor(1, 0), 'a'), { code: 'disposed' });
});

test('an example that the engine refuses is forgotten, and the others count', async () => {
  const c = ours.create();
  const ones = (/** @type {number} */ n) => ({ dataSync: () => new Float32Array(n).fill(1), shape: [n] });
  for (const label of ['a', 'b']) c.addExample(ones(9000), label);
  await assert.rejects(c.predictClass(ones(9000)), { code: 'dimension' });
  assert.deepEqual(c.getClassExampleCount(), {});
  c.addExample(ones(9), 'a');
  assert.equal((await c.predictClass(ones(9))).label, 'a');
  c.dispose();
});

test('questions at once, and classes cleared meanwhile', async () => {
  const [a, b] = both();
  const x = tf.tensor1d(vector('cup'.charCodeAt(0), 7));
  const answers = [b.predictClass(x), b.predictClass(x)];
  b.clearClass('pen');
  x.dispose();
  for (const answer of answers) assert.deepEqual(Object.keys((await answer).confidences), ['cup', 'key']);
  for (const c of [a, b]) c.dispose();
});
