// @ts-check
/** The cards of the classes: names, thumbnails, adding, removing, the camera in a card. */
import { complain, say } from '../kit/announce.js';
import { Line, summary } from '../kit/batch.js';
import { Camera, cameraError, leaveCamera, takeCamera } from '../kinds/pictures/camera.js';
import { byId, counted, dialogHead, el, icon, sentence } from '../kit/dom.js';
import { CorrectBar } from './correct.js';
import { dropZone } from '../kit/drop.js';
import { classesOf, pathOf, picturesOf } from '../kit/folders.js';
import { holdRepeat } from '../kit/hold.js';
import { nextTask } from '../../library/storage.js';
import { Thumbnails } from '../kit/thumbnails.js';

/** @typedef {import('../../library/types.js').ClassState} ClassState */
/** @typedef {import('../../library/types.js').Step} Step */
/** @typedef {import('../../library/types.js').Example} Example */
/** @typedef {import('../../library/types.js').Engine} Engine */
/** @typedef {import('../kinds/enrol.js').Enrolment} Enrolment */
/** @typedef {import('../kit/announce.js').UndoStack} UndoStack */

/** With more pictures than this a card is made when it comes near the view; until then there is a placeholder. */
const EAGER = 600;
/** Placeholders that are made before the page may breathe. */
const AT_A_TIME = 200;
/** Pictures of a card that are there at once, the last ones, and so many more on each press. */
const AT_ONCE = 120;

/** The list of all cards, kept in step with the engine's state. */
export class ClassList {
  /** @type {Map<string, ClassCard|Placeholder>} */
  #cards = new Map();
  /** Whether there are so many pictures that cards are made when they are needed. */
  #many = false;
  #thumbnails = new Thumbnails();
  /** Files that are added, to whichever class, in the order in which they were chosen. */
  line = new Line();
  /** Stops the folders that wait to be taught. */
  #folders = new AbortController();
  /** What is to have the focus once it is there: a class, or a picture of it. @type {{classId: string, exampleId?: string}|null} */
  #awaited = null;
  /** Images that wait for their thumbnails, by class and picture. @type {Map<string, Map<string, HTMLImageElement[]>>} */
  #blank = new Map();
  #inView = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) this.cardAround(target);
  }, { rootMargin: '600px' });

  /**
   * @param {{engine: Engine, enrolment: Enrolment, undo: UndoStack, enlarge: (classId: string, exampleId: string) => void}} parts
   *   `enlarge` shows a picture larger
   */
  constructor({ engine, enrolment, undo, enlarge }) {
    this.engine = engine;
    this.enlarge = enlarge;
    this.enrolment = enrolment;
    this.undo = undo;
    this.element = byId('classes', HTMLUListElement);
    this.#wireForm();
    this.#wireFolders();
  }

  /**
   * Shows these classes; cards of the same id are kept, and with them the focus. Of many it makes some at a time.
   *
   * @param {ClassState[]} classes
   */
  async show(classes) {
    const ids = new Set(classes.map((c) => c.id));
    for (const [id, card] of this.#cards) {
      if (!ids.has(id)) {
        card.dispose();
        this.#cards.delete(id);
      }
    }
    this.#many = classes.reduce((n, { examples }) => n + examples.length, 0) > EAGER;
    this.element.classList.toggle('many', this.#many);
    for (const [at, state] of classes.entries()) {
      if (at % AT_A_TIME === AT_A_TIME - 1) await nextTask();
      this.#place(state.id, at).show(state);
    }
    this.#thumbnails.keep(classes.flatMap((c) => c.examples.map((e) => e.id)));
    this.#summarise();
  }

  /**
   * Shows what happened to the classes, in this order. What it costs does not depend on what else there is.
   *
   * @param {Step[]} steps
   */
  follow(steps) {
    for (const step of steps) this.#follow(step);
    if (steps.length) this.#summarise();
  }

  /** @param {Step} step */
  #follow(step) {
    if (step.do === 'put-class') {
      this.#place(step.class, step.at).rename(step.name);
      return;
    }
    const card = this.#cards.get(step.class);
    if (!card) return;
    switch (step.do) {
      case 'drop-class':
        card.dispose();
        this.#cards.delete(step.class);
        for (const id of card.examples) this.#thumbnails.drop(id);
        break;
      case 'put-example': card.put(step.example, step.at); break;
      case 'drop-example':
        card.drop(step.example.id);
        this.#thumbnails.drop(step.example.id);
        break;
      case 'put-burst': card.bursts.splice(step.at, 1, ...step.sizes ?? []); card.showHint(); break;
      case 'put-bursts': card.bursts = step.sizes ?? []; card.showHint(); break;
    }
  }

  #summarise() {
    byId('welcome', HTMLElement).hidden = this.#cards.size > 0;
    let pictures = 0;
    for (const card of this.#cards.values()) pictures += card.examples.length;
    byId('teach-summary', HTMLElement).textContent = this.#cards.size
      ? `${counted(this.#cards.size, 'class', 'classes')}, ${counted(pictures, 'picture')}` : '';
    // One press is the next one to make: to teach, or to ask once something is taught.
    document.body.classList.toggle('taught', pictures > 0);
    if (this.#awaited) this.focus(this.#awaited.classId, this.#awaited.exampleId);
  }

  /**
   * Gives the focus to a class, or to a picture of it, now or as soon as it is there.
   *
   * @param {string} classId
   * @param {string} [exampleId]
   */
  focus(classId, exampleId) {
    const card = this.#card(classId);
    const target = exampleId === undefined ? card?.element
      : card?.thumbs.querySelector(`[data-example="${CSS.escape(exampleId)}"] .thumb-open`);
    this.#awaited = target ? null : { classId, exampleId };
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  }

  /** The classes as they are shown. @returns {{id: string, name: string, examples: string[]}[]} */
  all() {
    return [...this.element.children].flatMap((item) => this.#cards.get(item.getAttribute('data-class') ?? '') ?? []);
  }

  /** Shows a taught picture's thumbnail, as soon as it is there. @param {HTMLImageElement} image @param {string} classId @param {string} exampleId */
  paint(image, classId, exampleId) {
    const url = this.#thumbnails.url({ id: exampleId });
    if (url) {
      image.src = url;
      return;
    }
    if (!this.#blank.size) queueMicrotask(() => void this.#fetchThumbnails().catch((error) => say(sentence(error))));
    const some = this.#blank.get(classId) ?? new Map();
    this.#blank.set(classId, some.set(exampleId, [...some.get(exampleId) ?? [], image]));
  }

  async #fetchThumbnails() {
    const blank = this.#blank;
    this.#blank = new Map();
    for (const [classId, some] of blank) {
      const thumbnails = await this.engine.thumbnails(classId, [...some.keys()]);
      [...some].forEach(([id, images], i) => {
        const url = this.#cards.get(classId)?.examples.includes(id) ? this.#thumbnails.url({ id, thumbnail: thumbnails[i] ?? undefined }) : '';
        if (url) for (const image of images) image.src = url;
      });
    }
  }

  /** @param {Element|null} element @returns {ClassCard|undefined} the card that holds an element */
  cardAround(element) {
    const id = element?.closest('[data-class]')?.getAttribute('data-class');
    return id ? this.#card(id) : undefined;
  }

  /** The card of a class, made now if there is only a placeholder for it. @param {string} id @returns {ClassCard|undefined} */
  #card(id) {
    const known = this.#cards.get(id);
    if (!(known instanceof Placeholder)) return known;
    this.#inView.unobserve(known.element);
    const card = new ClassCard(this, this.#thumbnails, id);
    card.show({ id, name: known.name, examples: known.examples.map((example) => ({ id: example })), bursts: known.bursts });
    this.#cards.set(id, card);
    known.element.replaceWith(card.element);
    return card;
  }

  /** What is taught, in the order of the cards. @returns {import('../sort/sort.js').Taught[]} */
  get taught() {
    return [...this.element.children].flatMap((element) => {
      const card = this.#cards.get(element.getAttribute('data-class') ?? '');
      return card ? [{ id: card.id, name: card.name, examples: card.examples }] : [];
    });
  }

  /**
   * Teaches folders: each that holds pictures is a class of its name. Pictures that came
   * without a folder are asked about.
   *
   * @param {File[]} files
   */
  async addFolders(files) {
    const { classes, rest } = classesOf(files, pathOf);
    if (!classes.size) {
      if (rest.length) this.#askAbout(rest);
      return;
    }
    const { signal } = this.#folders;
    complain(byId('add-class-error', HTMLElement), '');
    await this.line.wait(() => this.#teachFolders(classes, rest.length, signal));
  }

  /** @param {Map<string, File[]>} classes @param {number} rest pictures in no folder @param {AbortSignal} signal */
  async #teachFolders(classes, rest, signal) {
    const errors = [];
    let pictures = 0;
    let cancelled = signal.aborted;
    const all = [...classes.values()].reduce((sum, some) => sum + some.length, 0);
    say(`Teaching ${counted(all, 'picture')} of ${counted(classes.size, 'folder')} …`);
    for (const [name, some] of cancelled ? [] : classes) {
      try {
        const known = this.taught.find((one) => one.name.toLowerCase() === name.toLowerCase());
        const id = known?.id ?? (await this.engine.addClass(name)).id;
        const card = await this.#cardOf(id);
        const result = await card?.addFiles(some, new Line());
        pictures += result?.done ?? 0;
        cancelled = signal.aborted || (result?.cancelled ?? false);
      } catch (reason) {
        errors.push(sentence(reason));
      }
      if (cancelled) break;
    }
    complain(byId('add-class-error', HTMLElement), summary(errors));
    const added = `${counted(pictures, 'picture')} of ${counted(classes.size, 'folder')} taught.`;
    say(cancelled ? `Cancelled: ${added}` : added + (rest ? ` ${counted(rest, 'picture')} in no folder left out.` : ''));
  }

  /** Stops what waits to be taught: it was meant for the session that was open. */
  stop() {
    this.#folders.abort();
    this.#folders = new AbortController();
  }

  /** The card of a class that was just made: it comes with the next change. @param {string} id */
  async #cardOf(id) {
    for (let tries = 0; tries < 100 && !this.#cards.has(id); tries++) await new Promise((resolve) => { setTimeout(resolve, 20); });
    return this.#card(id);
  }

  #wireFolders() {
    dropZone(byId('teach', HTMLElement), (files) => void this.addFolders(files));
    const field = byId('teach-folders', HTMLInputElement);
    field.addEventListener('change', () => {
      const files = picturesOf(field.files ?? []);
      field.value = '';
      if (files.length) void this.addFolders(files);
      else say('There are no pictures in that folder.');
    });
  }

  /** Asks what pictures are that came without a class, and teaches them. @param {File[]} files */
  #askAbout(files) {
    const dialog = byId('ask-what', HTMLDialogElement);
    const bar = new CorrectBar({ label: files.length === 1 ? 'It is:' : 'They are:', onChoose: async (target) => {
      dialog.close();
      if ('id' in target) await this.#card(target.id)?.addFiles(files);
      else await (await this.#cardOf((await this.engine.addClass(target.name)).id))?.addFiles(files);
    } });
    bar.show(this.taught);
    dialog.replaceChildren(dialogHead(dialog, 'ask-what-title', files.length === 1 ? `What is “${files[0].name}”?` : `What are these ${counted(files.length, 'picture')}?`), bar.element);
    dialog.showModal();
  }

  /** The card of a class, at its place. @param {string} id @param {number} at */
  #place(id, at) {
    let card = this.#cards.get(id);
    if (!card) {
      card = this.#many ? new Placeholder(id, this.#thumbnails) : new ClassCard(this, this.#thumbnails, id);
      this.#cards.set(id, card);
      if (card instanceof Placeholder) this.#inView.observe(card.element);
    }
    // Moving an element takes the focus from it, so only misplaced ones are moved.
    if (this.element.children[at] !== card.element) {
      this.element.insertBefore(card.element, this.element.children[at] ?? null);
    }
    return card;
  }

  #wireForm() {
    const field = byId('class-name', HTMLInputElement);
    const error = byId('add-class-error', HTMLElement);
    byId('add-class', HTMLFormElement).addEventListener('submit', async (event) => {
      event.preventDefault();
      const name = field.value.trim();
      try {
        if (!name) throw new Error('Give the new class a name first.');
        await this.engine.addClass(name);
        field.value = '';
        complain(error, '');
        say(`Added the class “${name}”. Add two to five pictures to it.`);
      } catch (reason) {
        complain(error, sentence(reason));
        field.focus();
      }
    });
    field.addEventListener('input', () => complain(error, ''));
    // Who has gone on to something else has read it. It goes once that is pressed: what it
    // leaves is filled from below, and a press would miss what it began on.
    field.addEventListener('blur', () => addEventListener('click', () => complain(error, ''), { once: true, capture: true }));
  }

  /**
   * Deletes a class and offers to take that back.
   *
   * @param {ClassCard} card
   */
  async remove({ id, name, examples: { length: pictures } }) {
    const at = [...this.element.children].findIndex((card) => card.getAttribute('data-class') === id);
    const { undo } = await this.undo.expect(this.engine.removeClass(id));
    // Where the card was is now its successor; a field would open a phone's keyboard.
    const left = [...this.element.children].filter((card) => card.getAttribute('data-class') !== id);
    const target = left[Math.min(at, left.length - 1)] ?? byId('samples-button', HTMLElement);
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
    this.undo.offer(`Deleted “${name}” with ${counted(pictures, 'picture')}.`, async () => {
      await this.engine.undo(undo);
      const now = (await this.engine.state()).classes.find((one) => one.id === id)?.name ?? name;
      this.focus(id);
      say(now === name ? `“${name}” is back.` : `“${name}” is back as “${now}”: another class has its name.`);
    });
  }

  /**
   * Offers to take back pictures that were taken in one go.
   *
   * @param {ClassCard} card
   * @param {string[]} ids of the pictures
   */
  offerBack({ id, name }, ids) {
    const some = counted(ids.length, 'picture');
    this.undo.offer(`Took ${some} of “${name}”.`, async () => {
      for (const exampleId of ids) {
        // One that is gone already needs no taking back.
        await this.engine.removeExample(id, exampleId).catch(() => {});
      }
      this.focus(id);
      say(`Removed the ${some} from “${name}”.`);
    });
  }

  /**
   * Removes one picture and offers to take that back.
   *
   * @param {ClassCard} card
   * @param {string} exampleId
   */
  async removeExample({ id, name, examples: { length: pictures } }, exampleId) {
    const { undo } = await this.undo.expect(this.engine.removeExample(id, exampleId));
    this.undo.offer(removed(name, pictures - 1), async () => {
      await this.engine.undo(undo);
      this.focus(id, exampleId);
      say(`The picture of “${name}” is back.`);
    });
  }

  /**
   * Moves pictures to another class and offers to take that back.
   *
   * @param {string} classId
   * @param {string[]} exampleIds at least one
   * @param {string} toId
   * @returns {Promise<string>} the id of the last one there
   */
  async moveExamples(classId, exampleIds, toId) {
    const [from, to] = [classId, toId].map((id) => this.#cards.get(id)?.name ?? '');
    const some = exampleIds.length === 1 ? 'a picture' : counted(exampleIds.length, 'picture');
    /** @type {{id: string, undo: string}[]} */
    const moved = [];
    try {
      for (const exampleId of exampleIds) moved.push(await this.undo.expect(this.engine.moveExample(classId, exampleId, toId)));
    } finally {
      if (moved.length) {
        this.undo.offer(`Moved ${some} from “${from}” to “${to}”.`, async () => {
          await this.#takeBack(moved);
          this.focus(classId, exampleIds[0]);
          say(exampleIds.length === 1 ? `The picture is in “${from}” again.` : `${counted(moved.length, 'picture')} are in “${from}” again.`);
        });
      }
    }
    return moved.at(-1)?.id ?? '';
  }

  /** Takes back removals or moves, the last one first: each knows the place among those before it. @param {{undo: string}[]} steps */
  async #takeBack(steps) {
    for (const { undo } of [...steps].reverse()) await this.engine.undo(undo);
  }

  /** Removes pictures that are shown elsewhere. @param {string} classId @param {string[]} exampleIds */
  async removePictures(classId, exampleIds) {
    const card = this.#card(classId);
    if (!card) return;
    if (exampleIds.length === 1) {
      await this.removeExample(card, exampleIds[0]);
      return;
    }
    const { name, examples: { length: before } } = card;
    /** @type {{undo: string}[]} */
    const steps = [];
    try {
      for (const exampleId of exampleIds) steps.push(await this.undo.expect(this.engine.removeExample(classId, exampleId)));
    } finally {
      if (steps.length) {
        const some = counted(steps.length, 'picture');
        this.undo.offer(`Removed ${some} of “${name}”: its probability now rests on ${counted(before - steps.length, 'picture')}.`, async () => {
          await this.#takeBack(steps);
          this.focus(classId, exampleIds[0]);
          say(`${some} of “${name}” are back.`);
        });
      }
    }
  }
}

/**
 * What a removal did: with fewer pictures a class is known less well, and its
 * probabilities may move more than one expects.
 *
 * @param {string} name of the class
 * @param {number} left pictures of it
 */
export function removed(name, left) {
  if (left === 0) return `Removed the last picture of “${name}”.`;
  return `Removed a picture of “${name}”: its probability now rests on ${counted(left, 'picture')}.`;
}

/** The fewest near-copies that are worth a word. */
const WORTH_SAYING = 3;

/**
 * What to say of a class most of whose pictures repeat others: they count as
 * little more than one. Empty where a class shows its thing from enough sides.
 *
 * @param {number[]} bursts how many pictures are nearly the same, for each that is like none before
 */
export function repeated(bursts) {
  const pictures = bursts.reduce((sum, n) => sum + n, 0);
  const alike = bursts.filter((n) => n > 1);
  const copies = alike.reduce((sum, n) => sum + n, 0);
  if (copies < WORTH_SAYING || 2 * bursts.length >= pictures) return '';
  const some = copies < pictures ? `${copies} of these ${pictures}` : `All ${pictures}`;
  return `${some} ${alike.length > 1 ? 'nearly repeat one another' : 'are nearly the same picture'}: turn it, or change the background.`;
}

/** What stands for the card of a class that is far from view: its name, for those who search the page. */
class Placeholder {
  name = '';
  /** @type {string[]} */
  examples = [];
  /** @type {number[]} */
  bursts = [];

  /** @param {string} id @param {Thumbnails} thumbnails */
  constructor(id, thumbnails) {
    this.id = id;
    this.thumbnails = thumbnails;
    this.element = el('li', { class: 'card', 'data-class': id, tabindex: -1 });
  }

  /** @param {ClassState} state */
  show({ name, examples, bursts }) {
    this.examples = examples.map(({ id }) => id);
    this.bursts = bursts;
    for (const example of examples) this.thumbnails.url(example);
    this.rename(name);
  }

  /** @param {string} name */
  rename(name) {
    this.name = name;
    this.element.textContent = name;
  }

  /** @param {Example} example @param {number} at */
  put(example, at) {
    this.examples.splice(at, 0, example.id);
    this.thumbnails.url(example);
  }

  /** @param {string} id */
  drop(id) {
    this.examples.splice(this.examples.indexOf(id), 1);
  }

  showHint() {}

  dispose() {
    this.element.remove();
  }
}

/**
 * What is being added to a class or waits for its turn, since there was nothing: batches
 * and files of them, how many are past, how many of these were added.
 *
 * @typedef {{stop: AbortController, batches: number, total: number, past: number, added: number, begun: boolean, errors: unknown[]}} Adding
 */

/** One class. */
class ClassCard {
  /** @type {Adding|null} */
  #adding = null;
  /** @type {Camera|null} */
  #camera = null;
  name = '';
  /** Ids of its pictures, in the order taught. @type {string[]} */
  examples = [];
  /** How many of them are nearly the same, for each that is like none before. @type {number[]} */
  bursts = [];
  /** So many of the first pictures have no place yet. */
  #hidden = 0;

  /**
   * @param {ClassList} list
   * @param {Thumbnails} thumbnails
   * @param {string} id
   */
  constructor(list, thumbnails, id) {
    this.list = list;
    this.thumbnails = thumbnails;
    this.id = id;
    this.field = el('input', {
      class: 'card-name', type: 'text', maxlength: 80, spellcheck: false, autocomplete: 'off', enterkeyhint: 'done',
      onchange: () => { void this.#rename(); },
      onkeydown: (event) => this.#nameKey(/** @type {KeyboardEvent} */ (event)),
    });
    this.count = el('span', { class: 'card-count' });
    this.deleteButton = el('button', {
      class: 'button quiet square', type: 'button', onclick: () => { void this.#guard(() => this.list.remove(this)); },
    }, icon('trash'));
    this.thumbs = el('ul', { class: 'thumbs' });
    this.earlier = el('button', { class: 'button quiet', type: 'button', hidden: true, onclick: () => this.#showEarlier() });
    this.forName = el('span', { class: 'vh' });
    this.file = el('input', { type: 'file', accept: 'image/*', multiple: true, onchange: () => this.#pick() });
    this.cameraButton = el('button', {
      class: 'tile', type: 'button', 'aria-pressed': 'false', onclick: () => this.toggleCamera(),
    }, icon('camera'), 'Camera');
    this.cameraBox = el('div', { class: 'card-camera', hidden: true });
    this.progress = el('progress', { max: 1, value: 0 });
    this.progressText = el('span', { class: 'small' });
    this.batchBox = el('div', { class: 'card-batch', hidden: true }, this.progress, this.progressText,
      el('button', { class: 'button quiet', type: 'button', onclick: () => this.#adding?.stop.abort() }, 'Cancel'));
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.hint = el('div', { class: 'card-hint', 'aria-live': 'polite', 'aria-atomic': 'true' });
    this.element = el('li', { class: 'card', 'data-class': id, tabindex: -1 },
      el('div', { class: 'card-head' }, this.field, this.count, this.deleteButton),
      // Above the pictures, which grow in number: the shutter keeps its place while it is held.
      this.cameraBox, this.earlier,
      el('div', { class: 'pictures' }, this.thumbs,
        el('div', { class: 'tiles' },
          el('label', { class: 'tile file-button' }, icon('plus'), el('span', {}, 'Add', this.forName), this.file),
          this.cameraButton)),
      this.hint, this.batchBox, this.error);
    dropZone(this.element, (files) => void this.addFiles(files));
  }

  /** Shows all of a class. @param {ClassState} state */
  show({ name, examples, bursts }) {
    this.examples = examples.map(({ id }) => id);
    this.bursts = bursts;
    for (const example of examples) this.thumbnails.url(example); // the bytes are not kept here
    this.#draw();
    this.rename(name);
    this.showHint();
  }

  /** Shows the pictures. */
  #draw() {
    this.#hidden = Math.max(0, Math.min(this.#hidden || Infinity, this.examples.length - AT_ONCE));
    const shown = this.examples.slice(this.#hidden);
    const ids = new Set(shown);
    const kept = new Map();
    for (const item of [...this.thumbs.children]) {
      const id = item.getAttribute('data-example') ?? '';
      if (ids.has(id)) kept.set(id, item);
      else item.remove();
    }
    shown.forEach((id, at) => this.#placeThumb(kept.get(id) ?? this.#thumb(id), at));
  }

  #showEarlier() {
    this.#hidden = Math.max(0, this.#hidden - 2 * AT_ONCE) || -1;
    this.#draw();
    this.rename(this.name);
  }

  /** Puts a new picture at a place. @param {Example} example @param {number} at */
  put(example, at) {
    this.examples.splice(at, 0, example.id);
    this.thumbnails.url(example);
    if (at < this.#hidden) this.#hidden++;
    else this.#placeThumb(this.#thumb(example.id), at - this.#hidden);
    this.#label(at);
    this.#showCount();
  }

  /** Takes a picture away. @param {string} id */
  drop(id) {
    const at = this.examples.indexOf(id);
    this.examples.splice(at, 1);
    if (at < this.#hidden) this.#hidden--;
    else this.thumbs.children[at - this.#hidden].remove();
    this.#label(at);
    this.#showCount();
  }

  /** @param {string} name */
  rename(name) {
    this.name = name;
    if (document.activeElement !== this.field) this.field.value = name;
    this.field.setAttribute('aria-label', `Name of the class ${name}`);
    this.deleteButton.setAttribute('aria-label', `Delete ${name}`);
    this.deleteButton.title = `Delete ${name}`;
    this.thumbs.setAttribute('aria-label', `Pictures of ${name}`);
    this.forName.textContent = ` pictures to ${name}`;
    this.progress.setAttribute('aria-label', `Adding pictures to ${name}`);
    this.cameraButton.setAttribute('aria-label', `Camera for ${name}`);
    this.#showCount();
    this.#label(0);
  }

  #showCount() {
    this.count.textContent = this.examples.length ? counted(this.examples.length, 'picture') : 'No pictures yet';
    this.thumbs.hidden = this.examples.length === 0;
    this.earlier.hidden = this.#hidden === 0;
    this.earlier.textContent = this.#hidden ? `Show ${counted(Math.min(2 * AT_ONCE, this.#hidden), 'earlier picture')}` : '';
  }

  /** Names the pictures from a place on. @param {number} from */
  #label(from) {
    for (let at = Math.max(from, this.#hidden); at < this.examples.length; at++) {
      const item = this.thumbs.children[at - this.#hidden];
      const label = `picture ${at + 1} of ${this.name}`;
      item.querySelector('.thumb-open')?.setAttribute('aria-label', `Show ${label}`);
      item.querySelector('.thumb-remove')?.setAttribute('aria-label', `Remove ${label}`);
    }
  }

  /** @param {Element} item @param {number} at */
  #placeThumb(item, at) {
    if (this.thumbs.children[at] !== item) this.thumbs.insertBefore(item, this.thumbs.children[at] ?? null);
  }

  /**
   * Shows what is to be said of the pictures. It is announced when it appears, not
   * with every picture that changes its numbers.
   */
  showHint() {
    const text = repeated(this.bursts);
    if (this.hint.textContent === text) return;
    this.hint.setAttribute('aria-live', this.hint.textContent && text ? 'off' : 'polite');
    this.hint.replaceChildren(...text ? [el('p', { class: 'small muted' }, text)] : []);
  }

  /**
   * Adds files one after the other, once those chosen before are added, and says which
   * of them were no pictures.
   *
   * @param {File[]} files
   * @param {Line} [line] to wait in
   * @returns {Promise<import('../kit/batch.js').BatchResult|null>} null where there was nothing to do
   */
  async addFiles(files, line = this.list.line) {
    if (!files.length) return null;
    if (!this.#adding) complain(this.error, '');
    const adding = this.#adding ??= { stop: new AbortController(), batches: 0, total: 0, past: 0, added: 0, begun: false, errors: [] };
    if (adding.stop.signal.aborted) adding.stop = new AbortController(); // these were chosen after that
    const { signal } = adding.stop;
    adding.batches++;
    adding.total += files.length;
    this.#showProgress(adding, 0);
    try {
      const result = await line.run(files, (file) => this.list.enrolment.enrolFile(this.id, file), {
        signal,
        onProgress: (done) => {
          adding.begun = true;
          this.#showProgress(adding, done);
        },
      });
      adding.added += result.done;
      adding.errors.push(...result.errors);
      complain(this.error, summary(adding.errors.map(sentence)));
      const added = `${counted(adding.added, 'picture')} added to “${this.name}”.`;
      if (!result.cancelled) say(added);
      else if (adding.batches === 1) say(`Cancelled: ${added}`);
      return result;
    } finally {
      adding.past += files.length;
      adding.batches--;
      if (!adding.batches) this.#adding = null;
      this.#showProgress(adding, 0);
    }
  }

  /** Opens the camera in this card, or closes it. */
  toggleCamera() {
    if (this.#camera) this.#closeCamera();
    else void this.#openCamera();
  }

  /** Lets go of whatever the card holds. */
  dispose() {
    this.#adding?.stop.abort();
    this.#closeCamera();
    this.element.remove();
  }

  /** @param {string} id */
  #thumb(id) {
    const image = el('img', { class: 'thumb-picture', width: 64, height: 64, alt: '', draggable: 'false' });
    this.list.paint(image, this.id, id);
    const remove = el('button', { class: 'thumb-remove', type: 'button' }, icon('close'));
    const open = el('button', { class: 'thumb-open', type: 'button', onclick: () => this.list.enlarge(this.id, id) }, image);
    const item = el('li', { class: 'thumb', 'data-example': id }, open, remove);
    remove.addEventListener('click', () => void this.#guard(async () => {
      const near = item.nextElementSibling ?? item.previousElementSibling;
      await this.list.removeExample(this, id);
      const target = near?.querySelector('.thumb-remove') ?? this.file;
      if (target instanceof HTMLElement) target.focus({ preventScroll: true });
    }));
    return item;
  }

  /** @param {Adding} adding @param {number} done of the batch at work */
  #showProgress({ batches, total, past, begun }, done) {
    const now = past + done;
    this.batchBox.hidden = !batches || begun && (total < 2 || now === total);
    this.progress.max = total;
    this.progress.value = now;
    this.progressText.textContent = begun ? `${Math.min(now + 1, total)} of ${total}` : `${total} waiting`;
  }

  #pick() {
    const files = [...this.file.files ?? []];
    this.file.value = ''; // so that the same file can be chosen again
    void this.addFiles(files);
  }

  async #rename() {
    const name = this.field.value.trim();
    if (name === this.name) return;
    try {
      if (!name) throw new Error('A class needs a name.');
      await this.list.engine.renameClass(this.id, name);
      complain(this.error, '');
      say(`Renamed to “${name}”.`);
    } catch (error) {
      this.field.value = this.name;
      complain(this.error, sentence(error));
    }
  }

  /** @param {KeyboardEvent} event */
  #nameKey(event) {
    if (event.key === 'Escape') this.field.value = this.name;
    if (event.key === 'Enter' || event.key === 'Escape') this.field.blur();
  }

  #closeCamera = () => {
    this.#camera?.close();
    this.#camera = null;
    leaveCamera(this.#closeCamera);
    this.cameraBox.hidden = true;
    this.cameraBox.replaceChildren();
    this.cameraButton.setAttribute('aria-pressed', 'false');
  };

  async #openCamera() {
    takeCamera(this.#closeCamera);
    complain(this.error, '');
    const fail = (/** @type {unknown} */ error) => {
      if (this.#camera !== camera) return;
      this.#closeCamera();
      complain(this.error, cameraError(error).message);
    };
    const camera = new Camera({ onLost: fail });
    this.#camera = camera;
    const shutter = el('button', { class: 'button primary shutter', type: 'button', disabled: true },
      'Hold to capture', el('span', { class: 'vh' }, ` ${this.name}`));
    const counter = el('span', { class: 'capture-count', 'aria-live': 'polite' });
    this.cameraBox.replaceChildren(
      el('div', { class: 'video-frame' }, camera.video, camera.switchButton),
      el('div', { class: 'actions' }, shutter, counter));
    this.cameraBox.hidden = false;
    this.cameraButton.setAttribute('aria-pressed', 'true');
    this.#wireShutter(shutter, counter, camera);
    // What is said of the first pictures must not come to lie on what takes the next.
    shutter.scrollIntoView({ block: 'nearest' });
    try {
      await camera.start();
      shutter.disabled = false;
    } catch (error) {
      fail(error);
    }
  }

  /** @param {HTMLButtonElement} shutter @param {HTMLElement} counter @param {Camera} camera */
  #wireShutter(shutter, counter, camera) {
    let taken = 0;
    /** Those of one press. @type {string[]} */
    let ids = [];
    const onHold = (/** @type {boolean} */ held) => {
      camera.video.parentElement?.classList.toggle('capturing', held);
      if (!held && ids.length) this.list.offerBack(this, ids);
      ids = [];
    };
    holdRepeat(shutter, async () => {
      if (!camera.open) return;
      try {
        ids.push(await this.list.enrolment.enrolFrame(this.id, await camera.frame()));
        counter.textContent = `${counted(++taken, 'picture')} taken`;
        complain(this.error, '');
      } catch (error) {
        complain(this.error, sentence(error));
      }
    }, { onHold });
  }

  /** @param {() => Promise<unknown>} work */
  async #guard(work) {
    try {
      await work();
    } catch (error) {
      complain(this.error, sentence(error));
    }
  }
}
