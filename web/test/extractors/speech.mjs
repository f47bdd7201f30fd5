// @ts-check
/**
 * A speech embedding as a plain function: a WAV file of 16-bit samples, 16,000 a second, becomes 96
 * numbers. They are the mean over windows of 76 frames of a mel spectrogram, 8 frames apart. The
 * networks and their use are those of openWakeWord.
 */
// @ts-ignore: among the files of the manifest
import { InferenceSession, Tensor, env } from './ort.mjs';

const [frames, bands, step] = [76, 32, 8];

/** @param {import('../../extractor/own/function.js').Given} given */
export default async function speech({ read }) {
  Object.assign(env.wasm, { numThreads: 1, wasmBinary: read('ort-wasm-simd-threaded.wasm').buffer });
  const [mel, embedding] = await Promise.all(['melspectrogram.onnx', 'embedding_model.onnx'].map((name) => InferenceSession.create(read(name))));
  const answer = async (/** @type {any} */ network, /** @type {Float32Array} */ data, /** @type {number[]} */ shape) =>
    (await network.run({ [network.inputNames[0]]: new Tensor('float32', data, shape) }))[network.outputNames[0]].data;
  return async (/** @type {Uint8Array} */ file) => {
    const samples = samplesOf(file);
    const spectrogram = Float32Array.from(await answer(mel, samples, [1, samples.length]), (value) => value / 10 + 2);
    const sum = new Float64Array(96);
    let windows = 0;
    for (let at = 0; (at + frames) * bands <= spectrogram.length; at += step, windows++) {
      const part = await answer(embedding, spectrogram.slice(at * bands, (at + frames) * bands), [1, frames, bands, 1]);
      part.forEach((/** @type {number} */ value, /** @type {number} */ i) => {
        sum[i] += value;
      });
    }
    if (windows === 0) throw new Error('the sound is shorter than a second');
    return sum.map((value) => value / windows);
  };
}

/** @param {Uint8Array} file */
function samplesOf(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (view.byteLength < 44 || view.getUint32(0) !== 0x52494646 || view.getUint32(24, true) !== 16_000 || view.getUint16(34, true) !== 16)
    throw new Error('not a WAV file of 16-bit samples, 16000 a second');
  return Float32Array.from({ length: (view.byteLength - 44) >> 1 }, (_, i) => view.getInt16(44 + 2 * i, true));
}
