// @ts-check
/** Cards of many pictures by group: some of each at once, the others on demand. */
import { nextTask } from '../../library/storage.js';
import { counted, el, one } from '../kit/dom.js';
import { NONE, percent, verdict, WAITING } from './sorting.js';

/** @import {Item} from './items.js' */
/** @typedef {import('./sorting.js').Group<Item>} Group */
/** @typedef {{element: HTMLLIElement, press: HTMLButtonElement, check: HTMLInputElement, value: HTMLElement}} Card */
/** @typedef {{element: HTMLElement, name: HTMLElement, count: HTMLElement, all: HTMLButtonElement, list: HTMLUListElement, more: HTMLButtonElement, extra: number, items: Item[]}} Shelf */

/** Cards that are there at once, shared out among the groups, of each at least and at most so many: a few hundred keep the page quick. */
const AT_ONCE = { all: 480, least: 18, most: 60 };
/** Cards of a group that come with each press. */
const MORE = 240;
/** How long pictures are hung into their cards before the page may breathe, in milliseconds. */
const SLICE = 8;

/** The groups, kept in step with the pictures. */
export class Gallery {
  /** @type {Map<Item, Card>} */
  #cards = new Map();
  /** @type {Map<string, Shelf>} */
  #shelves = new Map();
  /** How many cards a group has without being asked for more. */
  #share = AT_ONCE.most;
  /** Cards that have no picture yet: hundreds at once would hold up the page. @type {{item: Item, image: HTMLImageElement}[]} */
  #bare = [];
  #hanging = false;
  /** @type {Set<Item>} */
  selected = new Set();

  /** @param {{onOpen: (items: Item[], item: Item) => void, onSelect: () => void}} parts */
  constructor({ onOpen, onSelect }) {
    this.onOpen = onOpen;
    this.onSelect = onSelect;
    this.element = el('div', { class: 'gallery' });
    this.element.addEventListener('keydown', (event) => this.#key(event));
  }

  /** @param {Group[]} groups */
  show(groups) {
    const focused = document.activeElement;
    const ids = new Set(groups.map(({ id }) => id));
    for (const [id, shelf] of this.#shelves) {
      if (ids.has(id)) continue;
      shelf.element.remove();
      this.#shelves.delete(id);
    }
    this.#share = Math.min(AT_ONCE.most, Math.max(AT_ONCE.least, Math.floor(AT_ONCE.all / Math.max(1, groups.length))));
    groups.forEach((group, at) => {
      const shelf = this.#shelves.get(group.id) ?? this.#shelf(group.id);
      if (this.element.children[at] !== shelf.element) this.element.insertBefore(shelf.element, this.element.children[at] ?? null);
      this.#fill(shelf, group);
    });
    // Moving a card takes the focus from it.
    if (focused instanceof HTMLElement && focused !== document.activeElement && this.element.contains(focused)) focused.focus({ preventScroll: true });
  }

  /** Forgets all cards. */
  clear() {
    this.element.replaceChildren();
    this.#bare = [];
    this.#cards.clear();
    this.#shelves.clear();
    this.selected.clear();
  }

  /** Selects these and no others. @param {Iterable<Item>} items */
  select(items) {
    this.selected = new Set(items);
    for (const [item, { element, check }] of this.#cards) {
      check.checked = this.selected.has(item);
      element.classList.toggle('selected', check.checked);
    }
    for (const shelf of this.#shelves.values()) this.#nameAll(shelf);
    this.onSelect();
  }

  /** Puts the focus on a card, or on the first there is. @param {Item} [item] */
  focus(item) {
    const press = (item && this.#cards.get(item)?.press) ?? null;
    const target = press?.isConnected ? press : this.element.querySelector('button.shot');
    if (target instanceof HTMLElement) target.focus();
  }

  /** @param {string} id @returns {Shelf} */
  #shelf(id) {
    const title = `shelf-${id}`;
    const name = el('span', { class: 'ellipsis' });
    const count = el('span', { class: 'muted small' });
    const list = el('ul', { class: 'shots', 'aria-labelledby': title });
    const all = el('button', { class: 'link', type: 'button', onclick: () => this.#toggleAll(shelf) });
    const more = el('button', { class: 'button', type: 'button', onclick: () => this.#more(shelf) });
    const element = el('section', { class: `shelf${id === NONE || id === WAITING ? ' shelf-none' : ''}`, 'aria-labelledby': title },
      el('div', { class: 'shelf-head' }, el('h3', { id: title }, name), count, all),
      id === NONE ? el('p', { class: 'muted small' }, 'Probably something unknown, or not surely enough one of the classes.') : null, list, more);
    const shelf = { element, name, count, all, list, more, extra: 0, items: /** @type {Item[]} */ ([]) };
    this.#shelves.set(id, shelf);
    return shelf;
  }

  /** @param {Shelf} shelf @param {{name: string, items: Item[]}} group */
  #fill(shelf, { name, items }) {
    shelf.items = items;
    shelf.name.textContent = name;
    shelf.count.textContent = counted(items.length, one());
    this.#nameAll(shelf);
    const shown = items.slice(0, this.#share + shelf.extra);
    const { list } = shelf;
    let next = list.firstElementChild;
    for (const item of shown) {
      const card = this.#card(item);
      if (next === card.element) next = next.nextElementSibling;
      else list.insertBefore(card.element, next);
      this.#tell(card, item);
    }
    while (list.childElementCount > shown.length) list.lastElementChild?.remove();
    shelf.more.hidden = shown.length === items.length;
    shelf.more.textContent = `Show ${Math.min(MORE, items.length - shown.length)} more of ${name}`;
    this.#rove(list, list.querySelector('button.shot[tabindex="0"]') ?? list.querySelector('button.shot'));
  }

  /** @param {Shelf} shelf */
  #nameAll({ all, items, name }) {
    const whole = items.every((item) => this.selected.has(item));
    all.replaceChildren(whole ? 'Select none' : 'Select all', el('span', { class: 'vh' }, ` of ${name.textContent}`));
  }

  /** @param {Item} item @returns {Card} */
  #card(item) {
    const known = this.#cards.get(item);
    if (known) return known;
    const value = el('span', { class: 'shot-value' });
    const image = el('img', { alt: '', width: 132, height: 132, loading: 'lazy', decoding: 'async', draggable: 'false' });
    this.#bare.push({ item, image });
    if (!this.#hanging) void this.#hang();
    const press = el('button', { class: 'shot', type: 'button', tabindex: -1, onclick: () => this.onOpen(this.#shelfOf(item), item) }, image,
      el('span', { class: 'shot-text' }, value, el('span', { class: 'shot-name ellipsis', title: item.path }, item.name)));
    const check = el('input', { type: 'checkbox', tabindex: -1, 'aria-label': `Select ${item.name}`, onchange: () => this.#toggle(item) });
    const element = el('li', { class: 'shot-card' }, press, el('label', { class: 'shot-check' }, check));
    const card = { element, press, check, value };
    this.#cards.set(item, card);
    check.checked = this.selected.has(item);
    element.classList.toggle('selected', check.checked);
    return card;
  }

  /** Gives the cards their pictures, a few at a time. */
  async #hang() {
    this.#hanging = true;
    while (this.#bare.length) {
      await nextTask();
      const end = performance.now() + SLICE;
      for (let one; performance.now() < end && (one = this.#bare.shift());) one.image.src = one.item.url;
    }
    this.#hanging = false;
  }

  /** Says of a card how sure its answer is. @param {Card} card @param {Item} item */
  #tell({ element, value }, item) {
    const { id, probability } = verdict(item);
    const text = item.taught ? 'taught' : id === WAITING ? '' : item.held ? 'not sure' : percent(probability);
    if (value.textContent !== text) value.textContent = text;
    element.classList.toggle('taught', item.taught !== '');
  }

  /** @param {Item} item @returns {Item[]} those of its group, in their order */
  #shelfOf(item) {
    return [...this.#shelves.values()].find(({ items }) => items.includes(item))?.items ?? [item];
  }

  /** @param {Item} item */
  #toggle(item) {
    const selected = new Set(this.selected);
    if (!selected.delete(item)) selected.add(item);
    this.select(selected);
  }

  /** @param {Shelf} shelf */
  #toggleAll({ items }) {
    const selected = new Set(this.selected);
    const whole = items.every((item) => selected.has(item));
    for (const item of items) {
      if (whole) selected.delete(item);
      else selected.add(item);
    }
    this.select(selected);
  }

  /** @param {Shelf} shelf */
  #more(shelf) {
    const first = shelf.items[this.#share + shelf.extra];
    shelf.extra += MORE;
    this.#fill(shelf, { name: shelf.name.textContent ?? '', items: shelf.items });
    this.focus(first);
  }

  /** Makes one card of a list the one that Tab stops at. @param {Element} list @param {Element|null} press */
  #rove(list, press) {
    for (const one of list.querySelectorAll('[tabindex="0"]')) one.setAttribute('tabindex', '-1');
    press?.setAttribute('tabindex', '0');
    press?.closest('li')?.querySelector('input')?.setAttribute('tabindex', '0');
  }

  /** The arrows go from card to card. @param {KeyboardEvent} event */
  #key(event) {
    const card = event.target instanceof Element ? event.target.closest('.shot-card') : null;
    const list = card?.parentElement;
    if (!card || !list || !['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key)) return;
    event.preventDefault();
    const cards = [...list.children];
    const at = cards.indexOf(card);
    const columns = getComputedStyle(list).gridTemplateColumns.split(' ').length;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - columns, ArrowDown: at + columns, Home: 0, End: cards.length - 1 }[event.key] ?? at;
    const press = cards[to]?.querySelector('button.shot');
    if (!(press instanceof HTMLElement)) return;
    this.#rove(list, press);
    press.focus();
  }
}
