// @ts-check
/** The engine of the page. The package has no use for it: its files lie elsewhere. */
export { loadEngine } from '../engine/index.js';
