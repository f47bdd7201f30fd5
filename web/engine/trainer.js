// @ts-check
/**
 * Learning a prior on the person's own classes, in a worker, so that the page stays
 * responsive. The worker gets the compiled program by message and keeps its checkpoints
 * in IndexedDB itself.
 *
 *   start     {modules, runtime, name, role}
 *   begin     {session, steps, classifier and marked | dataset, prior}
 *   resume, pending, forget   the id of a session
 *   pause, proceed, cancel, finished
 *   and 'progress' of its own accord
 */
import { EngineThread } from './index.js';

/** @typedef {import('./contract.js').Progress} Progress */
/** @typedef {import('./contract.js').Started} Started */
/** @typedef {import('./contract.js').Learned} Learned */

/** Learns one prior at a time. */
export class Trainer {
  #thread;
  #session = '';

  /**
   * @param {import('./contract.js').LoadedEngine} engine
   * @param {{onProgress?: (progress: Progress) => void}} [options]
   */
  constructor(engine, { onProgress = () => {} } = {}) {
    this.engine = engine;
    this.#thread = new EngineThread(engine, 'trainer', {
      code: 'internal',
      died: (why) => `The trainer ended (${why}): reload the page to go on.`,
      onNews: (_, progress) => onProgress(progress),
    });
  }

  /**
   * Begins to learn on the classes of the open session, or on a data set, from the
   * prior in use.
   *
   * @param {{steps?: number, dataset?: import('./contract.js').Dataset}} [options]
   * @returns {Promise<Started>}
   */
  async begin({ steps = 300, dataset } = {}) {
    const { session, classifier, marked, prior } = await this.engine.trainingInput();
    this.#session = session;
    if (!dataset) return this.#thread.ask('begin', { session, steps, prior, classifier, marked });
    // Embeddings of another kind than the session's begin at the plain one, made by hand.
    const fits = dataset.dimension === (await this.engine.state()).dimension;
    return this.#thread.ask('begin', { session, steps, prior: fits ? prior : null, dataset });
  }

  /**
   * Tells whether learning on the open session was interrupted, by a reload perhaps.
   *
   * @returns {Promise<{steps: number, done: number}|null>}
   */
  async pending() {
    return this.#thread.ask('pending', (await this.engine.state()).sessionId);
  }

  /** Goes on where it was interrupted. @returns {Promise<Started>} */
  async resume() {
    this.#session = (await this.engine.state()).sessionId;
    return this.#thread.ask('resume', this.#session);
  }

  /** Stops after the step under way, once everything is stored. */
  async pause() {
    await this.#thread.ask('pause');
  }

  /** Ends a pause. */
  async proceed() {
    await this.#thread.ask('proceed');
  }

  /** Ends learning for good; nothing has changed. */
  async cancel() {
    await this.#thread.ask('cancel');
  }

  /** Waits for the end. Rejects with code 'cancelled' after cancel. @returns {Promise<Learned>} */
  async finished() {
    return this.#thread.ask('finished');
  }

  /**
   * Makes the session use what was learned.
   *
   * @param {Learned} learned
   * @returns {Promise<{undo: string}>} goes back to the prior before
   */
  async use({ prior }) {
    const result = /** @type {{undo: string}} */ (await this.engine.importPrior(prior));
    await this.forget();
    return result;
  }

  /** Drops what could be resumed. */
  async forget() {
    await this.#thread.ask('forget', this.#session || (await this.engine.state()).sessionId);
  }

  /** Ends the worker. What was learned since the last checkpoint is lost. */
  close() {
    this.#thread.close('The trainer was closed.');
  }
}
