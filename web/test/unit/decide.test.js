// @ts-check
/** The decision of core/qda/decide.go, in JavaScript. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { decide, NONE_FROM } from '../../engine/decide.js';

test('none of these from a third on, else the most probable class, the first of equals', () => {
  assert.equal(decide([0.2, 0.7], 0.1), 1);
  assert.equal(decide([0.66, 0], 0.34), -1, 'though a class is more probable');
  assert.equal(decide([0.23, 0.24, 0.23], 0.3), 1, 'though none is more probable');
  assert.equal(decide(new Float64Array([0.4, 0.4]), 0.2), 0);
  assert.equal(decide([], 0), -1);
});

test('the probability is that of the Go program', async () => {
  const go = await readFile(new URL('../../../core/qda/decide.go', import.meta.url), 'utf8');
  assert.equal(/^const NoneFrom = (\S+)$/m.exec(go)?.[1], String(NONE_FROM));
});
