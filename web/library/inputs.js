// @ts-check
/** Checks the inputs of the package's extractors, and converts them to what the extractors take. */
import { MetaqdaError, notInServiceWorker } from '../base/remote.js';
import { ExtractorError } from '../extractor/errors.js';
import { FUNCTION, known, TRUTH } from './classifier/options.js';

/** @typedef {Blob | ImageBitmap | ImageData | HTMLImageElement | HTMLVideoElement | HTMLCanvasElement | OffscreenCanvas | VideoFrame} Picture */
/** @typedef {import('../extractor/sounds/session.js').Sound} Sound */
/** @typedef {{onProgress?: ((progress: {loaded: number, total: number}) => void) | undefined, worker?: boolean | undefined}} Loading */

/**
 * Throws if an extractor cannot work here, or for unknown options.
 *
 * @param {Loading | undefined} options @param {Record<string, import('./classifier/options.js').Kind>} [own] further options of this
 * extractor
 */
export function forBrowsers(options, own) {
  known(options, { onProgress: FUNCTION, worker: TRUTH, ...own });
  notInServiceWorker('load an extractor');
  if (typeof createImageBitmap === 'undefined')
    throw new MetaqdaError(
      'unsupported',
      'This extractor works in browsers and in Deno only: elsewhere make embeddings with scripts/embed of the repository, and hand them over as vectors.',
    );
}

/**
 * Calls an extractor with a picture. If a bitmap is made for this, it is closed afterwards.
 *
 * @template T
 * @param {Picture} picture @param {(picture: Blob | ImageBitmap | ImageData) => Promise<T>} ask
 */
export async function withPicture(picture, ask) {
  const taken = await pictureOf(picture);
  try {
    return await ask(taken);
  } finally {
    if (taken !== picture) /** @type {ImageBitmap} */ (taken).close();
  }
}

/**
 * The picture itself if the extractor takes it, else a bitmap of it.
 *
 * @param {Picture} picture
 * @returns {Promise<Blob | ImageBitmap | ImageData>}
 */
async function pictureOf(picture) {
  if (picture instanceof Blob || picture instanceof ImageBitmap || picture instanceof ImageData) return picture;
  try {
    return await createImageBitmap(picture, { colorSpaceConversion: 'none', premultiplyAlpha: 'none' });
  } catch (error) {
    if (error instanceof TypeError)
      throw new MetaqdaError('argument', 'This is not a picture: hand over a Blob, an ImageBitmap, an ImageData, an image, a canvas or a video.');
    throw new ExtractorError('unreadable-picture', 'This picture cannot be read: wait until it is loaded (of a video until it plays), or choose another one.');
  }
}

const SHORTEST = 0.1; // seconds
const RATES = [3000, 768_000]; // samples a second, as browsers have them

/** Mono: the mean of its channels. @param {Sound | AudioBuffer | Blob} sound @returns {Promise<Sound>} */
export async function soundOf(sound) {
  const mono = await monoOf(sound);
  if (mono.samples.length >= SHORTEST * mono.rate) return mono;
  throw new ExtractorError(
    'unreadable-sound',
    `This sound of ${Math.floor((1000 * mono.samples.length) / mono.rate)} ms is too short: record at least a tenth of a second.`,
  );
}

/** Whether a sound is an AudioBuffer. Workers do not have this class. @param {unknown} sound @returns {sound is AudioBuffer} */
const isBuffer = (sound) => typeof AudioBuffer === 'function' && sound instanceof AudioBuffer;

/** @param {Sound | AudioBuffer | Blob} sound @returns {Promise<Sound>} */
async function monoOf(sound) {
  if (sound instanceof Blob) sound = await decoded(sound);
  if (isBuffer(sound)) {
    const { numberOfChannels: n, sampleRate: rate } = sound;
    const [first, ...others] = Array.from({ length: n }, (_, i) => /** @type {AudioBuffer} */ (sound).getChannelData(i));
    return { samples: first.map((value, i) => others.reduce((sum, channel) => sum + channel[i], value) / n), rate };
  }
  const { samples, rate } = sound ?? {};
  if (samples instanceof Float32Array && Number.isInteger(rate) && rate >= RATES[0] && rate <= RATES[1]) return sound;
  throw new MetaqdaError(
    'argument',
    `The sound must be a Blob, an AudioBuffer or { samples, rate }: a Float32Array of one channel, and how many samples a second there are, a whole number from ${RATES[0]} to ${RATES[1]}.`,
  );
}

/** @param {Blob} blob @returns {Promise<AudioBuffer>} */
async function decoded(blob) {
  if (!globalThis.OfflineAudioContext)
    throw new MetaqdaError('unsupported', 'Workers read no recordings: hand this one over in the window, or its { samples, rate } here.');
  const bytes = await blob.arrayBuffer();
  return new OfflineAudioContext(1, 1, 16_000).decodeAudioData(bytes).catch(() => {
    throw new ExtractorError('unreadable-sound', 'This sound cannot be read: choose a file that the browser plays, such as WAV, MP3 or Ogg.');
  });
}
