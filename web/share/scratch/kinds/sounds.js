// @ts-check
/** Sounds in an extension for Scratch: what the microphone hears. */
export { start } from '../../../extractor/sounds/start.mjs';
export { sense } from '../microphone.js';
