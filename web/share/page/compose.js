// @ts-check
/**
 * What to show of an answer, and in which words: those of wasm/view/compose.go, which
 * draws the page that the file comes from. testdata/view/frames.json holds both to the
 * same.
 */
import { decide } from '../../engine/decide.js';

/** @typedef {{name: string, examples: number, probability: number}} Class in the order taught */
/** @typedef {{name: string, text: string, p: number, best: boolean, none: boolean}} Row */

const NONE = 'None of these';
const PROBABLE = 60;
const NEAR_SURE = 97;
const ALSO_NAMED = 0.5;

/**
 * @param {Class[]} classes some of them with pictures
 * @param {number} none its probability
 * @param {{open: boolean, sort: 'probability'|'taught'}} options open: none of these is a hypothesis at all
 * @returns {{verdict: string, rows: Row[]}}
 */
export function compose(classes, none, { open, sort }) {
  const rows = classes.map(({ name, examples, probability }) => row(name, probability, examples === 0 ? 'no pictures yet' : percent(probability)));
  rows.push({ ...row(NONE, none, percent(none)), none: true });
  const best = rows.at(decide(classes.map(({ probability }) => probability), none)) ?? rows[0];
  best.best = true;
  const ranked = [...rows].sort((a, b) => b.p - a.p); // stable
  const taught = classes.filter(({ examples }) => examples > 0).length;
  return { verdict: verdict(taught, open, best, ranked.filter((row) => row !== best)[0]), rows: sort === 'taught' ? rows : ranked };
}

/** @param {string} name @param {number} p @param {string} text @returns {Row} */
const row = (name, p, text) => ({ name, text, p, best: false, none: false });

/** @param {number} taught how many classes @param {boolean} open @param {Row} best @param {Row} next the most probable of the others */
function verdict(taught, open, best, next) {
  if (taught === 1 && !open) return `Only “${best.name}” has pictures: teach a second class to compare with.`;
  const sure = whole(best.p);
  if (best.none && sure >= PROBABLE) return `None of these, most likely: ${best.text}`;
  if (sure >= NEAR_SURE) return `Almost certainly ${best.name}: ${best.text}`;
  if (sure >= PROBABLE) return `Probably ${best.name}: ${best.text}`;
  if (next.p >= ALSO_NAMED * best.p) return `Not sure: ${spoken(best)} or ${spoken(next)}`;
  return `Not sure, perhaps ${spoken(best)}`;
}

/** @param {Row} row */
const spoken = ({ name, text, none }) => (none ? `none of these ${text}` : `${name} ${text}`);

/** Nothing is called certain or impossible that is not exactly so. @param {number} p */
function percent(p) {
  if (p > 0 && p < 0.005) return '< 1 %';
  if (p < 1 && p >= 0.995) return '> 99 %';
  return `${whole(p)} %`;
}

/** @param {number} p */
const whole = (p) => Math.floor(p * 100 + 0.5);
