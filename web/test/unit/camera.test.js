// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { MetaqdaError } from '../../base/remote.js';
import { mediaDevices, sourceError } from '../../base/media.js';
import { openMicrophone } from '../../library/microphone.js';
import { leaveSource, takeSource } from '../../ui/kinds/index.js';

const cameraError = (/** @type {unknown} */ error) => sourceError(error, 'camera', { instead: 'add pictures from files' });

test('each way a camera fails has a sentence with a remedy', () => {
  for (const [name, code, remedy] of [
    ['NotAllowedError', 'denied', /allow it for this page/],
    ['SecurityError', 'denied', /allow it/],
    ['NotFoundError', 'missing', /connect one/],
    ['OverconstrainedError', 'missing', /connect another/],
    ['NotReadableError', 'busy', /close that program/],
    ['AbortError', 'busy', /try again/],
    ['SomethingNew', 'device', /try again/],
  ]) {
    const error = cameraError(new DOMException('Permission denied', /** @type {string} */ (name)));
    assert.equal(error.code, code);
    assert.match(error.message, /** @type {RegExp} */ (remedy));
    assert.match(error.message, /\.$/);
  }
  assert.equal(cameraError('odd').code, 'device');
  const { message } = sourceError(new DOMException('', 'NotFoundError'), 'camera', { again: 'reload the page' });
  assert.equal(message, 'No camera was found: connect one and reload the page.');
  const own = new MetaqdaError('lost', 'Gone.');
  assert.equal(cameraError(own), own);
});

test('an insecure page and a browser without cameras are told apart', () => {
  const code = (/** @type {string} */ wanted) => (/** @type {unknown} */ error) => error instanceof MetaqdaError && error.code === wanted;
  assert.throws(() => mediaDevices({ isSecureContext: false, navigator: {} }, 'camera', 'add pictures from files'), code('insecure'));
  assert.throws(() => mediaDevices({ isSecureContext: true, navigator: {} }, 'camera', 'add pictures from files'), code('missing'));
  const devices = /** @type {MediaDevices} */ (/** @type {unknown} */ ({ getUserMedia() {} }));
  assert.equal(mediaDevices({ isSecureContext: true, navigator: { mediaDevices: devices } }, 'camera', 'add pictures from files'), devices);
});

test('taking the source makes its former holder let go, once', () => {
  /** @type {string[]} */
  const log = [];
  const a = () => {
    log.push('a');
  };
  const b = () => {
    log.push('b');
  };
  takeSource(a);
  takeSource(a);
  assert.deepEqual(log, []);
  takeSource(b);
  assert.deepEqual(log, ['a']);
  leaveSource(a);
  takeSource(a);
  assert.deepEqual(log, ['a', 'b']);
  leaveSource(a);
  takeSource(b);
  assert.deepEqual(log, ['a', 'b']);
  leaveSource(b);
});

test('the microphone of the package is refused in the same sentences, and may be closed twice', async () => {
  const before = ['isSecureContext', 'navigator', 'AudioContext', 'AnalyserNode', 'GainNode'].map(
    (name) => /** @type {const} */ ([name, Object.getOwnPropertyDescriptor(globalThis, name)]),
  );
  const put = (/** @type {string} */ name, /** @type {unknown} */ value) =>
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  try {
    put('isSecureContext', true);
    put('navigator', { mediaDevices: { getUserMedia: () => Promise.reject(new DOMException('Permission denied', 'NotAllowedError')) } });
    await assert.rejects(openMicrophone(), { code: 'denied', message: /allow it for this page beside the address bar, then try again\.$/ });
    const track = {
      readyState: 'live',
      stop() {
        this.readyState = 'ended';
      },
    };
    put('navigator', { mediaDevices: { getUserMedia: async () => ({ getTracks: () => [track] }) } });
    put('AudioContext', function refused() {
      throw new DOMException('too many', 'NotSupportedError');
    });
    await assert.rejects(openMicrophone(), { code: 'device', message: 'The microphone could not be started: try again.' });
    assert.equal(track.readyState, 'ended', 'it is switched off');
    const node = { delayTime: {}, connect: () => node };
    for (const name of ['AnalyserNode', 'GainNode'])
      put(name, function made() {
        return node;
      });
    track.readyState = 'live';
    const stalled = () => ({
      currentTime: 0,
      sampleRate: 48_000,
      async resume() {},
      close: async () => track.stop(),
      createMediaStreamSource: () => node,
      createDelay: () => node,
    });
    put('AudioContext', function made() {
      return stalled();
    });
    const opening = openMicrophone();
    setImmediate(() => track.stop()); // unplugged
    await assert.rejects(opening, { code: 'busy', message: 'The microphone stopped while it was starting: try again.' });
    track.readyState = 'live';
    put('AudioContext', function unpressed() {
      return { ...stalled(), resume: () => new Promise(() => {}) };
    });
    await assert.rejects(openMicrophone(), { code: 'denied', message: /^The browser starts no sound before a press: press a button/ });
    assert.equal(track.readyState, 'ended', 'it is switched off');
    Object.assign(globalThis.navigator, { userActivation: { hasBeenActive: true } });
    track.readyState = 'live';
    await assert.rejects(openMicrophone(), { code: 'device', message: /^The browser starts no sound: connect a loudspeaker or headphones, then try again\.$/ }); // also if an action starts it, without a button
    // A second press on "close" does nothing. The test would fail for a rejection that nobody handles.
    let [now, closed] = [0, 0];
    put('AudioContext', function pressed() {
      const close = async () => {
        if (closed++) throw new DOMException('Cannot close a closed AudioContext.', 'InvalidStateError');
      };
      return Object.defineProperty({ ...stalled(), close }, 'currentTime', { get: () => now++ });
    });
    const listening = await openMicrophone();
    listening.close();
    listening.close();
    await new Promise(setImmediate);
    assert.equal(closed, 2);
    put('isSecureContext', false);
    await assert.rejects(openMicrophone(), { code: 'insecure' });
  } finally {
    for (const [name, one] of before) {
      if (one) Object.defineProperty(globalThis, name, one);
      else delete (/** @type {any} */ (globalThis)[name]);
    }
  }
});
