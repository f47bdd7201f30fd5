// @ts-check
/**
 * The window's end of the extractor's worker. Messages, both ways (the other
 * side is worker.mjs):
 *   {type, id, args} -> {type, id, result} | {type: 'error', id, error: {code, message}}
 *     load  args: ExtractorFiles                     result: true
 *     embed args: {picture, views}                   result: Float32Array (transferred)
 *           picture: Blob | ImageBitmap | ImageData; views: how many, all of them if undefined
 * A worker that fails to start or stays silent rejects with code 'worker-failed'
 * and is ended; the caller then goes on in the window.
 */
import { ExtractorError } from './errors.js';

export class WorkerClient {
  /**
   * @param {Worker} worker the built one, just started
   * @param {number} patience milliseconds to wait for any one answer
   */
  constructor(worker, patience) {
    this.patience = patience;
    this.next = 1;
    /** @type {Map<number, {resolve: (v: any) => void, reject: (e: Error) => void, timer: ReturnType<typeof setTimeout>}>} */
    this.waiting = new Map();
    /** @type {ExtractorError | null} */
    this.dead = null;
    this.worker = worker;
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.fail(`The extractor's worker stopped: ${event.message || 'it could not be loaded'}.`);
    };
  }

  /** @param {string} type @param {any} args @param {Transferable[]} [transfer] @returns {Promise<any>} */
  ask(type, args, transfer = []) {
    if (this.dead) return Promise.reject(this.dead);
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.post({ type, id, args }, transfer);
      this.waiting.set(id, { resolve, reject, timer: this.alarm() });
    });
  }

  /** @param {{type: string, id: number, args: any}} message @param {Transferable[]} transfer */
  post(message, transfer) {
    try {
      this.worker.postMessage(message, transfer);
    } catch {
      throw new ExtractorError('unreadable-picture', 'This picture has been closed already; add it once more.');
    }
  }

  alarm() {
    return setTimeout(() => this.fail("The extractor's worker did not answer in time."), this.patience);
  }

  /** @param {any} message */
  receive({ type, id, result, error }) {
    const waiter = this.waiting.get(id);
    if (!waiter) return;
    this.waiting.delete(id);
    clearTimeout(waiter.timer);
    // A living worker works its questions off in turn: the others wait from now on.
    for (const other of this.waiting.values()) {
      clearTimeout(other.timer);
      other.timer = this.alarm();
    }
    if (type === 'error') waiter.reject(new ExtractorError(error.code, error.message));
    else waiter.resolve(result);
  }

  /** Ends the worker and tells everyone who waits. @param {string} why */
  fail(why) {
    this.dead ??= new ExtractorError('worker-failed', why);
    this.worker.terminate();
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject, timer } of waiting) {
      clearTimeout(timer);
      reject(this.dead);
    }
  }
}
