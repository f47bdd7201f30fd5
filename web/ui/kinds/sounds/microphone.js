// @ts-check
/** The microphone: opens it, keeps the last seconds, closes it, and has one sentence for each failure. */
import { insecure, mediaDevices, sourceError, soundless } from '../../../base/media.js';
import { MetaqdaError } from '../../../base/remote.js';
import { el } from '../../kit/dom.js';
import { program } from './program.js';

const INSTEAD = 'add recordings from files';
/** Seconds to remember, and milliseconds without a block until the microphone counts as frozen. */
const [KEPT, PATIENCE] = [4, 4000];
/** Milliseconds between two drawings of the level. */
const DRAWN = 80;
/** The largest sample of a block of a working microphone is above this. */
const SILENT = 1e-5;

export class Microphone {
  /** @type {MediaStream|null} */
  #stream = null;
  /** @type {AudioContext|null} */
  #context = null;
  #closed = false;
  #ring = new Float32Array(0);
  #last = 0;
  /** @type {ReturnType<typeof setInterval>|undefined} */
  #watch;
  /** Number of successive last samples that are all below SILENT. */
  #nothing = 0;
  /** @type {(() => void)[]} */
  #waiting = [];
  /** The level of the meter, which falls slowly, and the time of its drawing. */
  #level = 0;
  #drawn = 0;
  /** Number of samples since the microphone was opened. */
  recorded = 0;
  /** The reason shown when nothing is recognised. */
  refused = '';

  /** @param {{onLost: (error: Error) => void}} options */
  constructor({ onLost }) {
    this.onLost = onLost;
    this.level = el('meter', {
      class: 'level',
      min: '0',
      max: '1',
      low: '0.05',
      high: '0.9',
      optimum: '0.4',
      value: '0',
      'aria-label': 'Level of the microphone',
    });
    this.note = el('p', { class: 'small muted' });
    this.element = el('div', { class: 'microphone' }, this.level, this.note);
  }

  get open() {
    return this.#stream !== null;
  }

  /** Samples a second. */
  get rate() {
    return this.#context?.sampleRate ?? 0;
  }

  /** Opens the microphone and resolves at the first sound. @throws {MetaqdaError} */
  async start() {
    try {
      const devices = mediaDevices(window, 'microphone', INSTEAD);
      // Filters that improve speech for people remove features of other sounds.
      const stream = await devices.getUserMedia({ audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false }, video: false });
      this.#stream = stream;
      if (this.#closed) throw new DOMException('closed', 'AbortError');
      stream.getAudioTracks()[0]?.addEventListener('ended', () => this.#lose('The microphone was disconnected: connect it and try again.'));
      const context = (this.#context = new AudioContext());
      await context.audioWorklet.addModule(program()).catch(() => {
        // Chromium starts no audio thread for a page opened from disk, such as a shared file.
        if (location.protocol === 'file:') throw insecure('microphone');
        throw new MetaqdaError('fetch', `The recorder could not be loaded: check that you are online and try again, or ${INSTEAD}.`);
      });
      this.#ring = new Float32Array(Math.ceil(KEPT * context.sampleRate));
      const taker = new AudioWorkletNode(context, 'taker');
      taker.port.onmessage = ({ data }) => this.#take(data);
      // Some browsers run only nodes that are connected to the speakers. This one plays silence.
      context.createMediaStreamSource(stream).connect(taker).connect(context.destination);
      context.resume().catch(() => {}); // it may wait for a press, without end
      this.#last = performance.now();
      this.#watch = setInterval(() => {
        if (performance.now() - this.#last <= PATIENCE || document.hidden) return;
        if (!this.recorded && context.state === 'suspended') this.#lose(soundless());
        else this.#lose('The microphone stopped giving sound: connect it again, or reload the page.');
      }, 500);
      await this.until(1);
    } catch (error) {
      this.#stop();
      throw sourceError(error, 'microphone', { instead: INSTEAD });
    }
  }

  /** Resolves once this many samples were recorded since the opening. @param {number} count */
  async until(count) {
    while (this.recorded < count) {
      if (!this.open) throw new MetaqdaError('closed', 'The microphone is off.');
      await new Promise((resolve) => {
        this.#waiting.push(() => resolve(undefined));
      });
    }
  }

  /** The samples between two positions, counted from the opening. @param {number} from @param {number} to */
  slice(from, to) {
    const [result, { length }] = [new Float32Array(to - from), this.#ring];
    for (let at = Math.max(0, from); at < to; ) {
      const next = Math.min(to, at - (at % length) + length);
      result.set(this.#ring.subarray(at % length, (at % length) + next - at), at - from);
      at = next;
    }
    return result;
  }

  /** Closes the microphone for good. */
  close() {
    this.#closed = true;
    this.#stop();
  }

  /** @param {Float32Array} block */
  #take(block) {
    let [peak, power] = [0, 0];
    for (let i = 0; i < block.length; i++) {
      this.#ring[(this.recorded + i) % this.#ring.length] = block[i];
      peak = Math.max(peak, Math.abs(block[i]));
      power += block[i] * block[i];
    }
    this.recorded += block.length;
    this.#last = performance.now();
    this.#nothing = peak < SILENT ? this.#nothing + block.length : 0;
    // From -60 dB to full scale, falling slowly enough to be read.
    const level = Math.max(0, 1 + Math.log10(Math.max(1e-9, Math.sqrt(power / block.length))) / 3);
    this.#level = Math.max(level, this.#level - 0.03);
    if (this.#last - this.#drawn > DRAWN) [this.#drawn, this.level.value] = [this.#last, this.#level]; // each drawing costs a paint
    const note =
      this.#nothing > 2 * this.rate ? 'No sound: the microphone may be muted.' : peak >= 0.999 ? 'Too loud: move away from the microphone.' : this.refused;
    if (note !== this.note.textContent) this.note.textContent = note;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** @param {string|MetaqdaError} why */
  #lose(why) {
    if (!this.open) return;
    this.#stop();
    this.onLost(typeof why === 'string' ? new MetaqdaError('lost', why) : why);
  }

  #stop() {
    clearInterval(this.#watch);
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#stream = null;
    void this.#context?.close().catch(() => {});
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
