// @ts-check
/** A worker of the engine, started when it is first asked, and anew after it ended. */
import { RemoteClient } from '../base/remote.js';

export class EngineThread {
  /** `started` is settled once its program runs. @type {{client: RemoteClient, started: Promise<unknown>}|null} */
  #running = null;

  /**
   * @param {{thread: import('./index.js').Thread}} engine
   * @param {'trainer'|'judge'} role
   * @param {import('../base/remote.js').ClientOptions} options
   */
  constructor(engine, role, options) {
    this.engine = engine;
    this.role = role;
    this.options = options;
  }

  /** @param {string} type @param {unknown} [args] @param {Transferable[]} [transfer] @returns {Promise<any>} */
  async ask(type, args, transfer) {
    if (!this.#running || this.#running.client.dead) this.#running = this.#start();
    const { client, started } = this.#running;
    await started;
    return client.ask(type, args, transfer);
  }

  /** Ends the worker, and with it whatever it does and holds. @param {string} why a sentence */
  close(why) {
    this.#running?.client.close(why);
    this.#running = null;
  }

  #start() {
    const { worker, ...message } = this.engine.thread;
    const client = new RemoteClient(worker(), this.options);
    const started = client.ask('start', { ...message, role: this.role });
    started.catch((error) => client.close(error.message)); // the next question starts another
    return { client, started };
  }
}
