// @ts-check
/** Records a sound for an action, or takes one from a file. */
import { sentence } from '../kit/dom.js';
import { chosenIn } from '../kit/folders.js';
import { html } from '../kit/view.js';
import { mediaDevices, sourceError } from '../../base/media.js';
import { leaveSource, takeSource } from '../kinds/index.js';
import { decoded, RATE, tenths, waveOf } from '../kinds/sounds/recording.js';
import { LONGEST } from './recording.js';

export class SoundField {
  /** @type {MediaRecorder|null} */
  #recorder = null;
  /** Cancels the opening of the microphone. @type {(() => void)|null} */
  #opening = null;
  #sound = '';

  /** @param {{onSound: (sound: string) => void, onError: (why: string) => void}} parts */
  constructor({ onSound, onError }) {
    this.onSound = onSound;
    this.onError = onError;
  }

  /** Draws the field. @param {string} sound the recording so far, a WAV file in base64; empty for none */
  show(sound) {
    this.#sound = sound;
    const seconds = ((sound.length * 3) / 4 - 44) / (2 * RATE);
    return html`<div class="then-field" role="group" aria-label="Recording"><div class="actions">
      <button class="button" type="button" aria-pressed=${String(this.#recorder !== null)} @click=${() => void this.#press()}>${this.#recorder ? 'Stop recording' : sound ? 'Record again' : 'Record'}</button>
      <label class="button file-button">Choose a sound file<input type="file" accept="audio/*" @change=${(/** @type {any} */ { target }) => {
        const [file] = chosenIn(target);
        if (file) void this.#take(file, false);
      }}></label></div>
      <span class="small muted">${this.#recorder ? `Recording, ${LONGEST} seconds at most …` : sound ? `There is a recording of ${seconds.toFixed(1)} seconds.` : `At most ${LONGEST} seconds.`}</span></div>`;
  }

  async #press() {
    if (this.#recorder || this.#opening) {
      this.#recorder?.stop();
      return;
    }
    const stop = () => {
      this.#opening = null;
      this.#recorder?.stop();
    };
    takeSource(stop); // the microphone may be in use for recognising
    this.#opening = stop;
    /** @type {MediaStream|undefined} */
    let stream;
    const off = () => {
      leaveSource(stop);
      for (const track of stream?.getTracks() ?? []) track.stop();
    };
    try {
      stream = await mediaDevices(window, 'microphone', 'choose a sound file').getUserMedia({ audio: true });
      if (this.#opening !== stop) return off(); // another part of the page has taken the source
      const recorder = new MediaRecorder(stream);
      /** @type {Blob[]} */
      const pieces = [];
      recorder.ondataavailable = ({ data }) => pieces.push(data);
      recorder.onstop = () => {
        this.#recorder = null;
        off();
        void this.#take(new File(pieces, 'recording', { type: 'audio/webm' }), true);
      };
      recorder.start();
      this.#recorder = recorder;
      setTimeout(() => {
        if (recorder.state === 'recording') recorder.stop();
      }, LONGEST * 1000);
      this.onSound(this.#sound); // the form is drawn again and shows “Stop recording”
    } catch (error) {
      off();
      this.onError(sentence(sourceError(error, 'microphone', { instead: 'choose a sound file' })));
    } finally {
      if (this.#opening === stop) this.#opening = null;
    }
  }

  /** Passes on the sound of a file. @param {File} file @param {boolean} own whether it was just recorded; then the part after LONGEST seconds is cut off, else a longer file is refused */
  async #take(file, own) {
    try {
      const samples = await decoded(file);
      if (!own && samples.length > LONGEST * RATE)
        throw new Error(
          `“${file.name}” is ${tenths(samples.length / RATE)} seconds long, and a recording has at most ${LONGEST}: shorten the file and choose it again.`,
        );
      this.onSound(base64(waveOf(samples.slice(0, LONGEST * RATE))));
    } catch (error) {
      this.onError(sentence(error));
    }
  }
}

/** Bytes as text. @param {Uint8Array} bytes */
function base64(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += 0x6000) parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 0x6000)))); // a multiple of three
  return parts.join('');
}
