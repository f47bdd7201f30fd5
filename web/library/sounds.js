// @ts-check
/**
 * The page's extractor of sounds without YAMNet, with its files beside this module. Its 96 numbers tell spoken words
 * apart in any language.
 */
import { loadFrom } from '../extractor/load.js';
import { packaged } from './files.js';
import { forBrowsers, soundOf } from './inputs.js';
import { kinds } from './written/record.js';

export { openMicrophone } from './microphone.js';

/** @typedef {import('./inputs.js').Sound} Sound */

/**
 * @typedef {object} SoundExtractor what `createClassifier` takes as its extractor
 * @property {string} id @property {string} sha256 @property {number} dimension
 * @property {(sound: Sound | AudioBuffer | Blob) => Promise<Float32Array>} embed rejects with the code 'no-speech' if it is no speech; the browser decodes a Blob
 * @property {() => void} close ends its worker
 */

/**
 * Loads the extractor. It runs in a worker, or in the window if no worker starts.
 *
 * @param {import('./inputs.js').Loading} [options]
 * @returns {Promise<SoundExtractor>}
 */
export async function loadExtractor(options) {
  forBrowsers(options);
  const beside = import.meta.url; // so that bundlers do not look for YAMNet, which the npm package lacks
  // Each address is written out, for bundlers to find.
  /** @type {Record<string, () => URL>} */
  const places = {
    'speech/model.json': () => new URL('./kinds/sounds/speech/model.json', import.meta.url),
    'speech/weights.bin': () => new URL('./kinds/sounds/speech/weights.bin', import.meta.url),
    [kinds.sounds.program.name]: () => new URL('./efficientnet-lite0/tfjs-backend-wasm-simd.wasm', import.meta.url),
  };
  const { id, sha256, dimension, embed, close } = await loadFrom(
    {
      record: kinds.sounds,
      at: (name) => packaged(places[name] ?? (() => new URL(`./kinds/sounds/${name}`, beside))), // YAMNet, in a folder that "Use it" of the page saves
      worker: () => new Worker(new URL('./kinds/sounds/worker.js', import.meta.url), { type: 'module', name: 'sounds' }),
      // @ts-ignore: built
      window: async (files) => (await import('./kinds/sounds/start.js')).start(files),
    },
    options,
  );
  return { id, sha256, dimension, embed: async (sound) => embed(await soundOf(sound)), close };
}
