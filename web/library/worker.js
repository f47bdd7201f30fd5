// @ts-check
/**
 * A classifier in a worker, for much work at a time: leaving out, large batches. Its
 * methods are those of a Classifier for vectors, as promises. Messages are those of
 * base/remote.js; the other side is worker-thread.js:
 *   init    options of init                       nothing
 *   create  options                               a handle
 *   open    [bytes, options]                      a handle
 *   call    [handle, method, arguments, number]   what the method returns
 *   stop    number                                ends that call
 * and 'progress' of its own accord, {number, done, total} of a call
 */
import { RemoteClient } from '../base/remote.js';
import { MetaqdaError } from './errors.js';
import { isVector, numbersOf } from './vectors.js';

/** @typedef {import('./classifier.js').Classifier} Classifier */
/** @typedef {import('./vectors.js').Vector} Vector */
/** @typedef {Pick<import('./classifier.js').Options, 'nonePrior' | 'name' | 'scale'> & {prior?: ArrayBuffer | ArrayBufferView | string | URL}} WorkerOptions */

/** A worker that holds classifiers. */
export class ClassifierWorker {
  #client;
  #calls = 0;
  /** @type {Map<number, (progress: {done: number, total: number}) => void>} */
  #listeners = new Map();

  /**
   * @param {object} [options]
   * @param {Worker} [options.worker] started by the caller, where a bundler must see its address
   * @param {WebAssembly.Module | string} [options.wasm] address of metaqda.wasm, or the compiled engine
   */
  constructor({ worker, wasm } = {}) {
    if (!worker && typeof Worker === 'undefined') throw new MetaqdaError('unsupported', 'There are no web workers here: in Node.js use createClassifier, whose classify leaves the thread free in between.');
    this.#client = new RemoteClient(worker ?? new Worker(new URL('./worker-thread.js', import.meta.url), { type: 'module', name: 'metaqda' }), {
      code: 'disposed',
      died: (why) => `The worker stopped: ${why}.`,
      onNews: (_, { number, done, total }) => this.#listeners.get(number)?.({ done, total }),
    });
    if (wasm) void this.ask('init', { wasm }).catch(() => {}); // what is asked next tells
  }

  /** @internal @param {string} type @param {unknown} args @returns {Promise<any>} */
  ask(type, args) { return this.#client.ask(type, args); }

  /**
   * @internal
   * @param {number} handle @param {string} method @param {unknown[]} args
   * @param {import('./classifier.js').BatchOptions} [options]
   * @returns {Promise<any>}
   */
  async call(handle, method, args, { onProgress, signal } = {}) {
    signal?.throwIfAborted();
    const number = ++this.#calls;
    const stop = () => void this.ask('stop', number).catch(() => {});
    if (onProgress) this.#listeners.set(number, onProgress);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await this.ask('call', [handle, method, args, number]);
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      this.#listeners.delete(number);
      signal?.removeEventListener('abort', stop);
    }
  }

  /** @param {WorkerOptions} [options] @returns {Promise<RemoteClassifier>} */
  async createClassifier(options = {}) { return new RemoteClassifier(this, await this.ask('create', plain(options))); }

  /** @param {ArrayBuffer | ArrayBufferView} file @param {Pick<WorkerOptions, 'prior'>} [options] @returns {Promise<RemoteClassifier>} */
  async openClassifier(file, options = {}) { return new RemoteClassifier(this, await this.ask('open', [file, plain(options)])); }

  /** Ends the worker and all its classifiers. */
  terminate() { this.#client.close('The worker was terminated.'); }
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
  #call(method, ...args) { return this.#worker.call(this.#handle, method, args); }

  /** @param {Vector} vector @param {string} label @param {{group?: string}} [options] @returns {Promise<string>} */
  addExample(vector, label, options) { return this.#call('addExampleSync', sent(vector), label, options); }

  /** @param {Iterable<Vector>} vectors @param {Iterable<string>} labels @param {{group?: string}} [options] @returns {Promise<string[]>} */
  async addExamples(vectors, labels, options) { return this.#call('addExamplesSync', Array.from(vectors, sent), [...labels], options); }

  /** @param {Vector} vector @returns {Promise<import('./classifier.js').Prediction>} */
  predict(vector) { return this.#call('predictSync', sent(vector)); }

  /** @param {Iterable<Vector>} batch @returns {Promise<import('./classifier.js').Prediction[]>} */
  async predictMany(batch) { return this.#call('predictMany', Array.from(batch, sent)); }

  /** @param {Iterable<Vector>} batch @param {import('./classifier.js').BatchOptions} [options] @returns {Promise<import('./classifier.js').Prediction[]>} */
  async classify(batch, options) { return this.#worker.call(this.#handle, 'classify', [Array.from(batch, sent)], options); }

  /** @param {Iterable<Vector>} batch @param {{count?: number} & import('./classifier.js').BatchOptions} [options] @returns {Promise<number[]>} */
  async suggest(batch, { count, ...options } = {}) { return this.#worker.call(this.#handle, 'suggest', [Array.from(batch, sent), { count }], options); }

  /** @returns {Promise<import('./classifier.js').LeftOut[]>} */
  leaveOneOut() { return this.#call('leaveOneOut'); }

  /** @param {string} id @returns {Promise<void>} */
  removeExample(id) { return this.#call('removeExample', id); }

  /** @param {string} label @returns {Promise<void>} */
  addClass(label) { return this.#call('addClass', label); }

  /** @param {string} label @returns {Promise<void>} */
  removeClass(label) { return this.#call('removeClass', label); }

  /** @param {string} label @param {string} to @returns {Promise<void>} */
  renameClass(label, to) { return this.#call('renameClass', label, to); }

  /** @param {string} id @param {string} label @returns {Promise<void>} */
  moveExample(id, label) { return this.#call('moveExample', id, label); }

  /** @param {string} label @param {string} into @returns {Promise<void>} */
  mergeClasses(label, into) { return this.#call('mergeClasses', label, into); }

  /** @returns {Promise<boolean>} */
  undo() { return this.#call('undo'); }

  /** @returns {Promise<boolean>} */
  redo() { return this.#call('redo'); }

  /** @returns {Promise<{undo: string, redo: string}>} */
  steps() { return this.#call('steps'); }

  /** @param {string} label @returns {Promise<string[]>} */
  examples(label) { return this.#call('examples', label); }

  /** @returns {Promise<number>} */
  dimension() { return this.#call('dimension'); }

  /** @returns {Promise<{nonePrior: number}>} */
  settings() { return this.#call('settings'); }

  /** @param {Partial<{nonePrior: number}>} changes @returns {Promise<void>} */
  configure(changes) { return this.#call('configure', changes); }

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
