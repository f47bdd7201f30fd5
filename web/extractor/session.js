// @ts-check
/**
 * One loaded extractor, wherever it runs: in the worker or, as a fallback, in the window. The
 * runtime is a parameter: the worker imports it at once, and the window only when needed.
 */
import { ExtractorError } from './errors.js';
import { decodePicture, pixelsOf } from './pixels.js';
import { rectangleOf } from './preprocess.js';
import { concatenate } from './tensors.js';

/**
 * @typedef {object} ExtractorFiles
 * @property {import('./manifest.js').Manifest} manifest
 * @property {Map<string, ArrayBuffer>} contents the files that it lists, by name
 * @property {ArrayBuffer} wasm the runtime's program that this machine can run
 */

/**
 * A loaded network, with the same interface for each runtime.
 *
 * @typedef {object} Runtime
 * @property {(pixels: Float32Array) => Float32Array | Promise<Float32Array>} run
 *   pixels: size*size*3 RGB in 0..255, row major; returns the outputs, joined in order
 * @property {(pixels: Float32Array) => Looked | Promise<Looked>} [look] runs, and keeps the grid that the outputs were pooled from
 * @property {(pixels: Float32Array) => readonly (readonly number[])[] | Promise<readonly (readonly number[])[]>} [shapes]
 *   of each output, [0] for one that holds no numbers
 * @property {() => void} close frees the weights
 */

/** @typedef {{answer: Float32Array, grid: import('./tensors.js').Grid | null}} Looked answer: as of run; grid: null if the network has none */

/**
 * The cells of a picture: vectors whose mean is the embedding. Each view has a grid of them.
 *
 * @typedef {object} Cells
 * @property {Float32Array} embedding
 * @property {Float32Array} values a vector for each cell, view by view and row by row; `embedding` is their mean
 * @property {View[]} views
 * @property {number} width of the picture, in pixels
 * @property {number} height
 *
 * @typedef {object} View where a view looks, in shares of the picture's width and height
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {number} rows of its grid
 * @property {number} columns
 */

/** @typedef {(files: ExtractorFiles) => Promise<Runtime>} CreateRuntime */

/**
 * Its messages by type, with their arguments and results:
 *   embed   {picture, views}   Float32Array; picture: Blob | ImageBitmap | ImageData; views: number of first views, all if undefined
 *   cells   {picture, views}   Cells, or null for a network whose embedding is no mean over places
 *   shapes                     number[][], the shape of each output
 *
 * @param {CreateRuntime} createRuntime @param {ExtractorFiles} files @param {() => Promise<void>} [pause]
 */
export async function createSession(createRuntime, files, pause = async () => {}) {
  const { inputSize, views, dimension } = files.manifest;
  const runtime = await createRuntime(files);
  const embed = async (/** @type {Float32Array[]} */ inputs) => check(meanOf(await inTurn(inputs, runtime.run)), dimension);
  const black = new Float32Array(3 * inputSize * inputSize);
  // The first run compiles the network, and checks early that everything works. The dimension is
  // not known yet while own/propose.js tries a network.
  if (dimension) await embed([black]);
  return {
    shapes: async () => runtime.shapes?.(black) ?? [],
    embed: async (/** @type {{picture: Blob | ImageBitmap | ImageData, views?: number}} */ { picture, views: count = views.length }) =>
      embed(await pixelsOf(picture, inputSize, views.slice(0, count), pause)),
    cells: async (/** @type {{picture: Blob | ImageBitmap | ImageData, views?: number}} */ { picture, views: count = views.length }) => {
      const { look } = runtime;
      if (!look) return null;
      const opened = picture instanceof Blob ? await decodePicture(picture) : picture;
      const { width, height } = opened;
      const used = views.slice(0, count);
      const inputs = await pixelsOf(opened, inputSize, used, pause).finally(() => opened !== picture && /** @type {ImageBitmap} */ (opened).close());
      const looked = await inTurn(inputs, look);
      return cellsOf(looked, used, { width, height }, dimension);
    },
    close: runtime.close,
  };
}

/**
 * A network runs one picture at a time.
 * @template T
 * @param {Float32Array[]} inputs @param {(input: Float32Array) => T | Promise<T>} call
 * @returns {Promise<T[]>}
 */
export async function inTurn(inputs, call) {
  const answers = [];
  for (const input of inputs) answers.push(await call(input));
  return answers;
}

/**
 * A picture's embedding is the mean of the network's answers to its views. The page and Node share
 * it.
 * @param {Float32Array[]} answers one for each view
 * @returns {Float32Array}
 */
export function meanOf([first, ...others]) {
  return first.map((value, i) => others.reduce((sum, other) => sum + other[i], value) / (others.length + 1));
}

/**
 * The cells of a picture, null where the network has none. The page and Node share it.
 *
 * @param {Looked[]} looked one for each view @param {import('./preprocess.js').View[]} views
 * @param {{width: number, height: number}} picture @param {number} dimension
 * @returns {Cells | null}
 */
export function cellsOf(looked, views, { width, height }, dimension) {
  const grids = looked.map(({ grid }) => grid);
  if (!grids.every((grid) => grid !== null)) return null;
  return {
    width,
    height,
    embedding: check(meanOf(looked.map(({ answer }) => answer)), dimension),
    values: concatenate(
      grids.map(({ values }) => values),
      Float32Array,
    ),
    views: grids.map(({ rows, columns }, i) => {
      const at = rectangleOf(views[i], width, height);
      return { x: at.x / width, y: at.y / height, width: at.width / width, height: at.height / height, rows, columns };
    }),
  };
}

/** @param {Float32Array} embedding @param {number} dimension */
function check(embedding, dimension) {
  if (embedding.length !== dimension || !embedding.every(Number.isFinite)) {
    throw new ExtractorError(
      'bad-embedding',
      `The feature extractor answered a vector of length ${embedding.length}, not ${dimension} finite numbers: reload the page, or correct “dimension” and “outputs” in its manifest.`,
    );
  }
  return embedding;
}
