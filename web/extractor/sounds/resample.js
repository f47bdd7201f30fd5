// @ts-check
/**
 * Another sample rate: a windowed sinc,
 *     y_i = sum_n x_n c sinc(c (t_i - n)) w((t_i - n) / h),  t_i = i from/to,
 * with c = min(1, to/from) so that nothing above the lower of the two half rates remains, w a Hann window of h
 * on each side, and each output's weights scaled to sum 1. The browser's own resampler is reached
 * only through a graph of its audio context, which a worker and Node.js do not have.
 */

/** Zero crossings of the sinc on each side. */
const crossings = 16;

/** @type {Map<string, {taps: Float32Array, width: number, phases: number, step: number}>} */
const banks = new Map();

/** @param {number} a @param {number} b @returns {number} */
const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b));

/** The weights of each phase, t_i modulo 1. @param {number} from @param {number} to */
function bankOf(from, to) {
  const known = banks.get(`${from} ${to}`);
  if (known) return known;
  const shared = divisor(from, to);
  const [phases, step] = [to / shared, from / shared];
  const cutoff = Math.min(1, to / from);
  const half = Math.ceil(crossings / cutoff);
  const width = 2 * half;
  const taps = new Float32Array(phases * width);
  for (let phase = 0; phase < phases; phase++) {
    const row = taps.subarray(phase * width, (phase + 1) * width);
    // Tap k is sample floor(t) - half + 1 + k.
    for (let k = 0; k < width; k++) {
      const away = phase / phases + half - 1 - k;
      const angle = Math.PI * cutoff * away;
      row[k] = Math.abs(away) >= half ? 0 : (angle === 0 ? 1 : Math.sin(angle) / angle) * (0.5 + 0.5 * Math.cos((Math.PI * away) / half));
    }
    const sum = row.reduce((a, b) => a + b, 0);
    for (let k = 0; k < width; k++) row[k] /= sum;
  }
  const bank = { taps, width, phases, step };
  banks.set(`${from} ${to}`, bank);
  return bank;
}

/**
 * @param {Float32Array} samples @param {number} from samples a second, a whole number @param {number} to
 * @returns {Float32Array} floor(n to/from) samples; samples themselves where the rates are the same. O(n crossings).
 */
export function resample(samples, from, to) {
  if (from === to) return samples;
  const { taps, width, phases, step } = bankOf(from, to);
  const result = new Float32Array(Math.floor((samples.length * phases) / step));
  for (let i = 0; i < result.length; i++) {
    const position = i * step;
    const phase = position % phases;
    const first = (position - phase) / phases - width / 2 + 1;
    let sum = 0;
    for (let k = Math.max(0, -first); k < Math.min(width, samples.length - first); k++) sum += taps[phase * width + k] * samples[first + k];
    result[i] = sum;
  }
  return result;
}
