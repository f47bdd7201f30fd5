// @ts-check
/** The dialog that shows one taught picture larger: the ones beside it, another class for it, its removal. */
import { complain } from './announce.js';
import { byId, dialogHead, el, sentence } from './dom.js';

/** @typedef {import('./classes.js').ClassList} ClassList */

/** One picture at a time. */
export class LargerView {
  #classId = '';
  #exampleId = '';

  /** @param {() => ClassList} classes that hold the pictures */
  constructor(classes) {
    this.classes = classes;
    this.dialog = byId('picture', HTMLDialogElement);
    this.image = el('img', { class: 'larger', alt: '' });
    this.place = el('p', { class: 'muted' });
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.target = el('select', { id: 'move-to', class: 'field', onchange: () => void this.#move() });
    this.before = el('button', { class: 'button', type: 'button', onclick: () => this.#go(-1) }, 'Previous');
    this.after = el('button', { class: 'button', type: 'button', onclick: () => this.#go(1) }, 'Next');
    this.dialog.append(dialogHead(this.dialog, 'picture-title', 'Picture'), this.error, this.image, this.place,
      el('div', { class: 'actions' }, this.before, this.after,
        el('button', { class: 'button danger', type: 'button', onclick: () => void this.#remove() }, 'Remove it')),
      el('div', { class: 'move' }, el('label', { for: 'move-to' }, 'It belongs to'), this.target));
    this.dialog.addEventListener('keydown', ({ key, target }) => {
      if (target instanceof HTMLSelectElement) return;
      if (key === 'ArrowLeft') this.#go(-1);
      if (key === 'ArrowRight') this.#go(1);
    });
  }

  /** @param {string} classId @param {string} exampleId */
  open(classId, exampleId) {
    if (!this.#show(classId, exampleId)) return;
    complain(this.error, '');
    this.dialog.showModal();
  }

  /** @param {string} classId @param {string} exampleId */
  #show(classId, exampleId) {
    const all = this.classes().all();
    const one = all.find(({ id }) => id === classId);
    const at = one?.examples.indexOf(exampleId) ?? -1;
    if (!one || at < 0) return false;
    this.#classId = classId;
    this.#exampleId = exampleId;
    this.image.removeAttribute('src');
    this.classes().paint(this.image, classId, exampleId);
    this.image.alt = `Picture ${at + 1} of ${one.name}`;
    this.place.textContent = `${one.name}, picture ${at + 1} of ${one.examples.length}`;
    this.before.disabled = at === 0;
    this.after.disabled = at === one.examples.length - 1;
    this.target.replaceChildren(...all.map(({ id, name }) => el('option', { value: id, selected: id === classId }, name)));
    return true;
  }

  /** @param {number} step */
  #go(step) {
    const { examples } = this.classes().all().find(({ id }) => id === this.#classId) ?? { examples: /** @type {string[]} */ ([]) };
    const next = examples[examples.indexOf(this.#exampleId) + step];
    if (next) this.#show(this.#classId, next);
  }

  async #move() {
    const to = this.target.value;
    let id = '';
    await this.#try(async () => { id = await this.classes().moveExample(this.#classId, this.#exampleId, to); }, () => this.classes().focus(to, id));
  }

  async #remove() {
    await this.#try(() => this.classes().removePicture(this.#classId, this.#exampleId), () => this.classes().focus(this.#classId));
  }

  /**
   * What is done takes the picture from its place, so there is no more to see.
   *
   * @param {() => Promise<void>} work
   * @param {() => void} focus gives the focus to where the picture went, or was
   */
  async #try(work, focus) {
    try {
      await work();
      this.dialog.close(); // which gives the focus back to where it came from
      focus();
    } catch (error) {
      complain(this.error, sentence(error));
    }
  }
}
