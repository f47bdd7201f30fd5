// @ts-check
/**
 * The numeric part of the extractor: runs a pruned TensorFlow.js graph on the
 * tfjs wasm backend. It touches no network, no document and no file, so the
 * very same bundle serves the worker, the main-thread fallback and Node.
 * The build bundles this file into `extractor/runtime.js`; only the kernels
 * registered here are shipped.
 */
import { engine, env, registerBackend, registerKernel, setBackend, tensor } from '@tensorflow/tfjs-core';
import { loadGraphModelSync } from '@tensorflow/tfjs-converter/dist/executor/graph_model.js';
import { BackendWasm } from '@tensorflow/tfjs-backend-wasm/dist/backend_wasm.js';
import * as wasmFactoryModule from '@tensorflow/tfjs-backend-wasm/wasm-out/tfjs-backend-wasm.js';
import { addConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Add.js';
import { castConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Cast.js';
import { fusedConv2DConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/FusedConv2D.js';
import { fusedDepthwiseConv2DConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/FusedDepthwiseConv2D.js';
import { identityConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Identity.js';
import { meanConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Mean.js';
import { multiplyConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Multiply.js';
import { relu6Config } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Relu6.js';
import { reshapeConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Reshape.js';
import { transposeConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Transpose.js';
import '@tensorflow/tfjs-converter/dist/flags.js';

/**
 * @typedef {object} RuntimeFiles
 * @property {any} model parsed model.json: {modelTopology, weightsManifest, inputName, outputNames}
 * @property {ArrayBuffer} weights contents of weights.bin
 * @property {ArrayBuffer} wasm contents of the tfjs wasm binary this machine can run
 */

/**
 * @typedef {object} Runtime
 * @property {(pixels: Float32Array, size: number) => Float32Array} run
 *   pixels: size*size*3 RGB in 0..255, row major; answers the outputs joined in order
 * @property {(pixels: Float32Array, size: number) => import('./cells.js').FeatureMap[]} maps
 *   the feature maps that the outputs are the averages of
 * @property {() => void} close frees the weights
 */

const kernels = [
  addConfig, castConfig, fusedConv2DConfig, fusedDepthwiseConv2DConfig,
  identityConfig, meanConfig, multiplyConfig, relu6Config, reshapeConfig,
  transposeConfig,
];

/** What tfjs asks of its surroundings: the same in a window, a worker and Node. */
const platform = {
  now: () => performance.now(),
  encode: (/** @type {string} */ text) => new TextEncoder().encode(text),
  decode: (/** @type {Uint8Array} */ bytes) => new TextDecoder().decode(bytes),
  fetch: () => Promise.reject(new Error('The extractor runtime fetches nothing by itself.')),
  setTimeoutCustom: (/** @type {Function} */ f, /** @type {number} */ ms) => void setTimeout(() => f(), ms),
  isTypedArray: (/** @type {unknown} */ a) =>
    a instanceof Float32Array || a instanceof Int32Array || a instanceof Uint8Array || a instanceof Uint8ClampedArray,
};

/** Set once: tfjs keeps one backend for the whole realm. @type {Promise<void> | null} */
let started = null;

/**
 * Instantiates the tfjs wasm module from bytes already here. The package's own
 * init() fetches by itself, which would hide the progress and choose threads.
 * @param {ArrayBuffer} wasm
 */
async function startBackend(wasm) {
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
  for (const kernel of kernels) registerKernel(/** @type {any} */ (kernel));
  registerBackend('wasm', () => new BackendWasm(module));
  if (!(await setBackend('wasm'))) throw new Error('The TensorFlow.js wasm backend did not start.');
}

/**
 * Loads the graph. Cost: about 0.1 s, mostly decoding float16 weights.
 * @param {RuntimeFiles} files
 * @returns {Promise<Runtime>}
 */
export async function createRuntime({ model, weights, wasm }) {
  started ??= startBackend(wasm);
  try {
    await started;
  } catch (error) {
    started = null;
    throw error;
  }
  const graph = loadGraphModelSync({
    load: () => ({
      modelTopology: model.modelTopology,
      weightSpecs: model.weightsManifest[0].weights,
      weightData: weights,
      format: 'graph-model',
    }),
  });
  return {
    run: (pixels, size) => runGraph(graph, model, pixels, size, model.outputNames, (outputs) => concatenate(outputs.map((t) => t.dataSync()))),
    maps: (pixels, size) => runGraph(graph, model, pixels, size, averaged(model), (outputs) => outputs.map(featureMap)),
    close: () => graph.dispose(),
  };
}

/**
 * @template T
 * @param {any} graph a loaded GraphModel
 * @param {{inputName: string}} names
 * @param {Float32Array} pixels
 * @param {number} size
 * @param {string[]} nodes to compute
 * @param {(outputs: any[]) => T} read makes of their tensors what is wanted before they are freed
 * @returns {T}
 */
function runGraph(graph, names, pixels, size, nodes, read) {
  const scope = engine();
  scope.startScope();
  try {
    const input = tensor(pixels, [1, size, size, 3], 'float32');
    const outputs = graph.execute({ [names.inputName]: input }, nodes);
    return read(Array.isArray(outputs) ? outputs : [outputs]);
  } finally {
    scope.endScope();
  }
}

/** The nodes whose averages the outputs are. @param {any} model @returns {string[]} */
function averaged({ modelTopology, outputNames }) {
  return outputNames.map((/** @type {string} */ name) => modelTopology.node.find((/** @type {any} */ node) => node.name === name).input[0]);
}

/** @param {any} t of shape [1, height, width, channels] @returns {import('./cells.js').FeatureMap} */
function featureMap(t) {
  const [, height, width, channels] = t.shape;
  return { data: t.dataSync(), height, width, channels };
}

/** @param {Float32Array[]} parts */
function concatenate(parts) {
  const joined = new Float32Array(parts.reduce((n, part) => n + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
