// @ts-check
/** "It is:" with a button for each class, one for none of these and one for a new class. */
import { el, sentence } from '../kit/dom.js';
import { html, icon, live, nothing, render } from '../kit/view.js';

/** @typedef {{id: string, name: string}} Named a class */
/** @typedef {{id: string}|{name: string}} Target a class, NONE, or the name of a new class */

/** In place of the id of a class: none of these. */
export const NONE = 'none-of-these';

/** So many classes have their button at once; the others come with "More". */
const AT_ONCE = 12;

/** The id of the class that a name would be, as the engine says; empty for none. @type {(name: string) => Promise<string>} */
let classOf = async () => '';

/** @param {typeof classOf} rule of the page, for all bars */
export const knowClassesBy = (rule) => { classOf = rule; };

let bars = 0;

/** A row of buttons that say what something is. */
export class CorrectBar {
  #classes = /** @type {readonly Named[]} */ ([]);
  #chosen = '';
  #all = false;
  #open = false;
  #error = '';
  #label;
  #busy = false;
  /** What was pressed while a press before was at work, the last about each thing. @type {{target: Target, about: unknown}[]} */
  #waiting = [];

  /**
   * @param {{label: string, none?: boolean, about?: () => any, onChoose: (target: Target, about: any) => Promise<unknown>}} options
   *   none: whether none of these can be chosen, which calls onChoose with the id NONE; about: what a press is about, null where
   *   no other is to come after it
   */
  constructor({ label, none = false, about = () => null, onChoose }) {
    this.id = `correct-${++bars}`;
    this.none = none;
    this.about = about;
    this.onChoose = onChoose;
    this.#label = label;
    this.element = el('div', { class: 'correct', role: 'group', 'aria-labelledby': this.id });
    this.#draw();
  }

  /** @param {string} text */
  set text(text) {
    this.#label = text;
    this.#draw();
  }

  /** Offers these classes. @param {readonly Named[]} classes @param {string} [chosen] the one that was chosen last, or NONE */
  show(classes, chosen = '') {
    this.#classes = classes;
    this.#chosen = chosen;
    this.#draw();
  }

  /** Takes what was typed away. */
  reset() {
    this.#open = false;
    this.#error = '';
    this.#draw();
  }

  #draw() {
    const shown = this.#all || this.#classes.length <= AT_ONCE + 1 ? this.#classes : this.#classes.slice(0, AT_ONCE);
    const left = this.#classes.length - shown.length;
    const button = (/** @type {string} */ id, /** @type {string} */ name) => html`<button class="button ellipsis" type="button" title=${name}
      aria-pressed=${this.#chosen ? String(id === this.#chosen) : nothing} @click=${() => this.#choose({ id })}>${name}</button>`;
    render(html`<span class="correct-label" id=${this.id}>${this.#label}</span>
      <div class="correct-choices">${shown.map(({ id, name }) => button(id, name))}${left ? html`<button class="button quiet" type="button" @click=${() => { this.#all = true; this.#draw(); }}>${left} more…</button>` : nothing}${
  this.none && this.#classes.length ? button(NONE, 'None of these') : nothing}</div>
      <button class="button correct-more" type="button" aria-expanded=${String(this.#open)} @click=${this.#toggle}>${icon('plus')}New…</button>
      ${this.#open ? html`<form class="correct-new" @submit=${this.#submit}>
        <input class="field" type="text" maxlength="80" autocomplete="off" aria-label="Name of the new class" placeholder="Name" enterkeyhint="done" @keydown=${this.#key} .value=${live(this.field?.value ?? '')}>
        <button class="button primary" type="submit">Teach</button></form>` : nothing}
      <p class="error" role="alert" ?hidden=${!this.#error}>${this.#error}</p>`, this.element);
  }

  get field() {
    return this.element.querySelector('input');
  }

  #toggle = () => {
    const open = !this.#open;
    this.reset();
    this.#open = open;
    this.#draw();
    this.field?.focus();
  };

  #focusNew() {
    const button = this.element.querySelector('.correct-more');
    if (button instanceof HTMLElement) button.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  #key = (event) => {
    event.stopPropagation(); // arrows and letters are for the field
    if (event.key !== 'Escape') return;
    event.preventDefault();
    this.reset();
    this.#focusNew();
  };

  /** @param {Event} event */
  #submit = (event) => {
    event.preventDefault();
    const name = this.field?.value.trim() ?? '';
    if (!name) {
      this.#error = 'Give the new class a name first.';
      this.#draw();
      this.field?.focus();
      return;
    }
    void this.#choose({ name });
  };

  /**
   * A press while the one before is at work comes after it, whatever is shown by then; where it is about nothing it is part
   * of the one before, since people press twice.
   *
   * @param {Target} target @param {unknown} [about]
   */
  async #choose(target, about = this.about()) {
    if (this.#busy) {
      if (about !== null) this.#waiting = [...this.#waiting.filter((one) => one.about !== about), { target, about }];
      return;
    }
    this.#busy = true;
    const typed = this.element.querySelector('form')?.contains(document.activeElement);
    try {
      this.#error = '';
      const id = 'name' in target && await classOf(target.name);
      await this.onChoose(id ? { id } : target, about);
      if (about === this.about()) this.reset(); // else what is typed is about something else
      if (typed && document.activeElement === document.body) this.#focusNew();
    } catch (error) {
      this.#error = sentence(error);
      this.#draw();
    } finally {
      this.#busy = false;
      const next = this.#waiting.shift();
      if (next) void this.#choose(next.target, next.about);
    }
  }
}
