// @ts-check
/** "It is:" with a button for each class, one for none of these and one for a new class. */
import { el, sentence } from '../kit/dom.js';
import { html, icon, live, nothing, render } from '../kit/view.js';

/** @typedef {{id: string, name: string}} Named a class */
/** @typedef {{id: string}|{name: string}} Target a class, NONE, or the name of a new class */

/** The id for none of these. */
export const NONE = 'none-of-these';

/** Classes with a button at first; "More" shows the others. */
const AT_ONCE = 12;

/** The ids of the likeliest classes, the likeliest first. @param {readonly string[]} ids @param {ArrayLike<number>} probabilities one for each */
export const mostLikely = (ids, probabilities) =>
  ids
    .map((id, i) => ({ id, p: probabilities[i] }))
    .sort((a, b) => b.p - a.p)
    .slice(0, AT_ONCE)
    .map(({ id }) => id);

/** The id of the class that has a name, by the engine's rules; empty for none. @type {(name: string) => Promise<string>} */
export let classOf = async () => '';

/** @param {typeof classOf} rule of the page, for all bars */
export const knowClassesBy = (rule) => {
  classOf = rule;
};

let bars = 0;

/** A row of buttons, one for each class that something may be. */
export class CorrectBar {
  #classes = /** @type {readonly Named[]} */ ([]);
  #chosen = '';
  #likely = /** @type {readonly string[]} */ ([]);
  #all = false;
  #open = false;
  #error = '';
  #label;
  #busy = false;
  /** Presses made while another is handled; for each thing only the last one. @type {{target: Target, about: unknown}[]} */
  #waiting = [];

  /**
   * @param {{label: string, none?: boolean, about?: () => any, onChoose: (target: Target, about: any) => Promise<unknown>}} options
   *   none: whether none of these can be chosen (onChoose gets the id NONE); about: the thing that a press is about, or
   *   null to drop presses made while another is handled
   */
  constructor({ label, none = false, about = () => null, onChoose }) {
    this.id = `correct-${++bars}`;
    this.none = none;
    this.about = about;
    this.onChoose = onChoose;
    this.#label = label;
    this.element = el('div', { class: 'correct', role: 'group', 'aria-labelledby': this.id });
    this.#draw();
    new ResizeObserver(() => requestAnimationFrame(() => this.#draw())).observe(this.element);
  }

  /** @param {string} text */
  set text(text) {
    this.#label = text;
    this.#draw();
  }

  /** Offers these classes. @param {readonly Named[]} classes @param {string} [chosen] id of the chosen class, or NONE @param {readonly string[]} [likely] ids of classes that get a button before others */
  show(classes, chosen = '', likely = []) {
    this.#classes = classes;
    this.#chosen = chosen;
    this.#likely = likely;
    this.#draw();
  }

  /** Clears the typed name. */
  reset() {
    this.#open = false;
    this.#error = '';
    this.#draw();
  }

  /** Shows only as many classes as fit again. */
  fold() {
    this.#all = false;
    this.#draw();
  }

  /** Draws as many classes as fit: style.css may limit the height of the row. */
  #draw() {
    const count = this.#classes.length;
    let most = this.#all || count <= AT_ONCE + 1 ? count : AT_ONCE;
    this.element.classList.toggle('high', this.#all);
    this.#drawSome(most);
    const row = /** @type {Element} */ (this.element.querySelector('.correct-row'));
    while (row.scrollHeight > row.clientHeight && most > 0) this.#drawSome(--most);
    if (row.scrollHeight > row.clientHeight) this.element.classList.add('high'); // the text is very large
  }

  /** @param {Event} event */
  #showAll = ({ target }) => {
    const most = [...this.element.querySelectorAll('button')].indexOf(/** @type {HTMLButtonElement} */ (target));
    const shown = this.#first(most);
    const at = this.#classes.findIndex((one) => !shown.includes(one));
    this.#all = true;
    this.#draw();
    this.element.querySelectorAll('button')[at]?.focus({ preventScroll: true }); // the first of the others
    this.element.scrollIntoView({ block: 'nearest' });
  };

  /** The chosen class, the likeliest ones and the first others, in their order. @param {number} most */
  #first(most) {
    const before = [this.#chosen, ...this.#likely].flatMap((id) => this.#classes.find((one) => one.id === id) ?? []);
    const some = new Set([...new Set([...before, ...this.#classes])].slice(0, most));
    return this.#classes.filter((one) => some.has(one));
  }

  /** @param {number} most classes with a button */
  #drawSome(most) {
    const left = this.#classes.length - most;
    const button = (/** @type {string} */ id, /** @type {string} */ name) => html`<button class="button ellipsis" type="button" dir="auto" title=${name}
      aria-pressed=${this.#chosen ? String(id === this.#chosen) : nothing} @click=${() => this.#choose({ id })}>${name}</button>`;
    render(
      html`<div class="correct-row"><span class="correct-label" id=${this.id}>${this.#label}</span>
      <div class="correct-choices">${this.#first(most).map(({ id, name }) => button(id, name))}<button class="button quiet" type="button"
        ?hidden=${!left} @click=${this.#showAll}>${left} more…</button>${this.none && this.#classes.length ? button(NONE, 'None of these') : nothing}</div>
      <button class="button correct-more" type="button" aria-expanded=${String(this.#open)} @click=${this.#toggle}>${icon('plus')}New…</button></div>
      ${
        this.#open
          ? html`<form class="correct-new" @submit=${this.#submit}>
        <input class="field" type="text" maxlength="80" autocomplete="off" aria-label="Name of the new class" placeholder="Name" enterkeyhint="done" @keydown=${this.#key} .value=${live(this.field?.value ?? '')}>
        <button class="button primary" type="submit">Teach</button></form>`
          : nothing
      }
      <p class="error" role="alert" ?hidden=${!this.#error}>${this.#error}</p>`,
      this.element,
    );
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
    event.stopPropagation(); // arrows and letters belong to the field
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
   * A press made while another is handled waits, whatever is shown by then. If `about` is null, the press is dropped:
   * people press twice.
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
      const id = 'name' in target && (await classOf(target.name));
      await this.onChoose(id ? { id } : target, about);
      if (about === this.about()) this.reset(); // else the typed name belongs to another thing
      const { activeElement: now } = document;
      if (typed && !this.field && (now === document.body || this.element.contains(now))) this.#focusNew();
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
