// @ts-check
/** The package under Node.js: which examples spoil others, and which class needs another one. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createClassifier, installed, refusal } from './installed.js';
import { vector as alike } from './project.js';

/** Of class k, far enough from others of it that none are near-copies. @param {number} k @param {number} i */
const vector = (k, i) => alike(k, i).map((v, j) => v + 0.8 * Math.abs(Math.sin((i + 2) * (j + 3) * 2.3)));

/** Three classes of four examples; the last one of 'a' was taught as 'b'. */
async function mistaught() {
  const c = await createClassifier();
  for (const [k, label] of ['a', 'b', 'c'].entries()) for (const i of [0, 1, 2, 3]) c.addExampleSync(vector(k, i), label);
  return { c, wrong: c.addExampleSync(vector(0, 4), 'b') };
}

test('an example of a wrong class is found, left out and brought back', async () => {
  const { c, wrong } = await mistaught();
  /** @type {number[]} */
  const told = [];
  const [first] = await c.influence({
    onProgress: ({ done, total }) => {
      told.push(done / total);
    },
  });
  assert.deepEqual([first.ids, first.label, first.like, first.asked], [[wrong], 'b', 'a', 12]);
  assert.ok(first.odds > 0 && first.logProbability > 0 && Number.isInteger(first.right), JSON.stringify(first));
  assert.deepEqual([told.at(-1), told.toSorted((a, b) => a - b)], [1, told]);
  // What it promises is what leaving it out does.
  const right = async () => (await c.leaveOneOut()).filter(({ id, label, prediction }) => id !== wrong && prediction?.decision === label).length;
  const before = await right();
  c.removeExample(wrong);
  assert.equal((await right()) - before, first.right);
  assert.deepEqual(await c.influence(), []);
  assert.notEqual(c.undo(), '');
  assert.equal((await c.influence())[0].like, 'a');
  c.dispose();
});

test('the class of one example needs another one, and is told what it is like', async () => {
  const c = await createClassifier();
  assert.deepEqual([await c.needs(), await c.influence()], [null, []]);
  c.addExampleSync(vector(0, 0), 'a');
  assert.equal(await c.needs(), null);
  for (const i of [1, 2, 3]) c.addExampleSync(vector(0, i), 'a');
  c.addExampleSync(vector(1, 0), 'b');
  const need = await c.needs();
  assert.deepEqual([need?.label, need?.confusedWith], ['b', 'a']);
  assert.ok(need && need.doubt > 0 && need.doubt < 1);
  c.dispose();
});

test('a set has the labels that are not much less probable, and says what it rests on', async () => {
  const { c } = await mistaught();
  const query = vector(0, 9).map((v, j) => (v + vector(1, 9)[j]) / 2);
  const [set, small, large] = await Promise.all([undefined, { coverage: 0.2 }, { coverage: 0.999 }].map((options) => c.predictSet(query, options)));
  assert.deepEqual(set.prediction, c.predictSync(query));
  const p = (/** @type {string | null} */ label) => (label === null ? set.prediction.none : set.prediction.probabilities[label]);
  assert.deepEqual([small.labels, set.labels[0]], [[set.prediction.label], set.prediction.label]);
  assert.ok(small.labels.length <= set.labels.length && set.labels.length <= large.labels.length && large.labels.length > 1);
  assert.deepEqual(
    large.labels,
    large.labels.toSorted((a, b) => p(b) - p(a)),
  );
  assert.deepEqual([set.examples, set.borrowed, large.borrowed], [13, false, true]);
  for (const coverage of [0, 1, Number.NaN, '0.9']) await assert.rejects(c.predictSet(query, { coverage: /** @type {any} */ (coverage) }), refusal('argument'));
  const empty = await createClassifier();
  await assert.rejects(empty.predictSet(query), refusal('empty'));
  for (const x of [c, empty]) x.dispose();
});

test('it can be stopped, and refuses unknown options', async () => {
  const { c } = await mistaught();
  const controller = new AbortController();
  const asked = c.influence({ signal: controller.signal, onProgress: () => controller.abort() });
  await assert.rejects(asked, { name: 'AbortError' });
  const unknown = /** @type {any} */ ({ count: 1 });
  await assert.rejects(c.influence(unknown), refusal('argument'));
  await assert.rejects(c.needs(unknown), refusal('argument'));
  c.dispose();
});

test('a storage answers with the ids of its own examples', async () => {
  /** @type {typeof import('../../library/storage.js')} */
  const { openStorage } = await import(pathToFileURL(path.join(installed.package, 'storage.js')).href);
  const { classifier } = await openStorage();
  for (const [k, label] of ['a', 'b'].entries()) for (const i of [0, 1, 2]) await classifier.addExample(vector(k, i), label);
  const wrong = await classifier.addExample(vector(0, 3), 'b');
  const [first] = await classifier.influence();
  assert.deepEqual([first.ids, first.like], [[wrong], 'a']);
  assert.ok((await classifier.leaveOneOut()).some(({ id }) => id === wrong));
  assert.equal((await classifier.needs())?.label, 'a');
  await classifier.removeExample(first.ids[0]);
  assert.deepEqual(await classifier.examples('b').then((all) => all.includes(wrong)), false);
});
