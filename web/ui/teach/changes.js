// @ts-check
/** What a person does to what is taught, each with its way back. */
import { say } from '../kit/announce.js';
import { counted } from '../kit/dom.js';
import { removed } from './words.js';

/** @typedef {import('../../library/types.js').Engine} Engine */
/** @typedef {import('./correct.js').Target} Target */

export class Changes {
  /**
   * @param {{engine: Engine, undo: import('../kit/announce.js').UndoStack, model: () => import('./model.js').Classes, focus: (classId: string, exampleId?: string) => void}} parts
   */
  constructor({ engine, undo, model, focus }) {
    this.engine = engine;
    this.undo = undo;
    this.model = model;
    this.focus = focus;
  }

  /** @param {string} id @param {string} name */
  async rename(id, name) {
    await this.engine.renameClass(id, name);
    say(`Renamed to “${name}”.`);
  }

  /** @param {string} id of a class */
  async removeClass(id) {
    const { name = '', examples = [] } = this.model().of(id) ?? {};
    const { undo } = await this.undo.expect(this.engine.removeClass(id));
    this.undo.offer(`Deleted “${name}” with ${counted(examples.length, 'picture')}.`, async () => {
      await this.engine.undo(undo);
      const now = (await this.engine.state()).classes.find((one) => one.id === id)?.name ?? name;
      this.focus(id);
      say(now === name ? `“${name}” is back.` : `“${name}” is back as “${now}”: another class has its name.`);
    });
  }

  /** Offers to take back pictures that were taken in one go. @param {string} classId @param {string[]} ids */
  taken(classId, ids) {
    const name = this.model().name(classId);
    const some = counted(ids.length, 'picture');
    this.undo.offer(`Took ${some} of “${name}”.`, async () => {
      for (const id of ids) await this.engine.removeExample(classId, id).catch(() => {}); // one that is gone needs no taking back
      this.focus(classId);
      say(`Removed the ${some} from “${name}”.`);
    });
  }

  /** Removes pictures. @param {string} classId @param {string[]} ids at least one */
  async remove(classId, ids) {
    const { name = '', examples = [] } = this.model().of(classId) ?? {};
    const before = examples.length;
    /** @type {string[]} */
    const steps = [];
    try {
      for (const id of ids) steps.push((await this.undo.expect(this.engine.removeExample(classId, id))).undo);
    } finally {
      if (steps.length) {
        this.undo.offer(removed(name, steps.length, before - steps.length), async () => {
          await this.#takeBack(steps);
          this.focus(classId, ids[0]);
          say(steps.length === 1 ? `The picture of “${name}” is back.` : `${steps.length} pictures of “${name}” are back.`);
        });
      }
    }
  }

  /**
   * Moves pictures to another class.
   *
   * @param {string} classId
   * @param {string[]} ids at least one
   * @param {string} toId
   * @returns {Promise<string>} the id of the last one there
   */
  async move(classId, ids, toId) {
    const [from, to] = [classId, toId].map((id) => this.model().name(id));
    /** @type {{undo: string}[]} */
    const moved = [];
    try {
      for (const id of ids) moved.push(await this.undo.expect(this.engine.moveExample(classId, id, toId)));
    } finally {
      if (moved.length) {
        this.undo.offer(`Moved ${moved.length === 1 ? 'a picture' : counted(moved.length, 'picture')} from “${from}” to “${to}”.`, async () => {
          await this.#takeBack(moved.map(({ undo }) => undo));
          this.focus(classId, ids[0]);
          say(ids.length === 1 ? `The picture is in “${from}” again.` : `${counted(moved.length, 'picture')} are in “${from}” again.`);
        });
      }
    }
    return ids[moved.length - 1] ?? '';
  }

  /** Moves an example to a class, which is made where it is new. @param {string} example @param {Target} target @returns {Promise<string>} its id there */
  async moveTo(example, target) {
    const { id } = 'id' in target ? target : await this.engine.addClass(target.name);
    return this.move(this.model().holding(example)?.id ?? '', [example], id);
  }

  /** Takes back removals or moves, the last one first: each knows the place among those before it. @param {string[]} steps */
  async #takeBack(steps) {
    for (const undo of [...steps].reverse()) await this.engine.undo(undo);
  }

  /**
   * Teaches pictures as a class, which is made where it is new. A picture that cannot be taught stops the rest;
   * those before it stay.
   *
   * @param {Target} target
   * @param {readonly ((classId: string) => Promise<string>)[]} enrol adds one picture to the class and answers its id
   * @returns {Promise<string[]>} the ids of the examples
   */
  teach(target, enrol) {
    return this.undo.expect(this.#teach(target, enrol));
  }

  /** @type {Changes['teach']} */
  async #teach(target, enrol) {
    const made = 'name' in target ? await this.engine.addClass(target.name) : null;
    const id = 'id' in target ? target.id : /** @type {{id: string}} */ (made).id;
    const name = made ? made.name : this.model().name(id);
    /** @type {string[]} */
    const taught = [];
    const told = () => (taught.length === 1 ? `Taught as “${name}”.` : `${counted(taught.length, 'picture')} taught as “${name}”.`);
    try {
      for (const one of enrol) taught.push(await one(id));
    } finally {
      if (taught.length) {
        this.undo.offer(told(), async () => {
          for (const example of taught) await this.engine.removeExample(id, example).catch(() => {}); // removed by hand meanwhile
          if (made && !(await this.engine.state()).classes.find((one) => one.id === id)?.examples.length) await this.engine.removeClass(id).catch(() => {});
          say(`${counted(taught.length, 'picture')} of “${name}” taken back.`);
        });
      } else if (made) await this.engine.removeClass(id).catch(() => {});
    }
    say(told(), { seen: true }); // the notice that offers to take it back says it to the eye
    return taught;
  }
}
