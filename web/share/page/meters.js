// @ts-check
/** The answer on the page: a sentence and a meter for each class, made once and changed in place. */
import { byId, el } from '../../ui/kit/dom.js';

/** @import {Row} from './compose.js' */

export class Meters {
  /** @type {Map<string, {item: HTMLElement, meter: HTMLElement, bar: HTMLElement, name: HTMLElement, value: HTMLElement}>} */
  #rows = new Map();
  #verdict = byId('verdict', HTMLElement);
  #list = byId('meters', HTMLElement);

  /** @param {{verdict: string, rows: Row[]}} frame */
  show({ verdict, rows }) {
    if (this.#verdict.textContent !== verdict) this.#verdict.textContent = verdict;
    const items = rows.map((row) => this.#drawn(row));
    if (items.length !== this.#list.children.length || items.some((item, i) => item !== this.#list.children[i])) this.#list.replaceChildren(...items);
  }

  /** @param {Row} row */
  #drawn({ name, text, p, best, none }) {
    const key = `${none}${name}`;
    let row = this.#rows.get(key);
    if (!row) {
      row = { item: el('li'), meter: el('div', { role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': 1, 'aria-label': name }),
        bar: el('span', { class: 'meter-bar' }), name: el('span', { class: 'meter-name' }, name), value: el('span', { class: 'meter-value' }) };
      row.meter.append(row.bar, row.name, row.value);
      row.item.append(row.meter);
      this.#rows.set(key, row);
    }
    row.meter.className = `meter${none ? ' meter-none' : ''}${best ? ' meter-best' : ''}`;
    row.meter.setAttribute('aria-valuetext', text);
    row.meter.setAttribute('aria-valuenow', String(p));
    row.value.textContent = text;
    row.bar.style.width = `${(100 * p).toFixed(2)}%`;
    return row.item;
  }
}
