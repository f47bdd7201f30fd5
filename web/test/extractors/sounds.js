// @ts-check
/**
 * Sounds of many kinds, made by rule and the same every time: WAV files of 1.5 seconds,
 * 16,000 samples a second. Two recordings of a kind differ in pitch, pace, loudness, in
 * when they begin and in the noise behind them.
 */
const RATE = 16_000;
const SAMPLES = 24_000;
const turn = 2 * Math.PI;

/** @typedef {(t: number, vary: {pitch: number, pace: number}, noise: () => number) => number} Wave at t seconds, in -1..1; phases begin at 0 */

/** The phase of a tone whose pitch wanders: the integral of a sine about the mean. @param {number} t @param {number} mean @param {number} depth @param {number} rate */
const wandering = (t, mean, depth, rate) => turn * mean * t - ((depth * mean) / rate) * Math.cos(turn * rate * t);
/** The phase of a glide over 1.5 s. @param {number} t @param {number} from @param {number} to */
const glide = (t, from, to) => turn * (from * t + ((to - from) * t * t) / 3);
/** A string of pulses. @param {number} t @param {number} rate @param {number} sharp */
const pulses = (t, rate, sharp) => (0.5 + 0.5 * Math.cos(turn * rate * t)) ** sharp;
/** A voice on two formants. @param {number} low @param {number} high @returns {Wave} */
const vowel =
  (low, high) =>
  (t, { pitch }) =>
    (0.3 + 0.7 * pulses(t, 110 * pitch, 8)) * (0.6 * Math.sin(turn * low * t) + 0.4 * Math.sin(turn * high * t));
/** @param {number} from @param {number} to @returns {Wave} */
const slide =
  (from, to) =>
  (t, { pitch }) =>
    Math.sin(glide(t, from * pitch, to * pitch));
/** @param {number} mean @param {number} depth @param {number} rate @returns {Wave} */
const siren =
  (mean, depth, rate) =>
  (t, { pitch, pace }) =>
    Math.sin(wandering(t, mean * pitch, depth, rate * pace));
/** @param {number} low @param {number} high @param {number} rate @returns {Wave} */
const trill =
  (low, high, rate) =>
  (t, { pitch, pace }) =>
    Math.sin(turn * (Math.floor(2 * rate * pace * t) % 2 ? high : low) * pitch * t);
/** @param {number} rate @param {number} sharp @returns {Wave} */
const rattle =
  (rate, sharp) =>
  (t, { pace }, noise) =>
    noise() * pulses(t, rate * pace, sharp);
/** @param {number} f @param {number} rate @param {number} sharp @returns {Wave} */
const beeps =
  (f, rate, sharp) =>
  (t, { pitch, pace }) =>
    Math.sin(turn * f * pitch * t) * pulses(t, rate * pace, sharp);
/** @param {number} f @param {number} count @returns {Wave} */
const chord =
  (f, count) =>
  (t, { pitch }) => {
    let sum = 0;
    for (let i = 1; i <= count; i++) sum += Math.sin(turn * f * pitch * i * t);
    return sum / count;
  };

/** @type {Record<string, Wave>} */
export const kinds = {
  ah: vowel(750, 1200),
  'slow siren': siren(900, 0.4, 1.5),
  'rising whistle': slide(500, 2500),
  clatter: rattle(9, 12),
  hum: chord(90, 12),
  'low beeps': beeps(500, 3, 6),
  ee: vowel(300, 2300),
  'fast siren': siren(1400, 0.3, 6),
  'falling whistle': slide(2800, 400),
  hiss: (_t, _rate, noise) => noise(),
  organ: chord(330, 5),
  'high beeps': beeps(2600, 5, 6),
  oo: vowel(320, 800),
  warble: siren(2200, 0.15, 12),
  'low fall': slide(700, 120),
  steam: rattle(2, 2),
  flute: chord(700, 2),
  'double tone': trill(800, 1100, 2),
  er: vowel(500, 1500),
  alarm: trill(1500, 2300, 5),
  'high rise': slide(2000, 5000),
  motor: rattle(40, 3),
  reed: chord(180, 20),
  ticks: beeps(1500, 8, 40),
};

/** @param {string} kind @param {number} recording @returns {Uint8Array<ArrayBuffer>} a WAV file */
export function soundOf(kind, recording) {
  let state = 1 + 7919 * (recording + 1) + 104_729 * Object.keys(kinds).indexOf(kind);
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let i = 0; i < 10; i++) random();
  const spread = (/** @type {number} */ by) => 1 + by * (2 * random() - 1);
  const vary = { pitch: spread(0.35), pace: spread(0.35) };
  const [loud, background, begin] = [4000 * spread(0.8), 200 + 1800 * random(), 0.3 * random()];
  const noise = () => 2 * random() - 1;
  const file = new DataView(new ArrayBuffer(44 + 2 * SAMPLES));
  for (const [at, text] of /** @type {const} */ ([
    [0, 'RIFF'],
    [8, 'WAVE'],
    [12, 'fmt '],
    [36, 'data'],
  ]))
    [...text].forEach((c, i) => file.setUint8(at + i, c.charCodeAt(0)));
  for (const [at, value] of /** @type {const} */ ([
    [4, 36 + 2 * SAMPLES],
    [16, 16],
    [24, RATE],
    [28, 2 * RATE],
    [40, 2 * SAMPLES],
  ]))
    file.setUint32(at, value, true);
  for (const [at, value] of /** @type {const} */ ([
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ]))
    file.setUint16(at, value, true);
  for (let i = 0; i < SAMPLES; i++) {
    const t = i / RATE - begin;
    const wave = t < 0 ? 0 : kinds[kind](t, vary, noise);
    file.setInt16(44 + 2 * i, Math.max(-32_768, Math.min(32_767, loud * wave + background * noise())), true);
  }
  return new Uint8Array(file.buffer);
}
