// @ts-check
/** The package under Node.js: whether a picture is like the examples of the only class. That the numbers are right is shown in Go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal, taught } from './installed.js';
import { vector } from './project.js';

/** A picture of six cells; one of them may be of another thing. @param {number} seed @param {number} [spot] */
function picture(seed, spot) {
  const all = Array.from({ length: 6 }, (_, i) => vector(0, 10 * seed + i).map((v) => (i === spot ? -v : v)));
  const d = all[0].length;
  return {
    width: 640,
    height: 480,
    embedding: Float32Array.from({ length: d }, (_, i) => all.reduce((sum, one) => sum + one[i], 0) / all.length),
    values: Float32Array.from(all.flatMap((one) => [...one])),
    views: [
      { x: 0, y: 0, width: 1, height: 1, rows: 2, columns: 2 },
      { x: 0.25, y: 0.25, width: 0.5, height: 0.5, rows: 1, columns: 2 },
    ],
  };
}

/** A classifier of one class. @param {number} n */
async function goodOnes(n) {
  const { c } = await taught([]);
  const ids = Array.from({ length: n }, (_, i) => {
    const cells = picture(i + 1);
    const id = c.addExampleSync(cells.embedding, 'good');
    c.setCells(id, cells);
    return id;
  });
  return { c, ids };
}

test('a picture with a spot is wrong, there', async () => {
  const { c } = await goodOnes(6);
  const whole = c.anomaly(picture(50));
  const spot = c.anomaly(picture(50, 2));
  assert.ok(whole.wrong < spot.wrong && spot.wrong > 0.9, `${whole.wrong} of a good one, ${spot.wrong} of one with a spot`);
  assert.deepEqual(
    spot.views.map(({ values, rows, columns }) => values.length === rows * columns),
    [true, true],
  );
  const all = spot.views.flatMap(({ values }) => [...values]);
  assert.equal(all.indexOf(Math.max(...all)), 2);
  assert.deepEqual({ ...spot.views[1], values: null }, { ...picture(50).views[1], values: null }, 'where the view looks');
  c.dispose();
});

test('bad ones make it ordinary classes, and undo brings it back', async () => {
  const { c, ids } = await goodOnes(5);
  const was = c.anomaly(picture(50));
  assert.equal(was.good, 5);
  const bad = { ...picture(60), embedding: vector(5, 0) };
  c.addExampleSync(bad.embedding, 'bad');
  assert.throws(() => c.anomaly(picture(50)), refusal('classes'));
  assert.equal(c.predictSync(vector(5, 1)).label, 'bad');
  c.undo();
  assert.deepEqual(c.anomaly(picture(50)), was);
  c.removeExample(ids[0]);
  assert.equal(c.anomaly(picture(50)).good, 4);
  c.undo();
  assert.deepEqual(c.anomaly(picture(50)), was);
  c.dispose();
});

test('what anomaly refuses', async () => {
  const { c, ids } = await goodOnes(2);
  assert.throws(() => c.anomaly(picture(50)), refusal('few'));
  assert.throws(() => c.setCells('nobody', picture(50)), refusal('example'));
  for (const wrong of [undefined, {}, { ...picture(50), views: [] }]) {
    assert.throws(() => c.anomaly(/** @type {any} */ (wrong)), refusal('argument'));
    assert.throws(() => c.setCells(ids[0], /** @type {any} */ (wrong)), refusal('argument'));
  }
  assert.throws(() => c.setCells(ids[0], { ...picture(50), values: picture(50).values.map(() => NaN) }), refusal('value'));
  c.dispose();
});
