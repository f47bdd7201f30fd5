// @ts-check
/** The input of a network for a picture, and the embedding from its outputs: the same for every runtime. */
import { ExtractorError } from './errors.js';

/** @import {Manifest, Output} from './manifest.js' */
/** @typedef {{data: Float32Array, shape: readonly number[]}} Tensor row major */

/**
 * Pixels as input of a network:
 *     (lo + (hi - lo) v/255 - mean_c) / std_c,  lo, hi the range, v in 0..255, c the channel.
 *
 * @param {Float32Array} pixels size*size*3, RGB in 0..255, row major; comes back itself where nothing is to be changed
 * @param {Pick<Manifest, 'inputSize' | 'layout' | 'channels' | 'range' | 'mean' | 'std'>} manifest
 * @returns {Tensor} of shape [1, size, size, 3] or [1, 3, size, size]
 */
export function networkInput(pixels, { inputSize, layout, channels, range: [lo, hi], mean, std }) {
  const nhwc = layout === 'NHWC';
  const shape = nhwc ? [1, inputSize, inputSize, 3] : [1, 3, inputSize, inputSize];
  const plain = lo === 0 && hi === 255 && mean.every((value) => value === 0) && std.every((value) => value === 1);
  if (plain && nhwc && channels === 'RGB') return { data: pixels, shape };
  const data = new Float32Array(pixels.length);
  const cells = inputSize * inputSize;
  for (let c = 0; c < 3; c++) {
    const from = channels === 'RGB' ? c : 2 - c;
    for (let i = 0; i < cells; i++) {
      const value = pixels[3 * i + from];
      data[nhwc ? 3 * i + c : c * cells + i] = plain ? value : (lo + ((hi - lo) * value) / 255 - mean[c]) / std[c];
    }
  }
  return { data, shape };
}

/**
 * An output's share of the embedding.
 *
 * @param {Tensor} tensor @param {Output} output @param {Manifest['layout']} layout
 * @returns {Float32Array}
 */
export function pooled(tensor, { node, pooling }, layout) {
  if (pooling === 'none') return Float32Array.from(tensor.data);
  const { data, rows, columns, columnsFirst } = table(tensor, node, pooling, layout);
  const [from, to] = pooling === 'first' ? [0, 1] : [pooling === 'rest' ? 1 : 0, rows];
  if (to <= from) throw misfit(node, `has too few rows (${rows}) for the pooling "${pooling}"`);
  return Float32Array.from({ length: columns }, (_, c) => {
    let sum = 0;
    for (let row = from; row < to; row++) sum += data[columnsFirst ? c * rows + row : row * columns + c];
    return sum / (to - from);
  });
}

/**
 * The cells whose mean is the embedding: a vector for each cell of the picture. Null if an output has no
 * cells.
 *
 * @typedef {{values: Float32Array, rows: number, columns: number}} Grid rows*columns vectors, one after the other, row by row
 *
 * @param {Tensor} tensor @param {Output} output @param {Manifest['layout']} layout
 * @returns {Grid | null}
 */
export function gridOf({ data, shape }, { pooling }, layout) {
  if (pooling !== 'mean' || shape.length !== 4 || shape[0] !== 1) return null;
  if (layout === 'NHWC') return { values: Float32Array.from(data), rows: shape[1], columns: shape[2] };
  const [, dimension, rows, columns] = shape;
  const n = rows * columns;
  return { values: Float32Array.from({ length: n * dimension }, (_, i) => data[(i % dimension) * n + Math.floor(i / dimension)]), rows, columns };
}

/**
 * An answer as rows of columns: a row for each cell or token. With NCHW the rows of one
 * column stand side by side instead.
 *
 * @param {Tensor} tensor @param {string} node @param {string} pooling @param {Manifest['layout']} layout
 */
function table({ data, shape }, node, pooling, layout) {
  if (shape[0] !== 1) throw misfit(node, `answers ${shape.join(' x ')}, not one picture at a time`);
  if (shape.length === 3) return { data, rows: shape[1], columns: shape[2], columnsFirst: false };
  if (shape.length !== 4) throw misfit(node, `answers ${shape.join(' x ')} numbers, which the pooling "${pooling}" does not fit: use "none", or another node`);
  const columnsFirst = layout === 'NCHW';
  const [columns, rows] = columnsFirst ? [shape[1], shape[2] * shape[3]] : [shape[3], shape[1] * shape[2]];
  return { data, rows, columns, columnsFirst };
}

/** @param {string} node @param {string} trouble */
function misfit(node, trouble) {
  return new ExtractorError('extractor-output', `The network’s node “${node}” ${trouble}; put it right in the manifest’s “outputs”.`);
}

/**
 * Arrays one after the other.
 *
 * @template {Float32Array | Uint8Array} T
 * @param {T[]} parts @param {new (length: number) => T} Kind
 */
export function concatenate(parts, Kind) {
  const joined = new Kind(parts.reduce((n, part) => n + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
