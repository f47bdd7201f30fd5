// @ts-check
/** Works through a list of items, one at a time, with progress and a way to stop. */
import { queue } from '../../base/task.js';

/**
 * @typedef {object} BatchResult
 * @property {number} done number of items without an error
 * @property {unknown[]} errors of the other items, in order
 * @property {boolean} cancelled
 */

/**
 * Runs `work` on each item in turn. An item that fails does not stop the others.
 *
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => Promise<unknown>} work
 * @param {{onProgress?: (done: number, total: number) => void, signal?: AbortSignal}} [options]
 * @returns {Promise<BatchResult>}
 */
export async function runBatch(items, work, { onProgress, signal } = {}) {
  /** @type {BatchResult} */
  const result = { done: 0, errors: [], cancelled: false };
  for (const [i, item] of items.entries()) {
    if (signal?.aborted) {
      result.cancelled = true;
      break;
    }
    onProgress?.(i, items.length);
    try {
      await work(item);
      result.done++;
    } catch (error) {
      result.errors.push(error);
    }
  }
  onProgress?.(items.length, items.length);
  return result;
}

/** First come, first served, one at a time. */
export class Line {
  /** Starts work when all earlier work has ended, with or without errors. */
  wait = queue();

  /**
   * Runs a batch when its turn comes. A batch cancelled before that ends at once.
   *
   * @template T
   * @param {readonly T[]} items
   * @param {(item: T) => Promise<unknown>} work
   * @param {{onProgress?: (done: number, total: number) => void, signal: AbortSignal, ready?: () => Promise<unknown>, around?: (work: () => Promise<BatchResult>) => Promise<BatchResult>}} options
   *   `ready` is what a batch waits for once its turn has come; `around` runs the batch, with work before and after it
   * @returns {Promise<BatchResult>}
   */
  run(items, work, options) {
    const { signal, ready = async () => {}, around = (batch) => batch() } = options;
    const nothing = { done: 0, errors: [], cancelled: true };
    let begun = false;
    const turn = this.wait(async () => {
      await ready();
      begun = true;
      return signal.aborted ? nothing : around(() => runBatch(items, work, options));
    });
    const cancelled = new Promise((/** @type {(result: BatchResult) => void} */ resolve) => {
      signal.addEventListener('abort', () => {
        if (!begun) resolve(nothing);
      });
    });
    return Promise.race([turn, cancelled]);
  }
}

/** Most files named without their error. */
const NAMED = 20;

/** One line for the errors of a batch: three in full, with how often each came, then the number of the others, with the names of their files if they are few. @param {string[]} sentences */
export function summary(sentences) {
  const times = new Map();
  for (const one of sentences) times.set(one, (times.get(one) ?? 0) + 1);
  const shown = [...times].slice(0, 3);
  const files = [...times.keys()].slice(3, 3 + NAMED).flatMap((one) => /^“[^”]*”/.exec(one) ?? []);
  const rest = shown.reduce((left, [, n]) => left - n, sentences.length);
  return [
    ...shown.map(([one, n]) => (n > 1 ? `${one} (${n} times)` : one)),
    ...(rest ? [`And ${rest} more${files.length === rest ? `: ${files.join(', ')}` : ''}.`] : []),
  ].join(' ');
}
