// @ts-check
/**
 * Words that are spoken by rule and the same every time: WAV files of 1.5 seconds, 16,000 samples a second. Pulses of a
 * voice, or noise, go through three resonators at the formants of the vowels. Two recordings of a word differ in pitch, pace,
 * length of the vocal tract and loudness.
 */
import { waveOf } from '../../ui/kinds/sounds/recording.js';

const RATE = 16_000;

/** The first three formants of vowels, in hertz. @type {Record<string, number[]>} */
const vowels = { a: [750, 1250, 2500], i: [300, 2250, 2950], u: [320, 850, 2350], e: [500, 1850, 2550], o: [480, 950, 2450] };

/** @param {string} word of these vowels, s for a hiss and any other letter for a stop @param {number} recording @returns {Uint8Array<ArrayBuffer>} a WAV file */
export function wordOf(word, recording) {
  let state = [...word].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 2_147_483_647, 1 + 7919 * (recording + 1));
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const spread = (/** @type {number} */ by) => 1 + by * (2 * random() - 1);
  const noise = () => 2 * random() - 1;
  for (let i = 0; i < 10; i++) random();
  const [pitch, pace, tract] = [140 * spread(0.25), 0.16 * spread(0.2), spread(0.06)];
  const samples = new Float32Array(1.5 * RATE);
  let at = Math.round(0.2 * RATE * (1 + random()));
  let [phase, tilt] = [0, 0];
  const resonators = [0, 1, 2].map((i) => ({ bandwidth: 60 + 40 * i, last: 0, before: 0 }));
  const formants = vowels[[...word].find((letter) => vowels[letter]) ?? 'a'].map((hertz) => hertz * tract);
  for (const letter of word) {
    const vowel = vowels[letter];
    const count = Math.round(pace * RATE * (vowel ? 1 : 0.6));
    let former = 0;
    for (let k = 0; k < count && at < samples.length; k++, at++) {
      if (!vowel) {
        const value = noise();
        if (letter === 's') samples[at] = 0.08 * (value - former) * Math.sin((Math.PI * k) / count);
        else if (k > 0.7 * count) samples[at] = 0.12 * value * Math.exp((0.7 * count - k) / 60);
        former = value;
        continue;
      }
      phase += (pitch * (1 - (0.15 * k) / count)) / RATE;
      tilt = 0.9 * tilt + Math.floor(phase);
      phase %= 1;
      let value = tilt + 0.003 * noise();
      for (const [i, one] of resonators.entries()) {
        formants[i] += 0.002 * (vowel[i] * tract - formants[i]);
        const r = Math.exp((-Math.PI * one.bandwidth) / RATE);
        const turn = 2 * r * Math.cos((2 * Math.PI * formants[i]) / RATE);
        value = value * (1 - turn + r * r) + turn * one.last - r * r * one.before;
        [one.before, one.last] = [one.last, value];
      }
      samples[at] = 0.5 * Math.min(1, k / 400, (count - k) / 400 + 0.3) * value;
    }
  }
  const most = samples.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  const loud = (0.2 + 0.4 * random()) / most;
  return waveOf(samples.map((value) => loud * value + 0.002 * noise()));
}
