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
  if (says(file, 0, 'RIFF') && says(file, 8, 'WAVE')) return wave(new DataView(file.buffer, file.byteOffset, file.byteLength));
  if (says(file, 0, 'OggS')) return throughDecoder(new (load('@wasm-audio-decoders/ogg-vorbis').OggVorbisDecoder)(), (decoder) => decoder.decodeFile(file));
  if (says(file, 0, 'ID3') || file[0] === 0xff && (file[1] & 0xe0) === 0xe0) return throughDecoder(new (load('mpg123-decoder').MPEGDecoder)(), (decoder) => decoder.decode(file));
  throw new Error('it is none of OGG Vorbis, MP3 and WAV');
}

/** Readers of a sample, by its format and bits. @type {Record<string, (view: DataView, at: number) => number>} */
const READS = {
  'pcm 8': (view, at) => view.getUint8(at) / 128 - 1,
  'pcm 16': (view, at) => view.getInt16(at, true) / 2 ** 15,
  'pcm 24': (view, at) => (view.getUint16(at, true) / 2 ** 16 + view.getInt8(at + 2)) / 2 ** 7,
  'pcm 32': (view, at) => view.getInt32(at, true) / 2 ** 31,
  'float 32': (view, at) => view.getFloat32(at, true),
  'float 64': (view, at) => view.getFloat64(at, true),
};
/** Formats by their numbers. After the last one the file names the real format further on. @type {Record<number, string>} */
const FORMATS = { 1: 'pcm', 3: 'float', 0xfffe: 'extensible' };

/** Reads a WAV file, scaled as browsers do it. @param {DataView} view @returns {Decoded} */
function wave(view) {
  let [kind, channels, rate, block] = ['', 0, 0, 0];
  for (let at = 12; at + 8 <= view.byteLength;) {
    const [id, from] = [view.getUint32(at), at + 8];
    const size = Math.min(view.getUint32(at + 4, true), view.byteLength - from); // programs that write to a pipe leave it open
    if (id === 0x666d7420 && size >= 16) { // 'fmt '
      const format = FORMATS[view.getUint16(from, true)] ?? '';
      const named = format === 'extensible' && size >= 26 ? FORMATS[view.getUint16(from + 24, true)] : format;
      [channels, rate, block] = [view.getUint16(from + 2, true), view.getUint32(from + 4, true), view.getUint16(from + 12, true)];
      kind = `${named} ${view.getUint16(from + 14, true)}`;
    } else if (id === 0x64617461) { // 'data'
      const [read, bytes] = [READS[kind], Number(kind.split(' ')[1]) / 8];
      if (!read || !channels || !rate || block !== channels * bytes) throw new Error('it is a WAV file whose samples are not PCM or floats');
      const length = Math.floor(size / block);
      return { channelData: Array.from({ length: channels }, (_, c) => Float32Array.from({ length }, (__, i) => read(view, from + i * block + c * bytes))), sampleRate: rate };
    }
    at = from + size + (size & 1);
  }
  return { channelData: [], sampleRate: 0 };
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
