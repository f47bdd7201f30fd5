// @ts-check
/** What an embedding would be without a part of the picture. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { leaveOutParts } from '../../extractor/cells.js';
import { rectangleOf } from '../../extractor/preprocess.js';

/** @param {number} height @param {number} width @param {number} channels @param {(row: number, column: number, channel: number) => number} f */
function map(height, width, channels, f) {
  const data = Float32Array.from({ length: height * width * channels }, (_, i) =>
    f(Math.floor(i / channels / width), Math.floor(i / channels) % width, i % channels));
  return { data, height, width, channels };
}

test('without a part is the mean over the cells of all others, for each map', () => {
  const maps = [map(4, 4, 2, (i, j, c) => 10 * i + j + 100 * c), map(2, 2, 1, (i, j) => (i === 1 && j === 0 ? 8 : 0))];
  const rectangle = rectangleOf({ name: 'whole' }, 300, 200);
  const { embedding, without } = leaveOutParts([{ maps, rectangle }], 300, 200, 2);
  assert.deepEqual([...embedding], [16.5, 116.5, 2]);
  assert.equal(without.length, 4);
  // The upper right part: rows 0 and 1, columns 2 and 3, mean 7.5.
  assert.deepEqual([...without[1]], [(16.5 * 16 - 7.5 * 4) / 12, 100 + (16.5 * 16 - 7.5 * 4) / 12, 8 / 3].map(Math.fround));
  // The lower left part has all of the last map's answer.
  assert.equal(without[2][2], 0);
});

test('a view of the middle speaks of the middle of the picture alone', () => {
  const whole = { maps: [map(3, 3, 1, () => 1)], rectangle: rectangleOf({ name: 'whole' }, 300, 300) };
  const middle = { maps: [map(2, 2, 1, () => 5)], rectangle: rectangleOf({ name: 'middle', share: 0.3 }, 300, 300) };
  const { embedding, without } = leaveOutParts([whole, middle], 300, 300, 3);
  assert.equal(embedding[0], 3);
  assert.deepEqual([...without].map(([v]) => v), Array(9).fill(3), 'where all cells are alike nothing changes, and a view left without a cell stays');
  const spot = { ...middle, maps: [map(2, 2, 1, (i, j) => (i + j ? 0 : 4))] };
  const other = leaveOutParts([whole, { ...spot, rectangle: whole.rectangle }], 300, 300, 2);
  assert.equal(other.without[0][0], 0.5, 'the cell that spoke is gone');
});

test('a cell that lies in several parts counts in each by its share', () => {
  const maps = [map(1, 2, 1, (i, j) => (j ? 6 : 3))];
  const { without } = leaveOutParts([{ maps, rectangle: rectangleOf({ name: 'whole' }, 90, 90) }], 90, 90, 3);
  // Across: the left cell lies in the first part by two thirds and in the second by one; down each part has a third of both.
  assert.ok(Math.abs(without[0][0] - (9 - 3 * 2 / 9) / (2 - 2 / 9)) < 1e-6);
  assert.ok(Math.abs(without[1][0] - (9 - 9 / 9) / (2 - 2 / 9)) < 1e-6);
  assert.deepEqual(without.slice(3, 6), without.slice(0, 3));
});
