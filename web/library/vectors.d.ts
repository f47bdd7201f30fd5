/** What counts as a vector, and as a tensor. */
export type TensorLike = {
    dataSync: () => ArrayLike<number>;
    shape: number[];
};
export type Vector = ArrayLike<number> | TensorLike;
/**
 * A tensor by its looks, that of TensorFlow.js among others.
 *
 * @typedef {object} TensorLike
 * @property {() => ArrayLike<number>} dataSync
 * @property {number[]} shape
 */
/** @typedef {ArrayLike<number> | TensorLike} Vector numbers: an array, a typed array or a tensor */
/** @param {unknown} x @returns {x is TensorLike} */
export declare function isTensor(x: unknown): x is TensorLike;
/** @param {unknown} x @returns {x is Vector} */
export declare function isVector(x: unknown): x is Vector;
/** @param {Vector} x @returns {ArrayLike<number>} */
export declare function numbersOf(x: Vector): ArrayLike<number>;
