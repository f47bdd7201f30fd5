// @ts-check
/** The loaded extractor of hands: it handles the messages of its worker, there and in the window. */
import { ExtractorError } from '../errors.js';
import { decodePicture, pixelsOf } from '../pixels.js';
import { preprocess } from '../preprocess.js';
import { loadNetworks } from '../networks.js';
import { EDGE, handed, handIn, SURE } from './recipe.js';

/** @typedef {Blob | ImageBitmap | ImageData | import('../preprocess.js').Pixels} Picture */

/**
 * @param {(files: import('../networks.js').NetworkFiles) => Promise<import('../networks.js').Network>} createNetwork
 * @param {import('../networks.js').Fetched} fetched
 */
export async function createHands(createNetwork, fetched) {
  const networks = /** @type {any} */ (await loadNetworks(createNetwork, fetched));
  const views = [{ name: 'whole' }];
  /** The hand in a picture, null where there is none. @param {Picture} picture */
  const see = async (picture) => {
    const source = picture instanceof Blob ? await decodePicture(picture) : picture;
    const { width, height } = source;
    const pixels = async () => ('data' in source ? preprocess(source, EDGE, views) : pixelsOf(source, EDGE, views));
    const [data] = await pixels().finally(() => source !== picture && /** @type {ImageBitmap} */ (source).close());
    const hand = handIn(networks, { data, width, height }, fetched.id === handed);
    return hand.there < SURE || !hand.embedding.every(Number.isFinite) ? null : hand;
  };
  handIn(networks, { data: new Float32Array(3 * EDGE * EDGE), width: 1, height: 1 }); // the first run compiles
  return {
    see,
    /** @param {Picture} picture */
    async embed(picture) {
      const hand = await see(picture);
      if (hand) return hand.embedding;
      throw new ExtractorError('no-hand', 'No hand was found here: show one whole hand against a calm background.');
    },
  };
}
