// @ts-check
/** A larger view of one of many pictures, with what it is taken for; the arrows go on to its neighbours. */
import { CorrectBar } from '../teach/correct.js';
import { byId, dialogHead, el, icon } from '../kit/dom.js';
import { NONE, percent, verdict } from './sorting.js';

/** @typedef {import('./sort.js').Item} Item */
/** @typedef {import('./sorting.js').Named} Named */
/** @typedef {import('../teach/correct.js').Target} Target */

/** Answers of so many classes are told. */
const TOLD = 4;

/** The dialog. It holds no picture while it is closed. */
export class Viewer {
  /** @type {Item[]} */
  #items = [];
  #at = 0;
  #url = '';
  #classes = /** @type {readonly Named[]} */ ([]);

  /** @param {{onTeach: (items: Item[], target: Target) => Promise<unknown>, onClosed: (last: Item) => void}} parts */
  constructor({ onTeach, onClosed }) {
    this.dialog = byId('viewer', HTMLDialogElement);
    this.picture = el('img', { class: 'viewer-picture', alt: '' });
    this.caption = el('p', { class: 'viewer-name ellipsis' });
    this.place = el('span', { class: 'muted small', 'aria-live': 'polite' });
    this.answer = el('ol', { class: 'viewer-answer', 'aria-label': 'Answer' });
    this.bar = new CorrectBar({ label: 'It is:', onChoose: (target) => onTeach([this.#items[this.#at]], target) });
    this.back = el('button', { class: 'button square', type: 'button', 'aria-label': 'Previous picture', onclick: () => this.#go(-1) }, icon('previous'));
    this.on = el('button', { class: 'button square', type: 'button', 'aria-label': 'Next picture', onclick: () => this.#go(1) }, icon('next'));
    this.dialog.append(dialogHead(this.dialog, 'viewer-title', 'Picture'),
      el('div', { class: 'viewer-stage' }, this.picture),
      el('div', { class: 'viewer-line' }, this.back, el('div', { class: 'viewer-text' }, this.caption, this.place), this.on),
      this.answer, this.bar.element);
    this.dialog.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.#go(step);
    });
    this.dialog.addEventListener('close', () => {
      const last = this.#items[this.#at];
      this.#release();
      this.#items = [];
      if (last) onClosed(last);
    });
  }

  /** @param {Item[]} items in their order @param {Item} first the one to show */
  open(items, first) {
    this.#items = items;
    this.#at = Math.max(0, items.indexOf(first));
    this.#show();
    if (!this.dialog.open) this.dialog.showModal();
  }

  /** What the classes and answers are meanwhile. @param {readonly Named[]} classes */
  refresh(classes) {
    this.#classes = classes;
    this.bar.show(classes);
    if (this.#items.length) this.#tell();
  }

  close() {
    if (this.dialog.open) this.dialog.close();
  }

  /** @param {number} step */
  #go(step) {
    const at = this.#at + step;
    if (at < 0 || at >= this.#items.length) return;
    this.#at = at;
    this.bar.reset();
    this.#show();
  }

  #show() {
    this.#release();
    const item = this.#items[this.#at];
    this.#url = URL.createObjectURL(item.file);
    this.picture.src = this.#url;
    this.picture.alt = item.name;
    this.caption.textContent = item.path;
    this.caption.title = item.path;
    this.place.textContent = `${this.#at + 1} of ${this.#items.length}`;
    for (const [button, ends] of /** @type {[HTMLButtonElement, boolean][]} */ ([[this.back, this.#at === 0], [this.on, this.#at === this.#items.length - 1]])) {
      button.setAttribute('aria-disabled', String(ends)); // a disabled one would lose the focus
    }
    this.#tell();
  }

  #tell() {
    const item = this.#items[this.#at];
    const name = (/** @type {string} */ id) => (id === NONE ? 'None of these' : this.#classes.find((one) => one.id === id)?.name ?? '');
    const line = (/** @type {string} */ text, /** @type {string} */ value) => el('li', {}, el('span', { class: 'ellipsis' }, text), el('span', {}, value));
    if (item.taught) {
      this.answer.replaceChildren(line(`Taught as ${name(item.taught)}`, ''));
    } else if (!item.answer) {
      this.answer.replaceChildren(line('No answer yet: nothing is taught.', ''));
    } else {
      const { classes, probabilities, none } = item.answer;
      const first = verdict(item).id;
      const all = [...classes.map((id, i) => ({ id, p: probabilities[i] })), { id: NONE, p: none }]
        .sort((a, b) => Number(b.id === first) - Number(a.id === first) || b.p - a.p);
      this.answer.replaceChildren(...all.slice(0, TOLD).map(({ id, p }) => line(name(id), percent(p))));
    }
    this.dialog.dataset.verdict = verdict(item).id;
  }

  #release() {
    if (this.#url) URL.revokeObjectURL(this.#url);
    this.#url = '';
    this.picture.removeAttribute('src');
  }
}
