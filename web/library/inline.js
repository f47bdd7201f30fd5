// @ts-check
/** metaqda as one module with its engine inside, which fetches nothing: for CDNs, and bundlers that lose other files. */
import { carry } from './engine.js';
import { engine } from './written/engine.js';

carry(engine);

export * from './index.js';
