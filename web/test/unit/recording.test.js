// @ts-check
/** Recordings that are refused: what is said of them does not contradict itself. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { soundOf } from '../../library/inputs.js';
import { claimsSound, decoded, piecesOf, RATE } from '../../ui/kinds/sounds/recording.js';

/** @param {number} size in bytes @param {number} [seconds] @param {{name: string, type: string}} [of] */
function refused(size, seconds = 0, of = { name: 'a.wav', type: 'audio/wav' }) {
  const buffer = { numberOfChannels: 1, getChannelData: () => new Float32Array(16_000 * seconds) };
  Object.assign(globalThis, {
    OfflineAudioContext: class {
      decodeAudioData = async () => buffer;
    },
  });
  const file = { ...of, size, arrayBuffer: async () => new ArrayBuffer(0) };
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

test('a sound a little below the shortest one is said to be below it', async () => {
  const message = 'This sound of 99 ms is too short: record at least a tenth of a second.';
  await assert.rejects(soundOf({ samples: new Float32Array(1599), rate: 16_000 }), { code: 'unreadable-sound', message });
});

test('a file is taken for a recording by its type or its name', async () => {
  const ogg = { name: 'a.ogg', type: 'application/ogg' }; // as Firefox says
  assert.equal(await refused(1, 1, ogg), '');
  for (const one of [ogg, { name: 'memo', type: 'audio/webm' }, { name: 'a.OPUS', type: '' }]) assert.ok(claimsSound(one), one.name);
  for (const one of [
    { name: 'film.mp4', type: 'video/mp4' },
    { name: 'film.webm', type: '' },
  ])
    assert.match(await refused(1, 1, one), /is a video/, one.name);
  assert.match(await refused(1, 1, { name: 'letter.txt', type: 'text/plain' }), /is not a recording/);
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
