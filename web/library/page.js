// @ts-check
/** The engine of the page. The npm package does not use this module: its files lie elsewhere. */
import { loadEngine as load } from '../engine/index.js';
import { session } from './session.js';

/** @param {Parameters<typeof load>[0]} [options] */
export const loadEngine = async (options) => session(await load(options));
