// @ts-check
/**
 * Classifiers in a worker, for long computations such as leaving out and large batches. Inputs are embedded here, and only
 * vectors are sent. base/remote.js has the envelope of messages. The other side is worker-thread.js. Requests:
 *   init    options of init                                        nothing
 *   create  options                                                [a handle, members of Classifier]
 *   open    [bytes, options]                                       [a handle, members of Classifier]
 *   call    [handle, method, arguments, number, options or none]   the method's result; a handle for merge
 *   stop    number                                                 ends that call
 * The worker also sends 'progress' {number, done, total} of a call
 */
import { MetaqdaError, RemoteClient, startWorker } from '../base/remote.js';
import { known, OPENING, OPTIONS } from './classifier/options.js';
import { addressOf, bytesOf, PROGRAM } from './files.js';
import { Remote } from './remote.js';

/** @import {BatchOptions, Options, RemoteMethods} from './classifier/options.js' */
/** @import {Members} from './remote.js' */
/**
 * @template [Input=unknown]
 * @typedef {Omit<Options<Input>, 'onNote'>} WorkerOptions
 */
/**
 * @template [Input=unknown]
 * @typedef {RemoteMethods<Input> & {merge: (other: RemoteClassifier<any>) => Promise<RemoteClassifier<Input>>}} RemoteClassifier
 */

const ALONE = 'use createClassifier of metaqda, whose classify yields to the thread';

/** A worker that holds classifiers. */
export class ClassifierWorker {
  #client;
  /** Options of init, if there are any. @type {{wasm: WebAssembly.Module | string} | undefined} */
  #init;
  /** @type {Promise<unknown> | undefined} */
  #ready;
  #calls = 0;
  /** @type {Map<number, (progress: {done: number, total: number}) => void>} */
  #listeners = new Map();

  /**
   * @param {object} [options]
   * @param {Worker | undefined} [options.worker] started by the caller, for bundlers that must see its address
   * @param {WebAssembly.Module | URL | string | undefined} [options.wasm] address of metaqda.wasm, or the compiled engine
   */
  constructor(options = {}) {
    known(options, { worker: ['a worker', (x) => typeof x?.postMessage === 'function'], wasm: PROGRAM });
    const { worker, wasm } = options;
    const start = () => new Worker(new URL('./worker-thread.js', import.meta.url), { type: 'module', name: 'metaqda' });
    this.#client = new RemoteClient(worker ?? startWorker(start, ALONE), {
      code: 'disposed',
      failed: 'internal',
      unloaded: 'fetch',
      died: (why) => `The worker stopped (${why}): make another ClassifierWorker, or ${ALONE}.`,
      onNews: (_, { number, done, total }) => this.#listeners.get(number)?.({ done, total }),
    });
    if (wasm) this.#init = { wasm: sendable(wasm) };
    this.#load()?.catch(() => {}); // the next call tries again
  }

  /** Has the worker load the engine from its address, if it was given. */
  #load() {
    if (this.#init)
      this.#ready ??= this.#ask('init', this.#init).catch((error) => {
        this.#ready = undefined;
        throw error;
      });
    return this.#ready;
  }

  /** @param {string} type @param {unknown} args @returns {Promise<any>} */
  async #ask(type, args) {
    try {
      return await this.#client.ask(type, args);
    } catch (error) {
      if (/** @type {any} */ (error).name !== 'DataCloneError') throw error;
      throw new MetaqdaError('argument', 'An argument is of a kind that no worker can be sent: hand over vectors, texts, numbers or bytes.');
    }
  }

  /**
   * @internal
   * @param {number} handle @param {string} method @param {unknown[]} args @param {BatchOptions} [options] of methods that have some
   * @returns {Promise<any>}
   */
  async call(handle, method, args, options) {
    const { onProgress, signal, ...rest } = options ?? {};
    signal?.throwIfAborted();
    const number = ++this.#calls;
    const stop = () => void this.#client.ask('stop', number).catch(() => {});
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await new Promise((resolve, reject) => {
        this.#listeners.set(number, (progress) => {
          try {
            onProgress?.(progress);
          } catch (error) {
            stop();
            reject(error);
          }
        });
        this.#ask('call', [handle, method, args, number, options && { ...rest, onProgress: onProgress !== undefined }]).then(resolve, reject);
      });
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      this.#listeners.delete(number);
      signal?.removeEventListener('abort', stop);
    }
  }

  /** @template [Input=unknown] @param {WorkerOptions<Input>} [options] @returns {Promise<RemoteClassifier<Input>>} */
  async createClassifier(options = {}) {
    const { onNote: _, ...kinds } = OPTIONS; // notes of a worker go to the console
    known(options, kinds);
    await this.#load();
    const [handle, members] = await this.#ask('create', await plain(options));
    return remote(this, handle, members, options.extractor);
  }

  /**
   * @template [Input=unknown]
   * @param {import('./files.js').File} file @param {Pick<WorkerOptions<Input>, 'extractor' | 'prior'>} [options]
   * @returns {Promise<RemoteClassifier<Input>>}
   */
  async openClassifier(file, options = {}) {
    known(options, OPENING);
    await this.#load();
    const [handle, members] = await this.#ask('open', [await sent(file), await plain(options)]);
    return remote(this, handle, members, options.extractor);
  }

  /** Ends the worker and all its classifiers. */
  terminate() {
    this.#client.close('The worker was terminated.');
  }
}

/** The whole address is sent: a URL cannot be cloned, and the worker would resolve a relative address against its own. @template T @param {T} x @returns {T | string} */
const sendable = (x) => (x instanceof URL || typeof x === 'string' ? addressOf(x).href : x);

/** A file as it can be cloned. @param {import('./files.js').File} file */
const sent = async (file) => (file instanceof Response ? bytesOf(file) : sendable(file));

/** Options as they can be cloned. @param {WorkerOptions<any>} options */
async function plain({ extractor, prior, ...options }) {
  const { id, sha256 } = typeof extractor === 'object' ? extractor : {};
  return { ...options, ...(prior !== undefined && { prior: await sent(prior) }), ...(id && { extractor: { id, sha256 } }) };
}

/** Worker and handle of each classifier. @type {WeakMap<object, {worker: ClassifierWorker, handle: number}>} */
const places = new WeakMap();

/**
 * @template Input
 * @param {ClassifierWorker} worker @param {number} handle @param {Members} members @param {Options<Input>['extractor']} extractor
 * @returns {RemoteClassifier<Input>}
 */
function remote(worker, handle, members, extractor) {
  const made = new Remote(
    async (name, args, options) => {
      if (name !== 'merge') return worker.call(handle, name, args, options);
      const other = places.get(args[0]);
      if (other?.worker !== worker) throw new MetaqdaError('argument', 'Only classifiers of one worker can be merged: save the other one and open it there.');
      return remote(worker, await worker.call(handle, name, [other.handle]), members, extractor);
    },
    members,
    extractor,
  );
  places.set(made, { worker, handle });
  return /** @type {any} */ (made);
}
