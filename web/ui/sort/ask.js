// @ts-check
/** Questions about many pictures: the class of the most informative one, and a name for similar ones. */
import { CorrectBar, mostLikely } from '../teach/correct.js';
import { counted, el, noun } from '../kit/dom.js';
import { html, nodesOf, render, repeat } from '../kit/view.js';

/** @import {Item} from './items.js' */
/** @import {Named, Target} from '../teach/correct.js' */
/** @typedef {{items: Item[], of: string}} Group pictures that look alike, and the id of the class that they are taken for now, empty for none */

/** The reason for a question. @param {number} like number of similar pictures */
export const whyAsked = (like) =>
  like
    ? `${counted(like, `other ${noun()}`)} ${like === 1 ? 'looks' : 'look'} like it: naming it helps with ${like === 1 ? 'that one' : 'them'}, too.`
    : `The page finds no other ${noun()} like it: naming it helps with this one alone.`;

/** "Tell me what this is": one picture after the other. */
export class Question {
  /** @type {Item[]} */
  #items = [];
  /** @type {WeakSet<Item>} */
  #skipped = new WeakSet();
  #classes = /** @type {readonly Named[]} */ ([]);

  /** @param {{onTeach: (items: Item[], target: Target) => Promise<unknown>, onOpen: (item: Item) => void}} parts */
  constructor({ onTeach, onOpen }) {
    this.onOpen = onOpen;
    this.bar = new CorrectBar({
      label: 'It is:',
      none: true,
      about: () => this.#items[0],
      onChoose: async (target, item) => {
        await onTeach([item], target);
        this.#skip(item);
      },
    });
    this.element = el('section', { class: 'ask panel', 'aria-labelledby': 'ask-title', hidden: true });
  }

  /** Asks about these pictures in order. @param {Item[]} items @param {readonly Named[]} classes */
  show(items, classes) {
    this.#classes = classes;
    const left = items.filter((item) => !item.taught && !this.#skipped.has(item));
    // The current question stays until it is answered.
    const now = this.#items[0];
    this.#ask(now && left.includes(now) ? [now, ...left.filter((item) => item !== now)] : left);
  }

  /** @param {Item} item */
  #skip(item) {
    this.#skipped.add(item);
    this.#ask(this.#items.filter((one) => one !== item));
  }

  /** @param {Item[]} items */
  #ask(items) {
    if (items[0] !== this.#items[0]) this.bar.reset();
    this.#items = items;
    this.#draw();
  }

  #draw() {
    const [item] = this.#items;
    this.element.hidden = !item;
    if (!item) return;
    this.bar.show(this.#classes, '', item.answer ? mostLikely(item.answer.classes, item.answer.probabilities) : []);
    render(
      html`<button class="ask-picture" type="button" aria-label="Larger view of ${item.name}" @click=${() => this.onOpen(item)}><img src=${item.url} alt="" width="96" height="96"></button>
      <div class="ask-body"><h3 id="ask-title">Tell me what this is</h3><p class="muted small">${whyAsked(item.like)}</p>${this.bar.element}</div>
      <button class="button quiet ask-skip" type="button" @click=${() => this.#skip(item)}>Skip</button>`,
      this.element,
    );
  }
}

/** "These 14 look alike": one group after the other. */
export class Lookalikes {
  /** @type {Group[]} */
  #groups = [];
  /** Pictures of the first group that do not belong to it. @type {Set<Item>} */
  #out = new Set();
  /** Pictures that were skipped: no further question is about them. @type {WeakSet<Item>} */
  #left = new WeakSet();
  #classes = /** @type {readonly Named[]} */ ([]);
  #teaching = false;

  /** @param {{onTeach: (items: Item[], target: Target, options: {leftOut: Item[]}) => Promise<unknown>}} parts */
  constructor({ onTeach }) {
    this.bar = new CorrectBar({
      label: 'They are:',
      none: true,
      onChoose: async (target) => {
        const [{ items }] = this.#groups;
        this.#teaching = true;
        this.#draw();
        await onTeach(
          items.filter((item) => !this.#out.has(item)),
          target,
          { leftOut: [...this.#out] },
        ).finally(() => {
          this.#teaching = false;
          this.#draw();
        });
        this.#next();
      },
    });
    this.element = el('section', { class: 'ask alike panel', 'aria-labelledby': 'alike-title', hidden: true });
  }

  /** Offers groups in order. @param {Group[]} groups @param {readonly Named[]} classes */
  show(groups, classes) {
    this.#classes = classes;
    this.bar.show(classes);
    if (this.#teaching) return; // pictures are added one by one: the group stays until the last
    const [now] = this.#groups;
    this.#groups = groups
      .map(({ items, of }) => ({ of, items: items.filter((item) => !item.taught && !this.#left.has(item)) }))
      .filter(({ items }) => items.length > 2);
    const [next] = this.#groups;
    const same = now && next && now.items.length === next.items.length && now.items.every((item) => next.items.includes(item));
    if (!same) this.#out.clear(); // otherwise excluded pictures stay excluded
    this.#draw();
  }

  #next() {
    this.#groups = this.#groups.slice(1);
    this.#out.clear();
    this.bar.reset();
    this.#draw();
  }

  #skip() {
    for (const item of this.#groups[0]?.items ?? []) this.#left.add(item);
    this.#next();
  }

  /** @param {Item} item */
  #toggle(item) {
    if (!this.#out.delete(item)) this.#out.add(item);
    this.#draw();
  }

  #draw() {
    const [group] = this.#groups;
    this.element.hidden = !group;
    if (!group) return;
    const count = group.items.length - this.#out.size;
    const of = this.#classes.find(({ id }) => id === group.of)?.name;
    this.element.setAttribute('aria-busy', String(this.#teaching));
    render(
      html`<div class="ask-body">
        <h3 id="alike-title">${this.#teaching ? `Teaching ${counted(count, noun())} …` : count === 1 ? `Name this ${noun()}` : of ? `These ${count} in “${of}” look unlike the rest: name them` : `These ${counted(count, noun())} look alike: name them`}</h3>
        <p class="muted small">${of ? `Taken for “${of}” now. ` : this.#classes.length ? 'No class surely fits them. ' : ''}Press a ${noun()} that does not belong to leave it out.</p>
        <ul class="alike-list" aria-labelledby="alike-title">${repeat(
          group.items,
          (item) => item,
          (item) => html`<li>
          <button class="alike-picture" type="button" aria-pressed=${String(!this.#out.has(item))} aria-label="${item.name} belongs to them" @click=${() => this.#toggle(item)}>
            <img src=${item.url} alt="" width="64" height="64" loading="lazy"></button></li>`,
        )}</ul>${this.bar.element}</div>
      <button class="button quiet ask-skip" type="button" @click=${() => this.#skip()}>Skip</button>`,
      this.element,
    );
  }
}

/** "3 selected. They are:" names several pictures at once. */
export class Selection {
  /** The progress of teaching as a text, empty if nothing runs. */
  #progress = '';

  /** @param {{gallery: import('./gallery.js').Gallery, onTeach: (items: Item[], target: Target, options: {onProgress: (done: number, total: number) => void}) => Promise<unknown>}} parts */
  constructor({ gallery, onTeach }) {
    this.gallery = gallery;
    this.bar = new CorrectBar({
      label: 'They are:',
      none: true,
      onChoose: async (target) => {
        const taught = new Set(gallery.selected);
        const byKey = document.activeElement?.matches(':focus-visible');
        const tell = (text = '') => {
          this.#progress = text;
          this.count(gallery.selected.size);
        };
        await onTeach([...taught], target, { onProgress: (done, total) => tell(`Teaching ${done + 1} of ${total} …`) }).finally(() => tell());
        gallery.select([...gallery.selected].filter((one) => !taught.has(one))); // others may be selected by now
        if (byKey && !gallery.selected.size) gallery.focus([...taught][0]); // this bar is gone
      },
    });
    const none = () => {
      gallery.select([]);
      gallery.focus();
    };
    this.element = el(
      'div',
      { class: 'selection', role: 'region', hidden: true },
      nodesOf(html`${this.bar.element}<button class="button quiet" type="button" @click=${none}>Select none</button>`),
    );
  }

  /** @param {readonly Named[]} classes */
  show(classes) {
    this.bar.show(classes);
  }

  /** @param {number} size how many are selected */
  count(size) {
    const { hidden } = this.element;
    this.element.hidden = size === 0;
    this.element.ariaLabel = `Selected ${noun()}s`;
    this.bar.text = this.#progress || (size === 1 ? '1 selected. It is:' : `${size} selected. They are:`);
    if (!size) this.bar.reset();
    const pressed = document.activeElement;
    if (!size || !hidden || !this.gallery.element.contains(pressed)) return;
    const { top, bottom } = /** @type {Element} */ (pressed).getBoundingClientRect();
    const under = bottom - this.element.getBoundingClientRect().top;
    if (under > 0 && top < innerHeight) scrollBy({ top: under + 12, behavior: 'instant' }); // or this covers what was pressed
  }
}
