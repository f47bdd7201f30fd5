// @ts-check
/** The loaded extractor of sounds: it handles the messages of its worker, there and in the window. */
import { ExtractorError } from '../errors.js';
import { loadNetworks } from '../networks.js';
import { drawnSpectrum, embedSound, rate } from './recipe.js';
import { resample } from './resample.js';
import { isSpeech } from './speech.js';

/** @typedef {{samples: Float32Array, rate: number}} Sound mono, in -1..1, and samples a second */
/** The refusal of a sound without speech, on a site without YAMNet. It also refuses two words with a pause of half a second, because the mean over the windows includes the silence. */
const NO_SPEECH = 'I can only compare single spoken words here: record or choose one word.';

/** @typedef {{levels: Uint8Array, frames: number, bands: number}} Spectrum a row of bands for each 10 ms, low ones first, 0 to 255 */

/**
 * @param {(files: import('../networks.js').NetworkFiles) => Promise<import('../networks.js').Network>} createNetwork
 * @param {import('../networks.js').Fetched} fetched
 */
export async function createSounds(createNetwork, fetched) {
  const loaded = /** @type {any} */ (await loadNetworks(createNetwork, fetched));
  const embed = async (/** @type {Sound} */ { samples, rate: given }) => {
    const embedding = embedSound(loaded, resample(samples, given, rate));
    if (!embedding.every(Number.isFinite)) throw new ExtractorError('bad-embedding', 'This recording has values that are not numbers; record it anew.');
    if (!loaded.yamnet && !isSpeech(embedding)) throw new ExtractorError('no-speech', NO_SPEECH);
    return embedding;
  };
  embedSound(loaded, new Float32Array(rate)); // the first run compiles
  const spectrum = async (/** @type {Sound} */ { samples, rate: given }) => drawnSpectrum(resample(samples, given, rate));
  return { embed, spectrum };
}
