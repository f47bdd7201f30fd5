// @ts-check
/** Sound files in Node: OGG Vorbis, MP3 and WAV, as one channel. */
import { createRequire } from 'node:module';

const load = createRequire(new URL('../../web/package.json', import.meta.url));

/** @typedef {{channelData: Float32Array[], sampleRate: number}} Decoded */

/** @param {Uint8Array} file @param {number} from @param {string} text */
const says = (file, from, text) => String.fromCharCode(...file.subarray(from, from + text.length)) === text;

/**
 * @param {Uint8Array} file contents
 * @returns {Promise<{samples: Float32Array, rate: number}>} the mean of its channels; rejects on damaged files and others
 */
export async function decodeSound(file) {
  const { channelData, sampleRate } = await decoded(file);
  const [first, ...others] = channelData;
  if (!first?.length) throw new Error('it holds no sound');
  return { samples: first.map((value, i) => others.reduce((sum, channel) => sum + channel[i], value) / channelData.length), rate: sampleRate };
}

/** @param {Uint8Array} file @returns {Promise<Decoded>} */
async function decoded(file) {
  if (says(file, 0, 'RIFF') && says(file, 8, 'WAVE')) return load('node-wav').decode(file.slice().buffer) ?? { channelData: [], sampleRate: 0 };
  if (says(file, 0, 'OggS')) return throughDecoder(new (load('@wasm-audio-decoders/ogg-vorbis').OggVorbisDecoder)(), (decoder) => decoder.decodeFile(file));
  if (says(file, 0, 'ID3') || file[0] === 0xff && (file[1] & 0xe0) === 0xe0) return throughDecoder(new (load('mpg123-decoder').MPEGDecoder)(), (decoder) => decoder.decode(file));
  throw new Error('it is none of OGG Vorbis, MP3 and WAV');
}

/** @param {any} decoder of WebAssembly, freed at the end @param {(decoder: any) => Promise<Decoded & {errors: {message: string}[]}>} decode @returns {Promise<Decoded>} */
async function throughDecoder(decoder, decode) {
  await decoder.ready;
  try {
    const { errors, ...sound } = await decode(decoder);
    if (errors.length && !sound.channelData[0]?.length) throw new Error(errors[0].message);
    return sound;
  } finally {
    decoder.free();
  }
}
