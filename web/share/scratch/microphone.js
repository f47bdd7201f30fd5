// @ts-check
/** The microphone, for the blocks of an extension. */
import { openMicrophone } from '../../library/microphone.js';
import { soundOf } from '../../library/inputs.js';

/** @returns {import('./blocks.js').Sense} */
export function sense() {
  /** @type {import('../../library/microphone.js').Listening|null} */
  let microphone = null;
  return {
    name: 'microphone',
    see: 'hear',
    on: async () => {
      const opened = await openMicrophone();
      microphone?.close(); // another call was quicker
      microphone = opened;
    },
    off: () => {
      microphone?.close();
      microphone = null;
    },
    now: async () => {
      if (!microphone) throw new Error('The microphone is off.');
      return soundOf(microphone.sound());
    },
  };
}
