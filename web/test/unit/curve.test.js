// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { layOut, tell } from '../../ui/curve.js';

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
  assert.equal(tell([{ step: 1, loss: 1 }]), 'Nothing has been measured on held-out classes yet.');
  assert.equal(tell([{ step: 1, loss: 1, validation: 1.234 }, { step: 2, loss: 1, validation: 0.5 }, { step: 3, loss: 1, validation: 0.75 }]),
    'The loss on held-out classes fell from 1.23 to 0.50.');
  assert.match(tell([{ step: 1, loss: 1, validation: 1 }, { step: 2, loss: 1, validation: 2 }]), /has not fallen below its start, 1\.00/);
});
