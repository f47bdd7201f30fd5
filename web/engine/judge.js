// @ts-check
/**
 * Answers about many pictures at once, in a worker, so that the page stays responsive.
 * The worker gets the bytes of the session and the pictures' embeddings, and keeps
 * nothing.
 *
 *   start     {modules, runtime, role}
 *   session   [bytes of the session, of its prior or null, numbers per picture]
 *   pictures  the embeddings, row by row
 *   classify  answers, row by row, as Answers has them
 *   suggest   how many pictures
 *   alike     [numbers of the pictures]
 *   and 'progress' of its own accord, {done, total}
 */
import { RemoteClient } from '../base/remote.js';

/** @typedef {import('./index.js').LoadedEngine} LoadedEngine */
/**
 * What is answered about n pictures: for each the probability of none of these and then
 * those of the classes, null while no class has a picture.
 *
 * @typedef {{classes: string[], probabilities: Float64Array|null}} Answers
 */

/** Judges the pictures that it was last given by the session as it then was. */
export class Judge {
  /** The worker; `started` is settled once its program runs. @type {{client: RemoteClient, started: Promise<unknown>}|null} */
  #running = null;

  /**
   * @param {LoadedEngine} engine
   * @param {{onProgress?: (progress: {done: number, total: number}) => void, base?: string}} [options] `base` is the folder of wasm_exec.js
   */
  constructor(engine, { onProgress = () => {}, base = document.baseURI } = {}) {
    this.engine = engine;
    this.onProgress = onProgress;
    this.base = base;
  }

  /**
   * Takes in pictures and judges them together.
   *
   * @param {Float32Array[]} embeddings of one length, at least one
   * @returns {Promise<Answers>} rejects with code 'cancelled' after close
   */
  async together(embeddings) {
    const dimension = embeddings[0].length;
    const [{ classes }, { classifier, prior }] = await Promise.all([this.engine.state(), this.engine.trainingInput()]);
    const rows = new Float32Array(embeddings.length * dimension);
    embeddings.forEach((row, i) => rows.set(row, i * dimension));
    await this.#ask('session', [classifier, prior, dimension]);
    await this.#ask('pictures', rows, [rows.buffer]);
    return { classes: classes.map(({ id }) => id), probabilities: await this.#ask('classify') };
  }

  /** Which of the pictures tell most once they are taught, the best one first. @param {number} count @returns {Promise<number[]>} */
  suggest(count) {
    return this.#ask('suggest', count);
  }

  /**
   * Groups of pictures that resemble each other.
   *
   * @param {number[]} strangers which of them to look at
   * @returns {Promise<number[][]>} the largest group first
   */
  alike(strangers) {
    return this.#ask('alike', [strangers]);
  }

  /** Ends the worker, and with it whatever it does and holds. */
  close() {
    this.#running?.client.close('Judging the pictures together was stopped.');
    this.#running = null;
  }

  /** @param {string} type @param {unknown} [args] @param {Transferable[]} [transfer] @returns {Promise<any>} */
  async #ask(type, args, transfer) {
    if (!this.#running || this.#running.client.dead) this.#running = this.#start();
    const { client, started } = this.#running;
    await started;
    return client.ask(type, args, transfer);
  }

  #start() {
    const client = new RemoteClient(new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }), {
      code: 'cancelled',
      died: (why) => `The pictures could not be judged together (${why}): close other tabs and try again.`,
      onNews: (_, progress) => this.onProgress(progress),
    });
    const started = client.ask('start', { modules: this.engine.modules, runtime: new URL('wasm_exec.js', this.base).href, role: 'judge' });
    started.catch((error) => client.close(error.message)); // the next question starts another
    return { client, started };
  }
}
