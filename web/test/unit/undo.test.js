// @ts-check
/** Taking back what was done. */
import assert from 'node:assert/strict';
import test from 'node:test';

/** The little of a page that notices need. */
function page() {
  const element = () => ({ append() {}, remove() {}, addEventListener() {}, setAttribute() {}, classList: { add() {} }, querySelector: () => null, children: [] });
  Object.assign(globalThis, {
    HTMLElement: Object, CSS: { escape: String }, document: { getElementById: element, createElement: element, createElementNS: element, createTextNode: element },
  });
}

test('what is being done is what is taken back, even before it is offered', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] }); // notices go away after a while
  page();
  const { UndoStack } = await import('../../ui/kit/announce.js');
  const undo = new UndoStack();
  /** @type {string[]} */
  const back = [];
  undo.offer('earlier', async () => { back.push('earlier'); });
  let stored = () => {};
  const work = undo.expect(new Promise((/** @type {(value: void) => void} */ resolve) => { stored = resolve; })).then(() => undo.offer('later', async () => { back.push('later'); }));
  const taken = undo.undo();
  await Promise.resolve();
  assert.deepEqual(back, [], 'it waits');
  stored();
  await Promise.all([work, taken]);
  assert.deepEqual(back, ['later']);
  await undo.undo();
  assert.deepEqual(back, ['later', 'earlier']);
  await undo.expect(Promise.reject(new Error('refused'))).catch(() => {});
  await undo.undo();
  assert.deepEqual(back, ['later', 'earlier'], 'what failed is not waited for');
});
