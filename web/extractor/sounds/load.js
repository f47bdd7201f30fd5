// @ts-check
/** Where the extractor of sounds is, and loading it: in a worker, or in the window where none starts. */
import { fetchRecord } from '../download.js';
import { fetchNetworks } from '../networks.js';
import { startExtractor } from '../place.js';

/** @typedef {import('./session.js').Sound} Sound */
/** @typedef {import('./session.js').Spectrum} Spectrum */

/**
 * @typedef {object} SoundExtractor
 * @property {string} id @property {string} sha256
 * @property {number} dimension
 * @property {number} views always 1
 * @property {'worker' | 'window'} place
 * @property {boolean} words whether it hears nothing but words, for want of YAMNet
 * @property {(sound: Sound) => Promise<Float32Array>} embed
 * @property {(sound: Sound) => Promise<Spectrum>} spectrum to be drawn
 * @property {string[]} addresses of all that it was fetched from
 * @property {() => void} close
 */

/** What it is, without loading it. @param {URL} folder @returns {Promise<import('../networks.js').Recorded>} */
export const soundsRecord = (folder) => /** @type {Promise<any>} */ (fetchRecord(folder));

/**
 * @param {URL} folder of the built files
 * @param {import('../place.js').RunOptions} [options]
 * @returns {Promise<SoundExtractor>}
 */
export async function loadSounds(folder, options = {}) {
  const at = (/** @type {string} */ name) => new URL(name, folder);
  const record = await soundsRecord(folder);
  const running = await startExtractor({
    files: (onProgress) => fetchNetworks(at, record, onProgress),
    worker: () => new Worker(at('worker.js'), { type: 'module', name: 'sounds' }),
    async window(files) {
      const { start } = await import(/* webpackIgnore: true */ /* @vite-ignore */ at('ear.js').href);
      const ear = await start(files);
      return { ask: async (type, args) => ear[type](args), close: () => {} };
    },
  }, options);
  const { id, sha256, dimension, networks } = record;
  const names = ['extractor.json', 'worker.js', 'ear.js', 'runtime.js', ...Object.entries(networks).flatMap(([network, { files }]) => files.map(({ name }) => `${network}/${name}`))];
  return {
    id, sha256, dimension, views: 1, words: !networks.yamnet, addresses: names.map((name) => at(name).href),
    get place() { return running.place; },
    embed: (sound) => running.ask('embed', sound),
    spectrum: (sound) => running.ask('spectrum', sound),
    close: running.close,
  };
}
