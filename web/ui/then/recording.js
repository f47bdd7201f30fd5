// @ts-check
/** Plays a recording of one's own, kept in the action as a WAV file in base64. */
import { audio } from './audio.js';

/** Seconds of the longest recording, and the length of the text that holds it. */
export const LONGEST = 4;
const MOST = 4 * Math.ceil((44 + 2 * 16_000 * LONGEST) / 3);

/** The error if there is no recording. */
export const NO_RECORDING = 'There is no recording yet: record one, or choose a file.';

/** The recording that plays now. @type {AudioBufferSourceNode|undefined} */
let playing;

/** @type {import('./index.js').Device} */
export const recording = {
  id: 'recording',
  does: 'play a recording of your own',
  fields: [{ name: 'sound', label: 'Recording', kind: 'sound', first: '', most: MOST }],
  words: () => 'play your recording',
  lacks: () => '',
  run: async ({ sound }) => {
    if (!sound) throw new Error(NO_RECORDING);
    const context = await audio();
    const buffer = await (async () => context.decodeAudioData(Uint8Array.from(atob(sound), (c) => c.charCodeAt(0)).buffer))().catch(() => {
      throw new Error('The recording cannot be played: it was damaged. Record it again.');
    });
    playing?.stop();
    playing = new AudioBufferSourceNode(context, { buffer });
    playing.connect(context.destination);
    playing.start();
  },
};
