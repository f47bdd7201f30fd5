// @ts-check
/** Makes a map that shows where in a picture an answer comes from, from one number for each cell. */
import { smooth } from '../kit/contours.js';

/** @import {Cells} from '../../extractor/session.js' */
/** @import {Explanation} from '../../library/index.js' */

/** Numbers on each side of the map. */
export const FINE = 48;
/** Radius of smoothing, in numbers of the map: at the edge of a view there is a step. */
const BLUR = 2;

/** The part of each cell, view by view. @param {Pick<Explanation, 'views'>} explanation */
export const flat = ({ views }) => Float64Array.from(views.flatMap(({ values }) => [...values]));

/**
 * The part of each place, on a grid of FINE numbers a side: all views together.
 *
 * @param {ArrayLike<number>} parts of the cells, view by view @param {Cells['views']} views
 * @returns {Float64Array}
 */
export function mapOf(parts, views) {
  const map = new Float64Array(FINE * FINE);
  let from = 0;
  for (const { x, y, width, height, rows, columns } of views) {
    const values = Float64Array.from({ length: rows * columns }, () => parts[from++]);
    for (let i = 0; i < FINE * FINE; i++) {
      const across = (((i % FINE) + 0.5) / FINE - x) / width;
      const down = ((Math.floor(i / FINE) + 0.5) / FINE - y) / height;
      if (across < 0 || across >= 1 || down < 0 || down >= 1) continue;
      map[i] += between(values, rows, columns, across * columns - 0.5, down * rows - 0.5) / (width * height);
    }
  }
  return smooth(map, FINE, FINE, BLUR);
}

/** The value at a place between the middles of cells. @param {ArrayLike<number>} values @param {number} rows @param {number} columns @param {number} across @param {number} down */
function between(values, rows, columns, across, down) {
  const within = (/** @type {number} */ v, /** @type {number} */ n) => Math.max(0, Math.min(n - 1, v));
  const [left, top] = [Math.floor(within(across, columns)), Math.floor(within(down, rows))];
  const [right, low] = [within(left + 1, columns), within(top + 1, rows)];
  const [f, g] = [within(across, columns) - left, within(down, rows) - top];
  const row = (/** @type {number} */ r) => values[r * columns + left] * (1 - f) + values[r * columns + right] * f;
  return row(top) * (1 - g) + row(low) * g;
}

/**
 * The mean of the cells of a view that lie at its edge, or of those that do not.
 *
 * @param {Cells} cells @param {boolean} edge
 * @returns {Float32Array}
 */
export function partOf({ values, views: [{ rows, columns }], embedding: { length: d } }, edge) {
  const mean = new Float32Array(d);
  let n = 0;
  for (let c = 0; c < rows * columns; c++) {
    const [row, column] = [Math.floor(c / columns), c % columns];
    if ((row === 0 || row === rows - 1 || column === 0 || column === columns - 1) !== edge) continue;
    n++;
    for (let i = 0; i < d; i++) mean[i] += values[c * d + i];
  }
  return mean.map((value) => value / n);
}

/**
 * The mean squared distance of the cells from their mean, as a multiple of its squared length. In a picture of one
 * colour the cells differ only since the network pads its edges. In 60 such pictures it is at most 0.68, in 20 with a
 * smooth shade 0.64. In 45 photographs of dishes and drawings it is at least 1.3.
 *
 * @param {Pick<Cells, 'values'|'embedding'>} cells whose mean is the embedding
 */
export function contrast({ values, embedding }) {
  const d = embedding.length;
  const length = embedding.reduce((sum, v) => sum + v * v, 0);
  let spread = 0;
  for (let i = 0; i < values.length; i++) spread += (values[i] - embedding[i % d]) ** 2;
  return (spread * d) / values.length / length;
}
