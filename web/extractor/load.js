// @ts-check
/**
 * Loads extractors of every kind: one network for pictures, or networks with a recipe, such as those for sounds and
 * hands. They run in a worker, or in the window if the worker does not start or hangs (as in some iOS versions).
 */
import { RemoteClient } from '../base/remote.js';
import { nextTask } from '../base/task.js';
import { fetchRecord, imported } from './download.js';
import { ExtractorError } from './errors.js';
import { fetchFiles, variantOf } from './networks.js';
import { createSession } from './session.js';

/** @import {Extractor, LoadOptions} from './index.js' */
/** @typedef {Omit<Extractor, 'embed' | 'cells'> & {embed: (input: any, views?: number) => Promise<Float32Array>, cells: (input: any, views?: number) => ReturnType<Extractor['cells']>}} KindExtractor of any kind */
/** @typedef {() => Promise<{createRuntime: import('./session.js').CreateRuntime}>} ImportRuntime */

/**
 * @typedef {object} Built where a built extractor is
 * @property {any} record content of its extractor.json, written by the build
 * @property {(name: string) => URL} at
 * @property {() => Worker} worker starts worker.js
 * @property {(files: any) => Promise<Record<string, (args?: any) => any>>} window makes the worker's session in the window
 */

/** The record of an extractor, without loading it. @param {URL} folder @param {string} [variant] @returns {Promise<import('./networks.js').Recorded>} */
export const kindRecord = async (folder, variant) => variantOf(await fetchRecord(folder), variant);

/** @param {URL} folder of the built files @param {LoadOptions & {variant?: string}} [options] @returns {Promise<KindExtractor>} */
export async function loadKind(folder, options = {}) {
  const record = await kindRecord(folder, options.variant);
  const at = (/** @type {string} */ name) => new URL(name, folder);
  return loadFrom(
    {
      record,
      at,
      worker: () => new Worker(at('worker.js'), { type: 'module', name: record.id }),
      window: record.networks ? async (files) => (await imported(at('start.js'))).start(files) : sessionOf(() => imported(at('runtime.js'))),
    },
    options,
  );
}

/** The extractor of pictures. @param {LoadOptions} [options] @returns {Promise<Extractor>} */
export const loadExtractor = ({ base, ...options } = {}) => loadKind(new URL(base ?? 'extractor/', document.baseURI), options);

/** @param {Built} source @param {LoadOptions} [options] @returns {Promise<KindExtractor>} */
export const loadFrom = ({ record, at, ...source }, options) => load({ ...source, record, files: (onProgress) => fetchFiles(at, record, onProgress) }, options);

/** Runs a network of pictures in the window. @param {ImportRuntime} runtime @returns {Built['window']} */
export const sessionOf = (runtime) => async (files) => createSession((await runtime()).createRuntime, files, nextTask);

/**
 * @param {Startable<any> & Pick<Built, 'record'>} source
 * @param {LoadOptions} [options]
 * @returns {Promise<KindExtractor>}
 */
export async function load({ record: { id, sha256, dimension, views, networks = {} }, ...source }, options = {}) {
  const running = await startExtractor(source, options);
  const ask = (/** @type {string} */ type, /** @type {any} */ args) =>
    running.ask(type, args).catch((/** @type {any} */ error) => {
      // The page may not read such pixels. The browser does not send them to a worker, and does not give them to the window.
      const withheld = error.name === 'SecurityError' || (error.name === 'DataCloneError' && (args.picture ?? args).width > 0);
      if (withheld) throw new ExtractorError('unreadable-picture', WITHHELD);
      if (error.name !== 'DataCloneError') throw error;
      throw new ExtractorError('unreadable-picture', 'This picture has been closed already; add it once more.');
    });
  return {
    id,
    sha256,
    dimension,
    views: views?.length ?? 1,
    networks: Object.keys(networks),
    get place() {
      return running.place;
    },
    embed: (input, count) => ask('embed', views ? { picture: input, views: count } : input),
    cells: async (input, count) => (views ? ask('cells', { picture: input, views: count }) : null),
    ask,
    close: running.close,
  };
}

const WITHHELD =
  "The browser does not let this page read the picture: it comes from another site, or contains HTML. Load it with crossOrigin 'anonymous', if its server allows that, or hand over a file.";

/** A graph starts within a second; a phone may take ten. */
const defaultPatience = 30_000;

/** Codes of errors that come from the network itself. */
const refused = new Set(['extractor-model', 'extractor-output', 'extractor-manifest', 'bad-embedding']);

/** @typedef {{ask: (type: string, args?: any) => Promise<any>, close: () => void}} Running a network, in a worker or in the window */

/**
 * @template Files
 * @typedef {object} Startable
 * @property {(onProgress?: import('./download.js').OnProgress) => Promise<Files>} files fetches the files to load
 * @property {() => Worker} worker that answers `load` with these files, and all other messages
 * @property {(files: Files) => Promise<Record<string, (args?: any) => any>>} window the worker's answers in the window, a method for each type of message; `close` if there is something to free
 */

/**
 * @template Files
 * @param {Startable<Files>} source @param {LoadOptions} options
 * @returns {Promise<Running & {place: 'worker' | 'window'}>} which goes on in the window if the worker ends
 */
async function startExtractor(source, { onProgress, worker = true, patience = defaultPatience }) {
  let [place, running] = await firstPlace(source, await source.files(onProgress), worker ? patience : 0);
  /** @type {Promise<void> | null} */
  let moving = null;
  let closed = false;
  const closing = () => new ExtractorError('extractor-closed', 'The feature extractor has been closed: load it again.');
  const move = async () => {
    const moved = await inWindow(source, await source.files());
    if (closed) {
      moved.close();
      throw closing();
    }
    [place, running] = ['window', moved];
  };
  return {
    get place() {
      return place;
    },
    async ask(type, args) {
      if (closed) throw closing();
      try {
        return await running.ask(type, args);
      } catch (error) {
        if (closed) throw closing();
        if (/** @type {any} */ (error).code !== 'worker-failed') throw error;
        moving ??= move().catch((failed) => {
          moving = null;
          throw failed;
        }); // the next call tries again
        await moving;
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
 * @param {Startable<Files>} source @param {Files} files @param {number} patience 0: no worker
 * @returns {Promise<['worker' | 'window', Running]>}
 */
async function firstPlace(source, files, patience) {
  if (patience > 0) {
    try {
      return ['worker', await startInWorker(source, files, patience)];
    } catch (error) {
      // There are no module workers, or one hangs: the window can do the same work. An error of the
      // network itself would occur there too.
      if (refused.has(/** @type {any} */ (error).code)) throw error;
    }
  }
  return ['window', await inWindow(source, files)];
}

/** @template Files @param {Startable<Files>} source @param {Files} files @returns {Promise<Running>} */
async function inWindow(source, files) {
  const session = await source.window(files);
  return { ask: async (type, args) => session[type](args), close: () => session.close?.() };
}

/**
 * @template Files
 * @param {Startable<Files>} source @param {Files} files @param {number} patience
 * @returns {Promise<Running>}
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
  // Cloned, not transferred: the caller may still draw a thumbnail of the picture.
  return { ask: (type, args) => client.ask(type, args), close };
}
