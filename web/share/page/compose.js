// @ts-check
/**
 * Decides what to show of an answer, as wasm/view/compose.go does for the page. Tests hold both
 * to testdata/view/frames.json. The engine words the headline.
 */
import { percent, together } from '../../ui/sort/sorting.js';

/** @typedef {{name: string, examples: number, probability: number}} Class in the order taught */
/** @typedef {{name: string, text: string, p: number, best: boolean, none: boolean}} Row */

/**
 * @param {Class[]} classes some of them with pictures
 * @param {number} none its probability
 * @param {{sort: 'probability'|'taught', headline: string, first: string | null}} options first: name of the class that the headline
 *   names first, null for none of these
 * @returns {{verdict: string, rows: Row[]}}
 */
export function compose(classes, none, { sort, headline, first }) {
  const text = (/** @type {Class} */ { examples, probability }) => (examples === 0 ? 'no examples yet' : percent(probability));
  const rows = classes.map((c) => ({ name: c.name, text: text(c), p: c.probability, best: c.name === first, none: false }));
  rows.push({ name: 'None of these', text: percent(none), p: none, best: first === null, none: true });
  const ranked = [...rows].sort((a, b) => (a.text === b.text && Number(b.best) - Number(a.best)) || b.p - a.p); // stable
  return { verdict: together(apart(headline, rows)), rows: sort === 'taught' ? rows : ranked };
}

/** Ends each name of right-to-left letters by a mark: its number would stand on its other side. @param {string} headline @param {Row[]} rows */
const apart = (headline, rows) =>
  rows.reduce((text, { name }) => (/\p{Script=Hebrew}|\p{Script=Arabic}/u.test(name) ? text.replaceAll(name, `${name}\u200e`) : text), headline);
