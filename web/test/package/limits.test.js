// @ts-check
/** What is too much is refused at once and alone, and what takes long leaves the thread free. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { assertProbabilities, createClassifier, installed, refusal, taught } from './installed.js';
import { project, run, vector } from './project.js';

test('many examples are checked before anything is done, and are one step', async () => {
  const c = await createClassifier();
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const row = () => Array.from({ length: 16 }, random); // no two alike: thousands of near-copies take minutes
  /** @param {number} n @returns {[number[][], string[]]} */
  const many = (n) => [Array.from({ length: n }, row), Array.from({ length: n }, (_, i) => `c${i % 7}`)];
  await assert.rejects(c.addExamples(...many(20_001)), refusal('limit'));
  const [rows, labels] = many(7001);
  await assert.rejects(c.addExamples(rows.with(7000, [1]), labels), refusal('dimension'));
  await assert.rejects(c.addExamples(rows, labels.with(7000, '\n')), refusal('label'));
  assert.deepEqual([c.labels, c.dimension, c.steps.undo], [[], 0, '']);
  const ids = await c.addExamples(...many(20_000));
  assert.equal(new Set(ids).size, 20_000);
  assert.equal(c.counts.c0, 2858);
  assert.notEqual(c.undo(), '');
  assert.deepEqual(c.labels, []);
  c.dispose();
});

test('a call that needs more memory than there is fails alone', async () => {
  const { c } = await taught(['a', 'b']);
  const { none } = c.predictSync(vector(0, 0));
  const other = await createClassifier();
  await assert.rejects(other.addExamples(Array(20_000).fill(new Float32Array(8_000).fill(1)), Array(20_000).fill('a')), refusal('memory'));
  assert.equal(c.predictSync(vector(0, 0)).none, none);
  for (const one of [c, other]) one.dispose();
});

// V8 grants less memory here than WebAssembly can address, so that the engine stops.
test('after the engine has stopped, a classifier that is made anew works', () => {
  const { folder } = project({
    'stopped.mjs': `
      import { createClassifier } from 'metaqda';
      const say = console.log;
      console.log = console.warn = () => {}; // which Go tells why it stops
      const c = await createClassifier();
      const x = new Float32Array(8_000).fill(1);
      const codes = [];
      try { await c.addExamples(Array(2500).fill(x), Array(2500).fill('a')); } catch (error) { codes.push(error.code); }
      try { await c.predict(x); } catch (error) { codes.push(error.code); }
      const { instantiate } = WebAssembly;
      WebAssembly.instantiate = async () => { throw new Error('no memory'); };
      try { await createClassifier(); } catch (error) { codes.push(error.message); }
      WebAssembly.instantiate = instantiate;
      const [again, too] = await Promise.all([createClassifier(), createClassifier()]);
      for (const one of [again, too]) one.addExampleSync([1, 2], 'a');
      const both = again.merge(too);
      say(JSON.stringify([...codes.slice(-2), both.counts.a]));
    `,
  });
  assert.deepEqual(run(folder, 'stopped.mjs', '--wasm-max-mem-pages=1600'), ['internal', 'no memory', 2]);
});

test('calls with many classes leave the thread free after each piece of work', async (t) => {
  // Each look at the clock finds that a slice of time is over: turns of the event loop then count pieces, on any machine.
  let now = performance.now();
  t.mock.method(performance, 'now', () => (now += 20));
  let [turns, watching] = [0, true];
  t.after(() => {
    watching = false;
  });
  const watch = () => {
    if (watching) setImmediate(watch);
    turns++;
  };
  watch();
  /** @template T @param {string} what @param {number} least @param {() => Promise<T>} call @returns {Promise<T>} */
  const turned = async (what, least, call) => {
    const before = turns;
    const result = await call();
    assert.ok(turns - before >= least, `${what}: the thread was free ${turns - before} times, want ${least}`);
    return result;
  };
  const [classes, d] = [400, 1024];
  const row = (/** @type {number} */ j, /** @type {number} */ i) =>
    Float32Array.from({ length: d }, (_, k) => (j % d === k ? 3 : 0) + Math.sin(7 * j + 13 * i + k * k));
  const labels = Array.from({ length: 2 * classes }, (_, i) => `class ${i % classes}`);
  const rows = labels.map((_, i) => row(i % classes, i));
  const c = await createClassifier();
  // A megabyte at a time (256 rows), the labels, all that were added, and a class at a time.
  const ids = await turned('addExamples', 4 + 1 + 1 + classes / 2, () => c.addExamples(rows, labels));
  assert.equal(new Set(ids).size, 2 * classes);
  await turned('the first predict', 40, () => c.predict(rows[0]));
  await c.addExample(rows[5], 'class 0');
  await turned('predict after one more', 5, () => c.predict(rows[0]));
  // The last pieces are answers: as many at a time as have 8,192 numbers.
  const batch = rows.slice(0, 60).map((x, i) => x.map((v, k) => v + 0.3 * Math.cos(i + k)));
  const given = Math.ceil(60 / Math.floor(8192 / (6 + classes)));
  let last = 0;
  const predictions = await turned('classify', 20 + given, () =>
    c.classify(batch, {
      onProgress: ({ done, total }) => {
        if (done < total) last = turns;
      },
    }),
  );
  assert.ok(turns - last >= given, `answers came in ${turns - last} pieces, want ${given}`);
  assert.equal(predictions.length, 60);
  await turned('suggest', 60, () => c.suggest(batch, { count: 5 }));
  const out = await turned('leaveOneOut', 2 * classes, () => c.leaveOneOut());
  assert.deepEqual(out.map(({ id }) => id).toSorted().length, ids.length + 1);
  // What is added in pieces is all or none.
  const controller = new AbortController();
  const undo = c.steps.undo;
  const adding = c.addExamples(rows, labels, { signal: controller.signal });
  assert.equal(c.counts['class 7'], 2, 'the classifier has them once all are there');
  controller.abort();
  await assert.rejects(adding, { name: 'AbortError' });
  await assert.rejects(c.addExamples(rows.with(799, new Float32Array(d).fill(NaN)), labels), refusal('value'));
  assert.deepEqual([c.counts['class 7'], c.steps.undo], [2, undo]);
  const late = c.addExamples(rows, labels);
  c.dispose();
  await assert.rejects(late, refusal('disposed'));
});

test('the probabilities of many classes are made when they are read, once', async () => {
  const labels = Array.from({ length: 120 }, (_, k) => `class ${k}`);
  const { c } = await taught(labels);
  const x = vector(3, 9);
  const into = new Float64Array(120);
  const none = c.predictInto(into, x);
  const p = await c.predict(x);
  c.addExampleSync(vector(7, 9), 'class 7'); // does not reach it
  assert.deepEqual(structuredClone(p), { ...p, probabilities: Object.fromEntries(labels.map((label, i) => [label, into[i]])) });
  assert.deepEqual(Object.keys(p), ['label', 'probabilities', 'none', 'decision', 'doubtful', 'headline', 'first']);
  assert.equal(p.probabilities, p.probabilities);
  assertProbabilities(p);
  assert.equal(p.none, none);
  p.probabilities = {};
  assert.deepEqual(p.probabilities, {});
  c.dispose();
});

test('leaving out tells how far it is, and can be stopped', async () => {
  const labels = Array.from({ length: 15 }, (_, k) => `class ${k}`);
  const { c } = await taught(labels);
  /** @type {number[]} */
  const told = [];
  const all = await c.leaveOneOut({
    onProgress: ({ done, total }) => {
      told.push(done);
      assert.equal(total, 45);
    },
  });
  assert.deepEqual([all.length, told.at(-1), told.length > 40], [45, 45, true]);
  assert.deepEqual(
    told.toSorted((a, b) => a - b),
    told,
  );
  const controller = new AbortController();
  const asked = c.leaveOneOut({ signal: controller.signal, onProgress: () => controller.abort() });
  c.removeClass(labels[0]); // it is about what was taught when it was asked
  await assert.rejects(asked, { name: 'AbortError' });
  await assert.rejects(c.leaveOneOut(/** @type {any} */ ({ onProgres: 1 })), refusal('argument'));
  c.dispose();
});

test('columns of different units are noted once, where no scale is given', async () => {
  /** @type {string[]} */
  const notes = [];
  const onNote = (/** @type {string} */ note) => notes.push(note);
  const rows = [
    [1, 200, 3],
    [4, 100, 2],
    [0, 150, 9],
    [2, 900, 1],
  ].map(([a, b, c]) => [a, b, c, b * 5]);
  const labels = ['a', 'b', 'a', 'b'];
  for (const [options, count] of /** @type {const} */ ([
    [{ scale: 'standardise' }, 0],
    [{ extractor: () => [] }, 0],
    [{}, 1],
  ])) {
    const c = await createClassifier({ ...options, onNote });
    await c.addExamples(rows, labels);
    for (let i = 0; i < 3; i++) {
      await c.predict(rows[0]);
      await c.addExample(rows[1], 'b');
    }
    assert.equal(notes.length, count, JSON.stringify(options));
    c.dispose();
  }
  assert.match(notes[0], /scale: 'standardise'/);
  let told = 0;
  const fails = () => {
    throw new Error(`told ${++told}`);
  };
  const c = await createClassifier({ onNote: fails });
  await c.addExamples(rows, labels);
  await assert.rejects(c.predict(rows[0]), /told 1/);
  await c.addExamples([...rows, ...rows], [...labels, ...labels]);
  await c.predict(rows[0]); // no second note, though the first one threw
  c.dispose();
});

test('what onNote asks or changes does not reach the answer that it interrupts', async () => {
  const rows = [
    [1, 1000, 1],
    [2, 3000, 1],
    [1, 20, 5],
    [2, 30, 9],
  ];
  const labels = ['a', 'a', 'b', 'b'];
  const { c: other } = await taught(['p', 'q']);
  const noting = async (/** @type {(c: any) => void} */ onNote) => {
    /** @type {any} */
    const c = await createClassifier({ onNote: () => onNote(c) });
    c.addExamplesSync(rows, labels);
    return c;
  };
  const plain = await noting(() => {});
  plain.predictSync(rows[0]);
  const asking = await noting(() => other.predictSync(vector(1, 1)));
  assert.deepEqual(asking.predictSync(rows[0]), plain.predictSync(rows[0]));
  const changing = await noting((c) => c.addExampleSync([1, 20, 6], 'c'));
  assert.deepEqual(Object.keys(changing.predictSync(rows[0]).probabilities), ['a', 'b', 'c']);
  const disposing = await noting((c) => c.dispose());
  assert.throws(() => disposing.predictSync(rows[0]), refusal('disposed'));
  for (const c of [other, plain, asking, changing]) c.dispose();
});

test('predictions may be frozen, of many classes too', async () => {
  for (const n of [3, 120]) {
    const c = await createClassifier();
    for (let k = 0; k < n; k++) c.addExampleSync(vector(k, 0), `class ${k}`);
    const p = Object.freeze(c.predictSync(vector(1, 1)));
    assert.equal(Object.keys(p.probabilities).length, n);
    assert.equal(p.probabilities, p.probabilities);
    c.watch().next(p, 0);
    c.dispose();
  }
});

test('vectors that differ in length alone are noted, and their scale tells them apart', async () => {
  const points = [
    [1, 1],
    [1.2, 0.9],
    [5, 5],
    [5.1, 4.8],
  ];
  for (const scale of /** @type {const} */ ([undefined, 'standardise'])) {
    /** @type {string[]} */
    const notes = [];
    const c = await createClassifier({ scale, onNote: (note) => notes.push(note) });
    await c.addExamples(points, ['near', 'near', 'far', 'far']);
    const { label, probabilities } = await c.predict([4.9, 5.2]);
    assert.equal(notes.length, scale ? 0 : 1);
    if (scale) assert.ok(label === 'far' && probabilities.far > 0.6, JSON.stringify(probabilities));
    else assert.equal(label, 'near'); // its direction happens to be nearer, which is what the note warns of
    c.dispose();
  }
});

test('a worker is sent whole addresses: a URL cannot be cloned, and it lies elsewhere than the page', async (t) => {
  t.after(() => delete (/** @type {any} */ (globalThis).document));
  Object.assign(globalThis, { document: { baseURI: 'https://example.com/page/' } });
  const { ClassifierWorker } = await import(pathToFileURL(path.join(installed.package, 'worker.js')).href);
  /** @type {any[]} */
  const sent = [];
  const worker = { postMessage: (/** @type {any} */ message) => sent.push(message), terminate() {} };
  new ClassifierWorker({ worker, wasm: new URL('https://example.com/metaqda.wasm') });
  assert.equal(sent[0].args.wasm, 'https://example.com/metaqda.wasm');
  new ClassifierWorker({ worker, wasm: '../metaqda.wasm' });
  assert.equal(sent[1].args.wasm, 'https://example.com/metaqda.wasm');
  void new ClassifierWorker({ worker }).createClassifier({ prior: 'priors/x.safetensors' });
  await turn();
  assert.equal(sent[2].args.prior, 'https://example.com/page/priors/x.safetensors');
  void new ClassifierWorker({ worker }).openClassifier('mine.metaqda');
  await turn();
  assert.equal(sent[3].args[0], 'https://example.com/page/mine.metaqda');
  void new ClassifierWorker({ worker }).openClassifier(new Response(Uint8Array.of(1, 2)), { prior: new Response(Uint8Array.of(3)) });
  await turn();
  assert.deepEqual([sent[4].args[0], sent[4].args[1].prior], [Uint8Array.of(1, 2), Uint8Array.of(3)], 'a Response cannot be cloned either');
});

/** A worker that is pretended, and its owner. It makes classifiers, and answers nothing else. */
async function pretended() {
  const { ClassifierWorker } = await import(pathToFileURL(path.join(installed.package, 'worker.js')).href);
  const worker = {
    onmessage: (/** @type {any} */ _) => {},
    postMessage(/** @type {any} */ message) {
      const { id, type } = structuredClone(message);
      const members = ['dispose', 'renameClass'].map((name) => ({ name, property: false }));
      if (type === 'create') queueMicrotask(() => worker.onmessage({ data: { type, id, result: [1, members] } }));
    },
    terminate() {},
  };
  return new ClassifierWorker({ worker });
}

test('an engine that a worker could not load is tried again, and a worker that ended says what to do', async () => {
  const { ClassifierWorker } = await import(pathToFileURL(path.join(installed.package, 'worker.js')).href);
  let asked = 0;
  const worker = {
    onmessage: (/** @type {any} */ _) => {},
    onerror: (/** @type {any} */ _) => {},
    postMessage(/** @type {any} */ { id, type }) {
      const first = type === 'init' && ++asked === 1;
      const answer = first ? { type: 'error', id, error: { code: 'fetch', message: 'No answer: load again.' } } : { type, id, result: [1, []] };
      queueMicrotask(() => worker.onmessage({ data: answer }));
    },
    terminate() {},
  };
  const made = new ClassifierWorker({ worker, wasm: 'https://example.com/metaqda.wasm' });
  await assert.rejects(made.createClassifier(), refusal('fetch'));
  await made.createClassifier();
  await made.createClassifier();
  assert.equal(asked, 2);
  worker.onerror({ preventDefault() {} });
  await assert.rejects(made.createClassifier(), /it could not be loaded\): make another ClassifierWorker/);
});

test('what cannot be sent to a worker is refused as any wrong argument', async () => {
  const worker = await pretended();
  await assert.rejects(
    worker.openClassifier(() => {}),
    refusal('argument'),
  );
  const c = await worker.createClassifier();
  await assert.rejects(
    c.renameClass('cup', () => {}),
    refusal('argument'),
  );
});

test('a worker that cannot be started or loaded is refused with the remedy', async (t) => {
  t.after(() => delete (/** @type {any} */ (globalThis).Worker));
  const { ClassifierWorker } = await import(pathToFileURL(path.join(installed.package, 'worker.js')).href);
  const { openStorage, Batch } = await import(pathToFileURL(path.join(installed.package, 'storage.js')).href);
  const batch = new Batch(await openStorage());
  const made = [async () => new ClassifierWorker().createClassifier(), () => batch.classify([[1, 2]])];
  const elsewhere = class {
    constructor() {
      throw new DOMException('The script lies elsewhere', 'SecurityError');
    }
  };
  const missing = class {
    onerror = (/** @type {any} */ _) => {};
    postMessage() {
      queueMicrotask(() => this.onerror({ preventDefault() {} }));
    }
    terminate() {}
  };
  for (const [Worker, code] of [
    [elsewhere, 'unsupported'],
    [missing, 'fetch'],
  ]) {
    Object.assign(globalThis, { Worker });
    for (const ask of made) await assert.rejects(ask, refusal(/** @type {string} */ (code)));
  }
});

test('a service worker opens no storage and loads no extractor, and says so', async (t) => {
  t.after(() => delete (/** @type {any} */ (globalThis).ServiceWorkerGlobalScope));
  const { openStorage } = await import(pathToFileURL(path.join(installed.package, 'storage.js')).href);
  const { loadExtractor } = await import(pathToFileURL(path.join(installed.package, 'efficientnet-lite0.js')).href);
  Object.assign(globalThis, { ServiceWorkerGlobalScope: class {} });
  for (const call of [openStorage, loadExtractor]) await assert.rejects(call(), { code: 'unsupported', message: /^A service worker cannot / });
  const { c } = await taught(['cup']);
  assert.equal(c.predictSync(vector(0, 3)).label, 'cup');
  c.dispose();
});

test('to dispose of a classifier whose worker has ended does nothing', async () => {
  const worker = await pretended();
  const [one, other] = [await worker.createClassifier(), await worker.createClassifier()];
  const disposed = one.dispose(); // under way
  worker.terminate();
  await Promise.all([disposed, one.dispose(), other.dispose()]);
  await assert.rejects(one.predict([1, 2]), refusal('disposed'));
});

test('a script that is not a module is told what to do, by a refusal with a code', async () => {
  const { build } = createRequire(new URL('../../package.json', import.meta.url))('esbuild');
  const code = `
    const { createClassifier } = require('metaqda'), { openStorage } = require('metaqda/storage');
    const { prior } = require('metaqda/extractors/efficientnet-lite0'), { prior: hands } = require('metaqda/extractors/hands');
    const told = (call) => Promise.resolve().then(call).then(() => null, ({ name, code, message }) => [name, code, /import metaqda\\/inline/.test(message)]);
    Promise.all([() => createClassifier(), () => openStorage(), prior, hands].map(told)).then((all) => console.log(JSON.stringify(all)));`;
  const { folder } = project({ 'plain.js': code });
  await build({ entryPoints: ['plain.js'], absWorkingDir: folder, bundle: true, platform: 'node', outfile: path.join(folder, 'out.cjs'), logLevel: 'error' });
  assert.deepEqual(run(folder, 'out.cjs'), Array(4).fill(['MetaqdaError', 'fetch', true]));
});

test('importing an entry of a worker is not dropped as if it did nothing', async () => {
  const { build } = createRequire(new URL('../../package.json', import.meta.url))('esbuild');
  const { folder } = project({ 'threads.js': "import 'metaqda/worker-thread'; import 'metaqda/storage-thread';" });
  const { outputFiles, metafile } = await build({
    entryPoints: ['threads.js'],
    absWorkingDir: folder,
    bundle: true,
    format: 'esm',
    write: false,
    metafile: true,
    platform: 'browser',
    external: ['node:*'],
    logLevel: 'error',
  });
  assert.ok(outputFiles[0].contents.length > 0);
  for (const name of ['worker-thread', 'storage-thread']) assert.ok(metafile.inputs[`node_modules/metaqda/${name}.js`], name);
  const { inputs } = Object.values(metafile.outputs)[0];
  for (const name of ['worker-thread', 'storage-thread']) assert.ok(inputs[`node_modules/metaqda/${name}.js`]?.bytesInOutput > 0, name);
});
