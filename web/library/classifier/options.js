// @ts-check
/** The types of a classifier's options and answers, and the checks of options. */
import { isAttached } from '../../base/attached.js';
import { MetaqdaError } from '../../base/remote.js';
import { isFile } from '../files.js';

/** @import {Classifier} from './classifier.js' */
/** @import {Vector} from '../vectors.js' */

/**
 * Turns inputs such as pictures or sounds into vectors. Files name an extractor only if it has an `id`.
 *
 * @template Input
 * @typedef {object} Extractor
 * @property {string | undefined} [id] names network, version and views: what was taught with one is not comparable with another
 * @property {string | undefined} [sha256]
 * @property {(input: Input) => Vector | Promise<Vector>} embed
 */

/**
 * @template [Input=unknown]
 * @typedef {object} Options
 * @property {Extractor<Input> | ((input: Input) => Vector | Promise<Vector>) | undefined} [extractor] for inputs other than vectors
 * @property {import('../files.js').File | undefined} [prior] a prior file that was learned for the
 *   extractor, or its address; without one, a general prior serves vectors of any length
 * @property {number | undefined} [nonePrior] prior probability of none of these, from 0 (never) to below 1; 0.2 if left out
 * @property {'standardise' | undefined} [scale] for tables whose columns have units of their own: subtracts the examples' mean from each
 *   number and divides by their standard deviation, anew after every change; numbers that are never negative first lose
 *   their long tail; rows of a batch count as examples do; only without `prior`
 * @property {string | undefined} [name] written into files
 * @property {((note: string) => void) | undefined} [onNote] called once if `scale` may help: if the columns of vectors of at most 256
 *   numbers differ in spread by more than a hundredfold, or vectors of at most 32 numbers in length by more than fourfold; `console.warn` if left out
 */

/** @typedef {import('../../engine/contract.js').Prediction} Prediction */

/**
 * @typedef {object} PredictedSet
 * @property {(string | null)[]} labels the most probable first, null for none of these; never empty
 * @property {number} examples number of left-out examples that the set rests on
 * @property {boolean} borrowed whether these are too few for the coverage: then the set rests on the
 * probabilities
 * @property {Prediction} prediction
 */

/**
 * @typedef {object} Near an example near a vector
 * @property {string} id
 * @property {string} label its class
 * @property {number} distance Euclidean, of whitened vectors
 * @property {boolean} near close enough to be in one burst
 */

/**
 * @typedef {object} LeftOut the prediction for an example as if it had not been added
 * @property {string} id
 * @property {string} label its own class
 * @property {Prediction | null} prediction null for the only example of all
 */

/**
 * @typedef {object} Influence an example that looks like another class, and how the answers to the others change without it
 * @property {string[]} ids one, or the frames of a burst
 * @property {string} label its own class
 * @property {string} like the class that fits better
 * @property {number} odds natural logarithm of p(like)/p(label), above 0, after leaving it out
 * @property {number} asked how many other examples were predicted with it and without it
 * @property {number} right how many more of these are right without it; below 0: fewer
 * @property {number} logProbability change of the mean natural logarithm of p(own class) of these
 */

/**
 * @typedef {object} Need the class that needs another example most
 * @property {string} label
 * @property {string | null} confusedWith the class that it is confused with most, null if that is not known
 * @property {number} doubt mean probability of other classes for its examples, each left out. For a class with few examples
 *   it is shrunk to the mean of all classes
 */

/**
 * @typedef {object} Explanation how much each place of a picture speaks for a class against another
 * @property {string} label
 * @property {string | null} against null for none of the classes
 * @property {number} score log odds of both, before the temperature of the session: the sum of all values and `rest`
 * @property {number} rest the part that belongs to no place
 * @property {(import('../../extractor/session.js').View & {values: Float64Array})[]} views what each cell adds to `score`, row by row
 */

/**
 * @typedef {object} Anomaly whether a picture is like the examples of the only class
 * @property {number} wrong the probability that something is wrong with it, if half of all pictures are bad
 * @property {number} good number of examples that it was compared with
 * @property {(import('../../extractor/session.js').View & {values: Float64Array})[]} views how far each cell is from all
 *   cells of the examples, row by row; 1 for the farthest ones of an example
 */

/**
 * @typedef {object} ExampleOptions
 * @property {string | undefined} [group] examples of a class with the same one are frames of one burst, or views of one thing, and count as one
 * @property {Uint8Array | null | undefined} [thumbnail] bytes of a small picture (JPEG, PNG or WebP), kept with the example in files and storage
 */

/** @typedef {{signal?: AbortSignal | undefined}} CallOptions */
/** @typedef {{onProgress?: ((progress: {done: number, total: number}) => void) | undefined} & CallOptions} BatchOptions progress is counted in steps of the work */

/** @typedef {[what: string, is: (x: any) => boolean]} Kind of an option: what it must be, in words, and whether it is that */

const isObject = (/** @type {unknown} */ x) => typeof x === 'object' && x !== null && !Array.isArray(x);
/** @type {Kind} */ export const TEXT = ['a string', (x) => typeof x === 'string'];
/** @type {Kind} */ export const TRUTH = ['true or false', (x) => typeof x === 'boolean'];
/** @type {Kind} */ export const FUNCTION = ['a function', (x) => typeof x === 'function'];
/** @type {Kind} */ export const FILE = ['a URL, an address, a Response, a Blob or bytes', isFile];
/** @type {Kind} */ const EXTRACTOR = [
  'a function, or an object with the method embed; its id and sha256 are strings',
  (x) => typeof (x?.embed ?? x) === 'function' && [x.id, x.sha256].every((one) => one === undefined || typeof one === 'string'),
];

// The options of each call.
/** @satisfies {Record<string, Kind>} */
export const SETTINGS = { nonePrior: ['a finite number', Number.isFinite] };
/** @satisfies {Record<string, Kind>} */
export const OPENING = { extractor: EXTRACTOR, prior: FILE };
/** @satisfies {Record<string, Kind>} */
export const OPTIONS = { ...OPENING, scale: ["'standardise'", (x) => x === 'standardise'], name: TEXT, onNote: FUNCTION, ...SETTINGS };
/** @satisfies {Record<string, Kind>} */
export const CALL = { signal: ['an AbortSignal', (x) => typeof x?.throwIfAborted === 'function'] };
/** @satisfies {Record<string, Kind>} */
export const SET = { ...CALL, coverage: ['a number between 0 and 1', (x) => Number.isFinite(x) && x > 0 && x < 1] };
/** @satisfies {Record<string, Kind>} */
export const BATCH = { ...CALL, onProgress: FUNCTION };
/** @param {unknown} x */
export const isCount = (x) => Number.isInteger(x) && Number(x) >= 0;
/** @satisfies {Record<string, Kind>} */
export const SUGGEST = { ...BATCH, count: ['a whole number from 0 on', isCount] };
/** @satisfies {Record<string, Kind>} */
export const EXPLAIN = { label: TEXT, against: ['a string or null', (x) => x === null || typeof x === 'string'] };
/** @satisfies {Record<string, Kind>} */
export const EXAMPLE = {
  group: TEXT,
  thumbnail: ['a Uint8Array, whose buffer was not transferred', (x) => x === null || (x instanceof Uint8Array && isAttached(x))],
};
/** @satisfies {Record<string, Kind>} */
export const ADD = { ...EXAMPLE, ...CALL };

/**
 * Throws for an unknown option, and for one of a wrong kind.
 *
 * @param {unknown} options none if undefined @param {Record<string, Kind>} kinds
 */
export function known(options, kinds) {
  if (options === undefined) return;
  if (!isObject(options)) throw new MetaqdaError('argument', `The options are ${kindOf(options)}: they must be an object, such as {}, or be left out.`);
  for (const [name, value] of Object.entries(/** @type {object} */ (options))) {
    if (!Object.hasOwn(kinds, name)) throw new MetaqdaError('argument', `There is no option '${name}': choose among ${Object.keys(kinds).join(', ')}.`);
    const [what, is] = kinds[name];
    if (value !== undefined && !is(value))
      throw new MetaqdaError('argument', `The option ${name} is ${kindOf(value)}: it must be ${what}, or be left out for the default.`);
  }
}

/** @param {unknown} s @param {string} what */
export function text(s, what) {
  if (typeof s === 'string') return s;
  const number = typeof s === 'number' || typeof s === 'bigint';
  throw new MetaqdaError('argument', `The ${what} is ${number ? s : kindOf(s)}: it must be a string${number ? `, such as '${s}'` : ''}.`);
}

/** Names a value of a wrong kind, for a message: a number or a short string by itself, anything else by its kind. @param {unknown} x */
export function kindOf(x) {
  if (x === null || x === undefined || typeof x === 'number') return `${x}`;
  if (x === '') return 'an empty string';
  if (typeof x === 'string' && x.length <= 40) return `'${x}'`;
  return Array.isArray(x) ? 'an array' : `a${typeof x === 'object' ? 'n' : ''} ${typeof x}`;
}

/**
 * A classifier outside this thread: the methods of a Classifier, with the same arguments in the same order, as
 * promises. It lacks synchronous methods (`…Sync`, `watch`).
 *
 * @template [Input=unknown]
 * @typedef {{[K in Exclude<keyof Classifier, `${string}Sync` | Inputs | 'merge' | 'watch'>]: Classifier[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : Promise<Classifier[K]>}
 *   & Pick<Classifier<Input>, Inputs>} RemoteMethods
 */
/** @typedef {'embed' | 'addExample' | 'addExamples' | 'predict' | 'predictSet' | 'predictMany' | 'classify' | 'suggest' | 'leaveOneOut' | 'influence' | 'needs'} Inputs methods that return promises already; most of them take inputs to embed */
