// @ts-check
/** The interface of @tensorflow-models/knn-classifier 1.2, on top of metaqda. README.md lists the differences and the reasons. */
import { MetaqdaError } from '../base/remote.js';
import { createClassifier } from './classifier/create.js';
import { isCount, kindOf } from './classifier/options.js';
import { isTensor } from './vectors.js';

/** @typedef {import('./classifier/classifier.js').Classifier} Classifier */

/**
 * Rows of numbers, with the parts of a tensor that a data set needs. They can be written as JSON
 * and read again.
 *
 * @typedef {object} Rows
 * @property {[number, number]} shape
 * @property {'float32'} dtype
 * @property {() => Float32Array} dataSync
 * @property {() => Promise<Float32Array>} data
 * @property {() => void} dispose does nothing: all data are in JavaScript's memory
 * @property {() => {shape: [number, number], values: number[]}} toJSON
 */

/** @import {TensorLike} from './vectors.js' */
/** @typedef {Record<string, TensorLike | {shape: number[], values: ArrayLike<number>}>} Dataset what setClassifierDataset takes */

export const version = '1.2.6';

export class KNNClassifier {
  /** @type {Map<string, Float32Array[]>} */
  #rows = new Map();
  /** @type {Map<string, number>} */
  #index = new Map();
  /** @type {number[] | undefined} */
  #shape;
  /** @type {Promise<Classifier> | null} */
  #classifier = null;
  /** Examples that the classifier does not have yet, with their labels. @type {[string, Float32Array][]} */
  #pending = [];
  #disposed = false;

  /** @param {TensorLike} example @param {number | string} label */
  addExample(example, label) {
    this.#checkDisposed();
    if (!isTensor(example)) throw new MetaqdaError('argument', 'The example must be a tensor: an object with dataSync() and shape.');
    if (![...this.#rows.values()].some((rows) => rows.length > 0)) this.#shape = undefined;
    if (this.#shape && this.#shape.join() !== example.shape.join()) {
      throw new MetaqdaError('dimension', `Example shape provided, ${example.shape} does not match previously provided example shapes ${this.#shape}.`);
    }
    this.#add(String(label), unit(example.dataSync()));
    this.#shape ??= [...example.shape];
  }

  /** @param {string} label @param {Float32Array} row */
  #add(label, row) {
    const other = [...this.#rows.values()].find((one) => one.length > 0)?.[0];
    if (other && other.length !== row.length)
      throw new MetaqdaError('dimension', `The example has length ${row.length}, those before it have length ${other.length}: use one network for all.`);
    if (!this.#index.has(label)) this.#index.set(label, this.#index.size);
    const rows = this.#rows.get(label);
    if (rows) rows.push(row);
    else this.#rows.set(label, [row]);
    this.#pending.push([label, row]);
  }

  /**
   * @param {TensorLike} input
   * @param {number} [k] has no effect: all examples count, not only the nearest
   * @returns {Promise<{label: string, classIndex: number, confidences: {[label: string]: number}}>}
   */
  async predictClass(input, k = 3) {
    this.#checkDisposed();
    if (k < 1) throw new MetaqdaError('argument', 'Please provide a positive integer k value to predictClass.');
    if (this.#rows.size === 0) {
      throw new MetaqdaError('empty', 'You have not added any examples to the KNN classifier. Please add examples before calling predictClass.');
    }
    if (!isTensor(input)) throw new MetaqdaError('argument', 'The input must be a tensor: an object with dataSync() and shape.');
    return this.#predict(unit(input.dataSync())); // read before anything waits: the tensor may be disposed of then
  }

  /** Throws if it was disposed of. */
  #checkDisposed() {
    if (this.#disposed) throw new MetaqdaError('disposed', 'The classifier has been disposed of: create another one.');
  }

  /** @param {Float32Array} x @returns {ReturnType<KNNClassifier['predictClass']>} */
  async #predict(x) {
    const asked = (this.#classifier ??= createClassifier({ nonePrior: 0 }));
    const classifier = await asked.catch((error) => {
      if (this.#classifier === asked) this.#classifier = null; // the next call tries again
      throw error;
    });
    this.#checkDisposed();
    if (asked !== this.#classifier) return this.#predict(x); // classes were cleared meanwhile
    this.#teach(classifier);
    const names = [...this.#index.keys()];
    const nameOf = (/** @type {string} */ inner) => names[Number(inner.slice(6))];
    const { label, probabilities } = classifier.predictSync(x);
    const confidences = Object.fromEntries(Object.entries(probabilities).map(([inner, p]) => [nameOf(inner), p]));
    return { label: nameOf(label), classIndex: /** @type {number} */ (this.#index.get(nameOf(label))), confidences };
  }

  /** Adds the pending examples. Refused examples are dropped, and the first refusal is thrown. @param {Classifier} classifier */
  #teach(classifier) {
    /** @type {unknown[]} */
    const refused = [];
    for (; this.#pending.length > 0; this.#pending.shift()) {
      const [label, row] = this.#pending[0];
      try {
        classifier.addExampleSync(row, `class ${this.#index.get(label)}`); // the caller's labels may be any text
      } catch (error) {
        if (!(error instanceof MetaqdaError) || error.code === 'internal') throw error; // the engine has ended
        refused.push(error);
        this.#forget(label, row);
      }
    }
    if (refused.length > 0) throw refused[0];
  }

  /** @param {string} label @param {Float32Array} row */
  #forget(label, row) {
    const rows = this.#rows.get(label) ?? [];
    rows.splice(rows.indexOf(row), 1);
    if (rows.length === 0) this.#rows.delete(label);
  }

  /** @param {number | string} label */
  clearClass(label) {
    const name = String(label);
    if (!this.#rows.delete(name)) throw new MetaqdaError('label', `Cannot clear invalid class ${label}`);
    this.#again();
  }

  clearAllClasses() {
    this.#rows.clear();
    this.#again();
  }

  /** Makes the next prediction teach all examples anew. */
  #again() {
    this.#drop();
    this.#pending = [...this.#rows].flatMap(([label, rows]) => rows.map((row) => /** @type {[string, Float32Array]} */ ([label, row])));
  }

  #drop() {
    this.#classifier?.then(
      (c) => c.dispose(),
      () => {},
    );
    this.#classifier = null;
  }

  /** @returns {{[label: string]: number}} */
  getClassExampleCount() {
    return Object.fromEntries([...this.#rows].map(([label, rows]) => [label, rows.length]));
  }

  /** @returns {number} */
  getNumClasses() {
    return this.#rows.size;
  }

  /** The examples at length one, by label. @returns {{[label: string]: Rows}} */
  getClassifierDataset() {
    return Object.fromEntries([...this.#rows].map(([label, rows]) => [label, tensorOf(rows)]));
  }

  /** @param {Dataset} dataset from getClassifierDataset, here or in the original, or either after JSON */
  setClassifierDataset(dataset) {
    if (typeof dataset !== 'object' || dataset === null)
      throw new MetaqdaError('argument', `The data set is ${kindOf(dataset)}: hand over an object of tensors by label, as getClassifierDataset answers.`);
    /** @type {Map<string, Float32Array[]>} */
    const all = new Map();
    let length = 0;
    for (const [label, tensor] of Object.entries(dataset)) {
      const [n, d, more] = tensor?.shape ?? [];
      const values = isTensor(tensor) ? tensor.dataSync() : tensor?.values;
      if (!isCount(n) || !isCount(d) || more !== undefined || values?.length !== n * d)
        throw new MetaqdaError('argument', `The data set of class ${label} must have the shape [examples, numbers].`);
      if (n > 0 && length > 0 && d !== length)
        throw new MetaqdaError(
          'dimension',
          `The examples of class ${label} have length ${d}, those before them have length ${length}: use one network for all.`,
        );
      if (n > 0) length = d;
      all.set(
        label,
        Array.from({ length: n }, (_, i) => unit(Array.prototype.slice.call(values, i * d, (i + 1) * d))),
      );
    }
    this.#rows = all;
    this.#shape = undefined; // #add compares lengths
    for (const label of all.keys()) if (!this.#index.has(label)) this.#index.set(label, this.#index.size);
    this.#again();
  }

  dispose() {
    this.#drop();
    this.#rows.clear();
    this.#pending = [];
    this.#disposed = true;
  }
}

/** @returns {KNNClassifier} */
export function create() {
  return new KNNClassifier();
}

/** A vector at length one; zero stays zero. @param {ArrayLike<number>} x */
function unit(x) {
  if (!Array.isArray(x) && !ArrayBuffer.isView(x))
    throw new MetaqdaError('argument', `The dataSync() of the tensor returned ${kindOf(x)}: it must return an array of numbers or a typed array.`);
  const y = Float32Array.from(x);
  const i = y.findIndex((v) => !Number.isFinite(v));
  if (i >= 0) throw new MetaqdaError('value', `Entry ${i} of the tensor is ${x[i]}: hand over finite numbers only.`);
  let s = 0;
  for (const v of y) s += v * v;
  const f = s > 0 ? 1 / Math.sqrt(s) : 0;
  return y.map((v) => v * f);
}

/** @param {Float32Array[]} rows @returns {Rows} */
function tensorOf(rows) {
  const d = rows[0]?.length ?? 0; // a data set may have a class without examples
  const values = new Float32Array(rows.length * d);
  rows.forEach((row, i) => values.set(row, i * d));
  return {
    shape: [rows.length, d],
    dtype: 'float32',
    dataSync: () => values,
    data: async () => values,
    dispose() {},
    toJSON: () => ({ shape: [rows.length, d], values: Array.from(values) }),
  };
}
