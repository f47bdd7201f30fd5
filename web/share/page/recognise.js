// @ts-check
/** Recognising in a shared file: by file, drop, paste and camera; and teaching what it was wrong about. */
import { complain, say, UndoStack } from '../../ui/kit/announce.js';
import { Camera, cameraError } from '../../ui/kinds/pictures/camera.js';
import { CorrectBar } from '../../ui/teach/correct.js';
import { byId, sentence } from '../../ui/kit/dom.js';
import { catchMisses, catchPaste, dropZone } from '../../ui/kit/drop.js';
import { Pace } from '../../ui/kinds/pictures/pace.js';
import { decode, drawn, encoded } from '../../ui/kinds/pictures/decode.js';
import { compose } from './compose.js';
import { Meters } from './meters.js';

/** @typedef {import('../../library/index.js').Classifier} Classifier */
/** @typedef {import('./extractor.js').Extractor} Extractor */

/** Edge of the picture shown, in pixels. */
const EDGE = 320;
/** Least time between two live frames, in milliseconds. */
const INTERVAL = 150;

export class Recogniser {
  /** @type {Camera|null} */
  #camera = null;
  #turn = 0; // of several pictures in flight only the newest counts
  #url = '';
  /** What the answer shown is about. @type {Float32Array|null} */
  #vector = null;
  #frame = /** @type {OffscreenCanvas|HTMLCanvasElement|null} */ (null);
  #meters = new Meters();
  #undo = new UndoStack();
  onTaught = () => {};

  /** @param {{classifier: Classifier, extractor: Extractor, about: import('../assemble.js').About}} parts */
  constructor({ classifier, extractor, about }) {
    this.classifier = classifier;
    this.extractor = extractor;
    this.sort = about.sort;
    this.picture = byId('query-picture', HTMLImageElement);
    this.error = byId('query-error', HTMLElement);
    this.live = byId('live', HTMLElement);
    this.liveButton = byId('live-button', HTMLButtonElement);
    this.clearButton = byId('clear-button', HTMLButtonElement);
    this.prediction = byId('prediction', HTMLElement);
    this.bar = new CorrectBar({ label: 'It is:', onChoose: (target) => this.#teach(target) });
    this.bar.element.hidden = true;
    if (about.learn) byId('correct', HTMLElement).append(this.bar.element);
    this.#wire();
  }

  #wire() {
    const field = byId('query-file', HTMLInputElement);
    field.addEventListener('change', () => {
      const files = [...field.files ?? []];
      field.value = '';
      void this.#recognise(files);
    });
    dropZone(byId('recognise', HTMLElement), (files) => void this.#recognise(files));
    catchMisses(document, (files) => void this.#recognise(files));
    catchPaste(document, (files) => void this.#recognise(files));
    this.liveButton.addEventListener('click', () => void (this.#camera ? this.#freeze() : this.#watch()));
    this.clearButton.addEventListener('click', () => {
      this.#forget();
      field.focus({ preventScroll: true });
    });
    document.addEventListener('keydown', (event) => {
      if (event.key !== 'z' || event.shiftKey || !(event.ctrlKey || event.metaKey) || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      void this.#undo.undo();
    });
  }

  /** @param {File[]} files of which the first is looked at */
  async #recognise([file]) {
    if (!file) return;
    this.#closeCamera();
    const turn = ++this.#turn;
    complain(this.error, '');
    say(`Looking at “${file.name}” …`);
    this.prediction.classList.add('stale');
    try {
      const bitmap = await decode(file);
      const picture = await encoded(drawn(bitmap, EDGE));
      const vector = await this.extractor.embed(bitmap).finally(() => bitmap.close());
      if (turn !== this.#turn) return;
      this.#show(picture, `Picture being recognised: ${file.name}`);
      this.#answer(vector);
      this.prediction.scrollIntoView({ block: 'nearest' });
      say(`${this.#sentence()} Recognised “${file.name}”.`, { seen: true });
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#forget();
      complain(this.error, sentence(error));
      say('');
    } finally {
      if (turn === this.#turn) this.prediction.classList.remove('stale');
    }
  }

  /** @param {Float32Array} vector */
  #answer(vector) {
    const { probabilities, none } = this.classifier.predictSync(vector);
    const { counts, labels, settings } = this.classifier;
    this.#vector = vector;
    this.#meters.show(compose(labels.map((name) => ({ name, examples: counts[name], probability: probabilities[name] })), none, { open: settings.nonePrior > 0, sort: this.sort }));
    this.bar.show(labels.map((name) => ({ id: name, name })));
    this.bar.element.hidden = false;
  }

  /** The answer, for those who hear it. */
  #sentence() {
    const text = byId('verdict', HTMLElement).textContent ?? '';
    return /[.!?]$/.test(text) ? text : `${text}.`;
  }

  #forget() {
    this.#turn++;
    this.#closeCamera();
    this.#show(null, '');
    complain(this.error, '');
    this.#vector = null;
    this.bar.element.hidden = true;
    this.#meters.show({ verdict: 'The probabilities appear here.', rows: [] });
  }

  /** @param {Uint8Array|null} picture encoded @param {string} alt */
  #show(picture, alt) {
    if (this.#url) URL.revokeObjectURL(this.#url);
    this.#url = picture ? URL.createObjectURL(new Blob([new Uint8Array(picture)])) : '';
    if (picture) this.picture.src = this.#url;
    this.picture.alt = alt;
    this.picture.hidden = !picture;
    this.clearButton.hidden = !picture;
    this.bar.reset();
  }

  #closeCamera() {
    this.#camera?.close();
    this.#camera = null;
    this.live.hidden = true;
    this.live.replaceChildren();
    this.liveButton.setAttribute('aria-pressed', 'false');
  }

  /** Ends live view; the answer stays, beside the frame that it is about. */
  async #freeze() {
    const frame = this.#frame;
    this.#closeCamera();
    if (!frame || !this.#vector) return this.#forget();
    const turn = ++this.#turn;
    const picture = await encoded(frame);
    if (turn !== this.#turn) return;
    this.#show(picture, 'The last picture of the camera');
    say(`${this.#sentence()} The camera is off.`);
  }

  /** Looks at one frame after the other while the camera is open. */
  async #watch() {
    this.#forget();
    const fail = (/** @type {unknown} */ error) => {
      if (this.#camera !== camera) return;
      this.#forget();
      complain(this.error, refusal(error));
    };
    const camera = this.#camera = new Camera({ onLost: fail });
    this.#frame = null;
    this.live.replaceChildren(camera.video, camera.switchButton);
    this.live.hidden = false;
    this.liveButton.setAttribute('aria-pressed', 'true');
    try {
      await camera.start();
      say('Recognising what the camera sees.');
      const pace = new Pace();
      while (this.#camera === camera) {
        const next = performance.now() + INTERVAL;
        if (camera.open && !document.hidden) await this.#look(camera, pace);
        await new Promise((resolve) => { setTimeout(resolve, Math.max(0, next - performance.now())); });
      }
    } catch (error) {
      fail(error);
    }
  }

  /** @param {Camera} camera @param {Pace} pace */
  async #look(camera, pace) {
    const frame = await camera.frame();
    try {
      const still = drawn(frame, EDGE);
      const views = pace.all ? this.extractor.views : 1;
      const begun = performance.now();
      const vector = await this.extractor.embed(frame, views);
      pace.took((performance.now() - begun) * this.extractor.views / views, vector);
      if (this.#camera !== camera) return;
      this.#frame = still;
      this.#answer(vector);
    } finally {
      frame.close();
    }
  }

  /** @param {import('../../ui/teach/correct.js').Target} target */
  async #teach(target) {
    const camera = this.#camera;
    const label = 'id' in target ? target.id : target.name.normalize('NFC');
    const fresh = !this.classifier.labels.includes(label);
    const vector = camera ? await this.#whole(camera) : this.#vector;
    if (!vector) throw new Error('There is no picture to teach: choose one first.');
    const id = this.classifier.addExampleSync(vector, label);
    this.#again();
    say(`Taught as “${label}”.`);
    this.#undo.offer(`Taught as “${label}”.`, async () => {
      this.classifier.removeExample(id);
      if (fresh && !this.classifier.counts[label]) this.classifier.removeClass(label);
      this.#again();
      say(`1 picture of “${label}” taken back.`);
    });
  }

  /** What the camera sees at this moment, by all views. @param {Camera} camera */
  async #whole(camera) {
    const frame = await camera.frame();
    return this.extractor.embed(frame).finally(() => frame.close());
  }

  /** After something was taught. */
  #again() {
    if (this.#vector) this.#answer(this.#vector);
    this.onTaught();
  }
}

/** Why there is no camera, for a file. @param {unknown} error */
function refusal(error) {
  const { code, message } = cameraError(error);
  if (code === 'insecure' || !navigator.mediaDevices) return 'This browser lets no file use the camera: choose pictures instead, or open this file in a current Chrome, Edge or Firefox on a computer.';
  return message;
}
