// @ts-check
/** The list of classes: their cards in order, the ways to add classes, and teaching from folders. */
import { complain, say, toast } from '../kit/announce.js';
import { Line, summary } from '../kit/batch.js';
import { byId, counted, dialogHead, el, sentence } from '../kit/dom.js';
import { dropZone } from '../kit/drop.js';
import { classesOf, onFolder, pathOf } from '../kit/folders.js';
import { html, nodesOf, nothing, render, repeat } from '../kit/view.js';
import { nextTask } from '../../library/storage.js';
import { savePictures } from '../sessions/pictures.js';
import { ClassCard, LEFT } from './card.js';
import { classOf, CorrectBar } from './correct.js';
import { Classes, gone } from './model.js';
import { leftOut, removedMeanwhile } from './words.js';

/** @import {ClassState, Engine, Step} from '../../library/types.js' */

/** With more pictures than this, a card shows only its name until it comes near the view. */
const EAGER = 600;
/** Cards made between two pauses for the page. */
const AT_A_TIME = 200;

export class ClassList {
  model = new Classes();
  /** @type {Map<string, ClassCard>} */
  #cards = new Map();
  /** Whether cards are drawn only when they come near the view. */
  #many = false;
  /** Files to add, of all classes, in the order of choice. */
  line = new Line();
  /** Stops waiting folders. */
  #folders = new AbortController();
  /** The class or picture that gets the focus once it is shown. @type {{classId: string, exampleId?: string}|null} */
  #awaited = null;
  #inView = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.cardAround(target);
    },
    { rootMargin: '600px' },
  );

  /**
   * @param {{engine: Engine, kinds: import('../kinds/index.js').Kinds, thumbnails: import('../kit/thumbnails.js').Thumbnails, changes: import('./changes.js').Changes, ready: () => Promise<unknown>, enlarge: (classId: string, exampleId: string) => void}} parts
   *   `ready` settles once the extractor of the open session is there; `enlarge` shows a picture larger
   */
  constructor({ engine, kinds, thumbnails, changes, ready, enlarge }) {
    this.engine = engine;
    this.kinds = kinds;
    this.thumbnails = thumbnails;
    this.changes = changes;
    this.ready = ready;
    this.enlarge = enlarge;
    this.element = byId('classes', HTMLUListElement);
    this.#wireForm();
    dropZone(byId('teach', HTMLElement), (files) => void this.addFolders(files), { wanted: (file) => this.kinds.now.claims(file) });
    onFolder(
      byId('teach-folders', HTMLInputElement),
      () => this.kinds.now,
      (files) => void this.addFolders(files),
    );
  }

  /** Shows these classes, some at a time if there are many. @param {ClassState[]} classes */
  async show(classes) {
    this.model.set(classes);
    for (const { examples } of classes) for (const example of examples) this.thumbnails.take(example);
    this.thumbnails.keep(classes.flatMap(({ examples }) => examples.map(({ id }) => id)));
    this.#many = this.model.examples > EAGER;
    for (let at = 0; at < this.model.all.length; at++) {
      if (at % AT_A_TIME === AT_A_TIME - 1) await nextTask();
      const taught = this.model.all[at];
      if (taught) this.#made(taught).show();
    }
    this.#draw();
  }

  /**
   * Applies steps in order. The cost depends only on the changed classes.
   *
   * @param {Step[]} steps
   */
  follow(steps) {
    if (!steps.length) return;
    for (const step of steps) {
      if (step.do === 'drop-class') for (const id of this.model.of(step.class)?.examples ?? []) this.thumbnails.drop(id);
      if (step.do === 'drop-example') this.thumbnails.drop(step.example.id);
      if (step.do === 'put-example') this.thumbnails.take(step.example);
      this.model.follow(step);
    }
    for (const id of new Set(steps.map((step) => step.class))) {
      const taught = this.model.of(id);
      if (taught) this.#made(taught).show();
    }
    for (const card of this.#cards.values()) card.settle();
    this.#draw(steps.some((step) => step.do === 'put-class' || step.do === 'drop-class'));
  }

  /** Draws all cards again, with the words of another kind. */
  redraw() {
    for (const card of this.#cards.values()) card.show();
    this.#draw();
  }

  /** The card of a class, made if there is none. @param {import('./model.js').Taught} taught */
  #made(taught) {
    let card = this.#cards.get(taught.id);
    if (!card) {
      this.#cards.set(taught.id, (card = new ClassCard(this, taught)));
      if (this.#many) this.#inView.observe(card.element);
      else card.drawn = true;
    }
    card.taught = taught;
    return card;
  }

  /** @param {boolean} [order] whether classes came, went or moved */
  #draw(order = true) {
    const { all, examples } = this.model;
    if (order) {
      this.element.classList.toggle('many', this.#many);
      const ids = new Set(all.map(({ id }) => id));
      for (const [id, card] of this.#cards) {
        if (ids.has(id)) continue;
        this.#cards.delete(id);
        this.#inView.unobserve(card.element);
        card.dispose();
      }
      render(
        repeat(
          all,
          ({ id }) => id,
          ({ id }) => this.#cards.get(id)?.element,
        ),
        this.element,
      );
    }
    byId('welcome', HTMLElement).hidden = all.length > 0;
    byId('teach-summary', HTMLElement).textContent = all.length ? `${counted(all.length, 'class', 'classes')}, ${counted(examples, this.kinds.now.one)}` : '';
    // The button for the next step stands out: teach first, then recognise.
    document.body.classList.toggle('taught', examples > 0);
    if (this.#awaited) this.focus(this.#awaited.classId, this.#awaited.exampleId);
  }

  /**
   * Focuses a class, or a picture of it, now or once it is shown.
   *
   * @param {string} classId
   * @param {string} [exampleId]
   */
  focus(classId, exampleId) {
    const card = this.card(classId);
    const target = exampleId === undefined ? card?.element : card?.element.querySelector(`[data-example="${CSS.escape(exampleId)}"] .thumb-open`);
    this.#awaited = target ? null : { classId, exampleId };
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  }

  /** @param {Element|null} element @returns {ClassCard|undefined} the card that holds an element */
  cardAround(element) {
    const id = element?.closest('[data-class]')?.getAttribute('data-class');
    return id ? this.card(id) : undefined;
  }

  /** The card of a class, drawn. @param {string} id @returns {ClassCard|undefined} */
  card(id) {
    const card = this.#cards.get(id);
    if (card && !card.drawn) {
      this.#inView.unobserve(card.element);
      card.show(true);
    }
    return card;
  }

  /** The menu of a class: rename, merge, save its pictures. @param {string} id */
  menu(id) {
    const dialog = byId('ask-what', HTMLDialogElement);
    const one = this.model.of(id);
    if (!one) return;
    const error = el('p', { class: 'error', role: 'alert', hidden: true });
    const work =
      (/** @type {() => Promise<unknown>} */ run, closed = () => {}) =>
      () =>
        void run().then(
          () => {
            if (!error.isConnected) return; // the dialog shows something else by now
            dialog.close();
            closed();
          },
          (reason) => complain(error, sentence(reason)),
        );
    const { one: word } = this.kinds.now;
    const others = this.model.all.filter((other) => other.id !== id);
    const rename = work(async () => {
      const name = byId('rename-class', HTMLInputElement).value.trim();
      if (name !== one.name) await this.changes.rename(id, name);
    });
    const into = () => byId('merge-into', HTMLSelectElement).value;
    const merge = work(
      () => this.changes.merge(id, into()),
      () => this.focus(into()),
    );
    const save = work(async () => {
      if (!this.model.of(id)) gone();
      const { file, pictures } = await savePictures(this.engine, this.kinds.now, id);
      say(`“${file}” was saved: ${counted(pictures, word)}.`);
    });
    dialog.replaceChildren(
      dialogHead(dialog, 'ask-what-title', one.name),
      nodesOf(html`${error}
        <form class="move" @submit=${(/** @type {Event} */ event) => {
          event.preventDefault();
          rename();
        }}><label for="rename-class">Name</label>
          <input class="field" id="rename-class" type="text" maxlength="80" autocomplete="off" value=${one.name} @input=${() => complain(error, '')}>
          <div class="actions"><button class="button" type="submit">Rename</button></div></form>
        ${
          others.length
            ? html`<div class="move"><label for="merge-into">Put its ${word}s into</label>
          <select class="field" id="merge-into" @change=${(/** @type {any} */ { target }) => {
            target.parentElement.querySelector('button').disabled = !target.value;
          }}>${others.length > 1 ? html`<option value="">Choose a class</option>` : nothing}${others.map((other) => html`<option value=${other.id}>${other.name}</option>`)}</select>
          <p class="small muted">Then “${one.name}” will no longer be a separate class.</p>
          <div class="actions"><button class="button" type="button" ?disabled=${others.length > 1} @click=${merge}>Merge the two</button></div></div>`
            : nothing
        }
        <div class="actions"><button class="button" type="button" ?disabled=${!one.examples.length} @click=${save}>Save its ${word}s</button></div>`),
    );
    dialog.showModal();
  }

  /** Moves a picture dragged from another card. @param {string} dragged @param {string} toId */
  async takeIn(dragged, toId) {
    const [classId, exampleId] = dragged.split(' ');
    if (classId !== toId && this.model.of(classId)?.examples.includes(exampleId)) await this.changes.move([exampleId], { id: toId });
  }

  /** Deletes a class and focuses the one in its place. @param {string} id */
  async remove(id) {
    await this.card(id)?.quit();
    const at = this.model.all.findIndex((one) => one.id === id);
    await this.changes.removeClass(id);
    const left = this.model.all.filter((one) => one.id !== id);
    // Focus on a field would open a phone's keyboard.
    const target = this.card(left[Math.min(at, left.length - 1)]?.id)?.element ?? byId('samples-button', HTMLElement);
    target.focus({ preventScroll: true });
  }

  /**
   * Teaches from folders: each folder with pictures is a class of its name. For pictures
   * without a folder it asks for the class.
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
    const met = [];
    for (const name of classes.keys()) if ('id' in (await this.#target(name))) met.push(name);
    if (met.length && !(await this.#mayMeet(met))) return;
    await this.line
      .wait(() =>
        this.changes.step(
          (learner) => this.#teachFolders(classes, rest.length, signal, learner),
          () => this.stop(),
        ),
      )
      .catch((error) => complain(byId('add-class-error', HTMLElement), sentence(error)));
  }

  /** @param {Map<string, File[]>} classes @param {number} rest pictures in no folder @param {AbortSignal} signal @param {import('../kinds/index.js').Learner} learner */
  async #teachFolders(classes, rest, signal, learner) {
    const errors = [];
    let pictures = 0;
    let begun = 0;
    let failed = false;
    let cancelled = false;
    let removed = false;
    const { one } = this.kinds.now;
    const all = [...classes.values()].reduce((sum, some) => sum + some.length, 0);
    say(`Teaching ${counted(all, one)} of ${counted(classes.size, 'folder')} …`);
    for (const [name, some] of classes) {
      cancelled ||= signal.aborted;
      if (cancelled) break;
      begun++;
      try {
        const card = await this.#cardFor(await this.#target(name), learner);
        signal.onabort = () => card.stop(signal.reason);
        const result = signal.aborted ? null : await card.addFiles(some, learner, ` Folders done: ${begun} of ${classes.size}.`);
        pictures += result?.done ?? 0;
        failed ||= Boolean(result?.errors.length);
        removed = !signal.aborted && !this.model.of(card.id); // perhaps by undo in another tab
        cancelled = removed || (result ? result.cancelled : signal.aborted);
        if (removed) errors.push(removedMeanwhile(name, one, 'add the missing folders again'));
      } catch (reason) {
        errors.push(sentence(reason));
      }
    }
    complain(byId('add-class-error', HTMLElement), summary(errors));
    const added = `${counted(pictures, one)} of ${counted(classes.size, 'folder')} taught.`;
    if (signal.reason === LEFT && (cancelled || failed)) toast({ text: leftOut(one, 'of folders'), key: 'folders' });
    else if (removed || (!pictures && !cancelled && (failed || errors.length)))
      say(''); // the errors say it
    else if (cancelled) say(`Cancelled: ${added}`);
    else say(added + (rest ? ` ${counted(rest, one)} in no folder ${rest === 1 ? 'was' : 'were'} left out.` : ''));
  }

  /** Asks once whether to add folders to existing classes of the same names. @param {string[]} names @returns {Promise<boolean>} */
  #mayMeet(names) {
    const dialog = byId('ask-what', HTMLDialogElement);
    return new Promise((resolve) => {
      const answer = (/** @type {string} */ value) => () => dialog.close(value);
      const some =
        names
          .slice(0, 5)
          .map((name) => `“${name}”`)
          .join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');
      dialog.replaceChildren(
        dialogHead(dialog, 'ask-what-title', 'Add to existing classes?'),
        nodesOf(html`<p>${some} ${names.length === 1 ? 'is a class' : 'are classes'} already. The ${this.kinds.now.one}s of the folders are added there.</p>
          <div class="actions"><button class="button primary" type="button" @click=${answer('yes')}>Add</button>
            <button class="button" type="button" @click=${answer('')}>Cancel</button></div>`),
      );
      dialog.returnValue = '';
      dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true });
      dialog.showModal();
    });
  }

  /** The class of a name, or a new one. @param {string} name @returns {Promise<import('./correct.js').Target>} */
  async #target(name) {
    const id = await classOf(name).catch(() => ''); // an invalid name is refused when the class is added
    return id ? { id } : { name };
  }

  /** Stops waiting folders. @param {string} [reason] */
  stop(reason) {
    this.#folders.abort(reason);
    this.#folders = new AbortController();
  }

  /** Stops all that is being added, since another session is opened. */
  leave() {
    for (const card of this.#cards.values()) card.stop(LEFT);
    this.stop(LEFT);
  }

  /** The card of a class. A new class gets its card with the next change. @param {import('./correct.js').Target} target @param {import('../kinds/index.js').Learner} [learner] of a step */
  async #cardFor(target, learner) {
    const { id } = 'id' in target ? target : await this.changes.addClass(target.name, learner);
    while (!this.#cards.has(id) && this.model.of(id)) await nextTask();
    const card = this.card(id);
    if (!card) throw new Error('This class no longer exists: choose another one.');
    return card;
  }

  /** Asks for the class of pictures without a folder, and teaches them. @param {File[]} files */
  #askAbout(files) {
    const dialog = byId('ask-what', HTMLDialogElement);
    const bar = new CorrectBar({
      label: files.length === 1 ? 'It is:' : 'They are:',
      onChoose: async (target) => {
        const card = await this.#cardFor(target); // or the reason why there is none
        dialog.close();
        await card.addFiles(files);
      },
    });
    bar.show(this.model.all);
    dialog.replaceChildren(
      dialogHead(dialog, 'ask-what-title', files.length === 1 ? `What is “${files[0].name}”?` : `What are these ${counted(files.length, this.kinds.now.one)}?`),
      bar.element,
    );
    dialog.showModal();
  }

  #wireForm() {
    const field = byId('class-name', HTMLInputElement);
    const error = byId('add-class-error', HTMLElement);
    let adding = 0;
    const form = byId('add-class', HTMLFormElement);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const name = field.value.trim();
      if (!name && adding) return; // a double press
      adding++;
      field.value = ''; // the next name may be typed at once
      try {
        if (!name) throw new Error('Give the new class a name first.');
        const card = await this.#cardFor({ name });
        complain(error, '');
        say(`Added the class “${card.taught.name}”. Add two to five ${this.kinds.now.one}s to it.`);
        card.element.scrollIntoView({ block: 'nearest' }); // the field keeps its place, maybe at the upper edge
      } catch (reason) {
        complain(error, sentence(reason));
        field.value ||= name;
        field.focus();
      } finally {
        adding--;
      }
    });
    field.addEventListener('input', () => complain(error, ''));
    // The first click of a double click takes the name and adds a card, which moves the page. The second must not hit another button, or complain about the missing name.
    let within = false;
    const swallow = (/** @type {MouseEvent} */ event) => {
      const inside = event.target instanceof Node && form.contains(event.target);
      if (event.detail < 2) within = inside;
      else if (within && !(inside && field.value)) {
        event.preventDefault();
        event.stopPropagation();
      }
    };
    addEventListener('click', swallow, { capture: true });
    // A person who leaves the field has read the error. It disappears with the next click. If it
    // disappeared earlier, the page would move under the pointer.
    field.addEventListener('blur', () => addEventListener('click', () => complain(error, ''), { once: true, capture: true }));
  }
}
