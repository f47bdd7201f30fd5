// @ts-check
/** The program that keeps sessions, with the classifier of the open one. */
import { MetaqdaError } from '../base/remote.js';
import { Classifier } from './classifier/classifier.js';
import { kindOf, known } from './classifier/options.js';
import { WATCH } from './classifier/watch.js';
import { vectorOf } from './vectors.js';

/** @import {Vector} from './vectors.js' */
/** @typedef {import('../engine/contract.js').LoadedEngine} Program */
/**
 * @typedef {object} Teaching
 * @property {Classifier} taught the classifier of the open session; changes go through `stored`
 * @property {<T>(change: (taught: Classifier) => T, step?: {undo: string}) => Promise<{result: Awaited<T>, undo: string}>} stored calls a
 *   function at once, which may change the classifier, and answers once that is stored. `undo` is the id of the step for `taught.undo`, empty
 *   without one or within `beginStep` and `endStep`. Changes with the same `step`, at first `{undo: ''}`, are one undo step: its id is
 *   noted there. It rejects if another tab was quicker
 */

/**
 * @typedef {object} LiveView methods that take any vector
 * @property {(vector: Vector | null) => Promise<import('../engine/contract.js').Prediction | null>} show predicts; null ends the live view
 * @property {(vector: Vector | null, falseEventsPerHour?: number) => Promise<import('../engine/contract.js').Live>} frame predicts the next frame of a live
 *   view, and returns what came and went. `falseEventsPerHour` is above 0, and 1 if left out
 */

/** Ids of steps, for calls that come before the id is noted. @type {WeakMap<{undo: string}, string>} */
const begun = new WeakMap();

/** @param {{undo: string}} step @returns {string} */
function idOf(step) {
  const id = step.undo || (begun.get(step) ?? crypto.getRandomValues(new BigUint64Array(1))[0].toString(16));
  begun.set(step, id);
  return id;
}

/** @param {Program} program @returns {Omit<Program, keyof LiveView> & LiveView & Teaching} */
export function session(program) {
  const taught = new Classifier(program.exports, 0, undefined);
  const { frame, show } = /** @type {any} */ (program);
  return Object.assign(program, {
    taught,
    show: async (/** @type {Vector | null} */ x) => show(x === null ? null : vectorOf(x)),
    async frame(/** @type {Vector | null} */ x, /** @type {number | undefined} */ falseEventsPerHour) {
      known({ falseEventsPerHour }, WATCH);
      return frame(x === null ? null : vectorOf(x), falseEventsPerHour);
    },
    async stored(/** @type {(taught: Classifier) => any} */ change, /** @type {{undo: string} | undefined} */ step) {
      if (typeof change !== 'function') throw new MetaqdaError('argument', `The change is ${kindOf(change)}: it must be a function of the classifier.`);
      if (step !== undefined && typeof step?.undo !== 'string')
        throw new MetaqdaError(
          'argument',
          `The undo of the step is ${kindOf(step?.undo)}: hand over one object { undo: '' } for all its changes, or leave it out.`,
        );
      if (step) program.beginStep(idOf(step)).catch(() => {}); // if the program has ended, the change says so
      const changed = new Promise((resolve) => {
        resolve(change(taught));
      }); // a throw becomes a rejection: what was changed before it is stored, too
      const ended = step && program.endStep();
      const kept = Promise.all([changed, program.kept()]); // in the same turn, since kept() is about the calls just before it
      kept.catch(() => {}); // awaited below
      if (step) step.undo = (await ended)?.undo || step.undo;
      const [result, { undo }] = await kept;
      return { result, undo };
    },
  });
}
