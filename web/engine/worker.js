// @ts-check
/**
 * The worker for long work. It predicts many pictures by the functions of wasm/exports, and learns
 * priors. ../library/batch.js describes the messages.
 */
import { answer, MetaqdaError } from '../base/remote.js';
import { paced } from '../base/task.js';
import { Exports } from './exports.js';
import { answered, DECISION } from './job.js';
import { startProgram } from './program.js';

/** @param {(runtime: string) => Promise<import('./contract.js').Runtime>} load takes the runtime's address from the window */
export function serve(load) {
  /** @type {Exports} */
  let engine;
  /** The classifier and the pictures: its handle, the number of pictures, and the numbers of each. */
  let [handle, n, d] = [0, 0, 0];

  /** @template T @param {string} name @param {number[]} args @param {(numbers: Float64Array, lines: string[]) => T[]} read */
  const ask = (name, args, read) => {
    if (handle === 0) throw new MetaqdaError('argument', 'There are no vectors yet: call classify with them first.');
    return answered(engine, engine.call(name, handle, n, d, ...args), [], { onProgress }, (numbers, _, lines) => read(numbers, lines.slice(0, -1)), 0, n);
  };

  /** @type {import('../base/remote.js').Handlers} */
  const handlers = {
    async start({ modules, runtime, name }) {
      const { methods, program } = await startProgram(modules, await load(runtime), 'batch', name);
      engine = new Exports(program, 'close other tabs and try again');
      engine.most = Infinity; // the pictures stay in the room
      handlers.learn = ([sessions, prior]) => methods.learn(sessions, prior);
    },
    open([file, prior, rows, dimension]) {
      engine.free('mq_free', handle);
      handle = 0; // also where the session cannot be opened
      handle = engine.open(file, prior ? engine.prior(prior) : '');
      [n, d] = [rows.length / Math.max(1, dimension), dimension];
      engine.reserve(4 * (rows.length + 2 * n)); // the sets of alike come after the pictures
      engine.floats.set(rows, engine.room / 4);
    },
    async classify([classes, out]) {
      const width = 1 + classes;
      const [probabilities, taken, doubtful] = [new Float64Array(n * width), new Int32Array(n), new Uint8Array(n)];
      /** Takes an answer and its decision. @param {number} i @param {Float64Array} numbers */
      const take = (i, numbers) => {
        probabilities.set(numbers.subarray(0, width), i * width);
        [taken[i], doubtful[i]] = numbers.subarray(width);
      };
      let next = 0;
      const headlines = await ask('mq_classify', [], (numbers, lines) => {
        for (let at = 0; at < numbers.length; at += width + DECISION) take(next++, numbers.subarray(at));
        return lines;
      });
      for (const [i, left] of out.entries()) {
        if (left.length === 0) continue;
        engine.doubles.set(without(probabilities.subarray(i * width, (i + 1) * width), left), engine.answer());
        headlines[i] = engine.text(engine.call('mq_decide', handle));
        take(i, engine.doubles.subarray(engine.answer()));
      }
      return { probabilities, taken, doubtful, headlines };
    },
    async suggest(count) {
      const [found] = await ask('mq_suggest', [count], (places, like) => [{ places: Array.from(places), like: like.map(Number) }]);
      return found;
    },
    alike(sets) {
      const places = sets.flatMap((/** @type {number[]} */ set) => [set.length, ...set]);
      engine.floats.set(places, engine.room / 4 + n * d);
      return ask('mq_alike', [places.length], (numbers) => {
        let at = 0;
        const next = () => numbers[at++];
        return sets.map(() => Array.from({ length: next() }, () => Array.from({ length: next() }, next)));
      });
    },
  };
  const tell = answer(handlers, { code: 'internal' });
  const onProgress = paced((progress) => tell('progress', progress));
}

/**
 * An answer after a person excluded some classes. These get zero; the other probabilities keep their ratios and sum to one. If nothing is
 * left, none gets one.
 *
 * @param {Iterable<number>} answer the probability of none, and of each class @param {number[]} out indices of classes
 */
export function without([none, ...classes], out) {
  for (const k of out) classes[k] = 0;
  const sum = none + classes.reduce((all, p) => all + p, 0);
  return sum === 0 ? [1, ...classes] : [none / sum, ...classes.map((p) => p * (1 / sum))];
}
