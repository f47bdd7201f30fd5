// @ts-check
/**
 * One loaded extractor, wherever it runs: in the worker or, as a fallback, in
 * the window. The runtime is handed in, because the worker bundles beside it and
 * the window imports it only when needed.
 */
import { ExtractorError } from './errors.js';
import { leaveOutParts } from './cells.js';
import { pixelsOf } from './pixels.js';
import { rectangleOf } from './preprocess.js';

/**
 * @typedef {object} ExtractorFiles
 * @property {number} inputSize edge of the square the graph is fed
 * @property {import('./preprocess.js').View[]} views what it is fed of each picture
 * @property {number} dimension length of an embedding
 * @property {any} model @property {ArrayBuffer} weights @property {ArrayBuffer} wasm
 */

/** @typedef {(files: {model: any, weights: ArrayBuffer, wasm: ArrayBuffer}) =>
 *   Promise<{run: (pixels: Float32Array, size: number) => Float32Array,
 *     maps: (pixels: Float32Array, size: number) => import('./cells.js').FeatureMap[], close: () => void}>} CreateRuntime */

/**
 * @param {CreateRuntime} createRuntime
 * @param {ExtractorFiles} files
 * @param {() => Promise<void>} [pause]
 */
export async function createSession(createRuntime, files, pause) {
  const { inputSize, views, dimension } = files;
  const runtime = await createRuntime(files);
  // The first run compiles; it also proves the whole path before anyone waits for it.
  check(runtime.run(new Float32Array(3 * inputSize * inputSize), inputSize), dimension);
  return {
    /**
     * @param {Blob | ImageBitmap | ImageData} source @param {number} [count] of views, the first ones
     * @returns {Promise<Float32Array>}
     */
    async embed(source, count = views.length) {
      return check(meanOf(runtime.run, await pixelsOf(source, inputSize, views.slice(0, count), pause), inputSize), dimension);
    },
    /**
     * @param {ImageBitmap} bitmap @param {number} grid parts across and down
     * @returns {Promise<import('./index.js').Parts>}
     */
    async leaveOut(bitmap, grid) {
      const { width, height } = bitmap;
      const inputs = await pixelsOf(bitmap, inputSize, views, pause);
      const seen = views.map((view, i) => ({ maps: runtime.maps(inputs[i], inputSize), rectangle: rectangleOf(view, width, height) }));
      const { embedding, without } = leaveOutParts(seen, width, height, grid);
      return { embedding: check(embedding, dimension), without: without.map((one) => check(one, dimension)) };
    },
    close: runtime.close,
  };
}

/**
 * A picture's embedding is the mean of what the network answers to its views.
 * The page and Node share it.
 * @param {(pixels: Float32Array, size: number) => Float32Array} run
 * @param {Float32Array[]} inputs one for each view @param {number} size their edge
 * @returns {Float32Array}
 */
export function meanOf(run, inputs, size) {
  const [first, ...others] = inputs.map((input) => run(input, size));
  return first.map((value, i) => others.reduce((sum, other) => sum + other[i], value) / inputs.length);
}

/** @param {Float32Array} embedding @param {number} dimension */
function check(embedding, dimension) {
  if (embedding.length !== dimension || !embedding.every(Number.isFinite)) {
    throw new ExtractorError('bad-embedding',
      `The feature extractor answered ${embedding.length} numbers, not ${dimension} finite ones; reload the page.`);
  }
  return embedding;
}
