// @ts-check
/** The package under Node.js, from the tarball. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, constants } from 'node:zlib';
import { project, root, run, vector } from './project.js';

const installed = project();
after(installed.remove);

/** @type {typeof import('../../library/index.js')} */
const metaqda = await import(pathToFileURL(path.join(installed.package, 'index.js')).href);
const { createClassifier, openClassifier } = metaqda;
const prior = readFileSync(path.join(installed.package, 'priors/efficientnet-lite0.safetensors'));
/** Of vectors that the prior is for. */
const DIMENSION = JSON.parse(prior.subarray(8, 8 + Number(prior.readBigUInt64LE(0))).toString()).m.shape[0];

/** @param {string} code */
const refusal = (code) => (/** @type {any} */ error) => error instanceof metaqda.MetaqdaError && error.code === code && /[.:]/.test(error.message);

/** A classifier of the labels with three examples each. @param {string[]} labels @param {object} [options] @param {number} [d] */
async function taught(labels, options, d) {
  const c = await createClassifier(options);
  const ids = labels.map((label, k) => [0, 1, 2].map((i) => c.addExampleSync(vector(k, i, d), label)));
  return { c, ids };
}

/** @param {import('../../library/index.js').Prediction} p */
function assertProbabilities({ probabilities, none }) {
  const all = [none, ...Object.values(probabilities)];
  for (const p of all) assert.ok(p >= 0 && p <= 1, `${p}`);
  assert.ok(Math.abs(all.reduce((a, b) => a + b) - 1) < 1e-9);
}

test('vectors of any length are recognised without a prior', async () => {
  for (const d of [1, 2, 17, 384, 2048]) {
    const c = await createClassifier();
    for (const [k, label] of ['a', 'b', 'c'].entries()) {
      for (let i = 0; i < 3; i++) c.addExampleSync(d > 2 ? vector(k, i, d) : Float32Array.from({ length: d }, (_, j) => (k - 1) * (j + 1) + 0.01 * i), label);
    }
    const p = await c.predict(d > 2 ? vector(1, 9, d) : new Float32Array(d).fill(d > 1 ? 0.001 : 0));
    assertProbabilities(p);
    assert.equal(c.dimension, d);
    if (d > 2) assert.equal(p.label, 'b', `${d} numbers`);
    c.dispose();
  }
});

test('what needs a browser says so in Node.js, and what serves in its place', async () => {
  const { ClassifierWorker } = await import(pathToFileURL(path.join(installed.package, 'worker.js')).href);
  const { loadExtractor } = await import(pathToFileURL(path.join(installed.package, 'efficientnet-lite0.js')).href);
  assert.throws(() => new ClassifierWorker(), refusal('unsupported'));
  await assert.rejects(loadExtractor(), refusal('unsupported'));
});

test('ids, labels and counts are those of what was added', async () => {
  const { c, ids } = await taught(['cup', 'pen']);
  assert.deepEqual(c.labels, ['cup', 'pen']);
  assert.deepEqual({ ...c.counts }, { cup: 3, pen: 3 });
  assert.deepEqual(c.examples('pen'), ids[1]);
  assert.equal(new Set(ids.flat()).size, 6);
  c.addClass('empty');
  c.renameClass('cup', '__proto__');
  assert.deepEqual(c.labels, ['__proto__', 'pen', 'empty']);
  assert.equal(c.predictSync(vector(0, 5)).label, '__proto__');
  assert.equal(c.predictSync(vector(0, 5)).probabilities.empty, 0);
  c.dispose();
});

test('what is removed was never there, and undo brings it back to the bit', async () => {
  const { c, ids } = await taught(['cup', 'pen', 'key']);
  const query = vector(1, 7);
  const states = [c.predictSync(query)];
  const steps = [
    () => c.removeExample(ids[1][1]), () => c.addExampleSync(vector(1, 4), 'pen'), () => c.removeClass('cup'), () => c.renameClass('pen', 'pencil'),
    () => c.addExampleSync(vector(3, 0), 'new', { group: 'g' }), () => c.addExampleSync(vector(3, 1), 'new', { group: 'g' }), () => c.addClass('empty'),
    () => c.removeExample(c.examples('new')[0]), () => c.removeExample(c.examples('new')[0]),
  ];
  for (const step of steps) {
    step();
    states.push(c.predictSync(query));
  }
  const { c: never } = await taught(['cup', 'pen', 'key']);
  never.removeExample(never.examples('pen')[1]);
  assert.deepEqual(never.predictSync(query), states[1]);
  for (const state of states.slice(0, -1).reverse()) {
    assert.ok(c.undo());
    assert.deepEqual(c.predictSync(query), state);
  }
  assert.ok(c.undo()); // the last example added
  assert.equal(c.counts.key, 2);
  c.dispose();
  never.dispose();
});

test('undo ends where there is nothing to take back', async () => {
  const c = await createClassifier();
  assert.equal(c.undo(), false);
  c.addExampleSync([1, 2], 'a');
  assert.equal(c.undo(), true);
  assert.equal(c.undo(), false);
  assert.deepEqual(c.labels, []);
  c.addExampleSync([1, 2, 3], 'a'); // no example is left that would settle the dimension
  assert.equal(c.dimension, 3);
  c.dispose();
});

test('frames of a group count as one example', async () => {
  const { c: one } = await taught(['a', 'b']);
  const { c: many } = await taught(['a', 'b']);
  for (let i = 0; i < 5; i++) many.addExampleSync(vector(2, 0), 'c', { group: 'burst' });
  one.addExampleSync(vector(2, 0), 'c');
  const [p, q] = [one.predictSync(vector(2, 6)), many.predictSync(vector(2, 6))];
  assert.ok(Math.abs(p.probabilities.c - q.probabilities.c) < 1e-9);
  assert.equal(many.counts.c, 5);
  const again = await openClassifier(many.save());
  const r = again.predictSync(vector(2, 6));
  assert.ok(Math.abs(r.probabilities.c - q.probabilities.c) < 1e-9);
  assert.equal(again.leaveOneOut().filter((x) => x.label === 'c').every((x) => x.prediction?.probabilities.c === 0), true);
  for (const x of [one, many, again]) x.dispose();
});

test('leaving one out is asking a classifier that never had it', async () => {
  const { c, ids } = await taught(['a', 'b', 'c']);
  const all = c.leaveOneOut();
  assert.deepEqual(all.map((x) => x.id), ids.flat());
  const { c: other } = await taught(['a', 'b', 'c']);
  other.removeExample(ids[1][2]);
  const want = other.predictSync(vector(1, 2));
  const got = all.find((x) => x.id === ids[1][2]);
  assert.equal(got?.label, 'b');
  for (const label of c.labels) assert.ok(Math.abs(/** @type {any} */ (got).prediction.probabilities[label] - want.probabilities[label]) < 1e-9);
  const single = await createClassifier();
  single.addExampleSync([1, 2, 3], 'x');
  assert.equal(single.leaveOneOut()[0].prediction, null);
  for (const x of [c, other, single]) x.dispose();
});

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
  assert.ok(together.some((p, i) => Math.abs(p.probabilities.a - alone[i].probabilities.a) > 0.01), 'others tell something');
  assert.deepEqual(await c.classify(batch), together);
  assert.deepEqual(c.save(), file);
  assert.deepEqual(await c.predict(batch[3]), alone[3]);
  const backwards = (await c.classify([...batch].reverse())).reverse();
  backwards.forEach((p, i) => assert.ok(Math.abs(p.probabilities.b - together[i].probabilities.b) < 1e-9, 'in any order'));
  const [single] = await c.classify([batch[0]]);
  assert.ok(Math.abs(single.probabilities.c - alone[0].probabilities.c) < 1e-9, 'one is no batch');
  assert.deepEqual(await c.classify([]), []);
  c.dispose();
});

test('what is right more often: many strangers to each other of classes taught once', async () => {
  // Classes that lie in directions of their own, two numbers each, and are seen once, badly.
  const noise = (/** @type {number} */ seed) => { const x = Math.sin(seed * 127.1) * 43758.5453; return x - Math.floor(x) - 0.5; };
  const seen = (/** @type {number} */ k, /** @type {number} */ i) => Float32Array.from({ length: 64 }, (_, j) => (Math.floor(j / 16) === k ? 0.42 : 0) + 1.6 * noise(1 + j + 64 * i + 7919 * k));
  const c = await createClassifier({ nonePrior: 0 });
  for (let k = 0; k < 4; k++) c.addExampleSync(seen(k, 0), `${k}`);
  const batch = Array.from({ length: 240 }, (_, i) => seen(i % 4, 1 + i));
  const right = (/** @type {{label: string}[]} */ all) => all.filter((p, i) => p.label === `${i % 4}`).length;
  const alone = right(batch.map((x) => c.predictSync(x)));
  const together = right(await c.classify(batch));
  console.log(`of 240: ${alone} right one by one, ${together} together`);
  assert.ok(together >= alone + 10, `${alone} alone, ${together} together`);
  c.dispose();
});

test('what to label is what covers the most, from nothing taught on', async () => {
  const c = await createClassifier();
  const clumps = [0, 0, 0, 0, 1, 1, 1, 2, 2].map((k, i) => vector(k, 3 + i));
  const first = await c.suggest(clumps, { count: 3 });
  assert.deepEqual(first.map((i) => [0, 0, 0, 0, 1, 1, 1, 2, 2][i]), [0, 1, 2]);
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
    await assert.rejects(ask({ signal: controller.signal, onProgress: () => { if (++told === 3) controller.abort(new Error('enough')); } }), /enough/);
    assert.ok(told < seen.length);
  }
  const before = c.predictSync(batch[0]);
  // What is taught while a batch is judged does not reach it; the classifier may even go.
  const want = await c.classify(batch);
  const got = c.classify(batch, { onProgress: () => { if (c.counts.a === 3) c.addExampleSync(batch[7], 'a'); } });
  assert.deepEqual(await got, want);
  c.undo();
  assert.deepEqual(c.predictSync(batch[0]), before);
  const late = c.classify(batch, { onProgress: ({ done, total }) => { if (done < total / 2) c.dispose(); } });
  assert.deepEqual(await late, want);
  await assert.rejects(c.classify(batch), refusal('disposed'));
});

test('answers to a batch are of the classes that there were when it was asked, whatever is taught while it is read', async () => {
  const { c } = await taught(['a', 'b', 'c'], { extractor: async (/** @type {{k: number}} */ { k }) => vector(k, 50) });
  /** @param {() => void} change @param {string[]} labels */
  const during = async (change, labels) => {
    const pictures = Array.from({ length: 30 }, (_, i) => ({ k: i % 3 }));
    const got = await c.classify(pictures, { onProgress: ({ done }) => { if (done === 7) change(); } });
    assert.equal(got.length, pictures.length);
    got.forEach((p, i) => {
      assertProbabilities(p);
      assert.deepEqual(Object.keys(p.probabilities), labels);
      assert.equal(p.label, 'abc'[i % 3] === 'b' && !labels.includes('b') ? 'z' : 'abc'[i % 3]);
    });
  };
  await during(() => c.addExampleSync(vector(7, 1), 'd'), ['a', 'b', 'c', 'd']);
  await during(() => c.removeClass('d'), ['a', 'b', 'c']);
  await during(() => { // another class in its place
    c.removeClass('b');
    c.addExampleSync(vector(1, 1), 'z');
  }, ['a', 'c', 'z']);
  c.dispose();
});

test('a batch is refused as a whole, by the place of what is wrong in it', async () => {
  const c = await createClassifier();
  await assert.rejects(c.classify([[1, 2]]), refusal('empty'));
  c.addExampleSync([1, 2], 'a');
  await assert.rejects(c.classify([[1, 2], [1, 2, 3]]), (/** @type {any} */ e) => refusal('dimension')(e) && /Vector 1 /.test(e.message));
  await assert.rejects(c.classify([[1, 2], [1, NaN]]), (/** @type {any} */ e) => refusal('value')(e) && /Vector 1 /.test(e.message));
  await assert.rejects(c.classify([[1, 2, 3]]), refusal('dimension'));
  await assert.rejects(c.classify([{}]), refusal('extractor'));
  await assert.rejects(c.classify([[1, 2]], { signal: AbortSignal.abort() }), { name: 'AbortError' });
  await assert.rejects(c.predict([1, 2], { signal: AbortSignal.abort() }), { name: 'AbortError' });
  const words = await createClassifier({ extractor: async (/** @type {string} */ s) => [s.length, 1] });
  await words.addExample('one', 'short');
  /** @type {number[]} */
  const seen = [];
  await words.classify(['two', [3, 1]], { onProgress: ({ done, total }) => seen.push(done / total) });
  assert.equal(seen[0], 1 / 3, 'a word is read, then two are judged');
  assert.equal(seen.at(-1), 1);
  for (const x of [c, words]) x.dispose();
});

test('files come back, with a prior named and not held', async () => {
  const { c } = await taught(['a', 'b'], { prior }, DIMENSION);
  const query = vector(1, 5, DIMENSION);
  const bytes = c.save();
  const again = await openClassifier(bytes);
  assert.deepEqual(again.predictSync(query), c.predictSync(query));
  assert.deepEqual(again.save(), bytes);
  c.dispose();
  again.dispose();
  await assert.rejects(openClassifier(bytes), refusal('prior')); // the engine that knew it is gone
  const third = await openClassifier(bytes, { prior });
  assert.deepEqual(third.save(), bytes);
  third.dispose();
  await assert.rejects(openClassifier(new Uint8Array([1, 2, 3])), refusal('format'));
});

test('merged classifiers are one that was taught both', async () => {
  const { c: a } = await taught(['a', 'b']);
  const b = await createClassifier();
  b.addExampleSync(vector(1, 3), 'b');
  b.addExampleSync(vector(2, 0), 'c');
  const both = a.merge(b);
  const { c: whole } = await taught(['a', 'b']);
  whole.addExampleSync(vector(1, 3), 'b');
  whole.addExampleSync(vector(2, 0), 'c');
  assert.deepEqual(both.predictSync(vector(2, 4)), whole.predictSync(vector(2, 4)));
  assert.deepEqual(a.labels, ['a', 'b']);
  for (const x of [a, b]) x.dispose();
  assert.deepEqual(both.predictSync(vector(2, 4)), whole.predictSync(vector(2, 4)));
  for (const x of [both, whole]) x.dispose();
});

test('columns of a table are standardised where that is asked for, in files too', async () => {
  const rows = /** @type {[string, number[]][]} */ ([['low', [1, 1000]], ['low', [1.2, 1100]], ['high', [3, 1050]], ['high', [3.2, 980]]]);
  const c = await createClassifier({ scale: 'standardise' }), plain = await createClassifier();
  for (const [label, row] of rows) for (const x of [c, plain]) await x.addExample(row, label);
  const again = await openClassifier(c.save());
  for (const x of [c, again]) {
    assert.equal(x.predictSync([1.1, 1020]).label, 'low');
    assert.equal(x.predictSync([3.1, 1020]).label, 'high');
  }
  const sure = (/** @type {typeof c} */ x) => x.predictSync([3.1, 1020]).probabilities.high;
  assert.equal(sure(again), sure(c));
  assert.ok(sure(c) > sure(plain) + 0.1, `${sure(c)} standardised, ${sure(plain)} as it is`);
  await assert.rejects(createClassifier(/** @type {any} */ ({ scale: 'whiten' })), refusal('argument'));
  await assert.rejects(createClassifier({ scale: 'standardise', prior }), refusal('value'));
  for (const x of [c, again, plain]) x.dispose();
});

test('settings change what is answered, and are in the file', async () => {
  const { c } = await taught(['a', 'b']);
  c.configure({ nonePrior: 0 });
  assert.equal(c.predictSync(vector(30, 0)).none, 0);
  c.configure({ nonePrior: 0.5 });
  const again = await openClassifier(c.save());
  assert.deepEqual(again.settings, { nonePrior: 0.5 });
  assert.throws(() => c.configure({ nonePrior: 1 }), refusal('value'));
  for (const x of [c, again]) x.dispose();
  const named = await createClassifier({ name: 'Kitchen' });
  assert.match(new TextDecoder().decode(named.save()), /"name":"Kitchen"/);
  named.dispose();
});

test('an option that there is not is refused by its name', async () => {
  const { c } = await taught(['a', 'b']);
  const names = (/** @type {RegExp} */ sentence) => (/** @type {any} */ error) => error.code === 'argument' && sentence.test(error.message);
  const options = (/** @type {object} */ x) => /** @type {any} */ (x);
  await assert.rejects(createClassifier(options({ inference: 'fb' })), names(/one way to answer now: leave the option 'inference' out/));
  await assert.rejects(openClassifier(c.save(), options({ pooled: true })), names(/one way to answer now: leave the option 'pooled' out/));
  await assert.rejects(createClassifier(options({ nonprior: 0 })), names(/no option 'nonprior': choose among .*nonePrior/));
  assert.throws(() => c.configure(options({ prior: 'x' })), names(/no option 'prior'/));
  assert.throws(() => c.configure(options({ nonePrior: 0, pooled: false })), names(/'pooled'/));
  assert.deepEqual(c.settings, { nonePrior: 0.2 });
  c.dispose();
});

test('an extractor reads what is no vector', async () => {
  const c = await createClassifier({ extractor: async (/** @type {string} */ s) => Array.from({ length: 26 }, (_, i) => s.split(String.fromCharCode(97 + i)).length - 1) });
  for (const word of ['banana', 'bandana', 'ananas']) await c.addExample(word, 'fruit');
  for (const word of ['hub', 'bug', 'tub']) await c.addExample(word, 'thing');
  assert.equal((await c.predict('nanna')).label, 'fruit');
  const points = await createClassifier({ extractor: (/** @type {{x: number, y: number}[]} */ all) => all.flatMap(({ x, y }) => [x, y]) });
  await points.addExample([{ x: 1, y: 2 }], 'a'); // an array, but not of numbers
  assert.equal(points.dimension, 2);
  points.dispose();
  const named = await createClassifier({ extractor: { id: 'letters', embed: () => [1, 2] } });
  await named.addExample('x', 'a');
  await assert.rejects(openClassifier(named.save(), { extractor: { id: 'others', embed: () => [1, 2] } }), refusal('extractor'));
  const broken = await createClassifier({ extractor: () => /** @type {any} */ ('no vector') });
  await assert.rejects(broken.addExample('x', 'a'), refusal('extractor'));
  for (const x of [c, named, broken]) x.dispose();
});

test('what cannot be is refused with a code', async () => {
  const { c } = await taught(['a', 'b']);
  const before = c.predictSync(vector(0, 1));
  assert.throws(() => c.addExampleSync([1, 2], 'a'), refusal('dimension'));
  assert.throws(() => c.addExampleSync(vector(0, 0).fill(NaN), 'new'), refusal('value'));
  assert.throws(() => c.addExampleSync(vector(0, 0).fill(Infinity), 'a'), refusal('value'));
  assert.throws(() => c.addExampleSync(vector(0, 0), ' '), refusal('label'));
  assert.throws(() => c.addExampleSync(vector(0, 0), /** @type {any} */ (7)), refusal('argument'));
  assert.throws(() => c.addExampleSync(/** @type {any} */ ('x'), 'a'), refusal('argument'));
  assert.throws(() => c.predictSync(new Float32Array(0)), refusal('dimension'));
  assert.throws(() => c.predictSync(vector(0, 0).fill(NaN)), refusal('value'));
  assert.throws(() => c.renameClass('a', 'b'), refusal('label'));
  assert.throws(() => c.removeClass('z'), refusal('label'));
  assert.throws(() => c.removeExample('12345'), refusal('example'));
  await assert.rejects(c.predict({}), refusal('extractor'));
  await assert.rejects(createClassifier({ prior: new Uint8Array(100) }), refusal('format'));
  await assert.rejects(createClassifier({ nonePrior: 2 }), refusal('value'));
  await assert.rejects(createClassifier({ prior: pathToFileURL(path.join(installed.folder, 'missing')) }), refusal('fetch'));
  const empty = await createClassifier();
  assert.throws(() => empty.predictSync([1]), refusal('empty'));
  assert.throws(() => empty.addExampleSync([], 'a'), refusal('dimension'));
  assert.throws(() => empty.addExampleSync(new Float32Array(9000), 'a'), refusal('dimension'));
  assert.deepEqual(empty.labels, []);
  assert.deepEqual(c.labels, ['a', 'b']);
  assert.deepEqual(c.predictSync(vector(0, 1)), before);
  c.dispose();
  c.dispose();
  assert.throws(() => c.predictSync(vector(0, 1)), refusal('disposed'));
  assert.throws(() => c.labels, refusal('disposed'));
  empty.dispose();
});

test('what a file cannot hold is refused when it is taught', async () => {
  const c = await createClassifier();
  for (let i = 0; i < 2000; i++) c.addClass(`${i}`);
  assert.throws(() => c.addExampleSync([1, 2], 'more'), refusal('limit'));
  assert.throws(() => c.renameClass('0', 'a'.repeat(81)), refusal('label'));
  for (let i = 0; i < 20_000; i++) c.addExampleSync([1, i], `${i % 2000}`);
  assert.throws(() => c.addExampleSync([1, 2], '0'), refusal('limit'));
  assert.ok(c.save().length > 0);
  c.dispose();
});

test('predictions leave nothing behind', async () => {
  const { c } = await taught(['a', 'b', 'c']);
  const dst = new Float64Array(3);
  const query = vector(1, 6);
  const p = c.predictSync(query);
  assert.equal(c.predictInto(dst, query), p.none);
  assert.deepEqual([...dst], Object.values(p.probabilities));
  const ask = (/** @type {number} */ n) => { for (let i = 0; i < n; i++) c.predictInto(dst, query); };
  ask(20_000);
  const held = () => {
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    return process.memoryUsage().heapUsed;
  };
  const before = held();
  ask(20_000);
  const more = held() - before;
  assert.ok(more < 2e5, `${more} bytes`);
  c.dispose();
});

test('importing does nothing, and nothing global stays', () => {
  const { folder, remove } = project({
    'server.mjs': `
      const before = new Set(Object.getOwnPropertyNames(globalThis));
      const calls = [];
      globalThis.fetch = (...args) => { calls.push(String(args[0])); throw new Error('no network'); };
      for (const name of ['compile', 'instantiate']) { const f = WebAssembly[name]; WebAssembly[name] = (...args) => { calls.push(name); return f(...args); }; }
      const { createClassifier } = await import('metaqda');
      await import('metaqda/knn-classifier');
      await import('metaqda/worker');
      await import('metaqda/extractors/efficientnet-lite0');
      await import('metaqda/extractors');
      await import('metaqda/storage');
      const atImport = [...calls];
      const c = await createClassifier();
      c.addExampleSync([1, 2], 'a');
      const { label } = c.predictSync([1, 2]);
      c.dispose();
      console.log(JSON.stringify({ atImport, label, global: Object.getOwnPropertyNames(globalThis).filter((n) => !before.has(n)), fetched: calls.filter((n) => n.includes('/')) }));
    `,
  });
  try {
    assert.deepEqual(run(folder, 'server.mjs'), { atImport: [], label: 'a', global: [], fetched: [] });
  } finally {
    remove();
  }
});

test('the engine is where init says: a URL, an answer, bytes or a module', () => {
  const { folder, remove } = project({
    'init.mjs': `
      import { readFile } from 'node:fs/promises';
      import { createClassifier, init } from 'metaqda';
      const url = import.meta.resolve('metaqda/metaqda.wasm');
      const bytes = await readFile(new URL(url));
      const answers = [];
      for (const wasm of [url, new URL(url), bytes, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), await WebAssembly.compile(bytes), new Response(bytes, { headers: { 'content-type': 'application/wasm' } })]) {
        await init({ wasm });
        const c = await createClassifier();
        c.addExampleSync([1, 2], 'a');
        answers.push(c.predictSync([1, 2]).none);
        c.dispose();
      }
      await init({ wasm: url, simd: false });
      const c = await createClassifier();
      c.addExampleSync([1, 2], 'a');
      answers.push(c.predictSync([1, 2]).none);
      const codes = [];
      for (const wasm of [new Uint8Array(8), new URL('missing.wasm', url)]) codes.push(await init({ wasm }).then(() => '', (error) => error.code));
      console.log(JSON.stringify({ same: answers.every((a) => Math.abs(a - answers[0]) < 1e-12), n: answers.length, codes }));
    `,
  });
  try {
    assert.deepEqual(run(folder, 'init.mjs'), { same: true, n: 7, codes: ['wasm', 'fetch'] });
  } finally {
    remove();
  }
});

test('the types hold in a strict project', () => {
  const { folder, remove } = project({
    'tsconfig.json': JSON.stringify({ compilerOptions: { strict: true, noEmit: true, target: 'es2022', module: 'nodenext', lib: ['es2023', 'dom'], types: [], exactOptionalPropertyTypes: true }, include: ['*.ts'] }),
    'use.ts': `
      import { createClassifier, openClassifier, init, MetaqdaError, type Classifier, type Options, type Prediction } from 'metaqda';
      import { create, type Rows } from 'metaqda/knn-classifier';
      import { ClassifierWorker } from 'metaqda/worker';
      import { loadExtractor, prior } from 'metaqda/extractors/efficientnet-lite0';
      import { openStorage, type SessionInfo } from 'metaqda/storage';
      const options: Options<string> = { extractor: (s) => [s.length, 1], nonePrior: 0.1 };
      const c: Classifier<string> = await createClassifier(options);
      const id: string = await c.addExample('word', 'label', { group: 'g' });
      const p: Prediction = c.predictSync(new Float32Array(2));
      const share: number | undefined = p.probabilities['label'];
      // @ts-expect-error: a number is no input of this classifier
      await c.predict(7);
      // @ts-expect-error: labels are strings
      await c.addExample('word', 7);
      await init({ wasm: new URL('https://example.com/metaqda.wasm') });
      const again = await openClassifier<string>(c.save(), { extractor: (s) => [s.length] });
      const net = await loadExtractor({ onProgress: ({ loaded }) => loaded });
      const pictures = await createClassifier({ extractor: net, prior: prior() });
      await pictures.addExample(new Blob(), 'x');
      const rows: Rows | undefined = create().getClassifierDataset()['x'];
      const remote = await new ClassifierWorker().createClassifier({ nonePrior: 0.1 });
      const left = await remote.leaveOneOut();
      const next: number[] = await remote.suggest([[1, 2]], { count: 1, onProgress: ({ done, total }) => done / total });
      const storage = await openStorage({ name: 'mine' });
      const sessions: SessionInfo[] = await storage.sessions();
      const code: string = new MetaqdaError('a', 'b').code;
      export { id, share, again, rows, left, code, next, sessions };
    `,
  });
  try {
    execFileSync(process.execPath, [path.join(root, 'web/node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    assert.fail(/** @type {any} */ (error).stdout);
  } finally {
    remove();
  }
});

test('what is exported answers in the few lines of the README, under every kind of settings', async () => {
  const readme = readFileSync(path.join(root, 'web/share/README.md'), 'utf8');
  const { load, predict } = new Function(`${/```js\n([^]*?)```/.exec(readme)?.[1]}; return { load, predict };`)();
  for (const options of [{}, { prior }, { nonePrior: 0 }]) {
    const { c } = await taught(['cup', '__proto__', 'ü "pen"'], options, DIMENSION);
    c.addClass('empty');
    const plain = load(c.export().buffer);
    assert.deepEqual(plain.classes, ['cup', '__proto__', 'ü "pen"']);
    for (const x of [vector(0, 7, DIMENSION), vector(1, 8, DIMENSION), vector(9, 0, DIMENSION)]) {
      const got = predict(plain, x);
      const want = c.predictSync(x);
      assert.ok(Math.abs(got.none - want.none) < 1e-9, `none ${got.none}, want ${want.none}`);
      for (const label of plain.classes) assert.ok(Math.abs(got.probabilities[label] - want.probabilities[label]) < 1e-9, `${label} ${got.probabilities[label]}, want ${want.probabilities[label]}`);
    }
    c.dispose();
  }
  const nothing = await createClassifier();
  assert.throws(() => nothing.export(), refusal('empty'));
  nothing.dispose();
});

test('the engine keeps to its size', () => {
  const engine = readFileSync(path.join(installed.package, 'metaqda.wasm'));
  const small = brotliCompressSync(engine, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: engine.length } }).length;
  console.log(`engine: ${engine.length} bytes, ${small} under brotli`);
  assert.ok(engine.length <= 4.5e6 && small <= 0.87e6);
});

test('a function with a manifest is an extractor of its own identity', async () => {
  const { functionExtractor } = await import(pathToFileURL(path.join(installed.package, 'function.js')).href);
  const manifest = {
    format: 'metaqda-extractor-1', id: 'letters@1', runtime: 'function', takes: 'file', dimension: 26, licence: 'Apache-2.0',
    files: [{ name: 'letters.mjs', bytes: 3, sha256: '0'.repeat(64) }],
  };
  const count = (/** @type {string} */ text) => Float32Array.from({ length: 26 }, (_, i) => text.split(String.fromCharCode(97 + i)).length - 0.9);
  const extractor = await functionExtractor(manifest, { 'letters.mjs': Uint8Array.from([1, 2, 3]) }, count);
  assert.match(extractor.sha256, /^[0-9a-f]{64}$/);
  const c = await createClassifier({ extractor });
  for (const text of ['banana', 'ananas']) await c.addExample(text, 'fruit');
  for (const text of ['hello', 'hollow']) await c.addExample(text, 'greeting');
  assert.equal((await c.predict('bananas')).label, 'fruit');
  assert.equal((await c.predict('hellooo')).label, 'greeting');
  const bytes = c.save();
  await assert.rejects(openClassifier(bytes, { extractor: { ...extractor, id: 'letters@2' } }), refusal('extractor'));
  const again = await openClassifier(bytes, { extractor });
  assert.equal((await again.predict('bananas')).label, 'fruit');
  const wrong = await functionExtractor({ ...manifest, sha256: '0'.repeat(64) }, null, () => [1, 2]);
  await assert.rejects(wrong.embed('x'), (/** @type {any} */ error) => error.code === 'bad-embedding' && /answered 2 numbers, and the manifest says 26/.test(error.message));
  await assert.rejects(functionExtractor({ ...manifest, runtime: 'onnx' }, null, count), (/** @type {any} */ error) => error.field === 'takes');
});
