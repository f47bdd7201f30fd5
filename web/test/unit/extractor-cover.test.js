// @ts-check
/** Parts of a picture painted over, where a network has no cells to leave out. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { coverParts } from '../../extractor/cells.js';

const edge = 8;
const pause = async () => {};

/** A view whose pixels count up, so that each part is known by its sum. */
const counted = Float32Array.from({ length: 3 * edge * edge }, (_, i) => i);

test('each part is covered with the mean colour, and the embedding of the rest is asked for', async () => {
  /** @type {Float32Array[][]} */
  const asked = [];
  const embed = async (/** @type {Float32Array[]} */ inputs) => { asked.push(inputs); return Float32Array.of(asked.length); };
  const whole = { x: 0, y: 0, width: 80, height: 40 };
  const { embedding, without } = await coverParts([counted], [whole], { width: 80, height: 40, grid: 4 }, embed, pause);
  assert.deepEqual([...embedding], [1]);
  assert.deepEqual(without.map(([n]) => n), Array.from({ length: 16 }, (_, i) => i + 2), 'row by row');
  const mean = [0, 1, 2].map((c) => 3 * (edge * edge - 1) / 2 + c);
  for (let part = 0; part < 16; part++) {
    const [input] = asked[part + 1];
    for (let i = 0; i < edge * edge; i++) {
      const inside = Math.floor((i % edge) / 2) === part % 4 && Math.floor(Math.floor(i / edge) / 2) === Math.floor(part / 4);
      assert.deepEqual([...input.subarray(3 * i, 3 * i + 3)], inside ? mean : [...counted.subarray(3 * i, 3 * i + 3)], `part ${part}, pixel ${i}`);
    }
  }
  assert.deepEqual([...counted.subarray(0, 3)], [0, 1, 2], 'what came is left as it was');
});

test('a part that no view looks at is not run, and one view of two may see it', async () => {
  let runs = 0;
  const embed = async (/** @type {Float32Array[]} */ inputs) => { runs++; return Float32Array.of(inputs.filter((input) => input !== counted).length); };
  const middle = { x: 20, y: 20, width: 40, height: 40 };
  const { without } = await coverParts([counted], [middle], { width: 80, height: 80, grid: 4 }, embed, pause);
  assert.equal(runs, 1 + 4);
  assert.deepEqual(without.map(([n]) => n), [0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0]);
  const whole = { x: 0, y: 0, width: 80, height: 80 };
  const both = await coverParts([counted, counted], [whole, middle], { width: 80, height: 80, grid: 4 }, embed, pause);
  assert.deepEqual(both.without.map(([n]) => n), [1, 1, 1, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 1, 1, 1]);
});
