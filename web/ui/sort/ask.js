// @ts-check
/** What the page asks about many pictures: what one is that would tell most, and the name of those that look alike. */
import { CorrectBar } from '../teach/correct.js';
import { counted, el } from '../kit/dom.js';
import { nextTask } from '../../library/storage.js';

/** @typedef {import('./sort.js').Item} Item */
/** @typedef {import('./sorting.js').Named} Named */
/** @typedef {import('../teach/correct.js').Target} Target */
/** @typedef {(items: Item[], target: Target) => Promise<unknown>} OnTeach */

/** So many pictures of a group are put there in one task. */
const AT_A_TIME = 24;

/** "Tell me what this is": one picture after the other. */
export class Question {
  /** @type {Item[]} */
  #items = [];
  /** @type {WeakSet<Item>} */
  #skipped = new WeakSet();

  /** @param {{onTeach: OnTeach, onOpen: (item: Item) => void}} parts */
  constructor({ onTeach, onOpen }) {
    this.picture = el('img', { alt: '', width: 96, height: 96 });
    this.press = el('button', { class: 'ask-picture', type: 'button', onclick: () => { if (this.#items[0]) onOpen(this.#items[0]); } }, this.picture);
    this.bar = new CorrectBar({ label: 'It is:', onChoose: async (target) => {
      await onTeach([this.#items[0]], target);
      this.#next();
    } });
    this.element = el('section', { class: 'ask panel', 'aria-labelledby': 'ask-title', hidden: true },
      this.press,
      el('div', { class: 'ask-body' }, el('h3', { id: 'ask-title' }, 'Tell me what this is'),
        el('p', { class: 'muted small' }, 'Many of the others look like it, so it helps most.'), this.bar.element),
      el('button', { class: 'button quiet ask-skip', type: 'button', onclick: () => this.#skip() }, 'Skip'));
  }

  /** Asks about these, the first one first. @param {Item[]} items @param {readonly Named[]} classes */
  show(items, classes) {
    this.bar.show(classes);
    const left = items.filter((item) => !item.taught && !this.#skipped.has(item));
    // The one that is being looked at stays until it is answered.
    const now = this.#items[0];
    this.#items = now && !now.taught && left.includes(now) ? [now, ...left.filter((item) => item !== now)] : left;
    this.#draw();
  }

  #next() {
    this.#items = this.#items.filter((item) => !item.taught);
    this.#draw();
  }

  #skip() {
    const [item] = this.#items;
    if (item) this.#skipped.add(item);
    this.#items = this.#items.slice(1);
    this.bar.reset();
    this.#draw();
  }

  #draw() {
    const [item] = this.#items;
    this.element.hidden = !item;
    if (!item || this.picture.getAttribute('src') === item.url) return;
    this.picture.src = item.url;
    this.press.setAttribute('aria-label', `Larger view of ${item.name}`);
  }
}

/** "These 14 look alike": one group after the other. */
export class Lookalikes {
  /** @type {Item[][]} */
  #groups = [];
  /** @type {WeakSet<Item>} */
  #left = new WeakSet();

  /** @param {{onTeach: OnTeach}} parts */
  constructor({ onTeach }) {
    this.title = el('h3', { id: 'alike-title' });
    this.list = el('ul', { class: 'alike-list', 'aria-labelledby': 'alike-title' });
    this.bar = new CorrectBar({ label: 'They are:', onChoose: async (target) => {
      await onTeach(this.#chosen(), target);
      this.#groups = this.#groups.slice(1);
      this.#draw();
    } });
    this.element = el('section', { class: 'ask alike panel', 'aria-labelledby': 'alike-title', hidden: true },
      el('div', { class: 'ask-body' }, this.title,
        el('p', { class: 'muted small' }, 'None of the classes fits them. Press a picture that does not belong to leave it out.'), this.list, this.bar.element),
      el('button', { class: 'button quiet ask-skip', type: 'button', onclick: () => this.#skip() }, 'Skip'));
  }

  /** Offers groups, the first one first. @param {Item[][]} groups @param {readonly Named[]} classes */
  show(groups, classes) {
    this.bar.show(classes);
    const [now] = this.#groups;
    this.#groups = groups.map((group) => group.filter((item) => !item.taught && !this.#left.has(item))).filter((group) => group.length > 2);
    const [next] = this.#groups;
    const same = now && next && now.length === next.length && now.every((item) => next.includes(item));
    if (same) this.#groups[0] = now; // what was left out of them stays so
    else this.#draw();
  }

  #chosen() {
    const out = new Set([...this.list.querySelectorAll('[aria-pressed="false"]')].map((one) => Number(one.getAttribute('data-at'))));
    return this.#groups[0].filter((_, at) => !out.has(at));
  }

  #skip() {
    for (const item of this.#groups[0] ?? []) this.#left.add(item);
    this.#groups = this.#groups.slice(1);
    this.bar.reset();
    this.#draw();
  }

  #draw() {
    const [group] = this.#groups;
    this.element.hidden = !group;
    this.list.replaceChildren();
    if (group) void this.#fill(group);
    this.#count();
  }

  /** Puts the pictures of a group there, a few at a time: it may be of hundreds. @param {Item[]} group */
  async #fill(group) {
    for (let at = 0; at < group.length; at += AT_A_TIME) {
      if (at) await nextTask();
      if (this.#groups[0] !== group) return;
      this.list.append(...group.slice(at, at + AT_A_TIME).map((item, i) => el('li', {},
        el('button', {
          class: 'alike-picture', type: 'button', 'aria-pressed': 'true', 'aria-label': `${item.name} belongs to them`, 'data-at': at + i,
          onclick: (event) => this.#toggle(/** @type {HTMLElement} */ (event.currentTarget)),
        }, el('img', { src: item.url, alt: '', width: 64, height: 64, loading: 'lazy' })))));
    }
  }

  /** @param {HTMLElement} press */
  #toggle(press) {
    press.setAttribute('aria-pressed', String(press.getAttribute('aria-pressed') !== 'true'));
    this.#count();
  }

  #count() {
    if (!this.#groups.length) return;
    const count = this.#chosen().length;
    this.title.textContent = count === 1 ? 'Name this picture' : `These ${counted(count, 'picture')} look alike: name them`;
  }
}
