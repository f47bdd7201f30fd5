// @ts-check
/** Extractors that are one network of pictures, and where that of the page is. */
import { nextTask } from '../base/task.js';
import { fetchFiles, fetchRecord } from './download.js';
import { ExtractorError } from './errors.js';
import { startExtractor } from './place.js';
import { createSession } from './session.js';

/** @typedef {import('./index.js').Extractor} Extractor */
/** @typedef {() => Promise<readonly (readonly number[])[]>} Shapes of what each output answers */
/** @typedef {import('./session.js').ExtractorFiles} ExtractorFiles */

/**
 * @typedef {object} Source where the page's network is
 * @property {import('./download.js').ExtractorRecord} record
 * @property {(name: string) => URL} at
 * @property {() => Worker} worker starts worker.js
 * @property {() => Promise<any>} runtime imports runtime.js
 */

/**
 * @typedef {object} Network any one, and where what runs it is
 * @property {string} id @property {string} sha256 @property {number} dimension
 * @property {number} views how many
 * @property {(onProgress?: import('./download.js').OnProgress) => Promise<ExtractorFiles>} files
 * @property {() => Worker} worker that answers as session.js describes
 * @property {() => Promise<{createRuntime: import('./session.js').CreateRuntime}>} runtime
 */

/** @param {import('./index.js').LoadOptions} [options] @returns {Promise<Extractor>} */
export async function loadExtractor({ base, ...options } = {}) {
  const folder = new URL(base ?? 'extractor/', document.baseURI);
  const at = (/** @type {string} */ name) => new URL(name, folder);
  return loadGraphFrom({
    record: await fetchRecord(folder), at,
    worker: () => new Worker(at('worker.js'), { type: 'module', name: 'extractor' }),
    runtime: () => import(/* webpackIgnore: true */ /* @vite-ignore */ at('runtime.js').href),
  }, options);
}

/** @param {Source} source @param {RunOptions} options @returns {Promise<import('./index.js').Extractor>} */
export function loadGraphFrom({ record, at, worker, runtime }, options) {
  const { id, sha256, dimension, views } = record;
  return loadNetwork({ id, sha256, dimension, views: views.length, worker, runtime, files: (onProgress) => fetchFiles(at, record, onProgress) }, options);
}

/** @typedef {import('./place.js').RunOptions} RunOptions */

/** @param {Network} source @param {RunOptions} options @returns {Promise<Extractor & {shapes: Shapes}>} */
export async function loadNetwork({ id, sha256, dimension, views, files, worker, runtime }, options) {
  const running = await startExtractor({
    files, worker,
    window: async (loaded) => createSession((await runtime()).createRuntime, loaded, nextTask),
  }, options);
  const ask = (/** @type {string} */ type, /** @type {unknown} */ args) => running.ask(type, args).catch((/** @type {any} */ error) => {
    if (error.name !== 'DataCloneError') throw error;
    throw new ExtractorError('unreadable-picture', 'This picture has been closed already; add it once more.');
  });
  return {
    id, sha256, dimension, views,
    get place() { return running.place; },
    embed: (picture, count) => ask('embed', { picture, views: count }),
    shapes: () => ask('shapes', undefined),
    close: running.close,
  };
}
