// @ts-check
/**
 * The adapter for TensorFlow.js graphs, on the tfjs wasm backend. It uses no network, document or
 * file, so the same bundle works in the worker, in the window and in Node. runtime.mjs registers the
 * kernels of the page's own networks, own/graphs.mjs all kernels.
 */
import { engine, env, registerBackend, setBackend, tensor } from '@tensorflow/tfjs-core';
import { loadGraphModelSync } from '@tensorflow/tfjs-converter/dist/executor/graph_model.js';
import { BackendWasm } from '@tensorflow/tfjs-backend-wasm/dist/backend_wasm.js';
import * as wasmFactoryModule from '@tensorflow/tfjs-backend-wasm/wasm-out/tfjs-backend-wasm.js';
import '@tensorflow/tfjs-converter/dist/flags.js';
import { ExtractorError } from './errors.js';
import { concatenate, gridOf, networkInput, pooled } from './tensors.js';
import { modelOf, shardsOf } from './tfjs-graph.js';
import { dequantised } from './weights.js';

/** @import {Manifest, Output} from './manifest.js' */
/** @import {ExtractorFiles, Runtime} from './session.js' */

/** The platform of tfjs: the same in a window, a worker and Node. */
const platform = {
  now: () => performance.now(),
  encode: (/** @type {string} */ text) => new TextEncoder().encode(text),
  decode: (/** @type {Uint8Array} */ bytes) => new TextDecoder().decode(bytes),
  fetch: () => Promise.reject(new Error('The extractor runtime fetches nothing by itself.')),
  setTimeoutCustom: (/** @type {Function} */ f, /** @type {number} */ ms) => void setTimeout(() => f(), ms),
  isTypedArray: (/** @type {unknown} */ a) => a instanceof Float32Array || a instanceof Int32Array || a instanceof Uint8Array || a instanceof Uint8ClampedArray,
};

/** Set once: tfjs keeps one backend for the whole realm. @type {Promise<void> | null} */
let started = null;

/**
 * Instantiates the tfjs wasm module from given bytes. The package's own init() would fetch the
 * module itself, without progress, and choose threads.
 * @param {ArrayBuffer} wasm @param {() => void} registerKernels
 */
async function startBackend(wasm, registerKernels) {
  const factory = /** @type {any} */ (wasmFactoryModule).default ?? wasmFactoryModule;
  const module = await factory({ wasmBinary: new Uint8Array(wasm), printErr: () => {} });
  module.tfjs = {
    init: module.cwrap('init', null, []),
    initWithThreadsCount: module.cwrap('init_with_threads_count', null, ['number']),
    getThreadsCount: module.cwrap('get_threads_count', 'number', []),
    registerTensor: module.cwrap('register_tensor', null, ['number', 'number', 'number']),
    disposeData: module.cwrap('dispose_data', null, ['number']),
    dispose: module.cwrap('dispose', null, []),
  };
  env().setPlatform('metaqda', /** @type {any} */ (platform));
  registerKernels();
  registerBackend('wasm', () => new BackendWasm(module));
  if (!(await setBackend('wasm'))) throw new Error('The TensorFlow.js wasm backend did not start.');
}

/** @type {(manifest: Pick<Manifest, 'files'>, contents: ExtractorFiles['contents'], wasm: ArrayBuffer, registerKernels: () => void) => Promise<{graph: any, model: any}>} */
async function open({ files: [{ name }] }, contents, wasm, registerKernels) {
  started ??= startBackend(wasm, registerKernels);
  try {
    await started;
  } catch (error) {
    started = null;
    throw error;
  }
  const model = modelOf(name, new TextDecoder().decode(contents.get(name)));
  const { specs, data } = weightsOf(model, name, contents);
  const graph = loadGraphModelSync({
    load: () => ({
      modelTopology: model.modelTopology,
      weightSpecs: /** @type {any} */ (specs),
      weightData: data,
      format: 'graph-model',
      signature: model.signature,
    }),
  });
  return { graph, model };
}

/**
 * Loads a graph of pictures. Cost: about 0.1 s, mostly decoding weights.
 * @param {ExtractorFiles} files @param {() => void} registerKernels
 * @returns {Promise<Runtime>}
 */
export async function createGraph({ manifest, contents, wasm }, registerKernels) {
  const { graph, model } = await open(manifest, contents, wasm, registerKernels);
  const input = inputNameOf(manifest, model);
  const outputs = outputsOf(manifest);
  const { layout } = manifest;
  const fed = (/** @type {Float32Array} */ pixels) => ({ [input]: networkInput(pixels, manifest) });
  const nodes = outputs.map(({ node }) => node);
  const joined = (/** @type {import('./tensors.js').Tensor[]} */ answers) =>
    concatenate(
      answers.map((answer, i) => pooled(answer, outputs[i], layout)),
      Float32Array,
    );
  return {
    run: (pixels) => runGraph(graph, fed(pixels), nodes, joined),
    look: (pixels) =>
      runGraph(graph, fed(pixels), nodes, (answers) => ({
        answer: joined(answers),
        grid: answers.length === 1 ? gridOf(answers[0], outputs[0], layout) : null,
      })),
    shapes: (pixels) => runGraph(graph, fed(pixels), nodes, (answers) => answers.map(({ shape }) => shape)),
    close: () => graph.dispose(),
  };
}

/** @type {import('./networks.js').CreateNetwork} */
export async function createNetwork({ manifest, contents, wasm }, registerKernels) {
  const { graph } = await open(manifest, contents, wasm, registerKernels);
  const { input, outputs } = manifest;
  return {
    run: (data) =>
      runGraph(
        graph,
        { pixels: { data, shape: [1, ...input] } },
        outputs.map(({ node }) => node),
        (answers) => answers.map((answer, i) => pooled(answer, outputs[i], 'NHWC')),
      ),
    close: () => graph.dispose(),
  };
}

/**
 * @template T
 * @param {any} graph a loaded GraphModel
 * @param {Record<string, import('./tensors.js').Tensor>} inputs by name
 * @param {string[]} nodes to compute
 * @param {(answers: import('./tensors.js').Tensor[]) => T} read makes the result from them before their tensors are freed
 * @returns {T}
 */
function runGraph(graph, inputs, nodes, read) {
  const scope = engine();
  scope.startScope();
  try {
    // A node that is named twice is computed once.
    const once = [...new Set(nodes)];
    const tensors = Object.fromEntries(
      Object.entries(inputs).map(([name, { data, shape }]) => [name, tensor(data, /** @type {number[]} */ (shape), 'float32')]),
    );
    const answers = [graph.execute(tensors, once)].flat();
    return read(nodes.map((node) => answers[once.indexOf(node)]).map((answer) => ({ data: answer.dataSync(), shape: answer.shape })));
  } finally {
    scope.endScope();
  }
}

/**
 * The weights, one after the other: where the model names its files in its own order.
 * @param {any} model @param {string} name of its file @param {ExtractorFiles['contents']} contents
 */
function weightsOf(model, name, contents) {
  const shards = shardsOf(model).map((path) => {
    const shard = contents.get(path);
    if (!shard)
      throw new ExtractorError(
        'extractor-model',
        `The file “${name}” asks for the weights “${path}”, which the manifest does not list: add that file to “files”.`,
      );
    return new Uint8Array(shard);
  });
  const specs = model.weightsManifest.flatMap((/** @type {any} */ group) => group.weights);
  try {
    return dequantised(specs, shards.length === 1 ? shards[0].buffer : concatenate(shards, Uint8Array).buffer);
  } catch (error) {
    throw new ExtractorError(
      'extractor-model',
      `The weights do not fit the model: ${/** @type {Error} */ (error).message}. Take the files that belong together.`,
    );
  }
}

/** @param {Manifest} manifest @param {any} model @returns {string} */
function inputNameOf({ inputName }, model) {
  const inputs = model.modelTopology.node.filter((/** @type {any} */ node) => node.op === 'Placeholder').map((/** @type {any} */ node) => node.name);
  const name = inputName ?? model.inputName ?? (inputs.length === 1 ? inputs[0] : undefined);
  if (inputs.includes(name)) return name;
  throw new ExtractorError(
    'extractor-model',
    `The network has ${inputs.length === 1 ? 'the input' : 'the inputs'} ${inputs.map((/** @type {string} */ one) => `“${one}”`).join(', ')}${name === undefined ? '' : `, and none called “${name}”`}: name one in the manifest’s “inputName”.`,
  );
}

/** @param {Manifest} manifest @returns {Output[]} */
function outputsOf({ outputs }) {
  if (outputs) return outputs;
  throw new ExtractorError(
    'extractor-model',
    'The manifest’s “outputs” is missing: name the node that gives the embedding, [{"node": "...", "pooling": "none"}].',
  );
}
