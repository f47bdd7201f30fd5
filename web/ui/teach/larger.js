// @ts-check
/**
 * The dialog that shows one taught picture larger: the ones beside it, another class for
 * it, its removal. Or all pictures of its class, to do that with several.
 */
import { complain } from '../kit/announce.js';
import { byId, counted, dialogHead, el, sentence } from '../kit/dom.js';

/** @typedef {import('./classes.js').ClassList} ClassList */

/** The engine takes back so many removals: of more at a time some would be gone for good. */
const MOST = 100;

/** One picture at a time, or several. */
export class LargerView {
  #classId = '';
  #exampleId = '';
  /** Those that were chosen, while several are. @type {Set<string>|null} */
  #chosen = null;

  /** @param {() => ClassList} classes that hold the pictures */
  constructor(classes) {
    this.classes = classes;
    this.dialog = byId('picture', HTMLDialogElement);
    this.image = el('img', { class: 'larger', alt: '' });
    this.list = el('ul', { class: 'alike-list several', 'aria-label': 'Pictures of the class', hidden: true });
    this.place = el('p', { class: 'muted', 'aria-live': 'polite' });
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.target = el('select', { id: 'move-to', class: 'field', onchange: () => void this.#move() });
    this.before = el('button', { class: 'button', type: 'button', onclick: () => this.#go(-1) }, 'Previous');
    this.after = el('button', { class: 'button', type: 'button', onclick: () => this.#go(1) }, 'Next');
    this.several = el('button', { class: 'button', type: 'button', 'aria-pressed': 'false', onclick: () => this.#toggleSeveral() }, 'Select several');
    this.removal = el('button', { class: 'button danger', type: 'button', onclick: () => void this.#remove() });
    this.belongs = el('label', { for: 'move-to' });
    this.dialog.append(dialogHead(this.dialog, 'picture-title', 'Picture'), this.error, this.image, this.list, this.place,
      el('div', { class: 'actions' }, this.before, this.after, this.several, this.removal),
      el('div', { class: 'move' }, this.belongs, this.target));
    this.dialog.addEventListener('keydown', ({ key, target }) => {
      if (target instanceof HTMLSelectElement || this.#chosen) return;
      if (key === 'ArrowLeft') this.#go(-1);
      if (key === 'ArrowRight') this.#go(1);
    });
  }

  /** @param {string} classId @param {string} exampleId */
  open(classId, exampleId) {
    this.#chosen = null;
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
    this.before.disabled = at === 0;
    this.after.disabled = at === one.examples.length - 1;
    this.target.replaceChildren(...all.map(({ id, name }) => el('option', { value: id, selected: id === classId }, name)));
    this.list.replaceChildren(...this.#chosen ? one.examples.map((id, i) => this.#choice(id, `Picture ${i + 1} of ${one.name}`)) : []);
    this.#tell(one, at);
    return true;
  }

  /** @param {string} id @param {string} name */
  #choice(id, name) {
    const image = el('img', { alt: '', width: 64, height: 64 });
    this.classes().paint(image, this.#classId, id);
    return el('li', {}, el('button', {
      class: 'alike-picture', type: 'button', 'aria-pressed': String(this.#chosen?.has(id) ?? false), 'aria-label': name, 'data-example': id,
      onclick: (event) => this.#choose(id, /** @type {HTMLElement} */ (event.currentTarget)),
    }, image));
  }

  /** Says what is shown, and of how many the buttons are. @param {{name: string, examples: readonly string[]}} one @param {number} at */
  #tell({ name, examples }, at) {
    const several = this.#chosen !== null;
    this.image.hidden = this.before.hidden = this.after.hidden = several;
    this.list.hidden = !several;
    this.several.hidden = examples.length < 2;
    this.several.setAttribute('aria-pressed', String(several));
    const count = this.#chosen?.size ?? 1;
    this.place.textContent = several ? `${name}: ${count} of ${counted(examples.length, 'picture')} selected` : `${name}, picture ${at + 1} of ${examples.length}`;
    this.removal.textContent = count === 1 ? 'Remove it' : `Remove ${count}`;
    this.belongs.textContent = count === 1 ? 'It belongs to' : 'They belong to';
    this.removal.disabled = this.target.disabled = count === 0;
  }

  #toggleSeveral() {
    this.#chosen = this.#chosen ? null : new Set([this.#exampleId]);
    complain(this.error, '');
    this.#show(this.#classId, this.#exampleId);
  }

  /** @param {string} id @param {HTMLElement} press */
  #choose(id, press) {
    if (!this.#chosen) return;
    if (!this.#chosen.delete(id)) this.#chosen.add(id);
    press.setAttribute('aria-pressed', String(this.#chosen.has(id)));
    const one = this.classes().all().find((any) => any.id === this.#classId);
    if (one) this.#tell(one, 0);
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
    await this.#try(async (ids) => { id = await this.classes().moveExamples(this.#classId, ids, to); }, () => this.classes().focus(to, id));
  }

  async #remove() {
    await this.#try((ids) => this.classes().removePictures(this.#classId, ids), () => this.classes().focus(this.#classId));
  }

  /**
   * What is done takes the pictures from their places, so there is no more to see.
   *
   * @param {(ids: string[]) => Promise<void>} work
   * @param {() => void} focus gives the focus to where the pictures went, or were
   */
  async #try(work, focus) {
    const ids = this.#chosen ? [...this.#chosen] : [this.#exampleId];
    try {
      if (ids.length > MOST) throw new Error(`So many cannot be taken back at once: select at most ${MOST}.`);
      await work(ids);
      this.dialog.close(); // which gives the focus back to where it came from
      focus();
    } catch (error) {
      this.target.value = this.#classId;
      complain(this.error, sentence(error));
    }
  }
}
