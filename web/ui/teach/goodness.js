// @ts-check
/**
 * What leaving each example out in turn tells, in words first. An example is a
 * picture, or a burst of pictures that are nearly the same; it is right where a session
 * that was never taught it takes it for its own class.
 */
import { counted } from '../kit/dom.js';

/** @typedef {import('../../library/types.js').Trial} Trial */

/** From how many trials on answers are sorted by how sure they were; fewer tell nothing. */
const ENOUGH = 30;
/** Least trials in a group of answers that is told. */
const GROUP = 8;
/** Classes with no more than so many times the fewest pictures have as few: of 24 and 23 neither lacks one. */
const AS_FEW = 1.2;
/** Below this probability of its own class an example fits badly. */
const MISFIT = 0.2;
/** Where every class is in doubt by less than this, more pictures change little. */
const SURE = 0.1;
/** With fewer in a class, all being right is no more than a good sign. */
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
 * @property {{id: string, why: 'alone'|'fewest'|'doubt'}|null} next the class of which one more picture probably helps most
 */

/** @param {Trial} trial @returns {Verdict} */
export function judge({ class: truth, pictures, classes, answer, none, decision }) {
  const best = classes.indexOf(decision.class);
  return { truth, answer: classes[best] ?? null, own: answer[classes.indexOf(truth)] ?? 0, sure: answer[best] ?? none, pictures };
}

/**
 * @param {Trial[]} trials all of a session
 * @returns {Goodness}
 */
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
 * The class with the fewest pictures that count, of several that have about as few the
 * one that is least sure of its own. Six classes of each of 30 sets, 270 sessions, priors without the family, six
 * more pictures, each of the class named here: 77.0 % right in the end where the classes
 * began with one to four (72.2 before; 75.8 after six pictures of random classes, 76.4
 * after six of the least sure one), 75.8 where all began with two (75.4, 75.1), 78.4 with
 * three (78.4, 78.0).
 *
 * @param {ClassResult[]} classes
 * @returns {Goodness['next']}
 */
function nextOf(classes) {
  if (!classes.some(({ asked, doubt }) => asked === 0 || doubt > SURE)) return null;
  const fewest = Math.min(...classes.map(({ examples }) => examples));
  const few = classes.filter(({ examples }) => examples <= AS_FEW * fewest);
  const { id } = few.reduce((a, b) => (b.doubt > a.doubt ? b : a));
  return { id, why: fewest === 1 ? 'alone' : few.length === 1 ? 'fewest' : 'doubt' };
}

/** The headline. @param {Goodness} goodness */
export function headline({ right, asked }) {
  if (asked === 0) return 'Teach a second picture of a class, and this can be told.';
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
  if (classes.length === 1 && asked) return `“${name(classes[0].id)}” has nothing to be taken for but none of these: teach a second class to see how well they are told apart.`;
  if (!next && asked && classes.some(({ examples }) => examples < TELLING)) return 'Every class is told apart well, as far as so few pictures can tell: ask it about new ones.';
  if (!next) return asked ? 'Every class is told apart well: more pictures would change little.' : '';
  if (next.why === 'alone') return `One more picture of “${name(next.id)}” would tell most: it has only one that counts.`;
  const one = classes.find(({ id }) => id === next.id);
  const why = next.why === 'fewest' ? `it has the fewest, ${one?.examples}`
    : `no class has many fewer, and it is the least sure of them (${one?.right} of ${one?.asked} right)`;
  return `One more picture of “${name(next.id)}” would probably help most: ${why}.`;
}

/** @param {Goodness['bands'][number]} band */
export function bandInWords({ low, high, right, asked }) {
  const said = high === 100 ? `at least ${low} % sure` : low === 0 ? `less than ${high} % sure` : `${low} to ${high} % sure`;
  return `Where it was ${said}, ${right} of ${counted(asked, 'answer')} were right.`;
}
