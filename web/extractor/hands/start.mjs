// @ts-check
/** The entry that the build bundles into kinds/hands/start.js. */
// @ts-ignore: the runtime of the page's networks is built beside this
import { createNetwork } from './runtime.js';
import { createHands } from './session.js';

/** @param {import('../networks.js').Fetched} fetched */
export const start = (fetched) => createHands(createNetwork, fetched);
