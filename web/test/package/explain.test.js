// @ts-check
/** The package under Node.js: which places of a picture speak for a class. That the parts are right is shown in Go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal, taught } from './installed.js';
import { vector } from './project.js';

/** A picture whose left cells are of one thing, and whose right ones of another. @param {number} left @param {number} right */
function halves(left, right) {
  const all = [0, 1, 2].flatMap((i) => [vector(left, 20 + i), vector(right, 30 + i)]);
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

test('the places of a thing speak for it, and the parts sum to the score', async () => {
  const { c } = await taught(['cup', 'pen', 'key']);
  const cells = halves(0, 1);
  const told = c.explain(cells, { label: 'cup', against: 'pen' });
  assert.deepEqual([told.label, told.against, told.views.length], ['cup', 'pen', 2]);
  for (const { values, rows, columns } of told.views) {
    assert.equal(values.length, rows * columns);
    values.forEach((value, i) => assert.equal(value > 0, i % columns === 0, `cell ${i}: ${value}`));
  }
  const sum = told.views.flatMap(({ values }) => [...values]).reduce((a, b) => a + b, told.rest);
  assert.ok(Math.abs(sum - told.score) < 1e-9, `${sum} in place of ${told.score}`);
  const [, second] = cells.views;
  assert.deepEqual({ ...told.views[1], values: null }, { ...second, values: null }, 'where the view looks');
  c.dispose();
});

test('without options it explains the most probable class against none of them', async () => {
  const { c } = await taught(['cup', 'pen']);
  const cells = halves(1, 1);
  const told = c.explain(cells);
  assert.deepEqual([told.label, told.against], [c.predictSync(cells.embedding).label, null]);
  assert.deepEqual(c.explain(cells, { label: 'PEN', against: null }), told, 'labels are taken as elsewhere');
  c.dispose();
});

test('what explain refuses', async () => {
  const { c } = await taught(['cup', 'pen']);
  c.addClass('empty');
  const cells = halves(0, 1);
  const [view] = cells.views;
  const shapes = [
    [null],
    [{ ...view, rows: -1, columns: -2 }],
    [
      { ...view, rows: 3 },
      { ...view, rows: -1 },
    ],
    [{ ...view, rows: 0.5, columns: 4 }],
    [{ ...view, rows: '1' }],
  ];
  for (const wrong of [
    undefined,
    {},
    { ...cells, values: [...cells.values] },
    { ...cells, views: [] },
    { ...cells, values: cells.values.subarray(1) },
    ...shapes.map((views) => ({ ...cells, views })),
  ]) {
    assert.throws(() => c.explain(/** @type {any} */ (wrong)), refusal('argument'));
  }
  assert.throws(() => c.explain(cells, { label: 'mug' }), { code: 'label', message: "There is no class 'mug': choose among cup, pen, empty." });
  for (let i = 0; i < 12; i++) c.addClass(`class ${i}`);
  assert.throws(() => c.explain(cells, { label: 'mug' }), /: choose among cup, pen, empty, class 0, .* class 8 and 3 more\.$/);
  for (const options of [{ label: 'cup', against: 'cup' }, { label: 'empty' }, { lable: 'cup' }, { label: 7 }]) {
    assert.throws(() => c.explain(cells, /** @type {any} */ (options)), refusal('argument'), JSON.stringify(options));
  }
  for (const options of [{ label: 'unknown' }, { label: 'cup', against: 'unknown' }]) assert.throws(() => c.explain(cells, options), refusal('label'));
  assert.throws(() => c.explain({ ...cells, values: cells.values.map(() => NaN) }, { label: 'cup' }), refusal('value'));
  const other = {
    width: 1,
    height: 1,
    embedding: new Float32Array(3),
    values: new Float32Array(6),
    views: [{ x: 0, y: 0, width: 1, height: 1, rows: 1, columns: 2 }],
  };
  assert.throws(() => c.explain(other, { label: 'cup' }), refusal('dimension'));
  c.dispose();
});
