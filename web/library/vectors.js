// @ts-check
/** What counts as a vector, and as a tensor. */

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
