// @ts-check
/** Recordings that are refused: what is said of them does not contradict itself. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { decoded, piecesOf, RATE } from '../../ui/kinds/sounds/recording.js';

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

test('the end of a long recording is in a piece', () => {
  for (const [seconds, ends] of /** @type {[number, number[]][]} */ ([
    [4, [4]],
    [4.5, [2, 4.5]],
    [5.9, [2, 4, 5.9]],
    [9, [2, 4, 6, 9]],
  ])) {
    const pieces = piecesOf(new Float32Array(seconds * RATE).fill(0.5), 'a.wav');
    let end = 0;
    assert.deepEqual(
      pieces.map(({ sound }) => (end += sound.samples.length) / RATE),
      ends,
    );
  }
  const late = new Float32Array(5.9 * RATE);
  late.fill(0.5, 4.2 * RATE);
  assert.deepEqual(
    piecesOf(late, 'a.wav').map(({ at }) => at),
    ['0:04'],
  );
});
