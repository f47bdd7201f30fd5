// @ts-check
/**
 * Decides what to show of an answer, as wasm/view/compose.go does for the page. Tests compare both
 * with testdata/view/frames.json. The engine words the headline.
 */
import { marked } from '../../ui/kit/dom.js';
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
  const names = classes.map(({ name }) => name).filter((name) => marked(name) !== name);
  names.sort((a, b) => b.length - a.length); // one name may begin another
  return { verdict: together(apart(headline, names)), rows: sort === 'taught' ? rows : ranked };
}

/** Marks the ends of names. @param {string} text @param {string[]} names the longest first @returns {string} */
const apart = (text, [name, ...others]) =>
  name === undefined
    ? text
    : text
        .split(name)
        .map((part) => apart(part, others))
        .join(marked(name));
