// @ts-check
/** Extractors of other kinds than pictures: where one is, and loading it in a worker, or in the window where none starts. */
import { fetchRecord } from '../download.js';
import { fetchNetworks, variantOf } from '../networks.js';
import { startExtractor } from '../place.js';

/**
 * @typedef {object} KindExtractor
 * @property {string} id @property {string} sha256
 * @property {number} dimension
 * @property {number} views always 1
 * @property {'worker' | 'window'} place
 * @property {string[]} networks those that it was built with, by their names in the recipe
 * @property {(input: any) => Promise<Float32Array>} embed
 * @property {(type: string, input: any) => Promise<any>} ask what else its session answers
 * @property {() => void} close
 */

/** What it is, without loading it. @param {URL} folder @param {string} [variant] @returns {Promise<import('../networks.js').Recorded>} */
export const kindRecord = async (folder, variant) => variantOf(/** @type {any} */ (await fetchRecord(folder)), variant);

/**
 * @param {URL} folder of the built files
 * @param {import('../place.js').RunOptions & {variant?: string}} [options]
 * @returns {Promise<KindExtractor>}
 */
export async function loadKind(folder, options) {
  const record = await kindRecord(folder, options?.variant);
  const at = (/** @type {string} */ name) => new URL(name, folder);
  return loadKindFrom({
    record, at, worker: () => new Worker(at('worker.js'), { type: 'module', name: record.id }), start: () => import(/* webpackIgnore: true */ /* @vite-ignore */ at('start.js').href),
  }, options);
}

/**
 * @param {{record: import('../networks.js').Recorded, at: (name: string) => URL, worker: () => Worker, start: () => Promise<any>}} source
 * @param {import('../place.js').RunOptions} [options]
 * @returns {Promise<KindExtractor>}
 */
export async function loadKindFrom({ record, at, worker, start }, options = {}) {
  const running = await startExtractor({
    files: (onProgress) => fetchNetworks(at, record, onProgress),
    worker,
    window: async (files) => (await start()).start(files),
  }, options);
  const { id, sha256, dimension, networks } = record;
  return {
    id, sha256, dimension, views: 1, networks: Object.keys(networks),
    get place() { return running.place; },
    embed: (/** @type {unknown} */ input) => running.ask('embed', input),
    ask: running.ask,
    close: running.close,
  };
}
