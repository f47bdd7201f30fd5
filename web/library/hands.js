// @ts-check
/**
 * The page's extractor of hands, MediaPipe's hand network on TensorFlow.js, with its files beside this module: 672 numbers
 * for the one hand in a picture, the same for left and right unless `handedness` is set.
 */
import { loadFrom } from '../extractor/load.js';
import { variantOf } from '../extractor/networks.js';
import { packaged } from './files.js';
import { forBrowsers, withPicture } from './inputs.js';
import { TRUTH } from './classifier/options.js';
import { kinds } from './written/record.js';

/** @typedef {import('./inputs.js').Picture} Picture */
/** @typedef {import('../extractor/hands/recipe.js').Hand} Hand */

/**
 * @typedef {object} HandExtractor what `createClassifier` takes as its extractor
 * @property {string} id @property {string} sha256 @property {number} dimension
 * @property {(picture: Picture) => Promise<Float32Array>} embed rejects with the code 'no-hand' if there is none
 * @property {(picture: Picture) => Promise<Hand|null>} see the same with the 21 landmarks, null if there is no hand
 * @property {() => void} close ends its worker
 */

/**
 * Loads the extractor. It runs in a worker, or in the window if no worker starts.
 *
 * @param {import('./inputs.js').Loading & {handedness?: boolean | undefined}} [options]
 *   handedness: left and right hands get different numbers; do not mix vectors with it and without it
 * @returns {Promise<HandExtractor>}
 */
export async function loadExtractor(options) {
  forBrowsers(options, { handedness: TRUTH });
  // Each address is written out, for bundlers to find.
  /** @type {Record<string, () => URL>} */
  const places = {
    'hand/model.json': () => new URL('./kinds/hands/hand/model.json', import.meta.url),
    'hand/weights.bin': () => new URL('./kinds/hands/hand/weights.bin', import.meta.url),
    [kinds.hands.program.name]: () => new URL('./efficientnet-lite0/tfjs-backend-wasm-simd.wasm', import.meta.url),
  };
  const { id, sha256, dimension, embed, ask, close } = await loadFrom(
    {
      record: variantOf(kinds.hands, options?.handedness ? 'handedness' : ''),
      at: (name) => packaged(places[name]),
      worker: () => new Worker(new URL('./kinds/hands/worker.js', import.meta.url), { type: 'module', name: 'hands' }),
      // @ts-ignore: built
      window: async (files) => (await import('./kinds/hands/start.js')).start(files),
    },
    options,
  );
  return {
    id,
    sha256,
    dimension,
    embed: (picture) => withPicture(picture, embed),
    see: (picture) => withPicture(picture, (taken) => ask('see', taken)),
    close,
  };
}

/** The address of its prior, for the option `prior` of `createClassifier`. @returns {URL} */
export const prior = () => packaged(() => new URL('./priors/hands.safetensors', import.meta.url));
