// @ts-check
/** What the build bundles into kinds/sounds/start.js. */
// @ts-ignore: what runs the page's networks is built beside this
import { createNetwork } from './runtime.js';
import { createEar } from './session.js';

/** @param {import('../networks.js').Fetched} fetched */
export const start = (fetched) => createEar(createNetwork, fetched);
