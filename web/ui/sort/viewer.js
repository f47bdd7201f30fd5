// @ts-check
/** A larger view of one of many pictures, with its answer. The arrow keys show its neighbours. */
import { CorrectBar, mostLikely } from '../teach/correct.js';
import { byId, capital, dialogHead, el, isShortcut, noun } from '../kit/dom.js';
import { html, icon, nothing, render } from '../kit/view.js';
import { NONE, percent, saidNone, verdict } from './sorting.js';

/** @import {Item} from './items.js' */
/** @import {Named, Target} from '../teach/correct.js' */

/** Number of classes named in the answer. */
const TOLD = 4;

/** The dialog. It holds no picture while it is closed. */
export class Viewer {
  /** @type {Item[]} */
  #items = [];
  #at = 0;
  #classes = /** @type {readonly Named[]} */ ([]);
  /** The element that shows the item in full; each item has its own. @type {{item: Item, element: HTMLImageElement|HTMLAudioElement}|null} */
  #shown = null;
  #body = el('div', { class: 'viewer-body' });

  /** @param {{kinds: import('../kinds/index.js').Kinds, bounds: {none: number}, onTeach: (items: Item[], target: Target) => Promise<unknown>, onClosed: (last: Item) => void}} parts */
  constructor({ kinds, bounds, onTeach, onClosed }) {
    this.kinds = kinds;
    this.bounds = bounds;
    this.dialog = byId('viewer', HTMLDialogElement);
    this.bar = new CorrectBar({ label: 'It is:', none: true, about: () => this.#items[this.#at], onChoose: (target, item) => onTeach([item], target) });
    this.dialog.append(dialogHead(this.dialog, 'viewer-title', ''), this.#body);
    this.dialog.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (!step || isShortcut(event) || event.target instanceof HTMLMediaElement) return; // which the arrows seek in
      event.preventDefault();
      this.#go(step);
    });
    this.dialog.addEventListener('close', () => {
      const last = this.#items[this.#at];
      this.#items = [];
      this.bar.reset();
      this.#forget();
      render(html``, this.#body);
      if (last) onClosed(last);
    });
  }

  /** @param {Item[]} items in their order @param {Item} first the one to show */
  open(items, first) {
    this.#items = items;
    this.#at = Math.max(0, items.indexOf(first));
    byId('viewer-title', HTMLElement).textContent = capital(noun());
    this.#draw();
    if (!this.dialog.open) this.dialog.showModal();
  }

  /** Shows the current classes and answers. @param {readonly Named[]} classes */
  refresh(classes) {
    this.#classes = classes;
    if (this.#items.length) this.#draw();
  }

  /** @param {number} step */
  #go(step) {
    const at = this.#at + step;
    if (at < 0 || at >= this.#items.length) return;
    this.#at = at;
    this.bar.reset();
    this.#draw();
  }

  #forget() {
    const { element } = this.#shown ?? {};
    const url = element?.src ?? '';
    element?.removeAttribute('src'); // it may not have been loaded yet
    URL.revokeObjectURL(url);
    this.#shown = null;
  }

  #draw() {
    const item = this.#items[this.#at];
    if (this.#shown?.item !== item) {
      this.#forget();
      this.#shown = { item, element: this.kinds.now.show(item.file) };
      this.#shown.element.classList.add('viewer-picture');
    }
    this.bar.show(this.#classes, item.taught || (saidNone(item) ? NONE : ''), item.answer ? mostLikely(item.answer.classes, item.answer.probabilities) : []);
    const end = (/** @type {number} */ at) => String(this.#at === at); // a disabled button would lose the focus
    render(
      html`<div class="viewer-stage">${this.#shown.element}</div>
      <div class="viewer-line">
        <button class="button square" type="button" aria-label="Previous ${noun()}" aria-disabled=${end(0)} @click=${() => this.#go(-1)}>${icon('previous')}</button>
        <div class="viewer-text"><p class="viewer-name ellipsis" title=${item.path}>${item.path}</p><span class="muted small" aria-live="polite">${this.#at + 1} of ${this.#items.length}</span></div>
        <button class="button square" type="button" aria-label="Next ${noun()}" aria-disabled=${end(this.#items.length - 1)} @click=${() => this.#go(1)}>${icon('next')}</button>
      </div>
      <ol class="viewer-answer" aria-label="Answer">${this.#answers(item).map(([text, value, taken]) => html`<li class=${taken ? 'viewer-taken' : ''}><span class="ellipsis" dir="auto">${text}</span><span>${value}</span></li>`)}</ol>
      ${this.#unlikely(item) ? html`<p class="small muted">It is among “None of these”, since it is at least ${this.bounds.none}\u00a0% likely to be something unknown.</p>` : nothing}
      ${this.bar.element}`,
      this.#body,
    );
    this.dialog.dataset.verdict = verdict(item).id;
  }

  /** @param {Item} item @returns {[text: string, value: string, taken: boolean][]} */
  #answers(item) {
    const { taught, answer } = item;
    const name = (/** @type {string} */ id) => (id === NONE ? 'None of these' : (this.#classes.find((one) => one.id === id)?.name ?? ''));
    if (taught) return [[`Taught as ${name(taught)}`, '', true]];
    if (!answer) return [['No answer yet: nothing is taught.', '', false]];
    const { classes, probabilities, none } = answer;
    const { id: taken } = verdict(item);
    return [...classes.map((id, i) => ({ id, p: probabilities[i] })), { id: NONE, p: none }]
      .sort((a, b) => b.p - a.p || Number(b.id === taken) - Number(a.id === taken))
      .slice(0, TOLD)
      .map(({ id, p }) => [name(id), percent(p), id === taken]);
  }

  /** Whether a picture is called none of these although a class is more probable. @param {Item} item */
  #unlikely(item) {
    const { taught, answer } = item;
    return !taught && answer && verdict(item).id === NONE && answer.none < Math.max(...Array.from(answer.probabilities));
  }
}
