// @ts-check
/** Recordings that are refused: what is said of them does not contradict itself. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { decoded } from '../../ui/kinds/sounds/recording.js';

/** @param {number} size in bytes @param {number} [seconds] */
function refused(size, seconds = 0) {
  const buffer = { numberOfChannels: 1, getChannelData: () => new Float32Array(16_000 * seconds) };
  Object.assign(globalThis, {
    OfflineAudioContext: class {
      decodeAudioData = async () => buffer;
    },
  });
  const file = { name: 'a.wav', type: 'audio/wav', size, arrayBuffer: async () => new ArrayBuffer(0) };
  return decoded(/** @type {any} */ (file)).then(
    () => '',
    ({ message }) => message.split(':').slice(0, -1).join(':'),
  );
}

test('a recording a little above a limit is said to be above it', async () => {
  assert.equal(await refused(1, 600), '');
  assert.equal(await refused(1, 600.25), '“a.wav” is 10:01 minutes long, and at most 10 are read here');
  assert.equal(await refused(1, 665), '“a.wav” is 11:05 minutes long, and at most 10 are read here');
  assert.equal(await refused(40_040_000), '“a.wav” has 40.1 MB, and at most 40 are read here');
});
