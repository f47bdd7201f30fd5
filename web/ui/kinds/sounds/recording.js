// @ts-check
/** Recordings: files become pieces. The kept picture of a piece contains the sound itself. */
import { MetaqdaError } from '../../../base/remote.js';
import { encoded } from '../pictures/draw.js';

/** @typedef {{samples: Float32Array, rate: number}} Sound mono */

/** Samples a second of all sounds. */
export const RATE = 16_000;
/** Seconds: the longest recording that is one example, a piece of a longer recording, and the longest recording that is read. */
const [WHOLE, PIECE, LONGEST] = [4, 2, 600];
/** Bytes of the largest file that is decoded. Only decoding tells how long it is. */
const MOST_BYTES = 40e6;
const SOUND = /\.(wav|mp3|ogg|oga|opus|m4a|aac|flac|weba)$/i;
const VIDEO = /\.(mp4|mov|m4v|mkv|avi|webm)$/i;

/** Whether a file says that it is a sound. Firefox takes a.ogg for application/ogg, so the name counts too. @param {{name: string, type: string}} file */
export const claimsSound = (file) => file.type.startsWith('audio/') || SOUND.test(file.name);

/**
 * Decodes a file.
 *
 * @param {File} file
 * @returns {Promise<{name: string, at?: string, sound: Sound}[]>} the sound, or the pieces of a longer one that are not silent; rejects with a sentence
 */
export const decodeSound = async (file) => piecesOf(await decoded(file), file.name);

/** Minutes and seconds. @param {number} seconds whole */
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;

/** A number above a limit, rounded up, so that it does not look equal to the limit. @param {number} value */
export const tenths = (value) => (Math.ceil(10 * value) / 10).toFixed(1);

/** The samples of a file, RATE a second. Rejects with a sentence. @param {File} file @returns {Promise<Float32Array>} */
export async function decoded(file) {
  const name = `“${file.name || 'The pasted recording'}”`;
  const refuse = (/** @type {string} */ why) => new MetaqdaError('sound', `${name} ${why}`);
  if (file.size === 0) throw refuse('is empty, so there is no sound in it: choose another file.');
  const claimed = claimsSound(file);
  if (!claimed && (file.type.startsWith('video/') || (file.type === '' && VIDEO.test(file.name))))
    throw refuse('is a video: save its sound as an MP3 or WAV file and add that file.');
  if (!claimed && file.type !== '') throw refuse('is not a recording: choose a WAV, MP3, OGG or M4A file.');
  if (file.size > MOST_BYTES)
    throw refuse(`has ${tenths(file.size / 1e6)} MB, and at most ${MOST_BYTES / 1e6} are read here: cut out the part that matters and add it.`);
  const samples = await new OfflineAudioContext(1, 1, RATE).decodeAudioData(await file.arrayBuffer()).then(mono, () => {
    throw refuse(
      'could not be read as a recording: it may be damaged, or in a format that this browser does not know. Save it as MP3 or WAV and add that file.',
    );
  });
  const seconds = samples.length / RATE;
  if (seconds > LONGEST)
    throw refuse(`is ${clock(Math.ceil(seconds))} minutes long, and at most ${LONGEST / 60} are read here: cut out the part that matters and add it.`);
  if (samples.length < RATE / 50) throw refuse('holds no sound: choose another file.');
  return samples;
}

/** @param {AudioBuffer} buffer */
function mono(buffer) {
  const channels = Array.from({ length: buffer.numberOfChannels }, (_, i) => buffer.getChannelData(i));
  return channels.length === 1 ? channels[0] : channels[0].map((_, i) => channels.reduce((sum, channel) => sum + channel[i], 0) / channels.length);
}

/** The pieces of a recording that are not silent. The rest at the end is a piece, or if it is short a part of the last piece. @param {Float32Array} samples @param {string} name @returns {{name: string, at?: string, sound: Sound}[]} */
export function piecesOf(samples, name) {
  const sound = (/** @type {number} */ from, /** @type {number} */ to) => ({ samples: samples.slice(from, to), rate: RATE });
  if (samples.length <= WHOLE * RATE) return [{ name, sound: sound(0, samples.length) }];
  const length = Math.ceil(samples.length / (PIECE * RATE) - 0.5);
  const pieces = Array.from({ length }, (_, i) => {
    const at = clock(i * PIECE);
    return { name: `${name}, from ${at}`, at, sound: sound(i * PIECE * RATE, i === length - 1 ? samples.length : (i + 1) * PIECE * RATE) };
  });
  const levels = pieces.map((piece) => level(piece.sound.samples));
  return pieces.filter((_, i) => levels[i] >= 0.1 * Math.max(...levels));
}

/** The root mean square. @param {Float32Array} samples */
export const level = (samples) => Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / Math.max(1, samples.length));

/** Colours of the levels 0, 1/3, 2/3 and 1. */
const COLOURS = [
  [13, 17, 48],
  [52, 63, 156],
  [214, 92, 116],
  [253, 231, 160],
];

/**
 * Draws a spectrum, time to the right, high above.
 *
 * @param {{levels: Uint8Array, frames: number, bands: number}} spectrum @param {number} edge of the square that it fills
 */
export function drawnSpectrum({ levels, frames, bands }, edge) {
  const small = new OffscreenCanvas(frames, bands);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (small.getContext('2d'));
  const pixels = context.createImageData(frames, bands);
  for (let x = 0; x < frames; x++) {
    for (let y = 0; y < bands; y++) {
      const place = levels[x * bands + bands - 1 - y] / 85;
      const from = Math.min(2, Math.floor(place));
      const colour = COLOURS[from].map((value, c) => value + (place - from) * (COLOURS[from + 1][c] - value));
      pixels.data.set([...colour, 255], 4 * (y * frames + x));
    }
  }
  context.putImageData(pixels, 0, 0);
  const canvas = new OffscreenCanvas(edge, edge);
  /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d')).drawImage(small, 0, 0, edge, edge);
  return canvas;
}

/** The application segment of a JPEG that contains the sound. */
const [MARKER, MARK, SEGMENT] = [0xeb, 'metaqda wav\0', 65_000];

/**
 * The picture of a sound as JPEG. Segments of it contain the sound as a WAV file.
 *
 * @param {OffscreenCanvas} picture @param {Sound} sound
 */
export async function withSound(picture, { samples }) {
  const [jpeg, wav] = [await encoded(picture), waveOf(samples)];
  const parts = [jpeg.subarray(0, 2)];
  for (let at = 0; at < wav.length; at += SEGMENT) {
    const piece = wav.subarray(at, at + SEGMENT);
    const size = 2 + MARK.length + piece.length;
    parts.push(Uint8Array.of(0xff, MARKER, size >> 8, size & 255), new TextEncoder().encode(MARK), piece);
  }
  return new Uint8Array(await new Blob(/** @type {BlobPart[]} */ ([...parts, jpeg.subarray(2)])).arrayBuffer());
}

/** The WAV file in a picture of withSound, or empty. @param {Uint8Array} jpeg */
export function soundIn(jpeg) {
  const pieces = [];
  let at = 2;
  while (jpeg[at] === 0xff && jpeg[at + 1] === MARKER) {
    const size = (jpeg[at + 2] << 8) | jpeg[at + 3];
    pieces.push(jpeg.subarray(at + 4 + MARK.length, at + 2 + size));
    at += 2 + size;
  }
  return new Blob(/** @type {BlobPart[]} */ (pieces), { type: 'audio/wav' });
}

/** A WAV file of 16-bit samples. @param {Float32Array} samples */
export function waveOf(samples) {
  const file = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const word = (/** @type {string} */ text) => [...text].reduceRight((sum, c) => 256 * sum + c.charCodeAt(0), 0);
  const pair = (/** @type {number} */ low, /** @type {number} */ high) => low + (high << 16);
  const size = 2 * samples.length;
  // Integers of one channel, 2 bytes or 16 bits each.
  const header = [word('RIFF'), 36 + size, word('WAVE'), word('fmt '), 16, pair(1, 1), RATE, 2 * RATE, pair(2, 16), word('data'), size];
  header.forEach((value, i) => file.setUint32(4 * i, value, true));
  samples.forEach((value, i) => file.setInt16(44 + 2 * i, Math.max(-32_768, Math.min(32_767, Math.round(32_768 * value))), true));
  return new Uint8Array(file.buffer);
}
