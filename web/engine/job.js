// @ts-check
/** Runs jobs of the engine step by step, and yields to the event loop between the steps. */
import { nextTask, rests } from '../base/task.js';

/** @import {Exports} from './exports.js' */

// The results of mq_step: LAST with the last answers, WORKING with the progress. The result is 2 if more answers
// follow.
const [LAST, WORKING] = [0, 1];

/** Numbers of a decision, which follow the probabilities of an answer. */
export const DECISION = 3;

/**
 * Runs a job to its end and returns its answers.
 *
 * @template T
 * @param {Exports} engine @param {number} job its number
 * @param {string[]} labels of the classes when it was asked
 * @param {{onProgress?: (progress: {done: number, total: number}) => void, signal?: AbortSignal} | undefined} options
 * @param {(numbers: Float64Array, labels: string[], lines: string[]) => T[]} read reads some of the answers
 * @param {number} done steps of the work that are done @param {number} count steps that the job is
 * @returns {Promise<T[]>}
 */
export async function answered(engine, job, labels, options, read, done, count) {
  const { onProgress, signal } = options ?? {};
  const total = done + count;
  engine.share(); // the program stays even if the classifier is disposed of meanwhile
  try {
    await nextTask(); // passing the batch took a while
    const rest = rests(signal);
    /** @type {T[]} */
    const answers = [];
    for (;;) {
      engine.reserve(0);
      const step = engine.call('mq_step', job);
      const at = engine.answer();
      const [first, second] = engine.doubles.subarray(at, at + 2);
      if (step === WORKING) {
        onProgress?.({ done: done + Math.floor(count * (first / second)), total });
      } else {
        for (const answer of read(engine.doubles.subarray(at + 2, at + 2 + first), labels, engine.text(second).split('\n'))) answers.push(answer);
      }
      if (step === LAST) break;
      await rest();
    }
    onProgress?.({ done: total, total });
    return answers;
  } finally {
    engine.free('mq_stop', job);
    engine.release();
  }
}

/**
 * Does the work that the first answer after a change needs, piece by piece, and yields to the event loop in between.
 *
 * @param {Exports} engine @param {() => boolean} more does a piece, and says whether there is more to do
 * @param {AbortSignal} [signal]
 */
export async function prepared(engine, more, signal) {
  const rest = rests(signal);
  const next = () => {
    engine.reserve(0);
    return more();
  };
  do {
    while (next()) await rest();
    await rest(); // after the last piece too, and something may change meanwhile
  } while (next());
}
