// @ts-check
/** The page's extractor of sounds. Not in the npm package yet, whose files do not hold its networks. */
/** @typedef {import('../extractor/sounds/load.js').SoundExtractor} SoundExtractor */
export { loadSounds, soundsRecord } from '../extractor/sounds/load.js';
export { resample } from '../extractor/sounds/resample.js';
