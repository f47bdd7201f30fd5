// @ts-check
/** Hands in an extension for Scratch: those that its camera sees. */
export { start } from '../../../extractor/hands/start.mjs';
export { sense } from '../camera.js';
