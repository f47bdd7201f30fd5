// @ts-check
/** Sounds in a shared file. */
export { sounds as kind } from '../../../ui/kinds/sounds/index.js';
export { start } from '../../../extractor/sounds/start.mjs';
