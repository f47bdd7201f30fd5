// @ts-check
/** Plays a built-in sound, made of a few tones. */
import { audio } from './audio.js';

/** Tones of a sound: hertz, seconds from the beginning, length in seconds. @typedef {[hertz: number, from: number, length: number]} Note */
/** @type {Record<string, {label: string, wave: OscillatorType, notes: Note[]}>} */
const SOUNDS = {
  ding: { label: 'a ding', wave: 'sine', notes: [[1318.5, 0, 0.7]] },
  chime: {
    label: 'a rising chime',
    wave: 'sine',
    notes: [
      [523.3, 0, 0.35],
      [659.3, 0.15, 0.35],
      [784, 0.3, 0.6],
    ],
  },
  fall: {
    label: 'a falling chime',
    wave: 'sine',
    notes: [
      [784, 0, 0.35],
      [659.3, 0.15, 0.35],
      [523.3, 0.3, 0.6],
    ],
  },
  buzz: { label: 'a buzz', wave: 'sawtooth', notes: [[110, 0, 0.5]] },
  alarm: {
    label: 'an alarm',
    wave: 'square',
    notes: [
      [880, 0, 0.2],
      [660, 0.25, 0.2],
      [880, 0.5, 0.2],
      [660, 0.75, 0.2],
    ],
  },
};

/** @type {import('./index.js').Device} */
export const tone = {
  id: 'tone',
  does: 'play a sound',
  fields: [{ name: 'sound', label: 'Sound', kind: 'choice', first: 'ding', choices: Object.entries(SOUNDS).map(([id, { label }]) => [id, label]) }],
  words: ({ sound }) => `play ${SOUNDS[sound].label}`,
  lacks: () => '',
  run: async ({ sound }) => {
    const context = await audio();
    const { wave, notes } = SOUNDS[sound];
    for (const [hertz, from, length] of notes) {
      const [begin, end] = [context.currentTime + from, context.currentTime + from + length];
      const oscillator = new OscillatorNode(context, { type: wave, frequency: hertz });
      const level = new GainNode(context, { gain: 0 });
      level.gain.setValueAtTime(0.0001, begin);
      level.gain.exponentialRampToValueAtTime(wave === 'sine' ? 0.5 : 0.15, begin + 0.01); // without a click
      level.gain.exponentialRampToValueAtTime(0.0001, end);
      oscillator.connect(level).connect(context.destination);
      oscillator.start(begin);
      oscillator.stop(end);
    }
  },
};
