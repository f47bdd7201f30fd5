// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { layOut, tell } from '../../ui/sessions/curve.js';

test('the curve fills its box: first left, last right, smallest loss at the foot', () => {
  const { training, validation, low, high } = layOut([
    { step: 0, loss: 2, validation: 3 }, { step: 50, loss: 1.5 }, { step: 100, loss: 1, validation: 2 },
  ], 100);
  assert.deepEqual([low, high], [1, 3]);
  assert.deepEqual(training, [{ x: 6, y: 60 }, { x: 160, y: 87 }, { x: 314, y: 114 }]);
  assert.deepEqual(validation, [{ x: 6, y: 6 }, { x: 314, y: 60 }]);
});

test('no points, equal points and infinite losses stay inside the box', () => {
  assert.deepEqual(layOut([], 100), { training: [], validation: [], low: 0, high: 1 });
  assert.deepEqual(layOut([{ step: 3, loss: 1 }, { step: 900, loss: 1 }], 0).training.map(({ y }) => y), [60, 60]);
  const { training, high } = layOut([{ step: 0, loss: Infinity }, { step: 1, loss: 1 }, { step: 2, loss: NaN, validation: NaN }], 2);
  assert.equal(training.length, 1);
  assert.equal(high, 1);
});

test('the curve is told in a sentence', () => {
  assert.equal(tell([]), 'Nothing has been learned yet.');
  assert.equal(tell([{ step: 1, loss: 1 }]), 'Nothing has been asked about classes kept aside yet.');
  const at = (/** @type {number} */ validation, /** @type {number} */ right) => ({ step: 1, loss: 1, validation, right });
  assert.equal(tell([at(1.2, 0.714), at(0.5, 0.78), at(0.7, 0.9)]), 'Right answers on classes kept aside rose from 71 % to 78 %.');
  assert.match(tell([at(1, 0.7), at(0.5, 0.7)]), /As many answers .*70 %.*more honest/);
  assert.match(tell([at(1, 0.7), at(0.5, 0.69)]), /from 70 % to 69 %, .*more honest/);
  assert.match(tell([at(1, 0.7), at(2, 0.9)]), /Nothing was gained: 70 % of the answers on classes kept aside/);
});
