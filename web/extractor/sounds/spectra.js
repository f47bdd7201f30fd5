// @ts-check
/** Mel spectra of sounds of 16,000 samples a second. */
import FFT from 'fft.js';

export const rate = 16_000;
/** Samples from one frame to the next, and of a frame's window. */
export const hop = 160;
const [frame, size] = [400, 512];
const bins = size / 2 + 1;

/** A periodic Hann window. */
const window = Float64Array.from({ length: frame }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / frame));

/** @typedef {{from: number, weights: Float64Array}[]} Bank for each band its first bin and the weights of it and those after it */

/** A mel of HTK's, natural logarithm. @param {number} hertz */
const htk = (hertz) => 1127 * Math.log1p(hertz / 700);

/**
 * Triangles that are linear in HTK's mel, as YAMNet was trained with; the bin of 0 Hz is in none.
 *
 * @param {number} bands @param {number} low hertz @param {number} high @returns {Bank}
 */
export function htkBank(bands, low, high) {
  const edge = (/** @type {number} */ i) => htk(low) + ((htk(high) - htk(low)) * i) / (bands + 1);
  return bankOf(
    bands,
    edge,
    (bin) => (bin === 0 ? -1 : htk((bin * rate) / size)),
    () => 1,
  );
}

/**
 * Triangles of equal area that are linear in hertz, their edges equally apart in Slaney's mel: linear up to 1,000 Hz,
 * then 27 bands for each factor of 6.4.
 *
 * @param {number} bands @param {number} low hertz @param {number} high @returns {Bank}
 */
export function slaneyBank(bands, low, high) {
  const step = Math.log(6.4) / 27;
  const mel = (/** @type {number} */ f) => (f < 1000 ? (f * 3) / 200 : 15 + Math.log(f / 1000) / step);
  const hertz = (/** @type {number} */ m) => (m < 15 ? (m * 200) / 3 : 1000 * Math.exp(step * (m - 15)));
  const edge = (/** @type {number} */ i) => hertz(mel(low) + ((mel(high) - mel(low)) * i) / (bands + 1));
  return bankOf(
    bands,
    edge,
    (bin) => (bin * rate) / size,
    (band) => 2 / (edge(band + 2) - edge(band)),
  );
}

/**
 * @param {number} bands @param {(i: number) => number} edge @param {(bin: number) => number} place on the same scale
 * @param {(band: number) => number} height @returns {Bank}
 */
function bankOf(bands, edge, place, height) {
  return Array.from({ length: bands }, (_, band) => {
    const [left, middle, right] = [edge(band), edge(band + 1), edge(band + 2)];
    const all = [...Array(bins).keys()].map(
      (i) => height(band) * Math.max(0, Math.min((place(i) - left) / (middle - left), (right - place(i)) / (right - middle))),
    );
    const from = all.findIndex((weight) => weight > 0);
    return from < 0
      ? { from: 0, weights: new Float64Array(0) }
      : { from, weights: Float64Array.from(all.slice(from, all.findLastIndex((weight) => weight > 0) + 1)) };
  });
}

const fft = new FFT(size);
const windowed = new Float64Array(size);
const spectrum = fft.createComplexArray();

/**
 * The spectra of all frames that fit, by bands.
 *
 * @param {Float32Array} samples
 * @param {Bank} bank
 * @param {{power: 1 | 2, lead?: number}} how of the magnitude or its square; lead: samples before a frame's window
 *   and after it that have to be there
 * @returns {Float32Array[]} a row of bands for each frame, 10 ms apart. Cost: .4 ms a second of sound
 */
export function melSpectra(samples, bank, { power, lead = 0 }) {
  const rows = [];
  for (let at = lead; at + frame + lead <= samples.length; at += hop) {
    for (let i = 0; i < frame; i++) windowed[i] = window[i] * samples[at + i];
    fft.realTransform(spectrum, windowed);
    const row = new Float32Array(bank.length);
    for (let band = 0; band < bank.length; band++) {
      const { from, weights } = bank[band];
      let sum = 0;
      for (let i = 0; i < weights.length; i++) {
        const [re, im] = [spectrum[2 * (from + i)], spectrum[2 * (from + i) + 1]];
        const squared = re * re + im * im;
        sum += weights[i] * (power === 2 ? squared : Math.sqrt(squared));
      }
      row[band] = sum;
    }
    rows.push(row);
  }
  return rows;
}

/** The power that white noise of a standard deviation has in a band, in the mean. @param {Bank} bank @param {number} deviation */
export function noisePower(bank, deviation) {
  const energy = deviation ** 2 * window.reduce((sum, value) => sum + value * value, 0);
  return Float32Array.from(bank, ({ weights }) => energy * weights.reduce((a, b) => a + b, 0));
}
