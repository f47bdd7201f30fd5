// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { runBatch, summary } from '../../ui/batch.js';

test('a batch goes on after an item that fails, and tells how far it is', async () => {
  /** @type {[number, number][]} */
  const progress = [];
  const result = await runBatch([1, 2, 3], async (n) => { if (n === 2) throw new Error('two'); }, {
    onProgress: (done, total) => progress.push([done, total]),
  });
  assert.equal(result.done, 2);
  assert.deepEqual(result.errors.map(String), ['Error: two']);
  assert.equal(result.cancelled, false);
  assert.deepEqual(progress, [[0, 3], [1, 3], [2, 3], [3, 3]]);
});

test('a batch works on one item at a time', async () => {
  let running = 0;
  let most = 0;
  await runBatch([1, 2, 3, 4], async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => { setImmediate(resolve); });
    running--;
  });
  assert.equal(most, 1);
});

test('a cancelled batch finishes the item it is at and starts no other', async () => {
  const stop = new AbortController();
  /** @type {number[]} */
  const seen = [];
  const result = await runBatch([1, 2, 3], async (n) => {
    seen.push(n);
    if (n === 2) stop.abort();
  }, { signal: stop.signal });
  assert.deepEqual(seen, [1, 2]);
  assert.deepEqual([result.done, result.cancelled], [2, true]);
});

test('an abort during the last item is no cancellation', async () => {
  const stop = new AbortController();
  const result = await runBatch([1], async () => stop.abort(), { signal: stop.signal });
  assert.deepEqual([result.done, result.cancelled], [1, false]);
});

test('the first three errors are told in full, the rest counted', () => {
  assert.equal(summary([]), '');
  assert.equal(summary(['a.', 'b.', 'c.']), 'a. b. c.');
  assert.equal(summary(['a.', 'b.', 'c.', 'd.', 'e.']), 'a. b. c. And 2 more.');
});
