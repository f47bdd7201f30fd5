// @ts-check
/** Loads extractors of every kind: one network of pictures, or networks with a recipe of their own, as those of sounds and hands. */
import { nextTask } from '../base/task.js';
import { fetchRecord } from './download.js';
import { ExtractorError } from './errors.js';
import { fetchFiles, variantOf } from './networks.js';
import { startExtractor } from './place.js';
import { createSession } from './session.js';

/** @import {Extractor, LoadOptions} from './index.js' */
/** @typedef {Omit<Extractor, 'embed' | 'cells'> & {embed: (input: any, views?: number) => Promise<Float32Array>, cells: (input: any, views?: number) => ReturnType<Extractor['cells']>}} KindExtractor of any kind */
/** @typedef {() => Promise<{createRuntime: import('./session.js').CreateRuntime}>} ImportRuntime */

/**
 * @typedef {object} Source where a built extractor is
 * @property {any} record what the build wrote to its extractor.json
 * @property {(name: string) => URL} at
 * @property {() => Worker} worker starts worker.js
 * @property {(files: any) => Promise<Record<string, (args?: any) => any>>} window makes the session that this worker would, see place.js
 */

/** What one is, without loading it. @param {URL} folder @param {string} [variant] @returns {Promise<import('./networks.js').Recorded>} */
export const kindRecord = async (folder, variant) => variantOf(/** @type {any} */ (await fetchRecord(folder)), variant);

/** @param {string} url */
const imported = (url) => import(/* webpackIgnore: true */ /* @vite-ignore */ url);

/** @param {URL} folder of the built files @param {LoadOptions & {variant?: string}} [options] @returns {Promise<KindExtractor>} */
export async function loadKind(folder, options = {}) {
  const record = await kindRecord(folder, options.variant);
  const at = (/** @type {string} */ name) => new URL(name, folder);
  return loadFrom({
    record, at, worker: () => new Worker(at('worker.js'), { type: 'module', name: record.id }),
    window: record.networks ? async (files) => (await imported(at('start.js').href)).start(files) : sessionOf(() => imported(at('runtime.js').href)),
  }, options);
}

/** The extractor of pictures. @param {LoadOptions} [options] @returns {Promise<Extractor>} */
export const loadExtractor = ({ base, ...options } = {}) => loadKind(new URL(base ?? 'extractor/', document.baseURI), options);

/** @param {Source} source @param {LoadOptions} [options] @returns {Promise<KindExtractor>} */
export const loadFrom = ({ record, at, ...source }, options) => load({ ...source, record, files: (onProgress) => fetchFiles(at, record, onProgress) }, options);

/** Runs a network of pictures in the window. @param {ImportRuntime} runtime @returns {Source['window']} */
export const sessionOf = (runtime) => async (files) => createSession((await runtime()).createRuntime, files, nextTask);

/**
 * @param {import('./place.js').Source<any> & Pick<Source, 'record'>} source
 * @param {LoadOptions} [options]
 * @returns {Promise<KindExtractor>}
 */
export async function load({ record: { id, sha256, dimension, views, networks = {} }, ...source }, options = {}) {
  const running = await startExtractor(source, options);
  const ask = (/** @type {string} */ type, /** @type {unknown} */ args) => running.ask(type, args).catch((/** @type {any} */ error) => {
    if (error.name !== 'DataCloneError') throw error;
    throw new ExtractorError('unreadable-picture', 'This picture has been closed already; add it once more.');
  });
  return {
    id, sha256, dimension, views: views?.length ?? 1, networks: Object.keys(networks),
    get place() { return running.place; },
    embed: (input, count) => ask('embed', views ? { picture: input, views: count } : input),
    cells: async (input, count) => (views ? ask('cells', { picture: input, views: count }) : null),
    ask, close: running.close,
  };
}
