// @ts-check
/**
 * A classifier in a worker, for much work at a time: leaving out, large batches. Its
 * methods are those of a Classifier for vectors, as promises. Messages, both ways (the
 * other side is worker-thread.js):
 *   {type, id, args} -> {type, id, result} | {type: 'error', id, error: {code, message}}
 *     init   args: [InitOptions without onProgress]   result: undefined
 *     create args: [options]                          result: a handle
 *     open   args: [bytes, options]                   result: a handle
 *     call   args: [handle, method, ...]              result: that of the method
 */
import { MetaqdaError } from './errors.js';
import { isVector, numbersOf } from './vectors.js';

/** @typedef {import('./classifier.js').Classifier} Classifier */
/** @typedef {import('./vectors.js').Vector} Vector */
/** @typedef {Pick<import('./classifier.js').Options, 'inference' | 'pooled' | 'nonePrior' | 'name'> & {prior?: ArrayBuffer | ArrayBufferView | string | URL}} WorkerOptions */

/** A worker that holds classifiers. */
export class ClassifierWorker {
  #worker;
  #next = 1;
  /** @type {Map<number, {resolve: (v: any) => void, reject: (e: Error) => void}>} */
  #waiting = new Map();
  /** @type {MetaqdaError | null} */
  #dead = null;

  /**
   * @param {object} [options]
   * @param {Worker} [options.worker] started by the caller, where a bundler must see its address
   * @param {WebAssembly.Module | string} [options.wasm] address of metaqda.wasm, or the compiled engine
   */
  constructor({ worker, wasm } = {}) {
    this.#worker = worker ?? new Worker(new URL('./worker-thread.js', import.meta.url), { type: 'module', name: 'metaqda' });
    this.#worker.onmessage = ({ data: { type, id, result, error } }) => {
      const waiter = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (type === 'error') waiter?.reject(new MetaqdaError(error.code, error.message));
      else waiter?.resolve(result);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault?.();
      this.#end(`The worker stopped: ${event.message || 'it could not be loaded'}.`);
    };
    if (wasm) void this.ask('init', { wasm }).catch(() => {}); // what is asked next tells
  }

  /** @param {string} type @param {...unknown} args @returns {Promise<any>} */
  ask(type, ...args) {
    if (this.#dead) return Promise.reject(this.#dead);
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ type, id, args });
    });
  }

  /** @param {WorkerOptions} [options] @returns {Promise<RemoteClassifier>} */
  async createClassifier(options = {}) { return new RemoteClassifier(this, await this.ask('create', plain(options))); }

  /** @param {ArrayBuffer | ArrayBufferView} file @param {Pick<WorkerOptions, 'prior'>} [options] @returns {Promise<RemoteClassifier>} */
  async openClassifier(file, options = {}) { return new RemoteClassifier(this, await this.ask('open', file, plain(options))); }

  /** Ends the worker and all its classifiers. */
  terminate() { this.#end('The worker was terminated.'); }

  /** @param {string} why */
  #end(why) {
    this.#dead ??= new MetaqdaError('disposed', why);
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(this.#dead);
    this.#waiting.clear();
  }
}

/** @param {WorkerOptions} options */
function plain(options) {
  const prior = options.prior instanceof URL ? options.prior.href : options.prior;
  return { ...options, prior };
}

/** A classifier in a worker. */
export class RemoteClassifier {
  #worker;
  #handle;

  /** @internal @param {ClassifierWorker} worker @param {number} handle */
  constructor(worker, handle) {
    this.#worker = worker;
    this.#handle = handle;
  }

  /** @param {string} method @param {...unknown} args @returns {Promise<any>} */
  #call(method, ...args) { return this.#worker.ask('call', this.#handle, method, ...args); }

  /** @param {Vector} vector @param {string} label @param {{group?: string}} [options] @returns {Promise<number>} */
  addExample(vector, label, options) { return this.#call('addExampleSync', sent(vector), label, options); }

  /** @param {Vector} vector @returns {Promise<import('./classifier.js').Prediction>} */
  predict(vector) { return this.#call('predictSync', sent(vector)); }

  /** @param {Iterable<Vector>} batch @returns {Promise<import('./classifier.js').Prediction[]>} */
  classify(batch) { return this.#call('classify', Array.from(batch, sent)); }

  /** @param {Iterable<Vector>} batch @param {{count?: number}} [options] @returns {Promise<import('./classifier.js').Suggestion[]>} */
  suggest(batch, options) { return this.#call('suggest', Array.from(batch, sent), options); }

  /** @returns {Promise<import('./classifier.js').LeftOut[]>} */
  leaveOneOut() { return this.#call('leaveOneOut'); }

  /** @param {number} id @returns {Promise<void>} */
  removeExample(id) { return this.#call('removeExample', id); }

  /** @param {string} label @returns {Promise<void>} */
  addClass(label) { return this.#call('addClass', label); }

  /** @param {string} label @returns {Promise<void>} */
  removeClass(label) { return this.#call('removeClass', label); }

  /** @param {string} label @param {string} to @returns {Promise<void>} */
  renameClass(label, to) { return this.#call('renameClass', label, to); }

  /** @returns {Promise<boolean>} */
  undo() { return this.#call('undo'); }

  /** @returns {Promise<Uint8Array<ArrayBuffer>>} */
  save() { return this.#call('save'); }

  /** @returns {Promise<Uint8Array<ArrayBuffer>>} */
  export() { return this.#call('export'); }

  /** @returns {Promise<string[]>} */
  labels() { return this.#call('labels'); }

  /** @returns {Promise<Record<string, number>>} */
  counts() { return this.#call('counts'); }

  /** @returns {Promise<void>} */
  dispose() { return this.#call('dispose'); }
}

/** A copy that can be sent. @param {Vector} vector */
function sent(vector) {
  if (!isVector(vector)) throw new MetaqdaError('argument', 'A worker takes vectors: an array of numbers, a typed array or a tensor.');
  return Float32Array.from(numbersOf(vector));
}
