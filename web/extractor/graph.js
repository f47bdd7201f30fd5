// @ts-check
/**
 * Runs a network in a worker, and in the window when the worker does not start or
 * hangs (some iOS versions do); and where the page's own network is.
 */
import { RemoteClient } from '../base/remote.js';
import { nextTask } from '../base/task.js';
import { fetchFiles, fetchRecord } from './download.js';
import { ExtractorError } from './errors.js';
import { createSession } from './session.js';

/** A graph starts within a second; a phone may take ten. */
const defaultPatience = 30_000;

/** Codes of errors that are the network's. */
const refused = new Set(['extractor-model', 'extractor-output', 'extractor-manifest', 'bad-embedding']);

/** @typedef {import('./index.js').Extractor} Extractor */
/** @typedef {() => Promise<readonly (readonly number[])[]>} Shapes of what each output answers */
/** @typedef {{name: 'worker' | 'window', embed: Extractor['embed'], shapes: Shapes, close: () => void}} Place */

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
 * @property {() => Worker} worker that answers as worker.mjs describes
 * @property {() => Promise<{createRuntime: import('./session.js').CreateRuntime}>} runtime
 */

/** @type {import('./index.js').Loader} */
export async function loadGraphExtractor({ base, ...options }) {
  const folder = new URL(base ?? 'extractor/', document.baseURI);
  const at = (/** @type {string} */ name) => new URL(name, folder);
  return loadGraphFrom({
    record: await fetchRecord(folder), at,
    worker: () => new Worker(at('worker.js'), { type: 'module', name: 'extractor' }),
    runtime: () => import(/* webpackIgnore: true */ /* @vite-ignore */ at('runtime.js').href),
  }, options);
}

/**
 * @param {Source} source @param {RunOptions} options
 * @returns {Promise<import('./index.js').Extractor>}
 */
export function loadGraphFrom({ record, at, worker, runtime }, options) {
  const { id, sha256, dimension, views } = record;
  return loadNetwork({ id, sha256, dimension, views: views.length, worker, runtime, files: (onProgress) => fetchFiles(at, record, onProgress) }, options);
}

/** @typedef {Omit<import('./index.js').LoadOptions, 'id' | 'base'>} RunOptions */

/**
 * @param {Network} source @param {RunOptions} options
 * @returns {Promise<Extractor & {shapes: Shapes}>}
 */
export async function loadNetwork(source, { onProgress, worker = true, patience = defaultPatience }) {
  let place = await firstPlace(source, onProgress, worker ? patience : 0);
  /** @type {Promise<Place> | null} */
  let moving = null;
  let closed = false;
  /**
   * Asks where the extractor runs, and once more in the window if the worker ends.
   *
   * @template T
   * @param {(place: Place) => Promise<T>} call
   */
  const ask = async (call) => {
    if (closed) throw new ExtractorError('extractor-closed', 'The feature extractor has been closed; reload the page.');
    try {
      return await call(place);
    } catch (error) {
      if (closed || /** @type {any} */ (error).code !== 'worker-failed') throw error;
      moving ??= source.files().then((files) => startInWindow(source, files));
      place = await moving;
      return call(place);
    }
  };

  return {
    id: source.id,
    sha256: source.sha256,
    dimension: source.dimension,
    views: source.views,
    get place() { return place.name; },
    embed: (picture, views) => ask((here) => here.embed(picture, views)),
    shapes: () => ask((here) => here.shapes()),
    close() {
      closed = true;
      place.close();
    },
  };
}

/**
 * @param {Network} source
 * @param {import('./download.js').OnProgress | undefined} onProgress
 * @param {number} patience 0: no worker
 * @returns {Promise<Place>}
 */
async function firstPlace(source, onProgress, patience) {
  const files = await source.files(onProgress);
  if (patience > 0) {
    try {
      return await startInWorker(source, files, patience);
    } catch (error) {
      // No module workers, or one that hangs: the window can do the same work. What
      // is wrong with the network itself is so there too.
      if (refused.has(/** @type {any} */ (error).code)) throw error;
    }
  }
  return startInWindow(source, files);
}

/**
 * @param {Network} source @param {ExtractorFiles} files @param {number} patience
 * @returns {Promise<Place>}
 */
async function startInWorker(source, files, patience) {
  const client = new RemoteClient(source.worker(), {
    code: 'worker-failed',
    died: (why) => `The extractor's worker stopped: ${why}.`,
    patience,
    error: (code, message) => new ExtractorError(code, message),
  });
  const close = () => client.close('The feature extractor has been closed.');
  await client.ask('load', files).catch((error) => {
    close();
    throw error;
  });
  const refuse = (/** @type {any} */ error) => {
    if (error.name !== 'DataCloneError') throw error;
    throw new ExtractorError('unreadable-picture', 'This picture has been closed already; add it once more.');
  };
  return {
    name: 'worker',
    // Cloned, not transferred: the caller may still draw a thumbnail from it.
    embed: (picture, views) => client.ask('embed', { picture, views }).catch(refuse),
    shapes: () => client.ask('shapes'),
    close,
  };
}

/** @param {Network} source @param {ExtractorFiles} files @returns {Promise<Place>} */
async function startInWindow(source, files) {
  const { createRuntime } = await source.runtime();
  return { name: 'window', ...await createSession(createRuntime, files, nextTask) };
}
