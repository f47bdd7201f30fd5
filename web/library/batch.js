// @ts-check
/**
 * Judges many pictures together, and learns a prior. Both run in a worker, so the page stays responsive. The
 * worker gets the bytes of the session and the embeddings. It stores nothing.
 *
 *   start     {modules, runtime, name}
 *   open      [bytes of the session, of its prior or null, the embeddings row by row, numbers per picture]
 *   classify  [how many classes, for each picture the indices of excluded ones] -> Answers without class ids
 *   suggest   how many pictures
 *   alike     sets of numbers of pictures, each picture in one set at most
 *   learn     [files of sessions, prior or null], see learn()
 *   progress  {done, total}, sent by the worker unasked
 */
import { MetaqdaError, RemoteClient } from '../base/remote.js';
import { FUNCTION, kindOf, known } from './classifier/options.js';
import { listOf, rowsOf, vectorOf } from './vectors.js';

/** @import {Answers, Learned, LoadedEngine} from '../engine/contract.js' */

/** The worker. The first call starts it, and so does the first call after it ended. */
class Thread {
  /** `started` settles once the program runs. @type {{client: RemoteClient, started: Promise<unknown>}|null} */
  #running = null;

  /** @param {LoadedEngine} engine @param {Pick<import('../base/remote.js').ClientOptions, 'died' | 'onNews'>} options */
  constructor(engine, options) {
    this.engine = engine;
    this.options = { ...options, code: 'cancelled', failed: 'internal', unloaded: 'fetch' };
  }

  /** @param {string} type @param {unknown} [args] @param {Transferable[]} [transfer] @returns {Promise<any>} */
  async ask(type, args, transfer) {
    if (!this.#running || this.#running.client.dead) {
      const { worker, ...message } = this.engine.thread;
      const client = new RemoteClient(worker(), this.options);
      const started = client.ask('start', message);
      started.catch((error) => client.close(error.message, error.code)); // the next question starts another
      this.#running = { client, started };
    }
    const { client, started } = this.#running;
    await started;
    return client.ask(type, args, transfer).catch((error) => {
      if (error.code === 'internal') client.close(error.message, 'internal'); // its program has ended: the next call starts another
      throw error;
    });
  }

  /** Ends the worker. @param {string} why a sentence */
  close(why) {
    this.#running?.client.close(why);
    this.#running = null;
  }
}

/** The storage. Throws if it is something else, such as its classifier. @param {LoadedEngine} engine */
function stored(engine) {
  if (engine?.thread) return engine;
  throw new MetaqdaError('argument', `There is ${kindOf(engine)} in place of a storage: hand over what openStorage resolves to, not its classifier.`);
}

const STOPPED = 'Judging the pictures together was stopped.';

/** Predicts the pictures of the last `classify`, by the session as it was at that time. */
export class Batch {
  #thread;
  /** How often it was closed. */
  #closed = 0;
  /** Settles after the last call: the worker has the pictures of one `classify` at a time. @type {Promise<unknown>} */
  #last = Promise.resolve();

  /**
   * @param {LoadedEngine} engine the storage
   * @param {{onProgress?: ((progress: {done: number, total: number}) => void) | undefined}} [options]
   */
  constructor(engine, options) {
    known(options, { onProgress: FUNCTION });
    const { onProgress = () => {} } = options ?? {};
    this.engine = stored(engine);
    this.#thread = new Thread(engine, {
      died: (why) => `The pictures could not be judged together (${why}): close other tabs and try again.`,
      onNews: (_, progress) => onProgress(progress),
    });
  }

  /**
   * Classifies pictures, judged together.
   *
   * @param {Float32Array[]} embeddings of one length, at least one
   * @param {ReadonlySet<string>[]} [out] for each picture the ids of excluded classes
   * @returns {Promise<Answers>} rejects with code 'cancelled' after close
   */
  async classify(embeddings, out = []) {
    if (!embeddings?.length) throw new MetaqdaError('argument', 'The batch is empty: hand over an array of at least one vector.');
    const all = rowsOf(listOf(embeddings, 'batch').map(vectorOf));
    const dimension = all[0].length;
    if (!Array.isArray(out) || out.some((one) => one !== undefined && typeof one?.has !== 'function'))
      throw new MetaqdaError('argument', 'The excluded classes must be an array with a Set of ids for each vector: leave them out to exclude none.');
    const rows = new Float32Array(all.length * dimension);
    all.forEach((row, i) => rows.set(row, i * dimension));
    const session = Promise.all([this.engine.state(), this.engine.sharedSession({ pictures: false }), this.engine.learnedPrior()]);
    return this.#next(session, async ([{ classes }, classifier, prior]) => {
      const left = all.map((_, i) => classes.flatMap(({ id }, k) => (out[i]?.has(id) ? [k] : [])));
      await this.#thread.ask('open', [classifier, prior, rows, dimension], [rows.buffer, classifier.buffer]); // which the worker does not keep
      const answers = await this.#thread.ask('classify', [classes.length, left]).catch((error) => {
        if (error.code !== 'empty') throw error;
        return { probabilities: null, taken: new Int32Array(), doubtful: new Uint8Array(), headlines: [] };
      });
      return { classes: classes.map(({ id }) => id), ...answers };
    });
  }

  /**
   * Asks the worker once all earlier calls have their answers.
   *
   * @template G, T @param {G | Promise<G>} given @param {(given: G) => Promise<T>} ask @returns {Promise<T>}
   */
  async #next(given, ask) {
    const [closed, last] = [this.#closed, this.#last];
    const answer = last
      .then(() => given)
      .then((found) => {
        if (closed !== this.#closed) throw new MetaqdaError('cancelled', STOPPED); // before the worker started
        return ask(found);
      });
    this.#last = Promise.allSettled([given, answer]);
    return answer;
  }

  /** The pictures that help most when taught, the best one first; `like` counts the pictures that look like each. @param {number} count @returns {Promise<{places: number[], like: number[]}>} */
  async suggest(count) {
    if (!Number.isInteger(count) || count < 0)
      throw new MetaqdaError('argument', 'The count must be a whole number from 0 on: the vectors are those of the last classify.');
    return this.#next(null, () => this.#thread.ask('suggest', count));
  }

  /**
   * Groups of pictures that resemble each other.
   *
   * @param {number[][]} sets numbers of pictures, each in one set at most; a group is of one set
   * @returns {Promise<number[][][]>} the groups of each set, the largest one first
   */
  async alike(sets) {
    if (!Array.isArray(sets) || !sets.every((set) => Array.isArray(set) && set.every(Number.isInteger)))
      throw new MetaqdaError('argument', 'The sets must be arrays of the places of vectors in the last classify, such as [[0, 1], [2, 3]].');
    return this.#next(null, () => this.#thread.ask('alike', sets));
  }

  /** Ends the worker. */
  close() {
    this.#closed++;
    this.#last = Promise.resolve();
    this.#thread.close(STOPPED);
  }
}

/**
 * Learns a prior for the open session from all other sessions of the same extractor. Classes left out of learning show
 * whether the new prior is better. It takes some seconds. `importPrior` makes the session use the prior.
 *
 * @param {LoadedEngine} engine
 * @returns {Promise<Learned>} rejects with code 'too-little' if no other session has four classes of three pictures
 */
export async function learn(engine) {
  const thread = new Thread(stored(engine), { died: (why) => `Learning ended early (${why}): close other tabs and try again.` });
  try {
    return await thread.ask('learn', await Promise.all([engine.otherSessions(), engine.learnedPrior()]));
  } finally {
    thread.close('Learning is over.');
  }
}
