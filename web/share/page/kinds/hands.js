// @ts-check
/** Hands in a shared file. */
export { hands as kind } from '../../../ui/kinds/hands/index.js';
export { start } from '../../../extractor/hands/start.mjs';
