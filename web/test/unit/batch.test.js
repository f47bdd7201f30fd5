// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { Batch } from '../../engine/batch.js';
import { without } from '../../engine/worker.js';
import { Line, runBatch, summary } from '../../ui/kit/batch.js';

test('a batch works on one item at a time, goes on after one that fails and tells how far it is; cancelled, it finishes the item it is at and starts no other', async () => {
  let running = 0;
  const run = async (/** @type {number} */ last) => {
    const stop = new AbortController();
    const [seen, progress] = [/** @type {number[]} */ ([]), /** @type {string[]} */ ([])];
    const { done, errors, cancelled } = await runBatch(
      [1, 2, 3],
      async (n) => {
        assert.equal(++running, 1);
        seen.push(n);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        running--;
        if (n === last) stop.abort();
        if (n === 2) throw new Error('two');
      },
      { signal: stop.signal, onProgress: (n, total) => progress.push(`${n}/${total}`) },
    );
    return [seen.length, progress.join(' '), done, errors.map(String).join(), cancelled];
  };
  assert.deepEqual(await run(0), [3, '0/3 1/3 2/3 3/3', 2, 'Error: two', false]);
  assert.deepEqual(await run(2), [2, '0/3 1/3 3/3', 1, 'Error: two', true]);
  assert.deepEqual((await run(3)).slice(2), [2, 'Error: two', false], 'an abort during the last item is no cancellation');
});

test('the first three errors are told in full, the rest counted', () => {
  assert.equal(summary([]), '');
  assert.equal(summary(['a.', 'b.', 'c.']), 'a. b. c.');
  assert.equal(summary(['a.', 'b.', 'c.', 'd.', 'e.']), 'a. b. c. And 2 more.');
  assert.equal(summary(['a.', 'b.', 'a.', 'c.', 'd.', 'd.']), 'a. (2 times) b. c. And 2 more.');
});

test('batches wait for those before them, and one that is cancelled meanwhile is over at once', async () => {
  const line = new Line();
  /** @type {string[]} */
  const seen = [];
  /** @type {() => void} */
  let go = () => {};
  const held = new Promise((/** @type {(value: void) => void} */ resolve) => {
    go = resolve;
  });
  const work = async (/** @type {string} */ one) => {
    seen.push(one);
    await held;
    if (one === 'a2') throw new Error(one);
  };
  const stop = new AbortController();
  const first = line.run(['a1', 'a2'], work, { signal: new AbortController().signal });
  const second = line.run(['b1'], work, { signal: stop.signal });
  const third = line.run(['c1'], work, { signal: new AbortController().signal });
  stop.abort();
  assert.deepEqual(await second, { done: 0, errors: [], cancelled: true });
  assert.deepEqual(seen, ['a1']);
  go();
  assert.equal((await first).errors.length, 1);
  assert.equal((await third).done, 1);
  assert.deepEqual(seen, ['a1', 'a2', 'c1']);
});

test('what fails does not hold up the line', async () => {
  const line = new Line();
  const failing = line.wait(async () => {
    throw new Error('no');
  });
  assert.equal(await line.wait(async () => 1), 1);
  await assert.rejects(failing, /no/);
});

test('what is stopped before its worker has begun begins none', async () => {
  let go = (/** @type {any} */ _) => {};
  const input = new Promise((resolve) => {
    go = resolve;
  });
  const worker = () => assert.fail('a worker was started');
  const batch = new Batch(
    /** @type {any} */ ({ state: async () => ({ classes: [] }), sharedSession: () => input, learnedPrior: async () => null, thread: { worker } }),
  );
  const asked = batch.classify([new Float32Array(2)]);
  batch.close();
  go(new Uint8Array(1));
  await assert.rejects(asked, { code: 'cancelled' });
});

test('without the classes that a person excluded the others keep their ratios and sum to one, and all is none if nothing is left', () => {
  assert.deepEqual(without([0.25, 0.5, 0.25], []), [0.25, 0.5, 0.25]);
  assert.deepEqual(without([0.25, 0.5, 0.25], [0]), [0.5, 0, 0.5]);
  assert.deepEqual(without([0.25, 0.5, 0.25], [0, 1]), [1, 0, 0]);
  assert.deepEqual(without([0, 1, 0], [0]), [1, 0, 0]);
});
