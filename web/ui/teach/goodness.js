// @ts-check
/**
 * Sums up the predictions of each example by a session without it. An example is a
 * picture, or a burst of near-copies. It is right if the decision is its own class.
 */
import { counted, noun } from '../kit/dom.js';

/** @import {Trial} from '../../library/types.js' */

/** Least number of trials for a comparison by certainty. */
const ENOUGH = 30;
/** Least number of trials in a shown group of answers. */
const GROUP = 8;
/** A class has few pictures up to this many times the fewest. With 24 and 23 both have few. */
const AS_FEW = 1.2;
/** An example fits badly if the probability of its own class is below this. */
const MISFIT = 0.2;
/** If the doubt of every class is below this, more pictures change little. */
const SURE = 0.1;
/** A class with fewer examples shows little, even if all are right. */
const TELLING = 4;
/** Least probability of each group of answers, in percent. */
const BANDS = [[95, 101], [80, 95], [50, 80], [0, 50]];

/**
 * @typedef {object} Verdict of one trial
 * @property {string} truth id of its class
 * @property {string|null} answer id of the class that it is taken for, null for none of these
 * @property {number} own probability of its own class
 * @property {number} sure probability of the answer
 * @property {string[]} pictures
 *
 * @typedef {object} ClassResult
 * @property {string} id
 * @property {number} right
 * @property {number} asked
 * @property {number} examples those that nothing was asked about included
 * @property {number} doubt mean probability of anything else
 * @property {number} repeats pictures beyond the first in bursts
 *
 * @typedef {object} Goodness
 * @property {number} right
 * @property {number} asked
 * @property {ClassResult[]} classes
 * @property {{truth: string, answer: string|null, trials: Verdict[]}[]} confusions the most frequent first
 * @property {Verdict[]} misfits the worst first
 * @property {{low: number, high: number, right: number, asked: number}[]} bands by how sure the answers were
 * @property {{id: string, why: 'alone'|'wrong'|'doubt'}|null} next the class of which one more picture probably helps most
 */

/** @param {Trial} trial @returns {Verdict} */
export function judge({ class: truth, pictures, classes, answer, none, decision }) {
  const best = classes.indexOf(decision.class);
  return { truth, answer: classes[best] ?? null, own: answer[classes.indexOf(truth)] ?? 0, sure: answer[best] ?? none, pictures };
}

/** @param {Trial[]} trials all of a session @returns {Goodness} */
export function goodnessOf(trials) {
  const verdicts = trials.filter(({ alone }) => !alone).map(judge);
  const classes = [...new Set(trials.map((trial) => trial.class))].map((id) => classResult(id, trials, verdicts));
  const wrong = verdicts.filter(({ truth, answer }) => answer !== truth);
  return {
    right: verdicts.length - wrong.length, asked: verdicts.length, classes, confusions: confusionsOf(wrong),
    misfits: verdicts.filter(({ own }) => own < MISFIT).sort((a, b) => a.own - b.own),
    bands: verdicts.length < ENOUGH ? [] : bandsOf(verdicts),
    next: nextOf(classes),
  };
}

/** @param {string} id @param {Trial[]} trials @param {Verdict[]} verdicts @returns {ClassResult} */
function classResult(id, trials, verdicts) {
  const mine = verdicts.filter(({ truth }) => truth === id);
  const all = trials.filter((trial) => trial.class === id);
  return {
    id, asked: mine.length, right: mine.filter(({ answer }) => answer === id).length, examples: all.length,
    doubt: mine.length ? mine.reduce((sum, { own }) => sum + 1 - own, 0) / mine.length : 1,
    repeats: all.reduce((sum, { pictures }) => sum + pictures.length - 1, 0),
  };
}

/** @param {Verdict[]} wrong */
function confusionsOf(wrong) {
  /** @type {Map<string, {truth: string, answer: string|null, trials: Verdict[]}>} */
  const pairs = new Map();
  for (const verdict of wrong) {
    const { truth, answer } = verdict;
    const key = JSON.stringify([truth, answer]);
    const pair = pairs.get(key) ?? { truth, answer, trials: [] };
    pair.trials.push(verdict);
    pairs.set(key, pair);
  }
  return [...pairs.values()].sort((a, b) => b.trials.length - a.trials.length);
}

/** @param {Verdict[]} verdicts */
function bandsOf(verdicts) {
  return BANDS.flatMap(([low, high]) => {
    const inside = verdicts.filter(({ sure }) => sure * 100 >= low && sure * 100 < high);
    if (inside.length < GROUP) return [];
    return [{ low, high: Math.min(100, high), asked: inside.length, right: inside.filter(({ truth, answer }) => truth === answer).length }];
  });
}

/**
 * The class that one more picture probably helps most: one with a single picture that counts; else the one with
 * the smallest share of right answers; where all are right the least sure of those with about the fewest pictures.
 *
 * @param {ClassResult[]} classes
 * @returns {Goodness['next']}
 */
function nextOf(classes) {
  const least = (/** @type {ClassResult[]} */ some, /** @type {(one: ClassResult) => number} */ by) => some.reduce((a, b) => (by(b) < by(a) ? b : a));
  if (!classes.some(({ asked, doubt }) => asked === 0 || doubt > SURE)) return null;
  const alone = classes.find(({ examples }) => examples === 1);
  if (alone) return { id: alone.id, why: 'alone' };
  const worst = least(classes, ({ right, asked, doubt }) => right / asked - doubt / 1000);
  if (worst.right < worst.asked) return { id: worst.id, why: 'wrong' };
  const fewest = Math.min(...classes.map(({ examples }) => examples));
  return { id: least(classes.filter(({ examples }) => examples <= AS_FEW * fewest), ({ doubt }) => -doubt).id, why: 'doubt' };
}

/** The headline. @param {Goodness} goodness */
export function headline({ right, asked }) {
  if (asked === 0) return `Add a second ${noun()} to a class to measure this.`;
  if (right < asked || asked === 1) return `${right} of ${asked} right`;
  return asked === 2 ? 'Both right' : `All ${asked} right`;
}

/**
 * Which class profits most from one more picture, as a sentence.
 *
 * @param {Goodness} goodness
 * @param {(id: string|null) => string} name
 */
export function advice({ next, classes, asked }, name) {
  if (classes.length === 1 && asked) return `“${name(classes[0].id)}” is the only class: add a second one to see how well they are told apart.`;
  if (!next && asked && classes.some(({ examples }) => examples < TELLING)) return `Every class is told apart well so far. To be sure, recognise new ${noun()}s.`;
  if (!next) return asked ? `Every class is told apart well: more ${noun()}s would change little.` : '';
  if (next.why === 'alone') return `Add one more ${noun()} to “${name(next.id)}”: it has only one that counts.`;
  const { right, asked: all } = /** @type {ClassResult} */ (classes.find(({ id }) => id === next.id));
  const why = next.why === 'wrong' ? `only ${right} of ${all} right, the smallest share` : `it is the least sure of the classes with few ${noun()}s`;
  return `One more ${noun()} of “${name(next.id)}” would probably help most: ${why}.`;
}

/** @param {Goodness['bands'][number]} band */
export function bandInWords({ low, high, right, asked }) {
  const said = high === 100 ? `at least ${low} % sure` : low === 0 ? `less than ${high} % sure` : `${low} to ${high} % sure`;
  return `Where it was ${said}, ${right} of ${counted(asked, 'answer')} were right.`;
}
