// @ts-check
/**
 * Proposes a manifest for a network that comes without one. The graph gives the size and order of
 * the input, the results that could be an embedding, and arithmetic before the first layer. It does
 * not give the scale of the pixels, so the scale that tells the taught pictures apart best is
 * chosen.
 *
 * A file read by onnx-graph.js or tfjs-graph.js becomes a Network; proposalOf tries it.
 */
import { ExtractorError } from '../errors.js';
import { decodeManifest, format, sha256 } from '../manifest.js';
import { OnnxError, readOnnx } from './onnx-graph.js';
import { meanOf } from '../session.js';
import { modelOf, readTfjs, shardsOf } from '../tfjs-graph.js';

/** @import {Manifest, Output} from '../manifest.js' */
/** @typedef {{op: string, inputs: string[], outputs: string[]}} Node outputs: the names of its results */

/**
 * @typedef {object} Graph of either runtime
 * @property {{name: string, type: string, dims: number[]}[]} inputs dims: -1 for an open size
 * @property {Node[]} nodes in topological order
 * @property {Map<string, number[] | null>} constants numbers of small constants, null for others
 * @property {string[]} outputs
 *
 * @typedef {{name: string, runtime: 'onnx' | 'tfjs-graph', graph: Graph, contents: Map<string, ArrayBuffer>}} Network contents by name, the model first
 * @typedef {{words: string, node: string}} Candidate
 * @typedef {{words: string, outputs: Output[], dimension: number}} Answer a result that could be the embedding
 * @typedef {{words: string} & Partial<Pick<Manifest, 'range' | 'mean' | 'std' | 'channels'>>} Scale how pixels become input
 * values
 * @typedef {{embed: (picture: any) => Promise<Float32Array>, shapes: () => Promise<readonly (readonly number[])[]>, close?: () => void}} Loaded
 *
 * @typedef {object} Proposal
 * @property {Scale[]} scales the likeliest first
 * @property {Answer[]} answers the likeliest first
 * @property {number[][]} right number of pictures recognised, by scale and answer; empty if none
 * were tried
 * @property {number} asked how many pictures
 * @property {number} own number recognised by the network that is compared with
 * @property {[number, number]} best scale and answer
 * @property {(scale: number, answer: number) => Manifest} manifest
 */

/** @type {Scale[]} */
const scales = [
  { words: 'by ImageNet’s mean and spread', range: [0, 1], mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] },
  { words: 'from −1 to 1', range: [-1, 1] },
  { words: 'from 0 to 1', range: [0, 1] },
  { words: 'from 0 to 255', range: [0, 255] },
  { words: 'from 0 to 255 less ImageNet’s mean, blue first', range: [0, 255], mean: [103.939, 116.779, 123.68], channels: 'BGR' },
];

/** Edges of the square that are tried if the network leaves the size open; some are multiples of 14 and 32. */
const edges = [224, 256, 192, 384];
/** Bounds on the length of an embedding: a shorter one, such as the scores of five classes, tells little apart. */
const [fewest, most] = [16, 8192];
/** Pictures are tried for so long under the first scale, in milliseconds, and at least so many of them. */
const [patience, least] = [6000, 20];

/** Operators that change only the shape of a feature, and those that follow a last layer. */
const reshaping = /^(Flatten|Reshape|Squeeze|Unsqueeze|Identity|Dropout|Cast|ExpandDims)$/;
const closing = /^(Softmax|LogSoftmax|Sigmoid|ArgMax|QuantizeLinear|DequantizeLinear|DynamicQuantizeLinear|BiasAdd|Add|AddV2|Mul)$/;
const pools = /^(QLinear)?Global(Average|Max|Lp)Pool$|^(Avg|Average)Pool$|^(Reduce)?Mean$/;
const linear = /^(Q?Gemm|(_Fused|QLinear|Fused)?MatMul(Integer|NBits)?|(_Fused|QLinear|Fused)?Conv(2D|Integer)?)$/;

/** @param {string} trouble the rest of a sentence @param {string} name of the file */
const unfit = (name, trouble) => new ExtractorError('extractor-model', `“${name}” ${trouble}.`);

/**
 * Looks for a network among files.
 *
 * @param {Pick<File, 'name' | 'text' | 'arrayBuffer'>[]} files
 * @returns {Promise<Network>} throws an ExtractorError
 */
export async function networkAmong(files) {
  const onnx = files.filter((file) => /\.onnx$/i.test(file.name));
  const model = onnx[0] ?? files.find((file) => file.name === 'model.json') ?? files.find((file) => /\.json$/i.test(file.name));
  if (onnx.length > 1) throw unfit(onnx[1].name, `is a second network beside “${onnx[0].name}”: bring one at a time`);
  if (!model)
    throw new ExtractorError(
      'extractor-files',
      `There is no network among the files (${files
        .slice(0, 3)
        .map((file) => `“${file.name}”`)
        .join(
          ', ',
        )}${files.length > 3 ? ' and others' : ''}): bring an .onnx file, or the model.json of a TensorFlow.js graph with its weight files. Networks of other forms, such as .tflite and .pt, can be exported as ONNX.`,
    );
  const { name } = model;
  const contents = new Map([[name, await model.arrayBuffer()]]);
  const add = async (/** @type {string[]} */ names) => {
    for (const one of names) {
      const found = files.find((file) => file.name === one.split('/').pop());
      if (!found) throw unfit(name, `keeps weights in the file “${one}”: bring both together`);
      contents.set(one, await found.arrayBuffer());
    }
  };
  const bytes = (/** @type {string} */ one) => new Uint8Array(/** @type {ArrayBuffer} */ (contents.get(one)));
  try {
    if (onnx.length) {
      const { beside, ...graph } = readOnnx(bytes(name));
      await add(beside);
      return { name, runtime: 'onnx', graph, contents };
    }
    const read = modelOf(name, await model.text());
    await add(shardsOf(read));
    return { name, runtime: 'tfjs-graph', graph: readTfjs(read, bytes), contents };
  } catch (error) {
    if (error instanceof ExtractorError) throw error;
    throw unfit(name, error instanceof OnnxError ? error.message : 'is damaged: take the file as it was made');
  }
}

/**
 * The input of the network, as far as the graph describes it.
 *
 * @param {Network} network
 * @returns {Pick<Manifest, 'layout' | 'inputName'> & {edge: number}} edge: -1 where it is left open
 */
export function inputOf({ name, runtime, graph: { inputs, nodes } }) {
  const open = inputs.length === 1 && inputs[0].dims.length === 0 && nodes.some(({ op }) => /Conv/.test(op));
  const all = open ? [{ ...inputs[0], dims: [-1, -1, -1, -1] }] : inputs;
  const usual = runtime === 'onnx' ? 'NCHW' : 'NHWC';
  const order = (/** @type {{dims: number[]}} */ { dims: [, second, , fourth] }) =>
    fourth === undefined ? null : second === 3 ? 'NCHW' : fourth === 3 ? 'NHWC' : second === -1 && fourth === -1 ? usual : null;
  const input = all.find(order);
  if (!input)
    throw unfit(
      name,
      `is fed ${all.map((one) => `“${one.name}” (${one.dims.map((n) => (n < 0 ? '?' : n)).join(' x ') || 'of no shape'})`).join(', ') || 'nothing'}, not pictures of three colours: bring a network that looks at pictures`,
    );
  if (all.length > 1)
    throw unfit(
      name,
      `is fed ${all
        .filter((one) => one !== input)
        .map((one) => `“${one.name}”`)
        .join(', ')} beside the picture: bring the part of it that looks at pictures alone`,
    );
  if (input.type !== 'float32') throw unfit(name, `takes pictures as ${input.type}: export it with an input of float32`);
  const layout = /** @type {Manifest['layout']} */ (order(input));
  const [count, height, width] = layout === 'NCHW' ? [input.dims[0], ...input.dims.slice(2)] : input.dims;
  if (count > 1) throw unfit(name, `takes ${count} pictures at a time: export it for one`);
  if (height > 0 && width > 0 && height !== width)
    throw unfit(name, `takes pictures of ${height} x ${width}, and squares are fed here: export it for a square`);
  return { layout, inputName: input.name, edge: Math.max(height, width) };
}

/**
 * The scales to be tried, the likeliest first. If a network begins with arithmetic on its input, y
 * = a x + b, the scale follows from it: y must have a usual range.
 *
 * @param {Network} network
 */
export function scalesOf(network) {
  const { layout, inputName } = inputOf(network);
  const found = opening(network.graph, /** @type {string} */ (inputName));
  const told =
    found &&
    [scales[2], scales[1], scales[3]].find(({ range: [lo, hi] = [0, 255] }) =>
      found.every(({ a, b }) => Math.abs(a * (hi - lo)) >= 0.9 && Math.max(Math.abs(a * lo + b), Math.abs(a * hi + b)) <= 3),
    );
  if (told) return [told];
  // If the arithmetic has no scale, it subtracts a mean from bytes, as in Caffe's networks.
  const likeliest = found ? scales[3] : network.runtime === 'onnx' && layout === 'NCHW' ? scales[0] : scales[1];
  return [likeliest, ...scales.filter((one) => one !== likeliest)];
}

/**
 * The arithmetic before the first layer, by channel.
 *
 * @param {Graph} graph @param {string} name of the input
 * @returns {{a: number, b: number}[] | null} null where there is none
 */
function opening({ nodes, constants }, name) {
  /** @type {{a: number, b: number}[] | null} */
  let found = null;
  for (let steps = 0; steps < nodes.length; steps++) {
    // in a damaged graph nodes may follow themselves
    const next = nodes.filter((node) => node.inputs.includes(name));
    const [{ op, inputs, outputs }] = next.length === 1 ? next : [{ op: '', inputs: [], outputs: [''] }];
    const values = constants.get(inputs.find((one) => one !== name) ?? '');
    if (/^(Sub|Add|AddV2|Mul|Div|RealDiv)$/.test(op) && values && inputs.length === 2 && (inputs[0] === name || /Add|Mul/.test(op))) {
      const former = /** @type {{a: number, b: number}[]} */ (found ?? [{ a: 1, b: 0 }]);
      found = Array.from({ length: Math.max(former.length, values.length) }, (_, i) => {
        const { a, b } = former[i % former.length];
        const c = values[i % values.length];
        if (op === 'Mul') return { a: a * c, b: b * c };
        if (/Div/.test(op)) return { a: a / c, b: b / c };
        return { a, b: op === 'Sub' ? b - c : b + c };
      });
    } else if (!/^(Transpose|Identity|Cast|Reshape)$/.test(op)) return found;
    [name] = outputs;
  }
  return found;
}

/**
 * Results that could be an embedding, the likeliest first: the input of the last layer with
 * weights, the last pooling, the outputs. Without such a layer the outputs are not class scores,
 * and come before the pooling.
 *
 * @param {Graph} graph
 * @returns {Candidate[]}
 */
export function candidatesOf({ inputs, nodes, outputs }) {
  const by = new Map(nodes.flatMap((node) => node.outputs.map((name) => /** @type {const} */ ([name, node]))));
  // The nodes that depend on the picture; all others are constant.
  const live = new Set(inputs.map(({ name }) => name));
  for (const node of nodes) if (node.inputs.some((name) => live.has(name))) for (const name of node.outputs) live.add(name);
  const data = (/** @type {Node} */ node) => node.inputs.find((name) => live.has(name)) ?? '';
  /** Back through what changes no more than the shape, and the operations of a kind. @param {string} name @param {RegExp} [kind] */
  const back = (name, kind) => {
    const passes = (/** @type {Node} */ { op, inputs: given }) => reshaping.test(op) || (kind?.test(op) && given.filter((one) => live.has(one)).length === 1);
    let node = by.get(name);
    for (let steps = 0; node && steps < nodes.length && passes(node); steps++) node = by.get((name = data(node)));
    return name;
  };
  const pooling = nodes.findLast(({ op }) => pools.test(op));
  /** @type {Candidate[]} */
  const found = [];
  const add = (/** @type {string} */ words, /** @type {string} */ name) => {
    const node = back(name);
    if (!by.has(node) || found.some((one) => one.node === node)) return;
    found.push({ words, node });
  };
  for (const output of outputs.slice(0, 8)) {
    const last = by.get(back(output, closing));
    if (last && linear.test(last.op) && last.inputs.slice(1).some((one) => !live.has(one))) add('before its last layer', back(data(last), /Quantize/));
  }
  const pooled = pooling ? [['of its last pooling', pooling.outputs[0]]] : [];
  const answered = outputs.slice(0, 8).map((output) => [`of its output “${output}”`, output]);
  for (const [words, name] of found.length ? [...pooled, ...answered] : [...answered, ...pooled]) add(words, name);
  return found;
}

/**
 * How an answer becomes an embedding, by its shape.
 *
 * @param {Candidate} candidate @param {readonly number[]} shape
 * @param {Manifest['layout'] | null} layout of answers that have height and width, null where it is not known
 * @returns {Answer[]}
 */
export function answersOf({ words, node }, shape, layout) {
  const count = shape.reduce((product, edge) => product * edge, 1);
  const make = (/** @type {number} */ dimension, /** @type {string} */ how, /** @type {Output[]} */ ...outputs) => ({
    words: `the ${dimension.toLocaleString('en')} numbers ${how}${words}`,
    outputs,
    dimension,
  });
  const channels = shape[layout === 'NCHW' && shape.length === 4 ? 1 : shape.length - 1];
  if (shape.length > 1 && shape[0] !== 1) return [];
  if (shape.length < 3 || Math.max(...shape) === count) return [make(count, '', { node, pooling: 'none' })];
  if (shape.length > 4 || (shape.length === 4 && !layout)) return [];
  const [first, rest, mean] = /** @type {const} */ (['first', 'rest', 'mean']).map((pooling) => ({ node, pooling }));
  if (shape.length === 4 || Number.isInteger(Math.sqrt(shape[1]))) return [make(channels, 'in the mean over all cells ', mean)];
  // If the number of tokens is not a square, the first one is for the whole picture.
  return [
    make(2 * channels, 'of the first token and the mean of the others ', first, rest),
    make(channels, 'of the first token ', first),
    make(channels, 'in the mean of the tokens but the first ', rest),
  ];
}

/**
 * Counts the pictures that, left out in turn, are nearest to the mean of their own class. Nearness is
 * the cosine after the mean of all is subtracted: a classifier without a prior, the same for every
 * network.
 *
 * @param {Float32Array[]} embeddings @param {string[]} labels
 */
export function rightOf(embeddings, labels) {
  const mean = meanOf(embeddings);
  const units = embeddings.map((one) => {
    const centred = one.map((value, i) => value - mean[i]);
    const length = Math.hypot(...centred) || 1;
    return centred.map((value) => value / length);
  });
  return units.filter((unit, i) => {
    const near = (/** @type {string} */ label) => {
      const others = units.filter((_, j) => j !== i && labels[j] === label);
      if (others.length === 0) return -1;
      const centre = meanOf(others);
      return centre.reduce((sum, value, k) => sum + value * unit[k], 0) / (Math.hypot(...centre) || 1);
    };
    const own = near(labels[i]);
    // Embeddings that differ between pictures only by rounding are useless.
    return [...new Set(labels)].every((label) => label === labels[i] || near(label) < own - 1e-5);
  }).length;
}

/**
 * Pictures to try a network on: of twenty classes at most, one of each in turn, sixty in all.
 *
 * @template {{label: string}} T
 * @param {T[]} all
 * @returns {T[]} none where there are no two classes of two pictures
 */
export function spread(all) {
  const classes = [...new Set(all.map(({ label }) => label))]
    .map((label) => all.filter((one) => one.label === label))
    .filter(({ length }) => length > 1)
    .slice(0, 20);
  if (classes.length < 2) return [];
  const longest = Math.max(...classes.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => classes.flatMap((one) => one.slice(i, i + 1)))
    .flat()
    .slice(0, 60);
}

/**
 * Tries the network on taught pictures, if there are any.
 *
 * @param {Network} network
 * @param {{
 *   load: (manifest: Manifest, contents: Map<string, ArrayBuffer>) => Promise<Loaded>,
 *   pictures?: {picture: any, label: string}[], own?: {embed: Loaded['embed']},
 *   onProgress?: (progress: {loaded: number, total: number}) => void, signal?: AbortSignal,
 * }} ways pictures: as spread answers them; own: the network to be compared with
 * @returns {Promise<Proposal>} throws an ExtractorError where the network is not of pictures, or does not run
 */
export async function proposalOf(network, { load, pictures = [], own, onProgress, signal }) {
  const { name, runtime, graph, contents } = network;
  const { edge, ...input } = inputOf(network);
  const files = await Promise.all([...contents].map(async ([one, content]) => ({ name: one, bytes: content.byteLength, sha256: await sha256(content) })));
  const ordered = scalesOf(network);
  const manifest = (
    /** @type {number} */ inputSize,
    /** @type {Scale} */ { words, ...scale },
    /** @type {Output[]} */ outputs,
    /** @type {number} */ dimension,
  ) => ({
    ...decodeManifest({
      format,
      id: `${name.replace(/(-\d+)?\.\w+$/, '')}-${inputSize}`.slice(-100),
      runtime,
      files,
      dimension: 1,
      inputSize,
      views: [{ name: 'whole' }],
      ...input,
      ...scale,
      outputs: [outputs[0]],
      licence: 'not stated, the network came without a manifest',
    }),
    outputs,
    dimension,
  });
  const candidates = candidatesOf(graph);
  const nodes = [...new Set(candidates.map(({ node }) => node))];
  if (nodes.length === 0) throw unfit(name, 'has no result that sums up a picture: bring a network that tells pictures apart');
  const tried = await firstOf(edge > 0 ? [edge] : edges, async (size) => {
    const loaded = await load(
      manifest(
        size,
        ordered[0],
        nodes.map((node) => ({ node, pooling: 'none' })),
        0,
      ),
      contents,
    );
    return { size, shapes: await loaded.shapes().finally(() => loaded.close?.()) };
  });
  const shape = (/** @type {string} */ node) => tried.shapes[nodes.indexOf(node)];
  const layout = runtime === 'onnx' && input.layout === 'NHWC' ? null : input.layout;
  const answers = candidates.flatMap((one) => answersOf(one, shape(one.node), layout)).filter(({ dimension }) => dimension >= fewest && dimension <= most);
  if (answers.length === 0)
    throw unfit(name, `has no result of ${fewest} to ${most} numbers that sums up a picture: bring a network that tells pictures apart`);

  const all = answers.flatMap(({ outputs }) => outputs);
  const total = answers.reduce((sum, { dimension }) => sum + dimension, 0);
  const labels = pictures.map(({ label }) => label);
  let asked = pictures.length;
  const right = [];
  let done = 0;
  const embedAll = async (/** @type {Loaded['embed']} */ embed, bounded = false) => {
    const [embeddings, begun] = [/** @type {Float32Array[]} */ ([]), performance.now()];
    for (const { picture } of pictures.slice(0, asked)) {
      signal?.throwIfAborted();
      embeddings.push(await embed(picture));
      if (bounded && embeddings.length >= least && performance.now() - begun > patience) asked = embeddings.length;
      onProgress?.({ loaded: ++done, total: asked * (ordered.length + 1) });
      if (embeddings.length === asked) break;
    }
    return embeddings;
  };
  for (const [i, scale] of asked ? ordered.entries() : []) {
    const loaded = await load(manifest(tried.size, scale, all, total), contents);
    const embeddings = await embedAll(loaded.embed, i === 0).finally(() => loaded.close?.());
    let from = 0;
    right.push(
      answers.map(({ dimension }) => {
        from += dimension;
        return rightOf(
          embeddings.map((one) => one.subarray(from - dimension, from)),
          labels,
        );
      }),
    );
  }
  return {
    scales: ordered,
    answers,
    right,
    asked,
    own: own && asked ? rightOf(await embedAll(own.embed), labels) : 0,
    best: bestOf(right, asked),
    manifest: (i, j) => decodeManifest(manifest(tried.size, ordered[i], answers[j].outputs, answers[j].dimension)),
  };
}

/**
 * The likeliest among the choices that are as good as the best one, up to one picture in ten.
 *
 * @param {number[][]} right @param {number} asked
 * @returns {[number, number]}
 */
function bestOf(right, asked) {
  const enough = Math.max(...right.flat()) - Math.floor(asked / 10);
  const i = right.findIndex((row) => row.some((count) => count >= enough));
  return i < 0 ? [0, 0] : [i, right[i].findIndex((count) => count >= enough)];
}

/**
 * The result for the first value with which the call does not fail.
 *
 * @template T, U
 * @param {T[]} values @param {(value: T) => Promise<U>} call
 * @returns {Promise<U>} throws what the first failed with
 */
async function firstOf([value, ...others], call) {
  try {
    return await call(value);
  } catch (error) {
    if (others.length === 0) throw error;
    return firstOf(others, call).catch(() => {
      throw error;
    });
  }
}

/** Input and output of the network, in words. @param {Manifest} manifest @param {Scale} scale @param {Answer} answer */
export function described({ inputSize, layout }, scale, answer) {
  return `It gets the whole picture, squeezed into ${inputSize} x ${inputSize} pixels, ${layout === 'NCHW' ? 'colour by colour' : 'pixel by pixel'}, values ${scale.words}. Its output is ${answer.words}.`;
}

/** The result of leaving each picture out in turn, in words. @param {Proposal} proposal @param {[number, number]} choice */
export function judged({ right, asked, own }, [i, j]) {
  return `Right for ${right[i][j]} of ${asked} of your pictures; the built-in one: ${own} of ${asked}.`;
}
