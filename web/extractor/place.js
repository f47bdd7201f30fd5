// @ts-check
/** Runs an extractor in a worker, and in the window when the worker does not start or hangs (some iOS versions do). */
import { RemoteClient } from '../base/remote.js';
import { ExtractorError } from './errors.js';

/** A graph starts within a second; a phone may take ten. */
const defaultPatience = 30_000;

/** Codes of errors that are the network's. */
const refused = new Set(['extractor-model', 'extractor-output', 'extractor-manifest', 'bad-embedding']);

/** @typedef {{ask: (type: string, args?: any) => Promise<any>, close: () => void}} Answering */

/**
 * @template Files
 * @typedef {object} Source
 * @property {(onProgress?: import('./download.js').OnProgress) => Promise<Files>} files what it is loaded with
 * @property {() => Worker} worker that answers `load` with these files, and all else that is asked
 * @property {(files: Files) => Promise<Record<string, (args?: any) => any>>} window what that worker would be asked, a method for each type of message; `close` if there is something to free
 */

/**
 * @typedef {object} RunOptions
 * @property {import('./download.js').OnProgress} [onProgress] bytes loaded of bytes in all
 * @property {boolean} [worker] false runs it in the window at once
 * @property {number} [patience] milliseconds after which a silent worker counts as hung
 */

/**
 * @template Files
 * @param {Source<Files>} source @param {RunOptions} options
 * @returns {Promise<Answering & {place: 'worker' | 'window'}>} which goes on in the window if the worker ends
 */
export async function startExtractor(source, { onProgress, worker = true, patience = defaultPatience }) {
  let [place, running] = await firstPlace(source, await source.files(onProgress), worker ? patience : 0);
  /** @type {Promise<Answering> | null} */
  let moving = null;
  let closed = false;
  return {
    get place() { return place; },
    async ask(type, args) {
      if (closed) throw new ExtractorError('extractor-closed', 'The feature extractor has been closed; reload the page.');
      try {
        return await running.ask(type, args);
      } catch (error) {
        if (closed || /** @type {any} */ (error).code !== 'worker-failed') throw error;
        moving ??= source.files().then((files) => inWindow(source, files)).catch((failed) => { moving = null; throw failed; }); // who asks next tries again
        [place, running] = ['window', await moving];
        return running.ask(type, args);
      }
    },
    close() {
      closed = true;
      running.close();
    },
  };
}

/**
 * @template Files
 * @param {Source<Files>} source @param {Files} files @param {number} patience 0: no worker
 * @returns {Promise<['worker' | 'window', Answering]>}
 */
async function firstPlace(source, files, patience) {
  if (patience > 0) {
    try {
      return ['worker', await startInWorker(source, files, patience)];
    } catch (error) {
      // No module workers, or one that hangs: the window can do the same work. What
      // is wrong with the network itself is so there too.
      if (refused.has(/** @type {any} */ (error).code)) throw error;
    }
  }
  return ['window', await inWindow(source, files)];
}

/** @template Files @param {Source<Files>} source @param {Files} files @returns {Promise<Answering>} */
async function inWindow(source, files) {
  const session = await source.window(files);
  return { ask: async (type, args) => session[type](args), close: () => session.close?.() };
}

/**
 * @template Files
 * @param {Source<Files>} source @param {Files} files @param {number} patience
 * @returns {Promise<Answering>}
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
  // Cloned, not transferred: the caller may still draw a thumbnail from what it hands over.
  return { ask: (type, args) => client.ask(type, args), close };
}
