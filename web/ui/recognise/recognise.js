// @ts-check
/** Recognising: a picture, or the live camera, and the picture that was looked at. */
import { complain, say } from '../kit/announce.js';
import { Camera, cameraError, leaveCamera, takeCamera } from '../kinds/pictures/camera.js';
import { CorrectBar, teachAs } from '../teach/correct.js';
import { byId, sentence } from '../kit/dom.js';
import { dropZone } from '../kit/drop.js';
import { picturesOf } from '../kit/folders.js';
import { Pace } from '../kinds/pictures/pace.js';
import { drawn, encoded } from '../kinds/pictures/decode.js';
import { bestOf } from './why.js';

/** @typedef {import('../../library/types.js').Engine} Engine */
/** @typedef {import('../kinds/enrol.js').Enrolment} Enrolment */

/** Edge of the picture shown as the query, in pixels. */
const EDGE = 320;
/** Least time between two live frames, in milliseconds. */
const LIVE_INTERVAL = 150;

/** The right-hand part of the page, but for the prediction, which the engine draws. */
export class Recogniser {
  /** @type {Camera|null} */
  #camera = null;
  #url = '';
  #turn = 0; // of several pictures in flight only the newest counts
  /** The picture that is shown. @type {File|null} */
  #file = null;
  #classes = /** @type {readonly import('../sort/sort.js').Taught[]} */ ([]);
  /** The frame that the camera's last answer is about. @type {{still: OffscreenCanvas|HTMLCanvasElement, embedding: Float32Array}|null} */
  #frame = null;
  /** Answers as they follow one another in live view: the one before, and the one told last. */
  #heard = { last: '', told: '' };

  /**
   * @param {{engine: Engine, enrolment: Enrolment, undo: import('../kit/announce.js').UndoStack, sort: (files: File[]) => void, onAsked: (question: import('./why.js').Question|null) => void}} parts
   *   `onAsked` is told what the answer shown is about, null where there is none
   */
  constructor({ engine, enrolment, undo, sort, onAsked }) {
    this.engine = engine;
    this.onAsked = onAsked;
    this.prediction = byId('prediction', HTMLElement);
    this.verdict = byId('verdict', HTMLElement);
    this.enrolment = enrolment;
    this.undo = undo;
    this.sort = sort;
    this.bar = new CorrectBar({ label: 'It is:', onChoose: (target) => this.#teach(target) });
    this.bar.element.hidden = true;
    byId('correct', HTMLElement).append(this.bar.element);
    this.picture = byId('query-picture', HTMLImageElement);
    this.error = byId('query-error', HTMLElement);
    this.live = byId('live', HTMLElement);
    this.liveButton = byId('live-button', HTMLButtonElement);
    this.clearButton = byId('clear-button', HTMLButtonElement);
    this.#wire();
  }

  /**
   * Recognises a file; several are sorted.
   *
   * @param {File[]} files
   */
  async recogniseFiles(files) {
    const [file] = files;
    if (!file) return;
    this.closeCamera();
    if (files.length > 1) {
      this.sort(files);
      return;
    }
    const turn = ++this.#turn;
    complain(this.error, '');
    say(`Looking at “${file.name}” …`);
    this.#wait(true);
    try {
      const { embedding, picture } = await this.enrolment.embedFile(file, EDGE);
      if (turn !== this.#turn) return;
      this.#show(picture, file.name);
      await this.engine.recognise(embedding);
      this.#file = file;
      this.#showBar();
      this.onAsked({ embedding, picture: file });
      this.verdict.scrollIntoView({ block: 'nearest' });
      say(`${this.#answer()} Recognised “${file.name}”.`, { seen: true });
    } catch (error) {
      if (turn !== this.#turn) return;
      await this.#forget(); // what stood there is about another picture
      complain(this.error, sentence(error));
      say('');
    } finally {
      if (turn === this.#turn) this.#wait(false);
    }
  }

  /** @param {readonly import('../sort/sort.js').Taught[]} classes what is taught */
  follow(classes) {
    this.#classes = classes;
    this.bar.show(classes);
  }

  /** Teaches what is looked at: the picture, or what the camera sees at this moment. @param {import('../teach/correct.js').Target} target */
  async #teach(target) {
    const camera = this.#camera;
    const file = this.#file;
    const className = (/** @type {string} */ id) => this.#classes.find((one) => one.id === id)?.name ?? '';
    await teachAs({ engine: this.engine, undo: this.undo, className }, target, [async (id) => {
      if (camera) return this.enrolment.enrolFrame(id, await camera.frame());
      if (!file) throw new Error('There is no picture to teach: choose one first.');
      return this.enrolment.enrolFile(id, file);
    }]);
  }

  #showBar() {
    this.bar.element.hidden = !this.#file && !this.#camera;
  }

  /** Takes the picture and its prediction away. */
  async clear() {
    this.#turn++;
    this.closeCamera();
    this.#wait(false);
    complain(this.error, '');
    await this.#forget();
  }

  async #forget() {
    this.#show(null, '');
    this.onAsked(null);
    await this.engine.recognise(null);
  }

  /** Marks the answer that stands there as one about another picture. @param {boolean} waiting */
  #wait(waiting) {
    this.prediction.classList.toggle('stale', waiting);
    this.prediction.setAttribute('aria-busy', String(waiting));
  }

  /** The answer as a sentence, for those who hear it. */
  #answer() {
    const text = this.verdict.textContent ?? '';
    return /[.!?]$/.test(text) ? text : `${text}.`;
  }

  /** Ends live view; the answer stays, beside the frame that it is about. */
  async #freeze() {
    const frame = this.#frame;
    this.closeCamera();
    const turn = ++this.#turn;
    if (!frame) return this.#forget();
    const picture = await encoded(frame.still);
    if (turn !== this.#turn) return;
    this.#show(picture, 'the last picture of the camera');
    await this.engine.recognise(frame.embedding);
    this.onAsked({ embedding: frame.embedding, picture: new Blob([new Uint8Array(picture)], { type: 'image/jpeg' }) });
    say(`${this.#answer()} The camera is off.`);
  }

  closeCamera = () => {
    this.#camera?.close();
    this.#camera = null;
    this.#frame = null;
    leaveCamera(this.#stop);
    this.live.hidden = true;
    this.live.replaceChildren();
    this.liveButton.setAttribute('aria-pressed', 'false');
    this.#showBar();
  };

  #stop = () => void this.#freeze().catch((error) => complain(this.error, sentence(error)));

  #wire() {
    const field = byId('query-file', HTMLInputElement);
    field.addEventListener('change', () => {
      const files = [...field.files ?? []];
      field.value = '';
      void this.recogniseFiles(files);
    });
    const folder = byId('query-folder', HTMLInputElement);
    folder.addEventListener('change', () => {
      const files = picturesOf(folder.files ?? []);
      folder.value = '';
      if (files.length) this.sort(files);
      else say('There are no pictures in that folder.');
    });
    dropZone(byId('recognise', HTMLElement), (files) => void this.recogniseFiles(files));
    this.liveButton.addEventListener('click', () => {
      if (this.#camera) this.#stop();
      else void this.#openCamera();
    });
    this.clearButton.addEventListener('click', () => {
      void this.clear();
      field.focus({ preventScroll: true });
    });
  }

  /** @param {Uint8Array|null} picture encoded @param {string} name */
  #show(picture, name) {
    if (this.#url) URL.revokeObjectURL(this.#url);
    this.#url = picture ? URL.createObjectURL(new Blob([new Uint8Array(picture)])) : '';
    if (picture) {
      this.picture.src = this.#url;
      this.picture.alt = `Picture being recognised: ${name}`;
    }
    this.picture.hidden = !picture;
    this.clearButton.hidden = !picture;
    this.#file = null; // until the picture is recognised
    this.bar.reset();
    this.#showBar();
  }

  async #openCamera() {
    takeCamera(this.#stop);
    complain(this.error, '');
    this.#turn++;
    this.#wait(false);
    this.onAsked(null);
    const fail = (/** @type {unknown} */ error) => {
      if (this.#camera !== camera) return;
      this.#stop();
      complain(this.error, cameraError(error).message);
    };
    const camera = new Camera({ onLost: fail });
    this.#camera = camera;
    this.live.replaceChildren(camera.video, camera.switchButton);
    this.live.hidden = false;
    this.liveButton.setAttribute('aria-pressed', 'true');
    try {
      await camera.start();
    } catch (error) {
      fail(error);
      return;
    }
    await this.#forget();
    this.#showBar();
    say('Recognising what the camera sees.');
    await this.#watch(camera);
  }

  /**
   * Looks at one frame after the other while the camera is open: the next is only
   * taken when the last has been recognised, so nothing ever queues up.
   *
   * @param {Camera} camera
   */
  async #watch(camera) {
    const pace = new Pace();
    this.#heard = { last: '', told: '' };
    while (this.#camera === camera) {
      const next = performance.now() + LIVE_INTERVAL;
      try {
        if (camera.open && !document.hidden) {
          const frame = await camera.frame();
          const still = drawn(frame, EDGE);
          const embedding = await this.enrolment.embedFrame(frame, pace);
          if (this.#camera !== camera) return;
          this.#hear(await this.engine.recognise(embedding));
          if (this.#camera === camera) this.#frame = { still, embedding };
        }
      } catch (error) {
        if (this.#camera === camera) this.#stop();
        complain(this.error, sentence(error));
        return;
      }
      await new Promise((resolve) => { setTimeout(resolve, Math.max(0, next - performance.now())); });
    }
  }

  /**
   * Tells an answer that has become another one and stays: two frames in a row.
   *
   * @param {import('../../library/types.js').Prediction|null} answer
   */
  #hear(answer) {
    if (!answer) return;
    const now = bestOf(answer)?.id ?? 'none';
    if (now === this.#heard.last && now !== this.#heard.told) {
      this.#heard.told = now;
      say(this.#answer(), { seen: true });
    }
    this.#heard.last = now;
  }
}
