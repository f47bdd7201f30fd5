// @ts-check
/** The entry that the build bundles into kinds/sounds/start.js. */
// @ts-ignore: the runtime of the page's networks is built beside this
import { createNetwork } from './runtime.js';
import { createSounds } from './session.js';

/** @param {import('../networks.js').Fetched} fetched */
export const start = (fetched) => createSounds(createNetwork, fetched);
