// @ts-check
/**
 * The inputs of the two networks for a sound, and the embedding of their outputs.
 *
 * YAMNet (1,024 numbers), if the site has it. A gain of at most 100 brings the 95th percentile of the root mean
 * squares of 10 ms frames to .1. The input has magnitudes in 64 mel bands of 125 to 7,500 Hz, as ln(mel + .001) + 1.404,
 * in patches of 96 frames, 48 apart. Patches more than 20 dB below the loudest are left out. y is the square root of
 * the mean output over the others.
 *
 * The speech embedding (96 numbers). The sound is cut to its frames from the first to the last within 40 dB of the
 * loudest. The input has powers of 16-bit samples in 32 mel bands of 60 to 3,800 Hz, in decibels / 10 + 2, at most 80 dB
 * below the loudest, in windows of 76 frames, 16 apart. p is the mean output over the windows. A sound shorter than a
 * window is put into its middle, over the power of noise of a standard deviation of 1e-3.
 *
 * y and p are scaled to length one and joined as (y, w p) / sqrt(1 + w^2). w grows between two bounds with the probability
 * of speech, which YAMNet's own classifier gives. p tells words apart, y all other sounds.
 */
import { hop, htkBank, melSpectra, noisePower, rate, slaneyBank } from './spectra.js';

export { rate } from './spectra.js';

/** @import {Network} from '../networks.js' */
/** @typedef {{run: Network['run']}} Runs */
/** @typedef {{speech: Runs, yamnet?: Runs}} Networks */

/** Changes with the numbers that are answered, for the identity of the extractor. */
export const recipe = 'sounds-1';

const yamnetBank = htkBank(64, 125, 7500);
const speechBank = slaneyBank(32, 60, 3800);
/** Samples of a frame of speech, around whose middle 400 the window lies. */
const frame = 512;
const noise = noisePower(speechBank, 1e-3 * 32_768);

/** Length of each network's part. */
export const sizes = { yamnet: 1024, speech: 96 };

/** Least and largest weight of the speech embedding beside YAMNet's. */
const weights = [1, 2];

/**
 * @param {Networks} networks
 * @param {Float32Array} samples mono, in -1..1, 16,000 a second
 * @returns {Float32Array} YAMNet's numbers, then those of speech. Cost: 25 ms a second of sound
 */
export function embedSound({ yamnet, speech }, samples) {
  const sound = samples.length === 0 ? new Float32Array(1) : samples;
  const words = ofLengthOne(spoken(speech, sound));
  if (!yamnet) return words;
  const { numbers, speaks } = heard(yamnet, sound);
  const weight = weights[0] + (weights[1] - weights[0]) * speaks;
  const length = Math.hypot(1, weight);
  const embedding = new Float32Array(sizes.yamnet + sizes.speech);
  embedding.set(ofLengthOne(numbers).map((value) => value / length));
  embedding.set(
    words.map((value) => (weight * value) / length),
    sizes.yamnet,
  );
  return embedding;
}

/** @param {Float32Array} numbers */
function ofLengthOne(numbers) {
  const length = Math.hypot(...numbers);
  return length > 0 ? numbers.map((value) => value / length) : numbers;
}

/** The largest. A call takes 65,536 arguments at most in Safari, and a long sound has more frames. @param {number[]} values */
const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

/** The mean square. @param {Float32Array} samples */
function powerOf(samples) {
  let sum = 0;
  for (let i = 0; i < samples.length; i++) sum += samples[i] * samples[i];
  return sum / Math.max(1, samples.length);
}

/** The root mean squares of pieces of 10 ms, of the whole where it is shorter. @param {Float32Array} samples */
export function loudness(samples) {
  const length = Math.min(hop, samples.length);
  return Float32Array.from({ length: Math.floor(samples.length / length) }, (_, i) => Math.sqrt(powerOf(samples.subarray(i * length, (i + 1) * length))));
}

/** The spectrum as it is drawn: 64 mel bands, from 60 dB below the loudest to it. @param {Float32Array} samples @returns {import('./session.js').Spectrum} */
export function drawnSpectrum(samples) {
  const padded = samples.length < 400 ? Float32Array.from({ length: 400 }, (_, i) => samples[i] ?? 0) : samples;
  const rows = melSpectra(padded, yamnetBank, { power: 1 });
  const loudest = Math.max(1e-6, most(rows.map((row) => Math.max(...row))));
  const levels = new Uint8Array(rows.length * 64);
  rows.forEach((row, i) =>
    levels.set(
      row.map((value) => 255 * Math.max(0, 1 + Math.log10(Math.max(1e-9, value / loudest)) / 3)),
      64 * i,
    ),
  );
  return { levels, frames: rows.length, bands: 64 };
}

/** YAMNet's part of the embedding, and the probability of speech by its classifier. @param {Runs} network @param {Float32Array} samples */
function heard(network, samples) {
  const levels = loudness(samples).sort();
  const gain = Math.min(100, 0.1 / Math.max(1e-9, levels[Math.floor(0.95 * (levels.length - 1))]));
  const patch = { frames: 96, apart: 48 };
  const whole = new Float32Array(Math.max(samples.length, rate * 0.975));
  for (let i = 0; i < samples.length; i++) whole[i] = gain * samples[i];
  const rows = melSpectra(whole, yamnetBank, { power: 1 }).map((row) => row.map((value) => Math.log(value + 0.001) + 1.404));
  const starts = startsOf(rows.length, patch);
  const powers = starts.map((at) => powerOf(whole.subarray(at * hop, (at + patch.frames) * hop)));
  const least = 0.01 * most(powers);
  const [mean, [speech]] = meansOver(
    network,
    starts.filter((_, i) => powers[i] >= least).map((at) => joined(rows, at, patch.frames)),
  );
  return { numbers: mean.map((value) => Math.sqrt(Math.max(0, value))), speaks: 1 / (1 + Math.exp(-speech)) };
}

/** The speech embedding's part. @param {Runs} network @param {Float32Array} samples */
function spoken(network, samples) {
  const window = { frames: 76, apart: 16 };
  const least = (window.frames - 1) * hop + frame;
  const sound = trimmed(samples);
  const short = sound.length < least;
  const laid = new Float32Array(Math.max(least, sound.length));
  const from = (laid.length - sound.length) >> 1;
  for (let i = 0; i < sound.length; i++) laid[from + i] = 32_768 * sound[i];
  const rows = melSpectra(laid, speechBank, { power: 2, lead: (frame - 400) / 2 }).map((row) =>
    row.map((value, band) => 10 * Math.log10(Math.max(1e-10, value + (short ? noise[band] : 0)))),
  );
  const floor = most(rows.map((row) => Math.max(...row))) - 80;
  const scaled = rows.map((row) => row.map((value) => Math.max(value, floor) / 10 + 2));
  return meansOver(
    network,
    startsOf(scaled.length, window).map((at) => joined(scaled, at, window.frames)),
  )[0];
}

/** From the first to the last frame within 40 dB of the loudest. @param {Float32Array} samples */
function trimmed(samples) {
  const powers = [];
  for (let at = 0; at + frame <= samples.length; at += hop) powers.push(powerOf(samples.subarray(at, at + frame)));
  const least = 1e-4 * most(powers);
  const first = powers.findIndex((power) => power > least);
  return first < 0 ? samples : samples.subarray(first * hop, powers.findLastIndex((power) => power > least) * hop + frame);
}

/** @param {number} rows @param {{frames: number, apart: number}} piece */
const startsOf = (rows, { frames, apart }) => Array.from({ length: Math.floor((rows - frames) / apart) + 1 }, (_, i) => i * apart);

/** @param {Float32Array[]} rows @param {number} at @param {number} count */
function joined(rows, at, count) {
  const bands = rows[0].length;
  const piece = new Float32Array(count * bands);
  for (let i = 0; i < count; i++) piece.set(rows[at + i], i * bands);
  return piece;
}

/** The mean of each output over the pieces. @param {Runs} network @param {Float32Array[]} pieces */
function meansOver(network, pieces) {
  const [first, ...others] = pieces.map((piece) => network.run(piece));
  return first.map((output, o) => output.map((value, i) => others.reduce((sum, other) => sum + other[o][i], value) / pieces.length));
}
