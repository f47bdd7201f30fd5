// @ts-check
/** Checks vectors, tensors and lists of them, and embeds other inputs. */
import { isAttached } from '../base/attached.js';
import { MetaqdaError } from '../base/remote.js';
import { unlessAborted } from '../base/task.js';
import { kindOf, text } from './classifier/options.js';

/** @import {Options} from './classifier/options.js' */

/**
 * A tensor, such as one of TensorFlow.js: an object with these two members.
 *
 * @typedef {object} TensorLike
 * @property {() => Numbers} dataSync
 * @property {number[]} shape
 */

/** @typedef {readonly number[] | (ArrayLike<number> & ArrayBufferView)} Numbers an array or a typed array */
/** @typedef {Numbers | TensorLike} Vector */

/** @param {unknown} x @returns {x is TensorLike} */
export function isTensor(x) {
  return typeof x === 'object' && x !== null && typeof (/** @type {any} */ (x).dataSync) === 'function' && Array.isArray(/** @type {any} */ (x).shape);
}

/**
 * Tells whether x is a vector, and not an input of an extractor. Typed arrays and tensors are vectors. An array is one
 * if it is empty, or if its first entry other than null and undefined is a number.
 *
 * @param {unknown} x @returns {x is Vector}
 */
export function isVector(x) {
  return (
    (Array.isArray(x) && (x.length === 0 || typeof x.find((v) => v !== null && v !== undefined) === 'number')) ||
    (ArrayBuffer.isView(x) && !(x instanceof DataView)) ||
    isTensor(x)
  );
}

/**
 * The numbers of a vector. An entry that is not a number is refused: null, which JSON writes for NaN, would count as 0.
 *
 * @param {unknown} x @param {number} [at] its place in a batch @returns {Numbers}
 */
export function vectorOf(x, at) {
  if (x instanceof Float32Array && x.length > 0) return x;
  const one = placed(at);
  if (!isVector(x) && !Array.isArray(x))
    throw new MetaqdaError(
      'argument',
      `There is ${kindOf(x)} in place of ${one}: hand over an array of numbers, a typed array or a tensor; for another input, hand over the result of the method embed.`,
    );
  const numbers = isTensor(x) ? x.dataSync() : /** @type {Numbers} */ (x);
  if (!Array.isArray(numbers) && !ArrayBuffer.isView(numbers))
    throw new MetaqdaError('argument', `The dataSync() of ${one} returned ${kindOf(numbers)}: it must return an array of numbers or a typed array.`);
  if (isTensor(x) && (x.shape.filter((n) => n !== 1).length > 1 || x.shape.reduce((a, b) => a * b, 1) !== numbers.length)) {
    throw new MetaqdaError(
      'argument',
      `A tensor of size ${numbers.length} and shape [${x.shape}] is not a vector: flatten it, or pass the rows of a batch by tensor.arraySync().`,
    );
  }
  if (numbers.length === 0) attached(numbers, one);
  const every = Array.isArray(numbers) || numbers instanceof Float64Array; // others hold numbers of one kind, all small enough
  for (let i = 0, n = every ? numbers.length : Math.min(1, numbers.length); i < n; i++) {
    const v = numbers[i];
    if (typeof v !== 'number') throw new MetaqdaError('value', `Entry ${i} of ${one} is ${kindOf(v)}, not a number: hand over finite numbers only.`);
    if (!Number.isFinite(Math.fround(v)) && Number.isFinite(v))
      throw new MetaqdaError('value', `Entry ${i} of ${one} is ${v}, which 32 bits cannot hold: hand over numbers up to 3.4e38.`);
  }
  return numbers;
}

/** Names a vector by its place in a batch. @param {number} [at] */
const placed = (at) => (at === undefined ? 'the vector' : `vector ${at} of the batch`);

/** A copy of a vector, so that the caller may reuse its array at once. Another input is returned as it is. @template T @param {T} x */
export const copied = (x) => (isVector(x) ? new Float32Array(vectorOf(x)) : x);

/** Throws if an array has lost its numbers, because its buffer was transferred or made smaller. @param {unknown} numbers @param {string} one what it is */
function attached(numbers, one) {
  if (isAttached(numbers)) return;
  throw new MetaqdaError('argument', `The buffer of ${one} was transferred to another thread, or made smaller: hand over a copy.`);
}

/**
 * The vector of an input. A vector is returned as it is, and anything else goes through the extractor.
 *
 * @template Input
 * @param {Options<Input>['extractor']} extractor
 * @param {Input | Vector} x @param {AbortSignal} [signal] @param {number} [at] its place in a batch
 * @returns {Promise<Numbers>}
 */
export async function embedded(extractor, x, signal, at) {
  signal?.throwIfAborted();
  if (isVector(x) || (!extractor && Array.isArray(x))) return vectorOf(x, at);
  if (!extractor)
    throw new MetaqdaError(
      'extractor',
      `There is ${kindOf(x)} in place of ${placed(at)}, and the classifier has no extractor: create it with the option extractor, or hand over an array of numbers.`,
    );
  const vector = await unlessAborted(typeof extractor === 'function' ? extractor(x) : extractor.embed(x), signal);
  if (!isVector(vector))
    throw new MetaqdaError('extractor', 'The extractor answered no vector: its embed must return an array of numbers, or a promise of one.');
  return vectorOf(vector, at);
}

/**
 * The vectors of many inputs, which are embedded one after the other.
 *
 * @template Input
 * @param {Options<Input>['extractor']} extractor
 * @param {Iterable<Input | Vector>} batch @param {AbortSignal} [signal] @param {() => void} [told] called after each that was no vector
 */
export async function embeddedAll(extractor, batch, signal, told) {
  const vectors = [];
  for (const [i, x] of listOf(batch, 'batch').entries()) {
    vectors.push(await embedded(extractor, x, signal, i));
    if (!isVector(x)) told?.();
  }
  return vectors;
}

/**
 * The entries of a list, as an array. A string and a vector are refused: both are iterable, but each is one thing.
 *
 * @template T
 * @param {Iterable<T>} many @param {'batch' | 'labels'} what
 * @returns {T[]}
 */
export function listOf(many, what) {
  if (/** @type {any} */ (many)?.length === 0) attached(many, `the ${what}`);
  const one = typeof many === 'string' || (what === 'batch' && isVector(many) && /** @type {any} */ (many).length !== 0);
  if (one || typeof many?.[Symbol.iterator] !== 'function')
    throw new MetaqdaError(
      'argument',
      `The ${what} must be a list, not ${one ? 'one of its entries' : kindOf(many)}: an array${what === 'batch' ? ' of vectors or inputs, tensor.arraySync() of a tensor' : ' of strings, one for each example'}.`,
    );
  return [...many];
}

/**
 * The examples and their labels as arrays. Throws unless there is one label for each example.
 *
 * @param {Iterable<any>} batch @param {Iterable<string>} labels @returns {[any[], string[]]}
 */
export function labelled(batch, labels) {
  const [all, names] = [listOf(batch, 'batch'), listOf(labels, 'labels').map((one) => text(one, 'label'))];
  if (all.length !== names.length)
    throw new MetaqdaError('argument', `The numbers of examples and labels differ, ${all.length} and ${names.length}: give one label for each example.`);
  return [all, names];
}

/** Throws if a vector of a batch has another length than the first one. @param {ArrayLike<number>} x @param {number} at its place @param {number} d */
export function checkLength({ length }, at, d) {
  if (length !== d)
    throw new MetaqdaError('dimension', `Vector ${at} of the batch has length ${length}, the first one length ${d}: use one extractor for all of them.`);
}

/** Returns the vectors, and throws if their lengths differ. @param {ArrayLike<number>[]} vectors */
export function rowsOf(vectors) {
  for (const [i, x] of vectors.entries()) checkLength(x, i, vectors[0].length);
  return vectors;
}

/** Throws unless the probabilities of n classes can be written into dst. @param {unknown} dst @param {number} n */
export function roomIn(dst, n) {
  if ((Array.isArray(dst) && !Object.isFrozen(dst)) || dst instanceof Float64Array || dst instanceof Float32Array) {
    if (dst.length >= n) return;
    throw new MetaqdaError('argument', `The array to write into has length ${dst.length}: make it at least ${n} long, with a place for each class.`);
  }
  throw new MetaqdaError(
    'argument',
    'The probabilities need an array that is not frozen, a Float64Array or a Float32Array to be written into, with a place for each class.',
  );
}
