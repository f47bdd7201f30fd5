// @ts-check
/** A watch: what comes and goes in a stream of predictions. core/watch has the model. */
import { MetaqdaError } from '../../base/remote.js';
import { record } from './answers.js';
import { FUNCTION, kindOf, known } from './options.js';

/** @import {Exports} from '../../engine/exports.js' */
/** @import {Prediction} from './options.js' */

/** @typedef {import('../../engine/contract.js').WatchEvent} WatchEvent */

/**
 * @typedef {object} WatchOptions
 * @property {number | undefined} [falseEventsPerHour] about how many false events an hour are allowed, 1 if left out; the more, the
 *   less is missed
 * @property {((event: WatchEvent) => void) | undefined} [onEvent] is called for each event. If it throws, `next` throws the
 *   same after the last event
 */

/** @satisfies {Record<string, import('./options.js').Kind>} */
export const WATCH = { falseEventsPerHour: ['a positive number', (x) => Number.isFinite(x) && x > 0], onEvent: FUNCTION };

/**
 * @typedef {object} Shown what to show of a live view
 * @property {string | null} decision label of a class, null for none of these
 * @property {string} headline a sentence about it, empty without an answer
 * @property {string | null} first label of the answer that the headline names first, null for none of these
 * @property {Readonly<Record<string, number>> | null} probabilities of the classes, null without an answer
 * @property {number} none probability of none of these
 */
/** @type {Shown} */
const NOTHING = { decision: null, headline: '', first: null, probabilities: null, none: 0 };

/** Follows one stream. Classes and examples of its classifier may change meanwhile. Get one from `classifier.watch()`. */
export class Watch {
  #engine;
  #number;
  #labels;
  #onEvent;
  /** @type {string | null} */
  #here = null;
  /** @type {Shown} */
  #shown = NOTHING;

  /** @internal @param {Exports} engine @param {number} handle of the classifier @param {() => string[]} labels @param {WatchOptions} [options] */
  constructor(engine, handle, labels, options) {
    known(options, WATCH);
    this.#engine = engine;
    this.#labels = labels;
    this.#onEvent = options?.onEvent;
    this.#number = engine.call('mq_watch', handle, options?.falseEventsPerHour ?? 1);
  }

  /**
   * Takes the next prediction and returns what has come or gone, mostly nothing. Call it some four times a second, for
   * every prediction; more often changes little.
   *
   * @param {Pick<Prediction, 'probabilities'> | null} prediction of the classifier as it is now; null where there was
   *   nothing to ask about, such as no hand
   * @param {number} [seconds] its time, on any clock that never runs backwards; `performance.now()` if left out
   * @returns {WatchEvent[]}
   */
  next(prediction, seconds = performance.now() / 1000) {
    const engine = this.#engine;
    if (this.#number === 0) throw new MetaqdaError('disposed', 'This watch was disposed of: get another one from classifier.watch().');
    if (typeof seconds !== 'number')
      throw new MetaqdaError('argument', `The time is ${kindOf(seconds)}: it must be a number of seconds, or be left out to use performance.now().`);
    const labels = this.#labels();
    engine.reserve(8 * labels.length);
    if (prediction !== null) {
      const probabilities = prediction?.probabilities;
      if (typeof probabilities !== 'object' || probabilities === null)
        throw new MetaqdaError('argument', `There is ${kindOf(prediction)} in place of a prediction: hand over what predict answers, after await, or null.`);
      if (labels.length === 0 || Object.keys(probabilities).length !== labels.length || !labels.every((label) => typeof probabilities[label] === 'number')) {
        throw new MetaqdaError('argument', 'The prediction is for other classes than there are now: predict again after every change of classes.');
      }
      labels.forEach((label, i) => {
        engine.doubles[engine.room / 8 + i] = probabilities[label];
      });
    }
    const n = engine.call('mq_next', this.#number, seconds, prediction === null ? -1 : labels.length);
    const numbers = engine.doubles.slice(engine.answer(), engine.answer() + 3 * n + 3 + labels.length);
    const lines = engine.text(numbers[3 * n]).split('\n');
    this.#here = lines[n] || null;
    this.#shown = lines[n + 2]
      ? {
          decision: lines[n + 1] || null,
          headline: lines[n + 2],
          first: labels[numbers[3 * n + 1]] ?? null,
          probabilities: Object.freeze(record(labels, (i) => numbers[3 * n + 3 + i])),
          none: numbers[3 * n + 2],
        }
      : NOTHING;
    const events = Array.from({ length: n }, (_, i) => ({
      label: lines[i],
      here: numbers[3 * i] === 1,
      since: numbers[3 * i + 1],
      probability: numbers[3 * i + 2],
    }));
    /** @type {unknown[]} */
    const errors = [];
    for (const event of events) {
      try {
        this.#onEvent?.(event);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
    return events;
  }

  /** The label of the class that was here by the last prediction, or null. @returns {string | null} */
  get here() {
    return this.#here;
  }

  /**
   * The answer to show in a live view, since single answers flicker. It names the class that is here. While none is here, the decision
   * is by `probabilities`, a moving average of the last answers.
   *
   * @returns {Shown}
   */
  get shown() {
    return { ...this.#shown };
  }

  /** Frees what the watch holds; disposing of the classifier does, too. Calls afterwards throw. */
  dispose() {
    this.#engine.free('mq_unwatch', this.#number);
    this.#number = 0;
  }
}
