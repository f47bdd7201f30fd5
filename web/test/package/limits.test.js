// @ts-check
/** What is too much is refused at once and alone, and what takes long leaves the thread free. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { createClassifier, installed, refusal, taught } from './installed.js';
import { project, run, vector } from './project.js';

test('many examples are checked before anything is done, and are one step', async () => {
  const c = await createClassifier();
  let seed = 1;
  const random = () => (seed = seed * 48271 % 2147483647) / 2147483647;
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
  assert.equal(c.undo(), true);
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
      c.dispose();
      const [again, too] = await Promise.all([createClassifier(), createClassifier()]);
      for (const one of [again, too]) one.addExampleSync([1, 2], 'a');
      const both = again.merge(too);
      say(JSON.stringify([codes.at(-1), both.counts.a]));
    `,
  });
  assert.deepEqual(run(folder, 'stopped.mjs', '--wasm-max-mem-pages=1600'), ['internal', 2]);
});

test('leaving out tells how far it is, and can be stopped', async () => {
  const labels = Array.from({ length: 15 }, (_, k) => `class ${k}`);
  const { c } = await taught(labels);
  /** @type {number[]} */
  const told = [];
  const all = await c.leaveOneOut({ onProgress: ({ done, total }) => { told.push(done); assert.equal(total, 45); } });
  assert.deepEqual([all.length, told.at(-1), told.length > 40], [45, 45, true]);
  assert.deepEqual(told.toSorted((a, b) => a - b), told);
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
  const rows = [[1, 200, 3], [4, 100, 2], [0, 150, 9], [2, 900, 1]].map(([a, b, c]) => [a, b, c, b * 5]);
  const labels = ['a', 'b', 'a', 'b'];
  for (const [options, count] of /** @type {const} */ ([[{ scale: 'standardise' }, 0], [{ extractor: () => [] }, 0], [{}, 1]])) {
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
});

test('a worker is sent the address of a URL, which cannot be cloned', async () => {
  const { ClassifierWorker } = await import(pathToFileURL(path.join(installed.package, 'worker.js')).href);
  /** @type {any[]} */
  const sent = [];
  const worker = { postMessage: (/** @type {any} */ message) => sent.push(message), terminate() {} };
  new ClassifierWorker({ worker, wasm: new URL('https://example.com/metaqda.wasm') });
  assert.equal(sent[0].args.wasm, 'https://example.com/metaqda.wasm');
});

test('importing an entry of a worker is not dropped as if it did nothing', async () => {
  const { build } = createRequire(new URL('../../package.json', import.meta.url))('esbuild');
  const { folder } = project({ 'threads.js': "import 'metaqda/worker-thread'; import 'metaqda/storage-thread';" });
  const { outputFiles, metafile } = await build({ entryPoints: ['threads.js'], absWorkingDir: folder, bundle: true, format: 'esm', write: false, metafile: true, platform: 'browser', external: ['node:*'], logLevel: 'error' });
  assert.ok(outputFiles[0].contents.length > 0);
  for (const name of ['worker-thread', 'storage-thread']) assert.ok(metafile.inputs[`node_modules/metaqda/${name}.js`], name);
  const { inputs } = Object.values(metafile.outputs)[0];
  for (const name of ['worker-thread', 'storage-thread']) assert.ok(inputs[`node_modules/metaqda/${name}.js`]?.bytesInOutput > 0, name);
});
