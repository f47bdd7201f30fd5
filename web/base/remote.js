// @ts-check
/**
 * Calls to a worker: RemoteClient in the window, `answer` in the worker. Messages:
 *   window -> worker  {type, id, args}
 *   worker -> window  {type, id, result} or {type: 'error', id, error: {code, message}}, one for each call;
 *                     {type, news} of its own accord
 *
 * The library comlink is most similar. But with it a call to a dead or hanging worker never settles, and an
 * error loses its code.
 */

/**
 * @typedef {object} ClientOptions
 * @property {string} code of the error when the worker is closed
 * @property {string} [failed] of the error when it ends by itself or falls silent; `code` if left out
 * @property {string} [unloaded] of the error when its module cannot be loaded; `failed` if left out
 * @property {(why: string) => string} died makes the sentence of that error if nobody closed the worker
 * @property {number} [patience] milliseconds to wait while the worker answers nothing; without end if left out
 * @property {(code: string, message: string) => Error} [error] makes what a call rejects with
 * @property {(type: string, news: any) => void} [onNews]
 */

/** @typedef {{resolve: (result: any) => void, reject: (error: Error) => void, alarm?: ReturnType<typeof setTimeout>}} Call */

/** An alarm later than this many milliseconds means that the tab was frozen, and its worker too. */
const LATE = 1000;

/** One worker, asked from the window. Once it has failed or was closed, every call rejects with the reason. */
export class RemoteClient {
  /** Why there will be no more answers. @type {Error|null} */
  dead = null;
  #lastId = 0;
  /** @type {Map<number, Call>} */
  #waiting = new Map();

  /** @param {Worker} worker which this ends @param {ClientOptions} options */
  constructor(
    worker,
    { code, failed = code, unloaded = failed, died, patience, error = (kind, message) => new MetaqdaError(kind, message), onNews = () => {} },
  ) {
    this.worker = worker;
    this.code = code;
    this.failed = failed;
    this.died = died;
    this.patience = patience;
    this.error = error;
    this.onNews = onNews;
    worker.onmessage = ({ data }) => this.#receive(data);
    worker.onmessageerror = () => this.close(died('its answer could not be read'), failed);
    worker.onerror = (event) => {
      event.preventDefault();
      if (event.message) this.close(died(event.message), failed);
      else this.close(died('it could not be loaded'), unloaded);
    };
  }

  /**
   * @param {string} type
   * @param {unknown} [args] cloned
   * @param {Transferable[]} [transfer] parts of args to transfer instead
   * @returns {Promise<any>} rejects with a DataCloneError if args cannot be cloned
   */
  ask(type, args, transfer = []) {
    if (this.dead) return Promise.reject(this.dead);
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.worker.postMessage({ type, id, args }, transfer);
      const call = { resolve, reject };
      this.#waiting.set(id, call);
      this.#watch(call);
    });
  }

  /** Ends the worker and tells everyone who waits. @param {string} why a sentence @param {string} [code] of the error */
  close(why, code = this.code) {
    this.dead ??= this.error(code, why);
    this.worker.terminate();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject, alarm } of waiting) {
      clearTimeout(alarm);
      reject(this.dead);
    }
  }

  /** Begins to count a call's patience. @param {Call} call */
  #watch(call) {
    if (this.patience === undefined) return;
    clearTimeout(call.alarm);
    const due = performance.now() + this.patience;
    call.alarm = setTimeout(() => {
      if (performance.now() > due + LATE) this.#watch(call);
      else this.close(this.died('it did not answer in time'), this.failed);
    }, this.patience);
  }

  /** @param {{type: string, id?: number, result?: unknown, error?: {code: string, message: string}, news?: unknown}} message */
  #receive({ type, id, result, error, news }) {
    if (id === undefined) return this.onNews(type, news);
    const call = this.#waiting.get(id);
    if (!call) return;
    this.#waiting.delete(id);
    clearTimeout(call.alarm);
    // A living worker works its calls off in turn: the others wait from now on.
    for (const other of this.#waiting.values()) this.#watch(other);
    if (error) call.reject(this.error(error.code, error.message));
    else call.resolve(result);
  }
}

/**
 * Starts a worker. Throws if there are no workers, or none may be started.
 *
 * @param {() => Worker} start @param {string} otherwise what to do without one, the end of a sentence
 */
export function startWorker(start, otherwise) {
  if (typeof Worker === 'undefined') throw new MetaqdaError('unsupported', `There are no web workers here: ${otherwise}.`);
  try {
    return start();
  } catch (error) {
    // of another origin, as from a CDN or in a sandboxed frame; or a policy requires Trusted Types
    const { message } = /** @type {Error} */ (error);
    throw new MetaqdaError('unsupported', `No worker can be started here (${message}): serve the package from the page's own origin, or ${otherwise}.`);
  }
}

/** Throws in a service worker, which may not load modules later. @param {string} what cannot be done there */
export function notInServiceWorker(what) {
  if ('ServiceWorkerGlobalScope' in globalThis)
    throw new MetaqdaError('unsupported', `A service worker cannot ${what}: do it in the page, or in another worker.`);
}

/** @typedef {Record<string, (args: any) => unknown>} Handlers by the type of message; may be added to */

/**
 * The worker's half: answers each call by the handler of its type.
 *
 * @param {Handlers} handlers
 * @param {{code: string, transfer?: (result: any) => Transferable[], scope?: any}} options code: of errors
 *   without one; transfer: parts of a result to transfer; scope: replaced in tests
 * @returns {(type: string, news: unknown, transfer?: Transferable[]) => void} tells the window something of the worker's own accord
 */
export function answer(handlers, { code, transfer = () => [], scope = globalThis }) {
  scope.addEventListener('message', async (/** @type {MessageEvent} */ { data: { type, id, args } }) => {
    try {
      if (!Object.hasOwn(handlers, type)) throw new Error(`The worker knows no message '${type}'.`);
      const result = await handlers[type](args);
      scope.postMessage({ type, id, result }, transfer(result));
    } catch (error) {
      scope.postMessage({ type: 'error', id, error: envelopeOf(error, code) });
    }
  });
  return (type, news, handedOver = []) => scope.postMessage({ type, news }, handedOver);
}

/** @param {unknown} error anything thrown @param {string} otherwise code where it has none */
function envelopeOf(error, otherwise) {
  const { code, message } = /** @type {{code?: unknown, message?: unknown}} */ (error ?? {});
  return {
    code: typeof code === 'string' ? code : otherwise,
    message: typeof message === 'string' && message !== '' ? message : String(error),
  };
}

/**
 * The codes of refused calls.
 *
 * @typedef {'argument' | 'label' | 'class' | 'classes' | 'few' | 'undo' | 'limit' | 'memory' | 'example' | 'dimension'
 *   | 'value' | 'empty' | 'extractor' | 'prior' | 'format' | 'older' | 'disposed' | 'cancelled' | 'fetch' | 'wasm'
 *   | 'unsupported' | 'insecure' | 'denied' | 'missing' | 'busy' | 'device' | 'internal' | 'failed' | 'session'
 *   | 'changed' | 'quota' | 'unavailable' | 'blocked' | 'aborted' | 'closed' | 'cleared' | 'version' | 'storage'
 *   | 'too-little' | 'prior-mismatch' | 'unreadable-picture' | 'unreadable-sound' | 'no-hand' | 'no-speech'
 *   | 'bad-embedding' | 'extractor-failed' | 'no-simd' | 'no-webassembly' | 'no-canvas' | 'extractor-unreachable'
 *   | 'extractor-mismatch' | 'extractor-manifest' | 'extractor-files' | 'extractor-model' | 'extractor-output'
 *   | 'extractor-function' | 'extractor-storage' | 'extractor-closed'} ErrorCode
 */

/** The error of a refused call: `code` is a short word for programs, `message` a sentence for people that names the remedy. */
export class MetaqdaError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.name = 'MetaqdaError';
    /** @type {ErrorCode} */
    this.code = /** @type {ErrorCode} */ (code);
  }
}
