// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { bestOf, logOdds, whereInWords } from '../../ui/recognise/why.js';

const answer = { classes: [{ id: 'a', name: 'A', probability: 0.2 }, { id: 'b', name: 'B', probability: 0.5 }], none: 0.3 };

test('the best answer is a class or none of these, and its log odds are finite', () => {
  assert.equal(bestOf(answer)?.id, 'b');
  assert.equal(bestOf({ ...answer, none: 0.6 }), null);
  assert.equal(bestOf({ ...answer, none: 0.34 }), null, 'from a third on');
  assert.equal(logOdds(answer, 'b'), 0);
  assert.ok(Math.abs(logOdds(answer, null) - Math.log(3 / 7)) < 1e-12);
  for (const none of [0, 1]) assert.ok(Number.isFinite(logOdds({ classes: [], none }, null)));
});

test('where most lies is told in words', () => {
  const at = (/** @type {number[]} */ ...parts) => Array.from({ length: 9 }, (_, i) => (parts.includes(i) ? 1 : -0.5));
  assert.equal(whereInWords(at(0), 3), 'mostly the upper left');
  assert.equal(whereInWords(at(5), 3), 'mostly the right');
  assert.equal(whereInWords(at(7), 3), 'mostly the lower part');
  assert.equal(whereInWords(at(4), 3), 'mostly the middle');
  assert.equal(whereInWords(at(), 3), 'nowhere in particular');
});
