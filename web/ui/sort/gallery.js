// @ts-check
/** Cards of many pictures by group. Each group shows some at first, the others on demand. */
import { nextTask } from '../../library/storage.js';
import { counted, el, isShortcut, noun } from '../kit/dom.js';
import { html, live, nothing, render, repeat } from '../kit/view.js';
import { NONE, percent, verdict, WAITING } from './sorting.js';

/** @import {Item} from './items.js' */
/** @typedef {import('./sorting.js').Group<Item>} Group */

/** Number of cards shown at first in all groups, and the least and the most in one group. The page stays quick with a few hundred. */
const AT_ONCE = { all: 480, least: 18, most: 60 };
/** Cards of a group added by each press. */
const MORE = 240;
/** Milliseconds of setting pictures between two pauses for the page. */
const SLICE = 8;

/** Shows the groups and follows changes of the pictures. */
export class Gallery {
  /** @type {Group[]} */
  #groups = [];
  /** The card of each picture. It moves between groups. @type {Map<Item, HTMLLIElement>} */
  #cards = new Map();
  /** Number of further cards shown, by the id of the group. @type {Record<string, number>} */
  #extra = {};
  /** The card of each group that gets the focus by Tab. @type {Record<string, Item>} */
  #stops = {};
  /** Cards without a picture so far: setting hundreds at once would block the page. @type {{item: Item, image: HTMLImageElement|null}[]} */
  #bare = [];
  #hanging = false;
  /** @type {Set<Item>} */
  selected = new Set();

  /** Says why pictures are among none of these. */
  #why = '';

  /** @param {{onOpen: (items: Item[], item: Item) => void, onSelect: () => void}} parts */
  constructor({ onOpen, onSelect }) {
    this.onOpen = onOpen;
    this.onSelect = onSelect;
    this.element = el('div', { class: 'gallery' });
  }

  /** @param {Group[]} groups @param {string} [why] pictures are among none of these */
  show(groups, why = this.#why) {
    this.#groups = groups;
    this.#why = why;
    const focused = document.activeElement;
    const share = Math.min(AT_ONCE.most, Math.max(AT_ONCE.least, Math.floor(AT_ONCE.all / Math.max(1, groups.length))));
    render(
      repeat(
        groups,
        ({ id }) => id,
        (group) => this.#shelf(group, share + (this.#extra[group.id] ?? 0)),
      ),
      this.element,
    );
    // A moved card loses the focus.
    if (focused instanceof HTMLElement && focused !== document.activeElement && this.element.contains(focused)) focused.focus({ preventScroll: true });
    if (!this.#hanging) void this.#hang();
  }

  /** Removes all cards. */
  clear() {
    [this.#bare, this.#extra, this.#stops] = [[], {}, {}];
    this.#cards.clear();
    this.selected.clear();
    this.show([]);
  }

  /** Selects these and no others. @param {Iterable<Item>} items */
  select(items) {
    this.selected = new Set(items);
    this.show(this.#groups);
    this.onSelect();
  }

  /** Focuses a card, or the first one. @param {Item} [item] */
  focus(item) {
    const card = item && this.#cards.get(item);
    const press = (card?.isConnected ? card : this.element).querySelector('button.shot');
    if (press instanceof HTMLElement) press.focus();
  }

  /** @param {Group} group @param {number} most cards */
  #shelf({ id, name, items }, most) {
    const title = `shelf-${id}`;
    const shown = items.slice(0, most);
    const more = Math.min(MORE, items.length - shown.length);
    const whole = items.every((item) => this.selected.has(item));
    const stop = shown.includes(this.#stops[id]) ? this.#stops[id] : shown[0];
    const others = () => [...this.selected].filter((item) => !items.includes(item));
    return html`<section class=${id === NONE || id === WAITING ? 'shelf shelf-none' : 'shelf'} aria-labelledby=${title}>
      <div class="shelf-head"><h3 id=${title}><span class="ellipsis" dir="auto">${name}</span></h3><span class="muted small">${counted(items.length, noun())}</span>
        <button class="link" type="button" @click=${() => this.select(whole ? others() : [...this.selected, ...items])}>${whole ? 'Select none' : 'Select all'}<span class="vh"> of ${name}</span></button></div>
      ${id === NONE ? html`<p class="muted small">${this.#why}</p>` : nothing}
      <ul class="shots" aria-labelledby=${title} @keydown=${(/** @type {KeyboardEvent} */ event) => this.#key(event, id, shown)}>${repeat(
        shown,
        (item) => item,
        (item) => this.#card(item, items, item === stop ? 0 : -1),
      )}</ul>
      <button class="button" type="button" ?hidden=${!more} @click=${() => {
        this.#extra[id] = (this.#extra[id] ?? 0) + MORE;
        this.show(this.#groups);
        this.focus(items[most]);
      }}>Show ${more} more of ${name}</button></section>`;
  }

  /** @param {Item} item @param {Item[]} items of its group @param {number} tabindex */
  #card(item, items, tabindex) {
    const card = this.#cards.get(item) ?? el('li');
    const { id, probability } = verdict(item);
    const selected = this.selected.has(item);
    card.className = `shot-card${item.taught ? ' taught' : ''}${selected ? ' selected' : ''}`;
    render(
      html`<button class="shot" type="button" tabindex=${tabindex} @click=${() => this.onOpen(items, item)}>
        <img alt="" width="132" height="132" loading="lazy" decoding="async" draggable="false">
        <span class="shot-text"><span class="shot-value">${item.taught ? 'taught' : id === WAITING ? '' : percent(probability)}</span><span class="shot-name ellipsis" title=${item.path}>${item.name}</span></span></button>
      <label class="shot-check"><input type="checkbox" tabindex=${tabindex} aria-label="Select ${item.name}" .checked=${live(selected)}
        @change=${() => this.select(selected ? [...this.selected].filter((one) => one !== item) : [...this.selected, item])}></label>`,
      card,
    );
    if (!this.#cards.has(item)) this.#bare.push({ item, image: card.querySelector('img') });
    this.#cards.set(item, card);
    return card;
  }

  /** Sets the pictures of cards, a few at a time. */
  async #hang() {
    this.#hanging = true;
    while (this.#bare.length) {
      await nextTask();
      const end = performance.now() + SLICE;
      for (let one; performance.now() < end && (one = this.#bare.shift()); ) if (one.image) one.image.src = one.item.url;
    }
    this.#hanging = false;
  }

  /** The arrows go from card to card. @param {KeyboardEvent} event @param {string} id of the group @param {Item[]} shown */
  #key(event, id, shown) {
    const list = /** @type {Element} */ (event.currentTarget);
    const at = [...list.children].findIndex((card) => card.contains(/** @type {Node} */ (event.target)));
    const columns = getComputedStyle(list).gridTemplateColumns.split(' ').length;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - columns, ArrowDown: at + columns, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined || isShortcut(event)) return;
    event.preventDefault();
    if (!shown[to]) return;
    this.#stops[id] = shown[to];
    this.show(this.#groups);
    this.focus(shown[to]);
  }
}
