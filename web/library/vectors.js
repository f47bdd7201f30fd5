// @ts-check
/** What counts as a vector, and as a tensor, and the vectors of other inputs. */
import { MetaqdaError } from '../base/remote.js';

/** @import {CallOptions, Options} from './classifier/options.js' */

/**
 * A tensor by its looks, that of TensorFlow.js among others.
 *
 * @typedef {object} TensorLike
 * @property {() => ArrayLike<number>} dataSync
 * @property {number[]} shape
 */

/** @typedef {ArrayLike<number> | TensorLike} Vector numbers: an array, a typed array or a tensor */

/** @param {unknown} x @returns {x is TensorLike} */
export function isTensor(x) {
  return typeof x === 'object' && x !== null && typeof (/** @type {any} */ (x).dataSync) === 'function' && Array.isArray(/** @type {any} */ (x).shape);
}

/** @param {unknown} x @returns {x is Vector} */
export function isVector(x) {
  return (Array.isArray(x) && (x.length === 0 || typeof x[0] === 'number')) || (ArrayBuffer.isView(x) && !(x instanceof DataView)) || isTensor(x);
}

/** @param {Vector} x @returns {ArrayLike<number>} */
export function numbersOf(x) {
  return isTensor(x) ? x.dataSync() : x;
}

/** @param {Vector} x @returns {ArrayLike<number>} */
export function vectorOf(x) {
  if (!isVector(x)) throw new MetaqdaError('argument', 'The vector must be an array of numbers, a typed array or a tensor.');
  return numbersOf(x);
}

/**
 * The vector of an input.
 *
 * @template Input
 * @param {Options<Input>['extractor']} extractor
 * @param {Input | Vector} x @param {CallOptions} [options]
 * @returns {Promise<ArrayLike<number>>}
 */
export async function embedded(extractor, x, { signal } = {}) {
  signal?.throwIfAborted();
  if (isVector(x)) return numbersOf(x);
  if (!extractor) throw new MetaqdaError('extractor', 'This is no vector, and the classifier has no extractor: create it with the option extractor, or hand over an array of numbers.');
  const vector = await (typeof extractor === 'function' ? extractor(x) : extractor.embed(x));
  signal?.throwIfAborted();
  if (!isVector(vector)) throw new MetaqdaError('extractor', 'The extractor answered no vector: its embed must return an array of numbers, or a promise of one.');
  return numbersOf(vector);
}

/**
 * Those of many, one after the other.
 *
 * @template Input
 * @param {Options<Input>['extractor']} extractor
 * @param {Iterable<Input | Vector>} batch @param {CallOptions} [options]
 */
export async function embeddedAll(extractor, batch, options) {
  const vectors = [];
  for (const x of batch) vectors.push(await embedded(extractor, x, options));
  return vectors;
}
