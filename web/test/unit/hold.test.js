// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { holdRepeat } from '../../ui/kit/hold.js';

/** A button as far as holdRepeat needs one. */
class Button extends EventTarget {
  isConnected = true;

  /** @param {string} type @param {Record<string, unknown>} [fields] */
  send(type, fields = {}) {
    const event = Object.assign(new Event(type, { cancelable: true }), fields);
    this.dispatchEvent(event);
    return event;
  }
}

const turn = () =>
  new Promise((resolve) => {
    setTimeout(resolve, 2);
  });

function setUp({ interval = 0 } = {}) {
  const button = new Button();
  const state = { ticks: 0, running: 0, most: 0, held: /** @type {boolean[]} */ ([]) };
  holdRepeat(
    /** @type {HTMLElement} */ (/** @type {unknown} */ (button)),
    async () => {
      state.most = Math.max(state.most, ++state.running);
      state.ticks++;
      await turn();
      state.running--;
    },
    { interval, onHold: (held) => state.held.push(held) },
  );
  return { button, state };
}

/** @param {() => boolean} condition */
async function until(condition) {
  for (let i = 0; i < 1000 && !condition(); i++) await turn();
  assert.ok(condition(), String(condition));
}

test('holding repeats, one at a time, until it ends', async () => {
  const { button, state } = setUp();
  button.send('pointerdown', { button: 0, pointerId: 1 });
  await until(() => state.ticks >= 3);
  button.send('pointerup', { pointerId: 1 });
  await until(() => state.held.length === 2);
  const { ticks } = state;
  await turn();
  assert.equal(state.ticks, ticks);
  assert.equal(state.most, 1);
  assert.deepEqual(state.held, [true, false]);
});

test('a second finger or a key neither ends the hold nor takes it over', async () => {
  const { button, state } = setUp();
  button.send('pointerdown', { button: 0, pointerId: 1 });
  await until(() => state.ticks >= 1);
  button.send('pointerdown', { button: 0, pointerId: 2 });
  button.send('pointerup', { pointerId: 2 });
  button.send('keydown', { key: ' ' });
  button.send('keyup', { key: ' ' });
  const { ticks } = state;
  await until(() => state.ticks >= ticks + 3);
  button.send('pointerdown', { button: 0, pointerId: 3 });
  button.send('pointerup', { pointerId: 1 });
  await until(() => state.held.length === 2);
  assert.deepEqual(state.held, [true, false]);
  button.send('pointerup', { pointerId: 3 });
  button.send('pointerdown', { button: 0, pointerId: 1 });
  await until(() => state.held.length === 3);
  button.send('pointerup', { pointerId: 1 });
  await until(() => state.held.length === 4);
});

test('a button that leaves the page while it is held is held no longer', async () => {
  const { button, state } = setUp();
  button.send('keydown', { key: ' ' });
  await until(() => state.ticks >= 1);
  button.isConnected = false; // its class was deleted, or the camera lost: no key comes up there
  await until(() => state.held.length === 2);
  assert.deepEqual(state.held, [true, false]);
});

test('a press shorter than one tick ticks once, and so does each of several that follow one another faster', async () => {
  for (const [presses, interval] of [
    [1, 0],
    [3, 20],
  ]) {
    const { button, state } = setUp({ interval });
    for (let i = 0; i < presses; i++) {
      button.send('pointerdown', { button: 0, pointerId: 1 });
      button.send('pointerup', { pointerId: 1 });
      button.send('click');
    }
    await until(() => state.held.length === 2);
    assert.deepEqual([state.ticks, state.most], [presses, 1]);
  }
});

test('the second mouse button does nothing', async () => {
  const { button, state } = setUp();
  button.send('pointerdown', { button: 2, pointerId: 1 });
  await turn();
  assert.equal(state.ticks, 0);
});

test('Space and Enter hold too, and their auto-repeat starts nothing new', async () => {
  for (const key of [' ', 'Enter']) {
    const { button, state } = setUp();
    const event = button.send('keydown', { key, repeat: false });
    assert.ok(event.defaultPrevented);
    button.send('keydown', { key, repeat: true });
    await until(() => state.ticks >= 2);
    button.send('keyup', { key });
    await until(() => state.held.length === 2);
    assert.deepEqual(state.held, [true, false]);
  }
});

test('a click without a press, as assistive technology sends it, ticks once, again and again', async () => {
  const { button, state } = setUp();
  button.send('click');
  await until(() => state.held.length === 2);
  button.send('click');
  await until(() => state.held.length === 4);
  assert.equal(state.ticks, 2);
  button.send('keydown', { key: 'Enter', repeat: false });
  button.send('keyup', { key: 'Enter' });
  await until(() => state.held.length === 6);
  await turn();
  button.send('click');
  await until(() => state.held.length === 8);
  assert.equal(state.ticks, 4);
});

test('losing the focus or the pointer ends it', async () => {
  for (const end of ['blur', 'pointercancel', 'lostpointercapture']) {
    const { button, state } = setUp();
    button.send('pointerdown', { button: 0, pointerId: 1 });
    await until(() => state.ticks >= 2);
    button.send(end, { pointerId: 1 });
    await until(() => state.held.length === 2);
  }
});
