// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { MetaqdaError } from '../../base/remote.js';
import { leaveSource, mediaDevices, sourceError, takeSource } from '../../ui/kinds/index.js';

const cameraError = (/** @type {unknown} */ error) => sourceError(error, 'camera', 'pictures');

test('each way a camera fails has a sentence with a remedy', () => {
  for (const [name, code, remedy] of [
    ['NotAllowedError', 'denied', /allow it for this page/],
    ['SecurityError', 'denied', /allow it/],
    ['NotFoundError', 'missing', /connect one/],
    ['OverconstrainedError', 'missing', /connect another/],
    ['NotReadableError', 'busy', /close that program/],
    ['AbortError', 'busy', /try again/],
    ['SomethingNew', 'failed', /try again/],
  ]) {
    const error = cameraError(new DOMException('Permission denied', /** @type {string} */ (name)));
    assert.equal(error.code, code);
    assert.match(error.message, /** @type {RegExp} */ (remedy));
    assert.match(error.message, /\.$/);
  }
  assert.equal(cameraError('odd').code, 'failed');
  const own = new MetaqdaError('lost', 'Gone.');
  assert.equal(cameraError(own), own);
});

test('an insecure page and a browser without cameras are told apart', () => {
  const code = (/** @type {string} */ wanted) => (/** @type {unknown} */ error) => error instanceof MetaqdaError && error.code === wanted;
  assert.throws(() => mediaDevices({ isSecureContext: false, navigator: {} }, 'camera', 'pictures'), code('insecure'));
  assert.throws(() => mediaDevices({ isSecureContext: true, navigator: {} }, 'camera', 'pictures'), code('missing'));
  const devices = /** @type {MediaDevices} */ (/** @type {unknown} */ ({ getUserMedia() {} }));
  assert.equal(mediaDevices({ isSecureContext: true, navigator: { mediaDevices: devices } }, 'camera', 'pictures'), devices);
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
