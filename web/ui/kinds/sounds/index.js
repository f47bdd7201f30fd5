// @ts-check
/** Sounds, from files and the microphone. Their pictures are spectrograms, which hold the sound itself. */
import { resample } from '../../../library/kinds.js';
import { el } from '../../kit/dom.js';
import { encoded } from '../pictures/draw.js';
import { Microphone } from './microphone.js';
import { claimsSound, decodeSound, drawnSpectrum, level, RATE, soundIn, withSound } from './recording.js';

/** @import {Kind, Sample} from '../index.js' */
/** @import {Sound} from './recording.js' */
/** @import {KindExtractor as Extractor} from '../../../library/kinds.js' */

/** Edge of the square picture of a sound, in pixels. */
const THUMBNAIL = 128;
/** Seconds of a piece, and between the beginnings of two pieces while the button is held. */
const [PIECE, APART] = [1, 0.5];
/** A piece whose root mean square is below this (-66 dB) is quiet and is not recognised. */
const QUIET = 5e-4;
/** Number of pieces whose mean is recognised. */
const TOGETHER = 3;

/** Texts of a site with YAMNet. */
const EVERY = {
  one: 'sound',
  choose: 'Choose a sound',
  such: 'Doorbell',
  vary: 'record it again, elsewhere or further away',
  background: 'Background',
  advice: 'First teach the background noise as a class. Then the page does not take it for something unknown.',
};
/** Texts of a site without YAMNet. */
const WORDS = {
  one: 'spoken word',
  choose: 'Choose a spoken word',
  such: 'Yes',
  vary: 'say it again, or let someone else say it',
  advice: 'This site recognises spoken words, and no other sounds.',
};

/** @param {() => Promise<Extractor>} extractor that reads sounds now @param {boolean} every whether the site has YAMNet, which tells sounds other than words apart @returns {Kind} */
export function sounds(extractor, every) {
  return {
    id: 'sounds',
    icon: 'sound',
    ...(every ? EVERY : WORDS),
    others: false,
    interval: 250,
    copy: 0.12,
    samples: false,
    accept: 'audio/*',
    claims: claimsSound,
    live: { name: 'Microphone', icon: 'microphone', hold: 'Hold to record', lookAt: 'Recognising what the microphone hears.', senses: ['hears', 'heard'] },
    open: async (file) =>
      (await withSpeech(file, await decodeSound(file), extractor)).map(({ name, at, sound, embedding }) => ({
        ...sampleOf(sound, name, extractor, embedding),
        at,
      })),
    fileOf: (thumbnail, name) => new File([soundIn(thumbnail)], name, { type: 'audio/wav' }),
    source: (options) => new MicrophoneSource(extractor, options),
    show: (file) => el('audio', { src: URL.createObjectURL(file), controls: true, 'aria-label': file.name }),
    play,
  };
}

/**
 * The embeddings of the pieces of long recordings, null for pieces without speech. They take a while, and teaching a piece
 * opens its file again.
 *
 * @type {WeakMap<File, Promise<Float32Array|null>[]>}
 */
const known = new WeakMap();

/**
 * The pieces that the extractor accepts. If it accepts none, all of them: it then says why.
 *
 * @template {{sound: Sound}} T @param {File} file @param {T[]} pieces @param {() => Promise<Extractor>} extractor
 * @returns {Promise<(T & {embedding?: Float32Array})[]>}
 */
async function withSpeech(file, pieces, extractor) {
  if (pieces.length < 2 || (await extractor()).networks.includes('yamnet')) return pieces;
  const embeddings = known.get(file) ?? [];
  known.set(file, embeddings);
  const taken = [];
  for (const [i, piece] of pieces.entries()) {
    embeddings[i] ??= embedded(piece.sound, extractor);
    const embedding = await embeddings[i].catch((error) => {
      delete embeddings[i]; // the next time tries again
      throw error;
    });
    if (embedding) taken.push({ ...piece, embedding });
  }
  return taken.length ? taken : pieces;
}

/** Null if the sound is not speech and the extractor accepts only speech. @param {Sound} sound @param {() => Promise<Extractor>} extractor @param {(why: string) => void} [refuse] */
async function embedded(sound, extractor, refuse = () => {}) {
  return (await extractor()).embed(sound).catch((error) => {
    if (error.code !== 'no-speech') throw error;
    refuse(error.message);
    return null;
  });
}

/** @param {Sound} sound @param {string} name @param {() => Promise<Extractor>} extractor @param {Float32Array} [embedding] if it is known already @returns {Sample} */
function sampleOf(sound, name, extractor, embedding) {
  const drawn = async (/** @type {number} */ edge) => drawnSpectrum(await (await extractor()).ask('spectrum', sound), edge);
  return {
    name,
    thumbnail: async () => withSound(await drawn(THUMBNAIL), sound),
    picture: async (edge) => encoded(await drawn(edge)),
    embed: async () => embedding ?? (await extractor()).embed(sound),
    close: () => {},
  };
}

/** @type {HTMLAudioElement|null} */
let player = null;

/** Plays the sound that is kept with an example. @param {Uint8Array} thumbnail */
async function play(thumbnail) {
  player?.pause();
  const url = URL.createObjectURL(soundIn(thumbnail));
  const own = (player = new Audio(url));
  own.onended = own.onpause = own.onerror = () => URL.revokeObjectURL(url);
  await own.play().catch((error) => {
    if (own === player) throw error;
  }); // otherwise the next one is played
}

/** The microphone, a piece of a second at a time. */
class MicrophoneSource {
  /** Beginning of the last taught piece in samples, and its time. */
  #taught = { from: 0, at: -Infinity };
  /** @type {Float32Array[]} */
  #recent = [];

  /** @param {() => Promise<Extractor>} extractor @param {{onLost: (error: Error) => void}} options */
  constructor(extractor, options) {
    this.extractor = extractor;
    this.microphone = new Microphone(options);
    this.element = this.microphone.element;
  }

  get open() {
    return this.microphone.open;
  }

  async start() {
    await this.extractor(); // fetched and running before anyone waits for an answer
    await this.microphone.start();
  }

  /** While the button is held, a piece begins half a second after the one before. Otherwise it begins now. */
  async sample() {
    const { microphone } = this;
    const held = performance.now() - this.#taught.at < 300;
    const from = held ? this.#taught.from + Math.round(APART * microphone.rate) : microphone.recorded;
    const sound = await this.#piece(from);
    this.#taught = { from, at: performance.now() };
    return sampleOf(sound, '', this.extractor);
  }

  async look() {
    const { microphone } = this;
    const sound = await this.#piece(Math.max(0, microphone.recorded - Math.round(PIECE * microphone.rate)));
    const sample = async () => sampleOf(sound, '', this.extractor);
    microphone.refused = '';
    const embedding =
      level(sound.samples) < QUIET
        ? null
        : await embedded(sound, this.extractor, (why) => {
            microphone.refused = why;
          });
    if (!embedding) {
      this.#recent = [];
      return { embedding, sample };
    }
    this.#recent = [...this.#recent, embedding].slice(-TOGETHER);
    const [first, ...others] = this.#recent;
    return { embedding: first.map((value, i) => others.reduce((sum, other) => sum + other[i], value) / this.#recent.length), sample };
  }

  /** @param {number} from @returns {Promise<Sound>} */
  async #piece(from) {
    const { microphone } = this;
    const to = from + Math.round(PIECE * microphone.rate);
    await microphone.until(to);
    return { samples: resample(microphone.slice(from, to), microphone.rate, RATE), rate: RATE };
  }

  close() {
    this.microphone.close();
  }
}
