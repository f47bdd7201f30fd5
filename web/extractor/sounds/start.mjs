// @ts-check
/** Loads the extractor of sounds where it is imported: in its worker or, as a fallback, in the window. The build bundles this file into sounds/ear.js. */
// @ts-ignore: what runs the page's networks is built beside this
import { createNetwork } from './runtime.js';
import { createEar } from './session.js';

/** @param {import('../networks.js').Fetched} fetched */
export const start = (fetched) => createEar(createNetwork, fetched);
