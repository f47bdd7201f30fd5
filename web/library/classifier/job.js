// @ts-check
/** What the engine answers in steps, between which the thread is free. */
import { nextTask, rests } from '../../base/task.js';
import { release, share } from '../engine.js';
import { decoder } from './answers.js';

/** @import {Engine} from '../engine.js' */
/** @import {BatchOptions} from './options.js' */

/**
 * @template T
 * @param {Engine} engine @param {number} job its number
 * @param {string[]} labels of the classes when it was asked
 * @param {BatchOptions | undefined} options
 * @param {(numbers: Float64Array, labels: string[], lines: string[]) => T[]} read reads the answer
 * @param {number} done steps of the work that are done @param {number} count steps that the job is
 * @returns {Promise<T[]>}
 */
export async function answered(engine, job, labels, options, read, done, count) {
  const { onProgress, signal } = options ?? {};
  const total = done + count;
  share(); // whatever becomes of the classifier meanwhile
  try {
    await nextTask(); // to hand the batch over took a while
    const rest = rests(signal);
    for (;;) {
      engine.reserve(0);
      const more = engine.call('mq_step', job);
      const at = engine.answer();
      const [first, second] = engine.doubles.subarray(at, at + 2);
      if (!more) {
        const answers = read(engine.doubles.subarray(at + 2, at + 2 + first), labels, decoder.decode(engine.reply(second)).split('\n'));
        onProgress?.({ done: total, total });
        return answers;
      }
      onProgress?.({ done: done + Math.floor(count * (first / second)), total });
      await rest();
    }
  } finally {
    engine.free('mq_stop', job);
    release();
  }
}
