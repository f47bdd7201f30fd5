// @ts-check
/** The blocks of an extension for Scratch: they recognise what the camera sees or the microphone hears. */
import { sleep } from '../../base/task.js';

/** @typedef {import('../../library/index.js').Classifier<any>} Classifier */
/** @typedef {import('../../library/index.js').Prediction} Prediction */
/**
 * The part of Scratch that is used. TurboWarp hands it to extensions that run without the sandbox.
 *
 * @typedef {object} Video
 * @property {() => Promise<unknown>|null} enableVideo
 * @property {() => void} disableVideo
 * @property {boolean} videoReady
 * @property {(options: {format: string, mirror: boolean}) => ImageData|null} getFrame
 *
 * @typedef {object} Scratch
 * @property {Record<string, string>} BlockType @property {Record<string, string>} ArgumentType
 * @property {{unsandboxed?: boolean, register: (extension: object) => void}} extensions
 * @property {{runtime: {ioDevices: {video: Video}}}} vm
 *
 * @typedef {object} Sense the camera or the microphone
 * @property {string} name such as camera
 * @property {string} see its verb: see or hear
 * @property {() => Promise<void>} on @property {() => void} off
 * @property {() => Promise<unknown>} now what the extractor takes, once there is something
 */

const NONE = 'None of these';
/** Milliseconds between two looks: four a second, as a watch expects. */
const INTERVAL = 250;
/** Milliseconds without any label until none of these comes: longer than the gap between two labels. */
const PAUSE = 1500;
/** False events an hour: with one, most things whose own pictures were not taught are missed. */
const FALSE_EVENTS = 10;

export class Blocks {
  #looking = false;
  /** How often it was turned on or off: looks of a former turn end. */
  #turn = 0;
  /** @type {Prediction|null} */
  #last = null;
  /** @type {import('../../library/index.js').Watch|null} */
  #watch = null;
  /** Since when no label is here, in milliseconds. */
  #nothing = Infinity;

  /** @param {Scratch} scratch @param {Sense} sense @param {string} name of the session @param {string[]} labels that are taught @param {() => Promise<Classifier>} load */
  constructor(scratch, sense, name, labels, load) {
    this.scratch = scratch;
    this.sense = sense;
    this.name = name;
    this.known = labels;
    /** @type {() => Promise<Classifier>} */
    this.classifier = () => {
      const loading = load();
      loading.catch(() => {
        this.classifier = first;
      }); // the next block tries again
      this.classifier = () => loading;
      return loading;
    };
    const first = this.classifier;
  }

  getInfo() {
    const {
      BlockType: { COMMAND, REPORTER, HAT },
      ArgumentType: { STRING },
    } = this.scratch;
    const { name, see } = this.sense;
    const label = { type: STRING, menu: 'labels', defaultValue: this.known[0] };
    return {
      id: idOf(this.name),
      name: this.name,
      color1: '#0f6e5b',
      blocks: [
        { opcode: 'camera', blockType: COMMAND, text: `turn ${name} [STATE]`, arguments: { STATE: { type: STRING, menu: 'states', defaultValue: 'on' } } },
        { opcode: 'see', blockType: REPORTER, text: `what do you ${see}` },
        { opcode: 'sure', blockType: REPORTER, text: 'how sure (%)' },
        { opcode: 'probability', blockType: REPORTER, text: 'how probable is [LABEL] (%)', arguments: { LABEL: label } },
        { opcode: 'when', blockType: HAT, isEdgeActivated: true, text: `when you ${see} [LABEL]`, arguments: { LABEL: label } },
        { opcode: 'teach', blockType: COMMAND, text: 'teach this as [LABEL]', arguments: { LABEL: { type: STRING, defaultValue: this.known[0] } } },
      ],
      menus: { labels: { acceptReporters: true, items: 'labels' }, states: { acceptReporters: true, items: ['on', 'off'] } },
    };
  }

  labels() {
    return [...this.known, NONE];
  }

  /** Turns it on, and waits for the first look. @param {{STATE: unknown}} args */
  async camera({ STATE }) {
    const on = String(STATE) !== 'off';
    if (on === this.#looking) return;
    this.#looking = on;
    const turn = ++this.#turn;
    if (!on) {
      this.sense.off();
      this.#last = null;
      this.#watch?.dispose();
      this.#watch = null; // the next turn begins anew
      this.#nothing = Infinity;
      return;
    }
    try {
      await this.sense.on();
      if (!this.#looking) this.sense.off(); // it was turned off meanwhile
      if (turn !== this.#turn) return;
      await this.#look();
      void this.#goOn(turn);
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#looking = false;
      this.sense.off();
      throw error;
    }
  }

  see() {
    return this.#last ? (this.#last.decision ?? NONE) : this.#looking ? NONE : '';
  }

  sure() {
    return this.#last ? this.#percent(this.see()) : 0;
  }

  /** @param {{LABEL: unknown}} args */
  probability({ LABEL }) {
    return this.#percent(String(LABEL));
  }

  /** @param {{LABEL: unknown}} args */
  when({ LABEL }) {
    if (String(LABEL) === NONE) return this.#looking && Date.now() - this.#nothing >= PAUSE;
    return this.#looking && this.#watch?.here === String(LABEL);
  }

  /** Adds what is seen or heard now to a class, which may be a new one. @param {{LABEL: unknown}} args */
  async teach({ LABEL }) {
    const classifier = await this.classifier();
    if (!this.#looking) await this.camera({ STATE: 'on' });
    await classifier.addExample(await this.sense.now(), String(LABEL));
    this.known = classifier.labels;
    await this.#look();
  }

  /** @param {string} label */
  #percent(label) {
    if (!this.#last) return 0;
    return 100 * (label === NONE ? this.#last.none : (this.#last.probabilities[label] ?? 0));
  }

  async #look() {
    const turn = this.#turn;
    const classifier = await this.classifier();
    const embedding = await classifier.embed(await this.sense.now()).catch(nothing);
    if (turn !== this.#turn) return; // it was turned off meanwhile
    this.#last = embedding && classifier.predictSync(embedding);
    this.#watch ??= classifier.watch({ falseEventsPerHour: FALSE_EVENTS });
    this.#watch.next(this.#last);
    this.#nothing = this.#watch.here === null ? Math.min(this.#nothing, Date.now()) : Infinity;
  }

  /** Looks until the camera is turned off. @param {number} turn */
  async #goOn(turn) {
    while (turn === this.#turn) {
      await sleep(INTERVAL);
      if (turn === this.#turn) await this.#look().catch((error) => console.warn(error));
    }
  }
}

/** Without a hand, or without speech if only words are compared, there is nothing to predict. @param {{code?: string}} error */
function nothing(error) {
  if (error.code !== 'no-hand' && error.code !== 'no-speech') throw error;
  return null;
}

/** The id of an extension, in the letters and digits that Scratch allows. A hash (FNV-1a) tells names in other letters apart. @param {string} name of the session */
function idOf(name) {
  let hash = 2_166_136_261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16_777_619);
  return `metaqda${name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}${(hash >>> 0).toString(36)}`;
}
