// @ts-check
/** Contour lines of a grid of numbers, by d3-contour and d3-array. */
import { blur2 } from 'd3-array';
import { contours } from 'd3-contour';

/**
 * The lines around what is above each level, as a path of SVG in units of cells.
 *
 * @param {ArrayLike<number>} values columns*rows numbers, row by row @param {number} columns @param {number} rows @param {number[]} levels
 * @returns {string[]} a path for each level, empty where nothing is above it
 */
export function contourPaths(values, columns, rows, levels) {
  const lines = contours().size([columns, rows]).thresholds(levels)(Array.from(values));
  return lines.map(({ coordinates }) =>
    coordinates
      .flat()
      .map((/** @type {number[][]} */ ring) => `M${ring.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join('L')}Z`)
      .join(''),
  );
}

/** Smooths a grid in place. @param {Float64Array} values @param {number} columns @param {number} rows @param {number} radius @returns {Float64Array} */
export function smooth(values, columns, rows, radius) {
  blur2({ data: values, width: columns, height: rows }, radius);
  return values;
}
