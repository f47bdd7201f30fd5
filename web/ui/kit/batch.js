// @ts-check
/** A list of items worked through one after the other, with progress and a way to stop. */

/**
 * @typedef {object} BatchResult
 * @property {number} done items that went through
 * @property {unknown[]} errors what the others threw, in order
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
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /**
   * Begins the work when all that came before is done, however that ended.
   *
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  wait(work) {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {}); // whoever waits for this turn is told
    return turn;
  }

  /**
   * Runs a batch when its turn comes. One that is cancelled before is over at once.
   *
   * @template T
   * @param {readonly T[]} items
   * @param {(item: T) => Promise<unknown>} work
   * @param {{onProgress?: (done: number, total: number) => void, signal: AbortSignal, around?: (work: () => Promise<BatchResult>) => Promise<BatchResult>}} options
   *   `around` is what is done before and after the batch
   * @returns {Promise<BatchResult>}
   */
  run(items, work, options) {
    const { signal, around = (batch) => batch() } = options;
    const nothing = { done: 0, errors: [], cancelled: true };
    let begun = false;
    const turn = this.wait(async () => {
      begun = true;
      return signal.aborted ? nothing : around(() => runBatch(items, work, options));
    });
    const cancelled = new Promise((/** @type {(result: BatchResult) => void} */ resolve) => {
      signal.addEventListener('abort', () => { if (!begun) resolve(nothing); });
    });
    return Promise.race([turn, cancelled]);
  }
}

/** One line for the errors of a batch: the first three in full, the rest counted. @param {string[]} sentences */
export function summary(sentences) {
  const shown = sentences.slice(0, 3).join(' ');
  const rest = sentences.length - 3;
  return rest > 0 ? `${shown} And ${rest} more.` : shown;
}
