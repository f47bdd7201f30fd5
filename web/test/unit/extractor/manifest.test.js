// @ts-check
/** Manifests: what is read, what is refused and in which words, and what the identity covers. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { ManifestError, checkFiles, decodeManifest, identityOf, recipeText } from '../../../extractor/manifest.js';
import { networkInput, pooled } from '../../../extractor/tensors.js';

const hash = (/** @type {string | Uint8Array} */ bytes) => createHash('sha256').update(bytes).digest('hex');
const model = new TextEncoder().encode('{"a": 1}');
const weights = Uint8Array.from([1, 2, 3, 4]);

/** @param {Record<string, unknown>} [changes] */
const onnx = (changes = {}) => ({
  format: 'metaqda-extractor-1',
  id: 'net-1',
  runtime: 'onnx',
  dimension: 4,
  files: [
    { name: 'model.json', bytes: model.length, sha256: hash(model) },
    { name: 'weights.bin', bytes: weights.length, sha256: hash(weights) },
  ],
  inputSize: 32,
  views: [{ name: 'middle', share: 0.875 }],
  layout: 'NCHW',
  range: [0, 1],
  mean: [0.485, 0.456, 0.406],
  std: [0.229, 0.224, 0.225],
  outputs: [{ node: 'features', pooling: 'mean' }],
  licence: 'MIT',
  ...changes,
});

test('what is left out is filled in, and what is decoded decodes to the same', () => {
  const { layout, range, mean, std, ...least } = onnx({ views: [{ name: 'whole' }], outputs: [{ node: 'features' }] });
  const manifest = decodeManifest(JSON.stringify(least));
  assert.deepEqual(
    [manifest.layout, manifest.channels, manifest.takes, manifest.range, manifest.mean, manifest.std, manifest.outputs],
    ['NHWC', 'RGB', 'picture', [0, 255], [0, 0, 0], [1, 1, 1], [{ node: 'features', pooling: 'none' }]],
  );
  assert.deepEqual(decodeManifest(JSON.stringify(manifest)), manifest);
  assert.deepEqual(decodeManifest(manifest), manifest);
});

test('each field that cannot be is named, with what to put there', () => {
  /** @type {[Record<string, unknown>, string, RegExp][]} */
  const cases = [
    [{ format: undefined }, 'format', /is missing: write "metaqda-extractor-1"/],
    [{ id: ' ' }, 'id', /1 to 100 characters/],
    [{ id: 'x'.repeat(101) }, 'id', /101 characters long/],
    [{ runtime: 'torch' }, 'runtime', /"tfjs-graph" or "onnx" or "function"/],
    [{ files: [] }, 'files', /a list of 0/],
    [{ files: [{ name: '../m.onnx', bytes: 1, sha256: '0'.repeat(64) }] }, 'files[0].name', /beside the manifest/],
    [{ files: [{ name: 'C:\\m.onnx', bytes: 1, sha256: '0'.repeat(64) }] }, 'files[0].name', /beside the manifest/],
    [{ files: [{ name: '/m.onnx', bytes: 1, sha256: '0'.repeat(64) }] }, 'files[0].name', /beside the manifest/],
    [{ files: [{ name: 'm.onnx', bytes: 0, sha256: '0'.repeat(64) }] }, 'files[0].bytes', /whole number from 1/],
    [{ files: [{ name: 'm.onnx', bytes: 2 ** 31, sha256: '0'.repeat(64) }] }, 'files[0].bytes', /to 536870912/],
    [{ files: [{ name: 'm.onnx', bytes: 5, sha256: 'ABC' }] }, 'files[0].sha256', /64 hexadecimal digits/],
    [{ files: [0, 1].map((i) => ({ name: ['m', 'M'][i], bytes: 5, sha256: '0'.repeat(64) })) }, 'files[1].name', /a second time/],
    [{ files: [0, 1, 2].map((i) => ({ name: `m${i}`, bytes: 2 ** 29, sha256: '0'.repeat(64) })) }, 'files', /holds no more/],
    [{ dimension: 0 }, 'dimension', /1 to 8192/],
    [{ dimension: 1e9 }, 'dimension', /1 to 8192/],
    [{ inputSize: 5000 }, 'inputSize', /8 to 1024/],
    [{ views: [{ name: 'x', share: 0 }] }, 'views[0].share', /above 0 and up to 1/],
    [{ views: [{ name: 'x', shar: 0.5 }] }, 'views[0].shar', /is an unknown field/],
    [{ layout: 'CHWN' }, 'layout', /"NHWC" or "NCHW"/],
    [{ channels: 'GBR' }, 'channels', /"RGB" or "BGR"/],
    [{ range: [1, 1] }, 'range', /same number twice/],
    [{ range: undefined }, 'range', /the scale of mean and std/],
    [{ mean: [0, 0] }, 'mean', /3 numbers/],
    [{ std: [1, 0, 1] }, 'std[1]', /divided by it/],
    [{ outputs: undefined }, 'outputs', /name the node/],
    [{ outputs: [{ node: 'x', pooling: 'max' }] }, 'outputs[0].pooling', /"none" or "mean"/],
    [{ takes: 'file' }, 'takes', /write "picture"/],
    [{ sha256: 'x' }, 'sha256', /64 hexadecimal digits/],
    [{ licence: '' }, 'licence', /write a text/],
    [{ licence: 7 }, 'licence', /is 7/],
    [{ inputsize: 3 }, 'inputsize', /is an unknown field/],
    [{ runtime: 'function' }, 'layout', /leave it out/],
  ];
  for (const [changes, field, message] of cases) {
    assert.throws(
      () => decodeManifest(JSON.parse(JSON.stringify(onnx(changes)))),
      (/** @type {any} */ error) => {
        assert.ok(error instanceof ManifestError, `${field}: ${error}`);
        assert.equal(error.field, field);
        assert.equal(error.code, 'extractor-manifest');
        assert.match(error.message, message);
        assert.match(error.message, /: /, 'a remedy follows the trouble');
        return true;
      },
    );
  }
  assert.throws(() => decodeManifest('{"id": '), /is not JSON/);
  assert.throws(() => decodeManifest(' '.repeat(1 << 19)), /the most are/);
  for (const given of [null, 7, [], 'null', '[]']) assert.throws(() => decodeManifest(given), ManifestError);
});

/** Numbers that look random, the same each time. @param {number} state */
const random = (state) => () => (state = (state * 48271) % 2147483647) / 2147483647;

test('whatever is put in the place of any value, a manifest is read or refused by name, nothing else', () => {
  const next = random(7);
  const strange = [
    null,
    true,
    -1,
    0,
    0.5,
    1e300,
    '',
    'x',
    'x'.repeat(1e5),
    [],
    {},
    [[]],
    [null],
    { name: 1 },
    '__proto__',
    { __proto__: null },
    '\u0000',
    '../..',
    2 ** 53,
    -0,
  ];
  let [read, refused] = [0, 0];
  for (let i = 0; i < 4000; i++) {
    const manifest = JSON.parse(JSON.stringify(onnx()));
    for (let n = 1 + Math.floor(3 * next()); n > 0; n--) {
      /** @type {any} */
      let place = manifest;
      for (;;) {
        const keys = Object.keys(place);
        const key = keys[Math.floor(keys.length * next())];
        if (key === undefined) break;
        if (typeof place[key] === 'object' && place[key] !== null && next() < 0.6) {
          place = place[key];
          continue;
        }
        if (next() < 0.2) delete place[key];
        else place[key] = strange[Math.floor(strange.length * next())];
        break;
      }
    }
    try {
      const decoded = decodeManifest(JSON.stringify(manifest));
      assert.deepEqual(decodeManifest(decoded), decoded);
      read++;
    } catch (error) {
      assert.ok(error instanceof ManifestError, `${JSON.stringify(manifest).slice(0, 300)}: ${error}`);
      assert.ok(error.message.length < 600, error.message);
      refused++;
    }
  }
  assert.ok(read > 20 && refused > 3000, `${read} read, ${refused} refused`);
});

test('text that is cut or changed anywhere is read or refused by name', () => {
  const whole = JSON.stringify(onnx());
  const next = random(11);
  for (let i = 0; i < 2000; i++) {
    const at = Math.floor(whole.length * next());
    const changed = i % 2 ? whole.slice(0, at) : whole.slice(0, at) + String.fromCharCode(32 + Math.floor(95 * next())) + whole.slice(at + 1);
    try {
      decodeManifest(changed);
    } catch (error) {
      assert.ok(error instanceof ManifestError, `${changed}: ${error}`);
    }
  }
});

test('the identity is of files and recipe: it changes with all that changes numbers, and with nothing else', async () => {
  const identity = (/** @type {Record<string, unknown>} */ changes = {}, contents = [model, weights]) => identityOf(decodeManifest(onnx(changes)), contents);
  const plain = await identity();
  for (const changes of [
    { inputSize: 40 },
    { views: [{ name: 'middle', share: 0.9 }] },
    { layout: 'NHWC' },
    { channels: 'BGR' },
    { range: [0, 255] },
    { mean: [0.5, 0.5, 0.5] },
    { std: [0.5, 0.5, 0.5] },
    { outputs: [{ node: 'features', pooling: 'first' }] },
    { outputs: [{ node: 'other', pooling: 'mean' }] },
    { inputName: 'x' },
    { runtime: 'tfjs-graph' },
  ]) {
    assert.notEqual(await identity(changes), plain, JSON.stringify(changes));
  }
  assert.notEqual(await identity({}, [weights, model]), plain);
  assert.equal(await identity({ licence: 'another', id: 'another' }), plain);
  assert.equal(await identity({}, [model, weights.subarray(0, 1), weights.subarray(1)]), plain, 'shards');
  const none = { outputs: [{ node: 'pooled', pooling: 'none' }] };
  assert.equal(await identity(none), await identity({ outputs: [{ node: 'pooled', pooling: 'none', map: 'cells' }] }), 'an older manifest');
});

test('the recipe is the text that identities were made of', async () => {
  const all = JSON.parse(await readFile(new URL('../../../../testdata/extractor/recipes.json', import.meta.url), 'utf8'));
  assert.ok(all.length >= 5);
  for (const { manifest, recipe } of all) assert.equal(recipeText(decodeManifest(manifest)), recipe);
});

test('the identity of the page’s own kind of manifest is what sessions and priors have recorded', async () => {
  const own = decodeManifest({
    format: 'metaqda-extractor-1',
    id: 'x',
    runtime: 'tfjs-graph',
    dimension: 4,
    licence: 'x',
    inputSize: 224,
    views: [{ name: 'whole' }, { name: 'middle', share: 0.7 }],
    files: [
      { name: 'model.json', bytes: model.length, sha256: hash(model) },
      { name: 'weights.bin', bytes: weights.length, sha256: hash(weights) },
    ],
  });
  const text = '{"filter":"triangle-1","inputSize":224,"views":[{"name":"whole"},{"name":"middle","share":0.7}]}';
  assert.equal(recipeText(own), text);
  assert.equal(await identityOf(own, [model, weights]), hash(Buffer.concat([model, weights, Buffer.from(text)])));
});

test('files are compared with the manifest, and the first that does not fit is named', async () => {
  const manifest = decodeManifest(onnx());
  /** @type {Record<string, any>} */
  const files = { 'model.json': new Blob([model]), 'weights.bin': weights };
  const find = (/** @type {Record<string, any>} */ given) => async (/** @type {string} */ name) => given[name];
  const { sha256, contents } = await checkFiles(manifest, find(files));
  assert.equal(sha256, await identityOf(manifest, [model, weights]));
  assert.deepEqual(new Uint8Array(/** @type {ArrayBuffer} */ (contents.get('weights.bin'))), weights);
  assert.deepEqual((await checkFiles({ ...manifest, sha256 }, find(files))).sha256, sha256);
  const refusal = (/** @type {string} */ code, /** @type {RegExp} */ message) => (/** @type {any} */ error) =>
    error.code === code && message.test(error.message);
  await assert.rejects(checkFiles(manifest, find({ 'model.json': model })), refusal('extractor-files', /“weights.bin” that the manifest lists is missing/));
  await assert.rejects(
    checkFiles(manifest, find({ ...files, 'weights.bin': weights.subarray(1) })),
    refusal('extractor-files', /has 3 bytes, and the manifest says 4/),
  );
  await assert.rejects(
    checkFiles(manifest, find({ ...files, 'weights.bin': Uint8Array.from([1, 2, 3, 5]) })),
    refusal('extractor-files', /is not the one of the manifest \(its sha256 is [0-9a-f]{64}/),
  );
  await assert.rejects(checkFiles({ ...manifest, sha256: '0'.repeat(64) }, find(files)), refusal('extractor-manifest', new RegExp(sha256)));
});

test('pixels are scaled, ordered and laid out as the manifest says', () => {
  const pixels = Float32Array.from({ length: 12 }, (_, i) => 20 * i);
  const own = decodeManifest(onnx({ layout: 'NHWC', range: [0, 255], mean: [0, 0, 0], std: [1, 1, 1], inputSize: 8 }));
  assert.equal(networkInput(pixels, { ...own, inputSize: 2 }).data, pixels, 'untouched');
  const { data, shape } = networkInput(pixels, { ...own, inputSize: 2, layout: 'NCHW', channels: 'BGR', range: [-1, 1], mean: [0, 0.5, 1], std: [1, 2, 4] });
  assert.deepEqual(shape, [1, 3, 2, 2]);
  for (let c = 0; c < 3; c++) {
    for (let i = 0; i < 4; i++) {
      const expected = (-1 + (2 * pixels[3 * i + 2 - c]) / 255 - [0, 0.5, 1][c]) / [1, 2, 4][c];
      assert.ok(Math.abs(data[4 * c + i] - expected) < 1e-6);
    }
  }
});

test('outputs are pooled over cells or tokens, and one of another shape is refused by name', () => {
  const node = 'n';
  const nhwc = { shape: [1, 2, 1, 3], data: Float32Array.from([1, 2, 3, 5, 6, 7]) };
  const nchw = { shape: [1, 3, 2, 1], data: Float32Array.from([1, 5, 2, 6, 3, 7]) };
  const tokens = { shape: [1, 5, 2], data: Float32Array.from([9, 8, 1, 2, 3, 4, 5, 6, 7, 0]) };
  assert.deepEqual([...pooled(nhwc, { node, pooling: 'mean' }, 'NHWC')], [3, 4, 5]);
  assert.deepEqual([...pooled(nchw, { node, pooling: 'mean' }, 'NCHW')], [3, 4, 5]);
  assert.deepEqual([...pooled(tokens, { node, pooling: 'first' }, 'NCHW')], [9, 8]);
  assert.deepEqual([...pooled(tokens, { node, pooling: 'rest' }, 'NCHW')], [4, 3]);
  assert.deepEqual([...pooled(tokens, { node, pooling: 'none' }, 'NCHW')], [...tokens.data]);
  for (const shape of [[2, 5, 1], [1, 10], [10]]) {
    assert.throws(
      () => pooled({ ...tokens, shape }, { node, pooling: 'mean' }, 'NCHW'),
      (/** @type {any} */ error) => error.code === 'extractor-output' && /node “n”/.test(error.message),
    );
  }
  assert.throws(() => pooled({ shape: [1, 1, 2], data: Float32Array.from([1, 2]) }, { node, pooling: 'rest' }, 'NCHW'), /too few/);
});

test('the manifest that the documentation shows decodes, once size and hash are put in', async () => {
  const text = await readFile(new URL('../../../extractor/README.md', import.meta.url), 'utf8');
  const manifest = JSON.parse(/```json\n([\s\S]*?)```/.exec(text)?.[1] ?? '');
  for (const file of manifest.files) Object.assign(file, { bytes: 1, sha256: '0'.repeat(64) });
  assert.ok(decodeManifest(manifest).outputs?.length);
});
