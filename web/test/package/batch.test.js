// @ts-check
/** The package under Node.js: batches judged together, and what to label next, as Go's tests say of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertProbabilities, createClassifier, DIMENSION, refusal, taught } from './installed.js';
import { vector } from './project.js';

/** The queries of a batch that is worth judging together: n of each class, noisier than what was taught. @param {number} n */
const crowd = (n) => Array.from({ length: 3 * n }, (_, i) => vector(i % 3, 10 + i).map((x, j) => x + 0.9 * Math.sin(31 * i + 17 * j)));

test('a batch is judged together, the same each time, and changes nothing', async () => {
  const { c } = await taught(['a', 'b', 'c']);
  const batch = crowd(40);
  const file = c.save();
  const alone = await Promise.all(batch.map((x) => c.predict(x)));
  const together = await c.classify(batch);
  assert.equal(together.length, batch.length);
  together.forEach(assertProbabilities);
  together.forEach((p, i) => assert.ok(Math.abs(p.none - alone[i].none) < 1e-9, 'none is that of a picture alone'));
  assert.ok(
    together.some((p, i) => Math.abs(p.probabilities.a - alone[i].probabilities.a) > 0.01),
    'others tell something',
  );
  assert.deepEqual(await c.classify(batch), together);
  assert.deepEqual(c.save(), file);
  assert.deepEqual(await c.predict(batch[3]), alone[3]);
  assert.deepEqual(await c.classify([]), []);
  c.dispose();
});

test('what to label is what covers the most, from nothing taught on', async () => {
  const c = await createClassifier();
  const clumps = [0, 0, 0, 0, 1, 1, 1, 2, 2].map((k, i) => vector(k, 3 + i));
  const first = await c.suggest(clumps, { count: 3 });
  assert.deepEqual(
    first.map((i) => [0, 0, 0, 0, 1, 1, 1, 2, 2][i]),
    [0, 1, 2],
  );
  assert.equal(c.dimension, 0, 'asking settles nothing');
  assert.deepEqual((await c.suggest(clumps)).length, 9);
  c.addExampleSync(vector(0, 1), 'a');
  const [next] = await c.suggest(clumps, { count: 1 });
  assert.ok(next >= 4 && next < 7, 'the largest clump of which nothing was taught');
  assert.deepEqual(await c.suggest([], { count: 1 }), []);
  await assert.rejects(c.suggest(clumps, { count: 1.5 }), refusal('argument'));
  c.dispose();
});

test('a batch tells its progress, leaves the thread free and stops at the signal', async () => {
  const { c } = await taught(['a', 'b', 'c'], {}, DIMENSION);
  const batch = Array.from({ length: 2400 }, (_, i) => vector(i % 3, 10 + i, DIMENSION));
  for (const ask of [(/** @type {any} */ o) => c.classify(batch, o), (/** @type {any} */ o) => c.suggest(batch, { ...o, count: 20 })]) {
    /** @type {number[]} */
    const seen = [];
    let turns = 0;
    let longest = 0;
    let last = performance.now();
    const clock = setInterval(() => {
      turns++;
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    await ask({ onProgress: (/** @type {any} */ { done, total }) => seen.push(done / total) });
    clearInterval(clock);
    assert.ok(seen.length > 10 && seen.every((x, i) => x >= (seen[i - 1] ?? 0) && x <= 1) && seen.at(-1) === 1, `${seen}`);
    assert.ok(turns > 3, `the thread was free ${turns} times`);
    console.log(`a batch of 2,400 left the thread free ${turns} times; once it took ${longest.toFixed(0)} ms`);
    const controller = new AbortController();
    let told = 0;
    await assert.rejects(
      ask({
        signal: controller.signal,
        onProgress: () => {
          if (++told === 3) controller.abort(new Error('enough'));
        },
      }),
      /enough/,
    );
    assert.ok(told < seen.length);
  }
  const before = c.predictSync(batch[0]);
  // What is taught while a batch is judged does not reach it; the classifier may even go.
  const want = await c.classify(batch);
  const got = c.classify(batch, {
    onProgress: () => {
      if (c.counts.a === 3) c.addExampleSync(batch[7], 'a');
    },
  });
  assert.deepEqual(await got, want);
  c.undo();
  assert.deepEqual(c.predictSync(batch[0]), before);
  const late = c.classify(batch, {
    onProgress: ({ done, total }) => {
      if (done < total / 2) c.dispose();
    },
  });
  assert.deepEqual(await late, want);
  for (const asked of [c.classify(batch), c.classify([]), c.predictMany([]), c.suggest([]), c.addExamples([], [])])
    await assert.rejects(asked, refusal('disposed'));
  assert.throws(() => c.addExamplesSync([], []), refusal('disposed'));
});

test('answers to a batch are of the classes that there were when it was asked, whatever is taught while it is read', async () => {
  const { c } = await taught(['a', 'b', 'c'], { extractor: async (/** @type {{k: number}} */ { k }) => vector(k, 50) });
  /** @param {() => void} change @param {string[]} labels */
  const during = async (change, labels) => {
    const pictures = Array.from({ length: 30 }, (_, i) => ({ k: i % 3 }));
    const got = await c.classify(pictures, {
      onProgress: ({ done }) => {
        if (done === 7) change();
      },
    });
    assert.equal(got.length, pictures.length);
    got.forEach((p, i) => {
      assertProbabilities(p);
      assert.deepEqual(Object.keys(p.probabilities), labels);
      assert.equal(p.label, 'abc'[i % 3] === 'b' && !labels.includes('b') ? 'z' : 'abc'[i % 3]);
    });
  };
  await during(() => c.addExampleSync(vector(7, 1), 'd'), ['a', 'b', 'c', 'd']);
  await during(() => c.removeClass('d'), ['a', 'b', 'c']);
  await during(() => {
    // another class in its place
    c.removeClass('b');
    c.addExampleSync(vector(1, 1), 'z');
  }, ['a', 'c', 'z']);
  c.dispose();
});

test('a change while a large batch is read does not spoil it', async () => {
  const d = 8192;
  const { c } = await taught(['a', 'b'], {}, d);
  const batch = Array.from({ length: 520 }, (_, i) => vector(i % 2, i, d)); // above 16 MB
  const asked = c.suggest(batch, { count: 1 });
  c.addExampleSync(vector(2, 1, d), 'c');
  assert.equal((await asked).length, 1);
  c.dispose();
});

test('a batch is refused as a whole, by the place of what is wrong in it', async () => {
  const c = await createClassifier();
  await assert.rejects(c.classify([[1, 2]]), refusal('empty'));
  c.addExampleSync([1, 2], 'a');
  await assert.rejects(
    c.classify([
      [1, 2],
      [1, 2, 3],
    ]),
    (/** @type {any} */ e) => refusal('dimension')(e) && /Vector 1 /.test(e.message),
  );
  await assert.rejects(
    c.classify([
      [1, 2],
      [1, NaN],
    ]),
    (/** @type {any} */ e) => refusal('value')(e) && /Vector 1 /.test(e.message),
  );
  await assert.rejects(c.classify([[1, 2, 3]]), refusal('dimension'));
  await assert.rejects(c.classify([{}]), refusal('extractor'));
  for (const ask of [() => c.classify([[1, 2], undefined]), () => c.predictMany([[1, 2], undefined]), () => c.addExamples([[1, 2], undefined], ['a', 'b'])])
    await assert.rejects(ask, { code: 'extractor', message: /^There is undefined in place of vector 1 of the batch, / });
  await assert.rejects(c.classify(/** @type {any} */ (null)), { code: 'argument', message: /^The batch must be a list, not null: / });
  await assert.rejects(c.classify([[1, 2]], { signal: AbortSignal.abort() }), { name: 'AbortError' });
  await assert.rejects(c.predict([1, 2], { signal: AbortSignal.abort() }), { name: 'AbortError' });
  const broken = await createClassifier({ extractor: (/** @type {string} */ s) => /** @type {any} */ ([s.length, s || null]) });
  await assert.rejects(broken.suggest(['one', '']), { code: 'value', message: /^Entry 1 of vector 0 of the batch is 'one'/ });
  broken.dispose();
  const words = await createClassifier({ extractor: async (/** @type {string} */ s) => [s.length, 1] });
  await words.addExample('one', 'short');
  /** @type {number[]} */
  const seen = [];
  await words.classify(['two', [3, 1]], { onProgress: ({ done, total }) => seen.push(done / total) });
  assert.equal(seen[0], 1 / 3, 'a word is read, then two are judged');
  assert.equal(seen.at(-1), 1);
  for (const x of [c, words]) x.dispose();
});
