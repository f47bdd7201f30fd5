// @ts-check
/**
 * Embeds pictures in several threads. The messages to a thread (thread.mjs) and its answers:
 *   nothing -> {extractor} once it is ready
 *   file    -> {embedding} | {why: the error, empty: whether the file is readable but has no hand or speech in it}
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Complaint } from './complaint.mjs';

/** @typedef {{id: string, sha256: string, dimension: number}} Facts of the extractor */

export class Pool {
  /** @param {Worker[]} threads @param {Facts} extractor */
  constructor(threads, extractor) {
    this.threads = threads;
    this.extractor = extractor;
  }

  /** @param {string} place of the extractor @param {number} count of threads @param {string} [variant] of it @returns {Promise<Pool>} */
  static async start(place, count, variant) {
    const threads = Array.from({ length: count }, () => new Worker(new URL('thread.mjs', import.meta.url), { workerData: { place, variant } }));
    try {
      const [[{ extractor }]] = await Promise.all(threads.map((thread) => once(thread, 'message')));
      return new Pool(threads, extractor);
    } catch (error) {
      await Promise.all(threads.map((thread) => thread.terminate()));
      throw error;
    }
  }

  /**
   * Each thread takes the next picture when it is done. If several pictures cannot be read, the
   * error names the first in order.
   * @param {string[]} files @param {(done: number) => void} report @param {string} kind what they are, in the plural
   * @returns {Promise<(Float32Array|null)[]>} the embeddings in the order of the files, null where nothing is in one
   */
  async embedAll(files, report, kind) {
    const all = /** @type {(Float32Array|null)[]} */ (Array(files.length).fill(null));
    let [next, done, bad] = [0, 0, files.length];
    let reason = '';
    await Promise.all(this.threads.map(async (thread) => {
      while (next < bad) {
        const index = next++;
        thread.postMessage(files[index]);
        const [{ embedding, why, empty }] = await once(thread, 'message');
        if (why === undefined || empty) {
          all[index] = embedding ?? null;
          report(++done);
        } else if (index < bad) {
          [bad, reason] = [index, why];
        }
      }
    }));
    if (reason) throw new Complaint(`'${files[bad]}' is none of the ${kind} that can be read (${reason}); repair it or take it out of the folder.`);
    return all;
  }

  async close() {
    await Promise.all(this.threads.map((thread) => thread.terminate()));
  }
}
