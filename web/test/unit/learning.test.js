// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { describeLearning, follow } from '../../ui/sessions/learning.js';

/** @type {import('../../ui/sessions/learning.js').Learning} */
const nothing = { stage: 'idle', step: 0, steps: 1, secondsLeft: Infinity, history: [] };

/** @param {Partial<import('../../engine/trainer.js').Progress>} some @returns {import('../../engine/trainer.js').Progress} */
const progress = (some) => ({ step: 1, steps: 100, loss: 1, secondsLeft: 9, paused: false, done: false, point: null, best: false, error: null, ...some });

test('progress goes on the curve, smoothed, and what is measured on held-out classes as it is', () => {
  let now = follow(nothing, progress({ step: 1, loss: 2 }));
  now = follow(now, progress({ step: 2, loss: 1 }));
  assert.deepEqual(now.history, [{ step: 1, loss: 2 }, { step: 2, loss: 1.85 }]);
  now = follow(now, progress({ step: 3, loss: 1, point: { step: 3, loss: 1.4, validation: { loss: 0.7, accuracy: 0.5 } } }));
  assert.deepEqual(now.history.at(-1), { step: 3, loss: 1.4, validation: 0.7, right: 0.5 });
  assert.equal(now.stage, 'running');
});

test('a message without a loss, as a pause sends it, adds no point', () => {
  const running = follow(nothing, progress({ loss: 2 }));
  const paused = follow(running, progress({ loss: 0, paused: true }));
  assert.deepEqual(paused.history, running.history);
  assert.equal(paused.stage, 'paused');
  assert.deepEqual(follow(running, progress({ step: 2, loss: NaN })).history, running.history);
});

test('a long curve is thinned, what was measured on held-out classes stays', () => {
  let now = nothing;
  for (let step = 1; step <= 5000; step++) {
    now = follow(now, progress({ step, steps: 5000, point: step % 500 ? null : { step, loss: 1, validation: { loss: 1 / step, accuracy: 1 } } }));
  }
  assert.ok(now.history.length <= 400);
  assert.equal(now.history.filter(({ validation }) => validation !== undefined).length, 10);
  assert.deepEqual(now.history.map(({ step }) => step), now.history.map(({ step }) => step).sort((a, b) => a - b));
});

test('the state is told in words', () => {
  const at = { ...nothing, step: 120, steps: 1000, secondsLeft: 40 };
  assert.equal(describeLearning({ ...at, stage: 'running' }), 'Round 120 of 1,000, about 40 seconds left.');
  assert.equal(describeLearning({ ...at, stage: 'running', secondsLeft: 0.2 }), 'Round 120 of 1,000, about 1 second left.');
  assert.equal(describeLearning({ ...at, stage: 'running', secondsLeft: 600 }), 'Round 120 of 1,000, about 10 minutes left.');
  assert.equal(describeLearning({ ...at, stage: 'running', secondsLeft: Infinity }), 'Round 120 of 1,000.');
  assert.equal(describeLearning({ ...at, stage: 'paused' }), 'Round 120 of 1,000, paused.');
  assert.equal(describeLearning({ ...at, stage: 'interrupted' }), 'Round 120 of 1,000, interrupted.');
  assert.equal(describeLearning(nothing), '');
});
