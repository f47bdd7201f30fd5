// @ts-check
/** Other extractors in Node: networks that npm packages ship, from a folder to a learned prior. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expose } from '../../../extractor/own/onnx-graph.js';
import { buildSamples } from '../../../build/samples.mjs';
import { written } from '../../../build/written.mjs';
import { allConcepts } from '../../../samples/concepts.mjs';
import { decodePicture } from '../../../../scripts/embed/decode.mjs';
import { builtExtractor, loadExtractor } from '../../../../scripts/embed/extractor.mjs';
import { nsfwjs, speech, textDirection } from '../../extractors/networks.js';
import { kinds, soundOf } from '../../extractors/sounds.js';
import { cosine } from '../../../ui/kinds/pictures/pace.js';
import { temporaryFolder } from '../../temporary.js';
import { LONG } from '../../long.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const picture = await decodePicture(path.join(root, 'testdata/parity/ibis_image_0036.jpg'));
const temporary = temporaryFolder('networks');

/** @param {string[]} args @returns {Promise<{code: number, stdout: string, stderr: string}>} */
const node = (...args) =>
  promisify(execFile)(process.execPath, args, { cwd: root }).then(
    (done) => ({ code: 0, ...done }),
    (error) => error,
  );
const embed = (/** @type {string[]} */ ...args) => node(path.join(root, 'scripts/embed/embed.mjs'), '--quiet', ...args);
const metaqda = async (/** @type {string[]} */ ...args) => promisify(execFile)('go', ['run', './scripts/metaqda', ...args], { cwd: root });

test('the page’s own network gives the same numbers by its manifest and the runtime of any graph', async () => {
  const folder = path.join(temporary, 'own');
  await cp(builtExtractor, folder, { recursive: true });
  const { program, ...manifest } = JSON.parse(await readFile(path.join(folder, 'extractor.json'), 'utf8'));
  await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  const [own, other] = [await loadExtractor(), await loadExtractor(path.join(folder, 'manifest.json'))];
  assert.deepEqual([other.id, other.sha256, other.dimension], [own.id, own.sha256, own.dimension]);
  assert.deepEqual(await other.embed(picture), await own.embed(picture));
});

for (const [name, make] of /** @type {const} */ ([
  ['a TensorFlow.js graph in two shards', nsfwjs],
  ['an ONNX network', textDirection],
])) {
  test(`${name}: repeatable, of the dimension told`, async () => {
    const extractor = await loadExtractor(await make(path.join(temporary, make.name)));
    const once = await extractor.embed(picture);
    assert.equal(once.length, extractor.dimension);
    assert.ok(new Set(once).size > extractor.dimension / 3, 'not all alike');
    const other = await extractor.embed(await decodePicture(path.join(root, 'testdata/parity/tick_image_0006.jpg')));
    assert.ok(cosine(once, other) < 0.99);
    assert.deepEqual(await extractor.embed(picture), once);
  });
}

test('what an ONNX network answers can be had from any of its nodes, pooled or not', async () => {
  const plain = await loadExtractor(await textDirection(path.join(temporary, 'plain')));
  const pooled = await loadExtractor(await textDirection(path.join(temporary, 'pooled'), { outputs: [{ node: 'p2o.MaxPool.1', pooling: 'mean' }] }));
  const both = await loadExtractor(
    await textDirection(path.join(temporary, 'both'), {
      dimension: 202,
      outputs: [{ node: 'p2o.GlobalAveragePool.19' }, { node: 'softmax_0.tmp_0' }],
    }),
  );
  const [a, b, c] = await Promise.all([plain, pooled, both].map((one) => one.embed(picture)));
  assert.ok(cosine(a, b) > 1 - 1e-9);
  assert.ok(cosine(a, c.subarray(0, 200)) > 1 - 1e-9);
  assert.ok(Math.abs(c[200] + c[201] - 1) < 1e-5, 'the last two are probabilities');
  assert.equal(new Set([plain, pooled, both].map(({ sha256 }) => sha256)).size, 3);
  assert.deepEqual(await Promise.all([plain.embed(picture), plain.embed(picture)]), [a, a], 'asked twice at once');
});

test('outputs that are added to an ONNX model leave all else byte for byte', async () => {
  const model = await readFile(path.join(temporary, 'plain/ch_ppocr_mobile_v2.0_cls_infer.onnx'));
  assert.equal(expose(model, ['softmax_0.tmp_0']), model, 'an output already');
  const grown = expose(model, ['p2o.MaxPool.1', 'softmax_0.tmp_0']);
  const added = grown.length - model.length;
  assert.equal(added, 'p2o.MaxPool.1'.length + 4, 'a name and two pairs of tag and length');
  assert.deepEqual(expose(grown, ['p2o.MaxPool.1']), grown, 'twice is once');
  assert.throws(
    () => expose(model, ['GlobalAveragePool.19']),
    /no node whose result is called “GlobalAveragePool.19” \(alike are .*“p2o.GlobalAveragePool.19”/,
  );
  for (const cut of [0, 1, 7, 100, 5000, model.length - 1]) assert.throws(() => expose(model.subarray(0, cut), ['x']), /is not an ONNX model, or is cut short/);
  let state = 1;
  for (let i = 0; i < 300; i++) {
    const damaged = Uint8Array.from(model.subarray(0, 3000));
    for (let n = 0; n < 8; n++) damaged[(state = (state * 48271) % 2147483647) % 3000] = state & 255;
    assert.throws(() => expose(damaged, ['x']), /ONNX model|no node/);
  }
});

/** Half of the concepts to learn from, a quarter to select on, a quarter to ask about. */
const splits = {
  train: allConcepts.filter((_, i) => i % 4 < 2),
  val: allConcepts.filter((_, i) => i % 4 === 2),
  test: allConcepts.filter((_, i) => i % 4 === 3),
};

test('the whole way: pictures are embedded, a prior is learned from them and is better than none', async (t) => {
  const pictures = path.join(temporary, 'emoji');
  await buildSamples(pictures, allConcepts.slice(0, 24), (style, concept) => `${concept}/${style}.png`);
  await rm(path.join(pictures, 'samples.json'));
  const names = new Set(allConcepts.slice(0, 24).map(({ id }) => id));
  const split = path.join(temporary, 'splits.json');
  await writeFile(
    split,
    JSON.stringify(Object.fromEntries(Object.entries(splits).map(([key, list]) => [key, list.map(({ id }) => id).filter((id) => names.has(id))]))),
  );
  const out = path.join(temporary, 'emoji.npz');
  const prior = path.join(temporary, 'emoji.safetensors');
  const manifest = await textDirection(path.join(temporary, 'way'));
  const { code, stderr } = await embed(pictures, '--splits', split, '--out', out, '--extractor', manifest);
  assert.equal(code, 0, stderr);
  const { sha256 } = await loadExtractor(manifest);
  const facts = JSON.parse(await readFile(out.replace('.npz', '.json'), 'utf8'));
  assert.deepEqual([facts.extractor, facts.extractor_sha256, facts.dimension], ['ppocr-direction-192@2.0', sha256, 200]);
  await metaqda(
    'train',
    '--data',
    out,
    '--out',
    prior,
    '--quiet',
    '--n-way',
    '5',
    '--n-shot',
    '3',
    '--n-query',
    '2',
    '--val-shot',
    '1,3',
    '--val-query',
    '2',
    '--steps',
    '200',
  );
  const header = await readFile(prior);
  const { __metadata__ } = JSON.parse(header.subarray(8, 8 + Number(header.readBigUInt64LE(0))).toString());
  assert.deepEqual(JSON.parse(__metadata__.extractor), { id: facts.extractor, sha256 });
  const json = path.join(temporary, 'result.json');
  await metaqda(
    'eval',
    '--protocol',
    'standard',
    '--data',
    out,
    '--split',
    'test',
    '--prior',
    prior,
    '--methods',
    'fb,fb-handcrafted',
    '--n-way',
    '5',
    '--n-shot',
    '3',
    '--n-query',
    '2',
    '--n-tasks',
    '200',
    '--random-seed',
    '0',
    '--json',
    json,
  );
  const { results } = JSON.parse(await readFile(json, 'utf8'));
  const [learned, plain] = ['fb', 'fb-handcrafted'].map((name) => results.find((/** @type {any} */ one) => one.method === name));
  t.diagnostic(
    `learned ${learned.accuracy.mean.toFixed(3)} right, NLL ${learned.nll.toFixed(3)}; hand-crafted ${plain.accuracy.mean.toFixed(3)}, ${plain.nll.toFixed(3)}`,
  );
  assert.ok(learned.accuracy.mean > 0.4, 'guessing gives 0.2');
  assert.ok(learned.nll < plain.nll, `${learned.nll}, without a learned prior ${plain.nll}`);
});

test('sounds, the whole way: embedded by a function, a prior is learned from them, and the library answers by it about other kinds', {
  timeout: 120_000,
  ...LONG,
}, async (t) => {
  const manifest = await speech(path.join(temporary, 'whole-speech'));
  const sounds = path.join(temporary, 'whole-sounds');
  const names = Object.keys(kinds);
  const split = { train: names.slice(0, 12), val: names.slice(12, 18), test: names.slice(18) };
  for (const name of names) {
    await mkdir(path.join(sounds, name), { recursive: true });
    for (let i = 0; i < 5; i++) await writeFile(path.join(sounds, name, `${i}.wav`), soundOf(name, i));
  }
  const [splits, out, prior] = ['splits.json', 'sounds.npz', 'sounds.safetensors'].map((name) => path.join(temporary, `whole-${name}`));
  await writeFile(splits, JSON.stringify(split));
  const { code, stderr } = await embed(sounds, '--splits', splits, '--out', out, '--extractor', manifest);
  assert.equal(code, 0, stderr);
  const broken = path.join(temporary, 'broken-sounds/ah/5.wav');
  await mkdir(path.dirname(broken), { recursive: true });
  await writeFile(broken, 'no sound');
  assert.match(
    (await embed(path.join(temporary, 'broken-sounds'), '--out', path.join(temporary, 'broken.npz'), '--extractor', manifest)).stderr,
    /5\.wav' .*not a WAV file/,
  );
  await metaqda(
    'train',
    '--data',
    out,
    '--out',
    prior,
    '--quiet',
    '--n-way',
    '4',
    '--n-shot',
    '2',
    '--n-query',
    '3',
    '--val-shot',
    '1,2',
    '--val-query',
    '3',
    '--steps',
    '200',
  );

  // A program of one's own: the function behind the manifest, the prior, and sounds of kinds that nothing was learned from.
  const { init, createClassifier, openClassifier, functionExtractor } = await library();
  await init({ wasm: await readFile(path.join(root, 'build/site/share/engine.wasm')) });
  const { embed: call, sha256 } = await loadExtractor(manifest);
  const text = await readFile(manifest, 'utf8');
  const contents = Object.fromEntries(
    await Promise.all(
      JSON.parse(text).files.map(async (/** @type {{name: string}} */ { name }) => [
        name,
        new Uint8Array(await readFile(path.join(path.dirname(manifest), name))),
      ]),
    ),
  );
  const extractor = await functionExtractor(text, contents, (/** @type {Uint8Array} */ file) => call(file));
  assert.equal(extractor.sha256, sha256, 'one identity, of what scripts/embed wrote and of what the program has');
  const given = (/** @type {string} */ kind, /** @type {number} */ recording) => new Blob([soundOf(kind, recording)]); // as a person's file
  const bytes = new Uint8Array(await readFile(prior));
  const c = await createClassifier({ extractor, prior: bytes });
  for (const name of split.test) for (const i of [0, 1, 2]) await c.addExample(given(name, i), name);
  let [right, none, unknown] = [0, 0, 0];
  for (const name of split.test) {
    for (const i of [3, 4]) {
      const p = await c.predict(given(name, i));
      assert.ok(Math.abs(Object.values(p.probabilities).reduce((a, b) => a + b, p.none) - 1) < 1e-9);
      right += Number(p.label === name);
      none += p.none / 12;
    }
  }
  for (const name of split.val) unknown += (await c.predict(given(name, 3))).none / split.val.length;
  t.diagnostic(`the library: ${right} of 12 right; none of these ${none.toFixed(2)} for what was taught, ${unknown.toFixed(2)} for what was not`);
  assert.ok(right >= 8, `${right} of 12 right, where guessing gives 2`);
  assert.ok(unknown > none + 0.15, `none of these: ${none} for what was taught, ${unknown} for what was not`);

  // What it saves is opened under this prior and this function alone.
  const again = await openClassifier(c.save(), { extractor, prior: bytes });
  const [kept, own] = [await again.predict(soundOf('alarm', 4).buffer), await c.predict(given('alarm', 4))];
  assert.equal(kept.headline, own.headline);
  for (const [name, p] of Object.entries(own.probabilities))
    assert.ok(Math.abs(kept.probabilities[name] - p) < 1e-9, `${name}: ${kept.probabilities[name]}, was ${p}`); // many answers are computed in another order
  await assert.rejects(
    createClassifier({ extractor, prior: new Uint8Array(await readFile(path.join(root, 'web/prior/default.safetensors'))) }),
    (/** @type {any} */ error) => error.code === 'extractor',
  );
  const other = await functionExtractor(
    { ...JSON.parse(text), files: JSON.parse(text).files.slice(1), dimension: 96 },
    contents,
    (/** @type {Uint8Array} */ file) => call(file),
  );
  await assert.rejects(openClassifier(c.save(), { extractor: other, prior: bytes }), (/** @type {any} */ error) => error.code === 'extractor');
});

/** The npm package's entry, as its build bundles it. @returns {Promise<typeof import('../../../library/index.js') & typeof import('../../../extractor/own/function.js')>} */
async function library() {
  const outfile = path.join(temporary, 'library.mjs');
  const entry = "export * from './index.js'; export * from '../extractor/own/function.js';";
  await build({
    stdin: { contents: entry, resolveDir: path.join(root, 'web/library'), sourcefile: 'both.js' },
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
    plugins: [written()],
  });
  return import(pathToFileURL(outfile).href);
}

test('an extractor that another version kept in a form of its own hides no other', async (t) => {
  const [right, strange] = ['a', 'b'].map((digit) => digit.repeat(64));
  const manifest = {
    format: 'metaqda-extractor-1',
    id: 'right',
    sha256: right,
    runtime: 'onnx',
    files: [{ name: 'm.onnx', bytes: 3, sha256: right }],
    dimension: 10,
    inputSize: 64,
    views: [{ name: 'whole' }],
    outputs: [{ node: 'x' }],
    licence: 'MIT',
  };
  /** @type {Map<string, object>} */
  const stored = new Map([
    [`https://site.test/kept-extractors/${right}/manifest.json`, /** @type {object} */ (manifest)],
    [`https://site.test/kept-extractors/${strange}/manifest.json`, { ...manifest, sha256: strange, later: true }],
  ]);
  const cache = { keys: async () => [...stored.keys()].map((url) => ({ url })), match: async (/** @type {string} */ url) => Response.json(stored.get(url)) };
  const world = /** @type {any} */ (globalThis);
  const before = [world.caches, world.document];
  Object.assign(world, { caches: { open: async () => cache }, document: { baseURI: 'https://site.test/' } });
  t.after(() => {
    [world.caches, world.document] = before;
  });
  const { kept } = await import('../../../extractor/own/kept.js');
  assert.deepEqual(
    (await kept()).map(({ sha256 }) => sha256),
    [right],
  );
});
