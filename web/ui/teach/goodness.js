// @ts-check
/**
 * Sums up the predictions of each example by a session without it. An example is a
 * picture, or a burst of near-copies. It is right if the decision is its own class.
 */
import { counted, noun } from '../kit/dom.js';

/** @import {Influence, LeftOut, Need, Prediction} from '../../library/index.js' */

/** Least number of trials for the comparison of percentages with results. */
const ENOUGH = 30;
/** Least number of trials in a shown group of answers. */
const GROUP = 8;
/** If the doubt of every class is below this, more pictures change little. */
const SURE = 0.1;
/** A class with fewer examples shows little, even if all are right. */
const TELLING = 4;
/** Least probability of each group of answers, in percent. */
const BANDS = [
  [95, 101],
  [80, 95],
  [50, 80],
  [0, 50],
];

/**
 * @typedef {object} Trial an example, or a burst of near-copies, predicted without itself
 * @property {string} label of its class
 * @property {string[]} ids
 * @property {Prediction|null} prediction
 *
 * @typedef {{need: Need|null, influence: Influence[]}} Review
 *
 * @typedef {object} Verdict of one trial
 * @property {string} truth label of its class
 * @property {string|null} answer label of the class that it is taken for, null for none of these
 * @property {number} own probability of its own class
 * @property {number} sure probability of the answer
 * @property {string[]} ids
 *
 * @typedef {object} ClassResult
 * @property {string} label
 * @property {number} right
 * @property {number} asked
 * @property {number} examples including those that were not predicted
 * @property {number} doubt mean probability of anything else
 * @property {number} repeats pictures beyond the first in bursts
 *
 * @typedef {object} Goodness
 * @property {number} right
 * @property {number} asked
 * @property {ClassResult[]} classes
 * @property {{truth: string, answer: string|null, trials: Verdict[]}[]} confusions the most frequent first
 * @property {{low: number, high: number, right: number, asked: number}[]} bands by how sure the answers were
 */

/** One trial for each burst, whose examples have one answer. @param {LeftOut[]} all @returns {Trial[]} */
export function trialsOf(all) {
  /** @type {Trial[]} */
  const trials = [];
  for (const { id, label, prediction } of all) {
    const last = trials.at(-1);
    if (last && last.label === label && last.prediction === prediction) last.ids.push(id);
    else trials.push({ label, ids: [id], prediction });
  }
  return trials;
}

/** @param {string} truth @param {string[]} ids @param {Pick<Prediction, 'probabilities' | 'none' | 'decision'>} prediction @returns {Verdict} */
export function judge(truth, ids, { probabilities, none, decision: answer }) {
  return { truth, answer, own: probabilities[truth] ?? 0, sure: answer === null ? none : probabilities[answer], ids };
}

/** @param {Trial[]} trials all of a session @returns {Goodness} */
export function goodnessOf(trials) {
  /** Trials of each class. @type {Map<string, number>} */
  const count = new Map();
  for (const { label } of trials) count.set(label, (count.get(label) ?? 0) + 1);
  const verdicts = trials.flatMap(({ label, ids, prediction }) => (prediction && count.get(label) !== 1 ? [judge(label, ids, prediction)] : [])); // without its only example, a class cannot be recognised
  const classes = [...count.keys()].map((label) => classResult(label, trials, verdicts));
  const wrong = verdicts.filter(({ truth, answer }) => answer !== truth);
  return {
    right: verdicts.length - wrong.length,
    asked: verdicts.length,
    classes,
    confusions: confusionsOf(wrong),
    bands: verdicts.length < ENOUGH ? [] : bandsOf(verdicts),
  };
}

/** @param {string} label @param {Trial[]} trials @param {Verdict[]} verdicts @returns {ClassResult} */
function classResult(label, trials, verdicts) {
  const mine = verdicts.filter(({ truth }) => truth === label);
  const all = trials.filter((trial) => trial.label === label);
  return {
    label,
    asked: mine.length,
    right: mine.filter(({ answer }) => answer === label).length,
    examples: all.length,
    doubt: mine.length ? mine.reduce((sum, { own }) => sum + 1 - own, 0) / mine.length : 1,
    repeats: all.reduce((sum, { ids }) => sum + ids.length - 1, 0),
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

/** The headline. @param {Goodness} goodness @param {boolean} [compared] whether new pictures are compared part by part with the only class; this measurement compares whole pictures */
export function headline({ right, asked, classes }, compared = false) {
  if (classes.length === 1 && asked)
    return `${right} of ${asked} recognised as “${classes[0].label}”${compared ? ' as a whole, not part by part' : ''}. Other things were not tried.`;
  if (asked === 0) return `Add a second, different ${noun()} to a class to measure this.`;
  if (right < asked || asked === 1) return `${right} of ${asked} right`;
  return asked === 2 ? 'Both right' : `All ${asked} right`;
}

/**
 * Says which class profits most from one more picture.
 *
 * @param {Goodness} goodness
 * @param {Review['need']} need
 */
export function advice({ classes, asked, confusions }, need) {
  if (classes.length === 1 && asked)
    return `Only “${classes[0].label}” has examples. With more good ${noun()}s the page knows better what belongs to it. With a second class it tells the two apart.`;
  const one = classes.find(({ label }) => label === need?.label);
  const well = !one || !classes.some(({ asked: some, doubt }) => some === 0 || doubt > SURE);
  if (well && asked && classes.some(({ examples }) => examples < TELLING))
    return `All classes are told apart well so far. To be sure, recognise new ${noun()}s.`;
  if (well) return asked ? `All classes are told apart well: more ${noun()}s would change little.` : '';
  if (one.examples === 1) return `Add a different ${noun()} to “${one.label}”: it has only one that counts.`;
  const tell = toTell(confusions.find(({ truth }) => truth === one.label)?.answer, need?.confusedWith);
  return `One more ${noun()} of “${one.label}” would probably help most${tell}.`;
}

/**
 * Names the answer from which more pictures would tell a class: its most frequent mistake, else the class
 * that it is most like.
 *
 * @param {string|null|undefined} mistake null for none of these, undefined without mistakes
 * @param {string|null|undefined} like
 */
function toTell(mistake, like) {
  if (mistake === null) return ': some were taken for none of these';
  const other = mistake ?? like;
  return other ? `, to tell it from “${other}”` : '';
}

/** Examples that look like another class, as a sentence. @param {Influence} one */
export function spoilsInWords({ label, like, ids: { length: n }, right, logProbability }) {
  const without = n === 1 ? 'Without it' : 'Without them';
  const some = (/** @type {string} */ word) => `${without} ${Math.abs(right)} ${word} of the others would be right.`;
  const change =
    right > 0
      ? some('more')
      : right < 0
        ? `${some('fewer')} Keep ${n === 1 ? 'it' : 'them'} if the class is right.`
        : `${without} the others would be ${logProbability > 0 ? 'surer' : 'no surer'}.`;
  return `${n === 1 ? 'Taught' : `${counted(n, noun())} that are nearly the same, taught`} as “${label}”, more like “${like}”. ${change}`;
}

/** @param {Goodness['bands'][number]} band */
export function bandInWords({ low, high, right, asked }) {
  const said = high === 100 ? `at least ${low} % sure` : low === 0 ? `less than ${high} % sure` : `${low} to ${high} % sure`;
  return `Where it was ${said}, ${right} of ${counted(asked, 'answer')} were right.`;
}
