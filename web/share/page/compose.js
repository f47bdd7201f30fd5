// @ts-check
/**
 * Decides what to show of an answer, as wasm/view/compose.go does for the page. Tests hold both
 * to testdata/view/frames.json. The engine words the headline.
 */
import { percent, together } from '../../ui/sort/sorting.js';

/** @typedef {{name: string, examples: number, probability: number}} Class in the order taught */
/** @typedef {{name: string, text: string, p: number, best: boolean, none: boolean}} Row */

const NONE = 'None of these';

/**
 * @param {Class[]} classes some of them with pictures
 * @param {number} none its probability
 * @param {{sort: 'probability'|'taught', taken: number, headline: string}} options taken: index of the decision's class,
 *   -1 for none of these; of two answers the headline names the more probable first, which need not be the decision
 * @returns {{verdict: string, rows: Row[]}}
 */
export function compose(classes, none, { sort, taken, headline }) {
  const rows = classes.map(({ name, examples, probability }) => row(name, probability, examples === 0 ? 'no examples yet' : percent(probability)));
  rows.push({ ...row(NONE, none, percent(none)), none: true });
  const first = (/** @type {Row} */ { name, text, none: not }) => headline.startsWith(`Not sure: ${not ? NONE.toLowerCase() : name} ${text} or `);
  const best = rows.find(first) ?? rows.at(taken) ?? rows[0];
  best.best = true;
  const ranked = [...rows].sort((a, b) => (a.text === b.text && Number(b.best) - Number(a.best)) || b.p - a.p); // stable
  return { verdict: together(apart(headline, rows)), rows: sort === 'taught' ? rows : ranked };
}

/** Ends each name of right-to-left letters by a mark: its number would stand on its other side. @param {string} headline @param {Row[]} rows */
const apart = (headline, rows) =>
  rows.reduce((text, { name }) => (/\p{Script=Hebrew}|\p{Script=Arabic}/u.test(name) ? text.replaceAll(name, `${name}\u200e`) : text), headline);

/** @param {string} name @param {number} p @param {string} text @returns {Row} */
const row = (name, p, text) => ({ name, text, p, best: false, none: false });
