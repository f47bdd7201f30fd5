// @ts-check
/**
 * The adapter for ONNX networks: ONNX Runtime Web on WebAssembly, one thread. It gets the runtime's
 * program and fetches nothing itself. The build bundles this file into `networks/onnx.js`, which
 * the page fetches only when an extractor needs it.
 */
import { InferenceSession, Tensor, env } from 'onnxruntime-web/wasm';
import { queue } from '../../base/task.js';
import { ExtractorError } from '../errors.js';
import { OnnxError, expose } from './onnx-graph.js';
import { concatenate, gridOf, networkInput, pooled } from '../tensors.js';

/** @import {Tensor as Numbers} from '../tensors.js' */

/** Types that are converted to floats directly. */
const readable = new Set(['float32', 'float64', 'int32', 'uint8', 'int8']);

/** @type {import('../session.js').CreateRuntime} */
export async function createRuntime({ manifest, contents, wasm }) {
  Object.assign(env.wasm, { numThreads: 1, proxy: false, wasmBinary: wasm });
  env.logLevel = 'error';
  const outputs = manifest.outputs ?? [];
  const nodes = [...new Set(outputs.map(({ node }) => node))];
  const session = await open(manifest, contents, nodes);
  const input = inputNameOf(manifest, session);
  const { layout } = manifest;
  /** @template T @param {Float32Array} pixels @param {string[]} wanted @param {(node: string, answer: Tensor) => T} read @returns {Promise<T[]>} */
  const runOnce = async (pixels, wanted, read) => {
    const { data, shape } = networkInput(pixels, manifest);
    const fed = new Tensor('float32', data, shape);
    try {
      const answers = await session.run({ [input]: fed }, [...new Set(wanted)]);
      return wanted.map((node) => read(node, answers[node]));
    } catch (error) {
      if (error instanceof ExtractorError) throw error;
      throw new ExtractorError(
        'extractor-model',
        `The network cannot be run on a picture of ${shape.join(' x ')} (${reason(error)}): put “inputSize” or “layout” right in its manifest.`,
      );
    }
  };
  const turn = queue(); // the runtime takes one call at a time
  /** @type {typeof runOnce} */
  const run = (pixels, wanted, read) => turn(() => runOnce(pixels, wanted, read));
  const named = outputs.map(({ node }) => node);
  const joined = (/** @type {Numbers[]} */ answers) =>
    concatenate(
      answers.map((answer, i) => pooled(answer, outputs[i], layout)),
      Float32Array,
    );
  return {
    run: async (pixels) => joined(await run(pixels, named, numbersOf)),
    look: async (pixels) => {
      const answers = await run(pixels, named, numbersOf);
      return { answer: joined(answers), grid: answers.length === 1 ? gridOf(answers[0], outputs[0], layout) : null };
    },
    shapes: (pixels) => run(pixels, named, (_, { type, dims }) => (readable.has(type) ? dims : [0])),
    close: () => void session.release(),
  };
}

/**
 * Opens the model with the nodes that the manifest names among its outputs.
 *
 * @param {import('../manifest.js').Manifest} manifest @param {Map<string, ArrayBuffer>} contents @param {string[]} nodes
 */
async function open({ files }, contents, nodes) {
  const [{ name }, ...others] = files;
  try {
    const model = expose(new Uint8Array(/** @type {ArrayBuffer} */ (contents.get(name))), nodes);
    return await InferenceSession.create(model, {
      executionProviders: ['wasm'],
      externalData: others.map((file) => ({ path: file.name, data: new Uint8Array(/** @type {ArrayBuffer} */ (contents.get(file.name))) })),
    });
  } catch (error) {
    if (error instanceof OnnxError) throw new ExtractorError('extractor-model', `The file “${name}” ${error.message}.`);
    throw new ExtractorError(
      'extractor-model',
      `ONNX Runtime cannot load “${name}” (${reason(error)}): check that the file is whole, that data beside it is listed in “files”, and that the model is of a kind that ONNX Runtime Web runs.`,
    );
  }
}

/** @param {import('../manifest.js').Manifest} manifest @param {InferenceSession} session */
function inputNameOf({ inputName }, { inputNames }) {
  const name = inputName ?? (inputNames.length === 1 ? inputNames[0] : undefined);
  if (name !== undefined && inputNames.includes(name)) return name;
  throw new ExtractorError(
    'extractor-model',
    `The network has the inputs ${inputNames.map((one) => `“${one}”`).join(', ')}${name === undefined ? '' : `, and none called “${name}”`}: name one in the manifest’s “inputName”.`,
  );
}

/** @param {string} node @param {Tensor} answer @returns {Numbers} */
function numbersOf(node, answer) {
  if (!readable.has(answer.type))
    throw new ExtractorError(
      'extractor-output',
      `The network’s node “${node}” answers ${answer.type}, not numbers that are read here: take another node, or convert the network to float32.`,
    );
  return { data: answer.data instanceof Float32Array ? answer.data : Float32Array.from(/** @type {any} */ (answer.data)), shape: answer.dims };
}

/** The message of ONNX Runtime, without its error codes. @param {unknown} error */
function reason(error) {
  return String(/** @type {any} */ (error)?.message ?? error)
    .replace(/\s+/g, ' ')
    .replace(/[.\s]+$/, '')
    .slice(0, 300);
}
