// @ts-check
/**
 * Answers about many pictures at once, and learns a prior, in a worker, so that the page stays responsive.
 * The worker gets the bytes of the session and the pictures' embeddings, and keeps
 * nothing.
 *
 *   start     {modules, runtime, name, role}
 *   session   [bytes of the session, of its prior or null, numbers per picture]
 *   pictures  the embeddings, row by row
 *   classify  [for pictures that are not of some classes: their number, and the indices of those] -> for each picture what
 *             it is taken for, and the rest of Answers; or null
 *   suggest   how many pictures
 *   alike     [numbers of the pictures]
 *   learn     [files of sessions, prior or null], see learn()
 *   and 'progress' of its own accord, {done, total}
 */
import { MetaqdaError, RemoteClient } from '../base/remote.js';

/** @import {Answers, Learned, LoadedEngine} from './contract.js' */

/** The worker, started when it is first asked, and anew after it ended. */
class Thread {
  /** `started` is settled once its program runs. @type {{client: RemoteClient, started: Promise<unknown>}|null} */
  #running = null;

  /** @param {LoadedEngine} engine @param {Omit<import('../base/remote.js').ClientOptions, 'code'>} options */
  constructor(engine, options) {
    this.engine = engine;
    this.options = { ...options, code: 'cancelled' };
  }

  /** @param {string} type @param {unknown} [args] @param {Transferable[]} [transfer] @returns {Promise<any>} */
  async ask(type, args, transfer) {
    if (!this.#running || this.#running.client.dead) {
      const { worker, ...message } = this.engine.thread;
      const client = new RemoteClient(worker(), this.options);
      const started = client.ask('start', { ...message, role: 'batch' });
      started.catch((error) => client.close(error.message)); // the next question starts another
      this.#running = { client, started };
    }
    const { client, started } = this.#running;
    await started;
    return client.ask(type, args, transfer);
  }

  /** Ends the worker, and with it whatever it does and holds. @param {string} why a sentence */
  close(why) {
    this.#running?.client.close(why);
    this.#running = null;
  }
}

const STOPPED = 'Judging the pictures together was stopped.';

/** Answers about the pictures that it was last given by the session as it then was. */
export class Batch {
  #thread;
  /** How often it was closed. */
  #closed = 0;

  /**
   * @param {LoadedEngine} engine
   * @param {{onProgress?: (progress: {done: number, total: number}) => void}} [options]
   */
  constructor(engine, { onProgress = () => {} } = {}) {
    this.engine = engine;
    this.#thread = new Thread(engine, {
      died: (why) => `The pictures could not be judged together (${why}): close other tabs and try again.`,
      onNews: (_, progress) => onProgress(progress),
    });
  }

  /**
   * Takes in pictures and says what each is, judged together.
   *
   * @param {Float32Array[]} embeddings of one length, at least one
   * @param {ReadonlySet<string>[]} [out] for each the ids of classes that it is not of
   * @returns {Promise<Answers>} rejects with code 'cancelled' after close
   */
  async classify(embeddings, out = []) {
    const [dimension, closed] = [embeddings[0].length, this.#closed];
    const [{ classes }, { classifier, prior }] = await Promise.all([this.engine.state(), this.engine.batchInput()]);
    if (closed !== this.#closed) throw new MetaqdaError('cancelled', STOPPED); // before its worker had begun
    const rows = new Float32Array(embeddings.length * dimension);
    embeddings.forEach((row, i) => rows.set(row, i * dimension));
    await this.#thread.ask('session', [classifier, prior, dimension]);
    await this.#thread.ask('pictures', rows, [rows.buffer]);
    const left = out.flatMap((ids, i) => (ids.size ? [[i, ...classes.flatMap(({ id }, k) => (ids.has(id) ? [k] : []))]] : []));
    const { probabilities, taken, doubtful, headlines } = await this.#thread.ask('classify', [left]) ?? { probabilities: null, taken: [], doubtful: [], headlines: [] };
    return { classes: classes.map(({ id }) => id), probabilities, taken: Int32Array.from(taken), doubtful: Uint8Array.from(doubtful), headlines };
  }

  /** Which of the pictures tell most once they are taught, the best one first, and how many others look like each. @param {number} count @returns {Promise<{places: number[], like: number[]}>} */
  suggest(count) {
    return this.#thread.ask('suggest', count);
  }

  /**
   * Groups of pictures that resemble each other.
   *
   * @param {number[]} outOfSet which of them to look at
   * @returns {Promise<number[][]>} the largest group first
   */
  alike(outOfSet) {
    return this.#thread.ask('alike', [outOfSet]);
  }

  /** Ends the worker, and with it whatever it does and holds. */
  close() {
    this.#closed++;
    this.#thread.close(STOPPED);
  }
}

/**
 * Learns a prior for the open session from all others that the same extractor read, and measures on classes that are
 * left out whether it pays. Takes some seconds; `importPrior` puts it to use.
 *
 * @param {LoadedEngine} engine
 * @returns {Promise<Learned>} rejects with code 'too-little' where no other session has four classes of three pictures
 */
export async function learn(engine) {
  const thread = new Thread(engine, { died: (why) => `Learning ended early (${why}): close other tabs and try again.` });
  try {
    const { sessions, prior } = await engine.learningInput();
    return await thread.ask('learn', [sessions, prior]);
  } finally {
    thread.close('Learning is over.');
  }
}
