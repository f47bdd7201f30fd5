// @ts-check
/** Scratch's camera, for the blocks of an extension. */
import { sleep } from '../../base/task.js';

/** @typedef {import('./blocks.js').Scratch} Scratch */

/** Milliseconds after which a camera that has no picture yet is asked again. */
const AGAIN = 50;

/** @param {Scratch} scratch @returns {import('./blocks.js').Sense} */
export function sense({ vm }) {
  const { video } = vm.runtime.ioDevices;
  return {
    name: 'camera',
    see: 'see',
    on: async () => {
      await video.enableVideo();
    },
    off: () => video.disableVideo(),
    now: async () => {
      for (;;) {
        const frame = video.videoReady ? video.getFrame({ format: 'image-data', mirror: false }) : null;
        if (frame) return frame;
        await sleep(AGAIN);
      }
    },
  };
}
