// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { Pace } from '../../ui/kinds/pictures/pace.js';

const cup = Float32Array.of(1, 0, 0.1);
const cupAgain = Float32Array.of(1.02, 0.05, 0.1);
const hand = Float32Array.of(0.2, 1, 0.4);

/** How each frame is looked at. @param {[number, Float32Array][]} frames */
function looks(frames) {
  const pace = new Pace();
  return frames.map(([milliseconds, embedding]) => {
    const how = pace.all ? 'all' : 'first';
    pace.took(milliseconds, embedding);
    return how;
  });
}

test('where all views take little time they are always taken', () => {
  assert.deepEqual(
    looks([
      [40, cup],
      [60, hand],
      [149, cup],
      [50, hand],
    ]),
    ['all', 'all', 'all', 'all'],
  );
});

test('a slow device takes the first view while frames differ, all when two look the same, until one does not', () => {
  assert.deepEqual(
    looks([
      [400, cup],
      [400, hand],
      [400, cup],
      [400, hand],
      [400, hand],
      [400, hand],
      [400, hand],
      [400, cup],
      [400, cup],
      [400, cupAgain],
      [400, cup],
    ]),
    ['all', 'all', 'first', 'first', 'first', 'all', 'all', 'all', 'first', 'first', 'all'],
  );
});

test('one frame that was held up changes nothing, several do, and not for ever', () => {
  assert.deepEqual(
    looks([
      [40, cup],
      [200, hand],
      [40, cup],
      [40, hand],
    ]),
    ['all', 'all', 'all', 'all'],
  );
  assert.deepEqual(
    looks([
      [40, cup],
      [400, hand],
      [40, cup],
      [40, hand],
      [40, cup],
    ]),
    ['all', 'all', 'first', 'all', 'all'],
  );
});
