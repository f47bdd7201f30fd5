// @ts-check
/** The recording of a sound for an action. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SoundField } from '../../ui/then/sound-field.js';

test('after a recorder that could not start, the next press records', async (t) => {
  let [starts, stopped] = [0, 0];
  const stream = { getTracks: () => [{ stop: () => stopped++ }] };
  class Recorder {
    state = 'inactive';
    start() {
      if (++starts === 1) throw new DOMException('The device is gone.', 'NotSupportedError');
      this.state = 'recording';
    }
    stop() {
      this.state = 'inactive';
    }
  }
  const fakes = { window: { isSecureContext: true, navigator: { mediaDevices: { getUserMedia: async () => stream } } }, MediaRecorder: Recorder };
  for (const [name, value] of Object.entries(fakes)) Object.defineProperty(globalThis, name, { value, configurable: true });
  t.mock.method(globalThis, 'setTimeout', () => 0); // the longest recording
  /** @type {string[]} */
  const errors = [];
  const field = new SoundField({ onSound: () => {}, onError: (why) => errors.push(why) });
  const press = () => {
    /** @type {any} */ (field.show('')).values.find((/** @type {unknown} */ value) => typeof value === 'function')();
    return setImmediate();
  };
  const pressed = () => /** @type {any} */ (field.show('')).values[0];
  await press();
  assert.match(errors.join(), /^The microphone could not be started/);
  assert.deepEqual([pressed(), stopped], ['false', 1]);
  await press();
  assert.deepEqual([pressed(), starts, errors.length], ['true', 2, 1]);
});
