// @ts-check
/**
 * The page's extractor of pictures, EfficientNet-lite0 on TensorFlow.js, with its files
 * beside this module. The prior that was learned for it is
 * `metaqda/priors/efficientnet-lite0.safetensors`.
 */
import { loadFrom, sessionOf } from '../extractor/load.js';
import { packaged } from './files.js';
import { forBrowsers, withPicture } from './inputs.js';
import { priorSum, record } from './written/record.js';

/** @typedef {import('./inputs.js').Picture} Picture */
/** @typedef {import('../extractor/session.js').Cells} Cells */

/**
 * @typedef {object} PictureExtractor what `createClassifier` takes as its extractor
 * @property {string} id
 * @property {string} sha256
 * @property {number} dimension
 * @property {(picture: Picture) => Promise<Float32Array>} embed
 * @property {(picture: Picture) => Promise<Cells>} cells for `explain`: the embedding, and the cells whose mean it is
 * @property {() => void} close ends its worker and frees the network
 */

/**
 * Loads the extractor. It runs in a worker, or in the window if no worker starts.
 *
 * @param {import('./inputs.js').Loading} [options]
 * @returns {Promise<PictureExtractor>}
 */
export async function loadExtractor(options = {}) {
  forBrowsers(options);
  // Each address is written out, for bundlers to find.
  /** @type {Record<string, () => URL>} */
  const places = {
    'model.json': () => new URL('./efficientnet-lite0/model.json', import.meta.url),
    'weights.bin': () => new URL('./efficientnet-lite0/weights.bin', import.meta.url),
    'tfjs-backend-wasm-simd.wasm': () => new URL('./efficientnet-lite0/tfjs-backend-wasm-simd.wasm', import.meta.url),
  };
  const extractor = await loadFrom(
    {
      record,
      at: (name) => packaged(places[name]),
      worker: () => new Worker(new URL('./efficientnet-lite0/worker.js', import.meta.url), { type: 'module', name: 'extractor' }),
      // @ts-ignore: built
      window: sessionOf(() => import('./efficientnet-lite0/runtime.js')),
    },
    options,
  );
  const { id, sha256, dimension } = extractor;
  return {
    id,
    sha256,
    dimension,
    embed: (picture) => withPicture(picture, (taken) => extractor.embed(taken)),
    cells: (picture) => withPicture(picture, async (taken) => /** @type {Cells} */ (await extractor.cells(taken))),
    close: () => extractor.close(),
  };
}

/** The address of its prior, for the option `prior` of `createClassifier`. @returns {URL} */
export const prior = () => packaged(() => new URL('./priors/efficientnet-lite0.safetensors', import.meta.url));

/** The same for `usePrior` of a storage, which fetches it once. @returns {{url: string, sha256: string}} */
export const priorSource = () => ({ url: prior().href, sha256: priorSum });
