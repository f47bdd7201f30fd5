// @ts-check
/** Reads the replies of the engine of engine.js. */

import { MetaqdaError } from '../../base/remote.js';
import { DECISION } from '../../engine/job.js';
import { isCount } from './options.js';

/** @import {Explanation, Influence, LeftOut, Near, Need, Prediction} from './options.js' */
/** @import {Cells, View} from '../../extractor/session.js' */

const decoder = new TextDecoder();

/** Makes a record by label, without a prototype: a label may be any text. @template T @param {string[]} labels @param {(i: number) => T} value @returns {Record<string, T>} */
export function record(labels, value) {
  /** @type {Record<string, T>} */
  const all = Object.create(null);
  labels.forEach((label, i) => {
    all[label] = value(i);
  });
  return all;
}

/**
 * With at least so many classes, a prediction makes its record of probabilities when the record is first read.
 * Otherwise thousands of predictions of a thousand classes would keep the garbage collector busy for seconds.
 */
const MANY = 100;

/**
 * @param {string[]} labels @param {Float64Array | number[]} numbers @param {number} at of none; the classes follow, and the decision
 * @param {string} headline
 * @returns {Prediction}
 */
export function prediction(labels, numbers, at, headline) {
  const n = labels.length;
  const values = numbers.slice(at + 1, at + 1 + n);
  const [taken, doubtful, first] = numbers.slice(at + 1 + n, at + 1 + n + DECISION);
  let best = 0;
  for (let i = 1; i < n; i++) if (values[i] > values[best]) best = i;
  const probabilities = () => record(labels, (i) => values[i]);
  const answer = {
    label: labels[best],
    probabilities: n < MANY ? probabilities() : {},
    none: numbers[at],
    decision: labels[taken] ?? null,
    doubtful: doubtful === 1,
    headline,
    first: labels[first] ?? null,
  };
  if (n >= MANY) lazily(answer, 'probabilities', probabilities);
  return answer;
}

/** Defines a property that gets the result of `make` when it is first read. The object may be frozen. @param {object} of @param {string} name @param {() => unknown} make */
function lazily(of, name, make) {
  /** @type {unknown} */
  let value;
  Object.defineProperty(of, name, {
    get: () => (value ??= make()),
    set: (other) => {
      value = other;
    },
    enumerable: true,
    configurable: true,
  });
}

/**
 * The vectors of cells and their length, which must fit their views.
 *
 * @param {Pick<Cells, 'values' | 'views'>} cells
 */
export function checkCells(cells) {
  const { values, views } = cells ?? {};
  const fit = Array.isArray(views) && views.every((view) => isCount(view?.rows) && isCount(view.columns));
  const n = fit ? views.reduce((sum, { rows, columns }) => sum + rows * columns, 0) : 0;
  if (values instanceof Float32Array && n > 0 && values.length > 0 && values.length % n === 0) return { values, dimension: values.length / n };
  throw new MetaqdaError(
    'argument',
    'These are not cells: hand over what the method cells of an extractor answers, or one Float32Array `values` with the cells of all `views`, row by row.',
  );
}

/**
 * @param {ArrayLike<number>} cells what each adds, view by view @param {View[]} views
 * @returns {Explanation['views']}
 */
export function byView(cells, views) {
  let at = 0;
  return views.map((view) => ({ ...view, values: Float64Array.from({ length: view.rows * view.columns }, () => cells[at++]) }));
}

/**
 * Reads the answer of mq_nearest.
 *
 * @param {Float64Array} numbers @param {number} at where they begin @param {string[]} lines ids and labels
 * @returns {Near[]}
 */
export const nearOf = (numbers, at, lines) =>
  Array.from({ length: lines.length / 2 }, (_, i) => ({
    id: lines[2 * i],
    label: lines[2 * i + 1],
    distance: numbers[at + 2 * i],
    near: numbers[at + 2 * i + 1] === 1,
  }));

/**
 * Reads the answer of mq_leave_one_out.
 *
 * @param {Float64Array} numbers @param {string[]} labels @param {string[]} lines headlines and then ids
 * @returns {LeftOut[]}
 */
export function leftOut(numbers, labels, lines) {
  const each = 4 + labels.length + DECISION;
  const n = numbers.length / each;
  let next = n;
  return lines.slice(0, n).flatMap((headline, i) => {
    const [size, own, asked] = numbers.subarray(i * each);
    const answer = asked === 1 ? prediction(labels, numbers, i * each + 3, headline) : null;
    return lines.slice(next, (next += size)).map((id) => ({ id, label: labels[own], prediction: answer }));
  });
}

/**
 * Reads the answer of mq_influence.
 *
 * @param {Float64Array} numbers @param {string[]} labels @param {string[]} lines ids
 * @returns {{need: Need | null, influence: Influence[]}}
 */
export function influenceOf(numbers, labels, lines) {
  const [class_, other, doubt] = numbers;
  const influence = [];
  for (let i = 3, next = 0; i < numbers.length; i += 7) {
    const [size, own, like, odds, asked, right, logProbability] = numbers.subarray(i);
    influence.push({ ids: lines.slice(next, (next += size)), label: labels[own], like: labels[like], odds, asked, right, logProbability });
  }
  return { need: class_ < 0 ? null : { label: labels[class_], confusedWith: labels[other] ?? null, doubt }, influence };
}

/** Reads the reply of mq_describe. @param {Uint8Array<ArrayBuffer>} reply */
export function describe(reply) {
  const view = new DataView(reply.buffer);
  const [dimension, nonePrior, scaled, n] = [view.getUint32(0, true), view.getFloat64(4, true), view.getUint32(12, true), view.getUint32(16, true)];
  const [undo, redo, ...lines] = decoder.decode(reply.subarray(20 + 4 * n)).split('\n');
  /** @type {string[]} */
  const labels = [];
  let next = 0;
  const examples = Array.from({ length: n }, (_, i) => {
    labels.push(lines[next++]);
    return lines.slice(next, (next += view.getUint32(20 + 4 * i, true)));
  });
  return { dimension, settings: { nonePrior, ...(scaled === 1 && { scale: /** @type {const} */ ('standardise') }) }, labels, examples, undo, redo };
}
