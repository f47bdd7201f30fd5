// @ts-check
/** Changes of classes and examples. Each press is one step for undo and redo. */
import { say } from '../kit/announce.js';
import { byId, counted, noun, sees, sentence } from '../kit/dom.js';
import { nextTask } from '../../base/task.js';
import { gone } from './model.js';
import { removed } from './words.js';

/** @import {Engine} from '../../library/types.js' */
/** @import {Learner} from '../kinds/index.js' */
/** @import {Target} from './correct.js' */

/** The name of a step, with this session's words. @param {string} step such as "move an example to Banana", "add Banana with 3 examples" */
const called = (step) =>
  step
    .replace(
      /^(add|move|remove) (?:an|(\d+)) examples?(?= to | from )|(?<=^add .* with )(?:an|(\d+)) examples?$/,
      (_, verb, several, first) => (verb ? `${verb} ` : '') + ((several ?? first) ? counted(Number(several ?? first), noun()) : `a ${noun()}`),
    )
    .replace(/(?<=^change of what happens when it )sees/, sees());

/** A learner whose changes are parts of one undo step. @param {{undo: string}} step at first without an id @param {Learner} of @returns {Learner} */
export const partOf = (step, { ready, taught, stored }) => ({ ready, taught, stored: (change) => stored(change, step) });

export class Changes {
  #undo = byId('undo-button', HTMLButtonElement);
  #redo = byId('redo-button', HTMLButtonElement);
  /** Running steps; `undo` is the id, empty before the first change. @type {Set<{stop: () => void, undo: string}>} */
  #underWay = new Set();
  /** The id of the step that the button would undo. */
  #next = '';
  /** Steps that undo has stopped, until they are undone. */
  #stopped = new Set();

  /** @param {{engine: Engine, model: () => import('./model.js').Classes}} parts */
  constructor({ engine, model }) {
    this.engine = engine;
    this.model = model;
    this.#undo.addEventListener('click', () => void this.undo());
    this.#redo.addEventListener('click', () => void this.redo());
    document.addEventListener('keydown', (event) => {
      const field = event.target instanceof HTMLInputElement && ['text', 'number'].includes(event.target.type);
      const key = event.key.toLowerCase();
      if (!(event.ctrlKey || event.metaKey) || event.altKey || field || (key !== 'z' && (key !== 'y' || event.shiftKey))) return;
      event.preventDefault();
      void (event.shiftKey || key === 'y' ? this.redo() : this.undo());
    });
  }

  /** Names the next undo and redo on the buttons. @param {{undo: string, undoId: string, redo: string}} state */
  show({ undo, undoId, redo }) {
    this.#next = undoId;
    for (const [button, word, name] of /** @type {[HTMLButtonElement, string, string][]} */ ([
      [this.#undo, 'Undo', undo],
      [this.#redo, 'Redo', redo],
    ])) {
      button.setAttribute('aria-disabled', String(!name)); // a disabled one would lose the focus
      button.title = name ? `${word}: ${called(name)}` : `There is nothing to ${word.toLowerCase()}`;
    }
  }

  /** Undoes the step of a token, or else the last step. If that one is running, or another that has not changed anything yet, it stops and undoes it. @param {string} [token] */
  async undo(token) {
    if (token) return this.#go((taught) => taught.undo(token), 'Undone', 'undo');
    const running = [...this.#underWay].filter(({ undo }) => !undo || undo === this.#next);
    for (const step of running) {
      this.#stopped.add(step);
      step.stop();
    }
    if (!running.length) await this.#go((taught) => taught.undo(), 'Undone', 'undo');
  }

  async redo() {
    await this.#go((taught) => taught.redo(), 'Redone', 'redo');
  }

  /** Resolves once every step that undo has stopped is undone. Another session may be opened then. */
  async settled() {
    while (this.#stopped.size) await nextTask();
  }

  /** @param {(taught: Engine['taught']) => string} work @param {string} done @param {string} word */
  async #go(work, done, word) {
    try {
      const { result: name } = await this.engine.stored(work);
      say(name ? `${done}: ${called(name)}.` : `There is nothing to ${word}.`);
    } catch (error) {
      say(sentence(error));
    }
  }

  /**
   * Runs work whose changes are one undo step. Other changes meanwhile are steps of their own.
   *
   * @template T
   * @param {(learner: Learner) => Promise<T>} work makes its changes by `learner`
   * @param {() => void} [stop] ends the work early; without it undo waits for the end
   * @returns {Promise<T>}
   */
  async step(work, stop = () => {}) {
    return (await this.#step(work, stop)).result;
  }

  /** As `step`, with a token that undoes it. @template T @param {(learner: Learner) => Promise<T>} work @param {() => void} [stop] @returns {Promise<{result: T, undo: string}>} */
  async #step(work, stop = () => {}) {
    const step = { stop, undo: '' };
    this.#underWay.add(step);
    try {
      const result = await work(partOf(step, this.engine));
      return { result, undo: step.undo };
    } finally {
      this.#underWay.delete(step);
      try {
        if (this.#stopped.has(step) && step.undo) await this.undo(step.undo);
      } finally {
        this.#stopped.delete(step);
      }
    }
  }

  /** @param {string} id @param {string} name */
  async rename(id, name) {
    if (!name) throw new Error('A class needs a name.');
    const { result } = await this.engine.stored((taught) => {
      taught.renameClass(this.model().label(id), name);
      return taught.label(name);
    });
    say(`Renamed to “${result}”.`);
  }

  /**
   * Adds a class. It answers once the model has the class.
   *
   * @param {string} name @param {Learner} [learner] of a step @returns {Promise<{id: string, name: string}>} its name as it is kept
   */
  async addClass(name, learner = this.engine) {
    const { result: label } = await learner.stored((taught) => {
      taught.addClass(name);
      return taught.label(name);
    });
    while (!this.model().idOf(label) && this.engine.taught.has(label)) await nextTask();
    return { id: this.model().idOf(label), name: label };
  }

  /** @param {string} id of a class */
  async removeClass(id) {
    const { name, examples } = this.model().of(id) ?? gone();
    await this.engine.stored((taught) => taught.removeClass(name));
    say(`Deleted “${name}”${examples.length ? ` with ${counted(examples.length, noun())}` : ', which was empty'}.`);
  }

  /** Moves all examples of a class into another one and removes the class. @param {string} id @param {string} into */
  async merge(id, into) {
    const [from, to] = [id, into].map((one) => this.model().label(one));
    await this.engine.stored((taught) => taught.mergeClasses(from, to));
    say(`“${from}” is now part of “${to}”.`);
  }

  /** Removes pictures of a class. @param {string[]} ids at least one @returns {Promise<string>} a token for undo */
  async remove(ids) {
    const { name = '', examples = [] } = this.model().holding(ids[0]) ?? {};
    const before = examples.length;
    const { undo } = await this.#step(async (learner) => {
      for (const id of ids) await learner.stored((taught) => taught.removeExample(id));
      say(removed(name, ids.length, before - ids.length));
    });
    return undo;
  }

  /** Moves pictures to another class and creates it if it is new. They keep their ids. @param {string[]} ids at least one @param {Target} target @returns {Promise<string>} a token for undo */
  async move(ids, target) {
    const { undo } = await this.#step(async (learner) => {
      const from = this.model().holding(ids[0]);
      const name = 'id' in target ? this.model().label(target.id) : (await this.addClass(target.name, learner)).name;
      for (const one of ids) await learner.stored((taught) => taught.moveExample(one, name));
      say(`Moved ${ids.length === 1 ? `a ${noun()}` : counted(ids.length, noun())} from “${from?.name}” to “${name}”.`);
    });
    return undo;
  }

  /**
   * Adds pictures to a class and creates it if it is new. A picture that fails stops the rest. Those before it
   * stay. Undo stops the rest, too.
   *
   * @param {Target} target
   * @param {readonly ((classId: string, learner: Learner) => Promise<string>)[]} examples each adds one picture to the class and resolves with its id
   * @returns {Promise<string[]>} the ids of the examples
   */
  teach(target, examples) {
    let stopped = false;
    const work = async (/** @type {Learner} */ learner) => {
      const made = 'name' in target ? await this.addClass(target.name, learner) : null;
      const id = 'id' in target ? target.id : /** @type {{id: string}} */ (made).id;
      const name = made ? made.name : this.model().name(id);
      /** @type {string[]} */
      const taught = [];
      try {
        for (const one of examples) {
          if (stopped && taught.length) break;
          taught.push(await one(id, learner));
        }
      } finally {
        if (!taught.length && made) await learner.stored((all) => all.removeClass(name)).catch(() => {});
      }
      if (!stopped) say(taught.length === 1 ? `Taught as “${name}”.` : `${counted(taught.length, noun())} taught as “${name}”.`);
      return taught;
    };
    return this.step(work, () => {
      stopped = true;
    });
  }
}
