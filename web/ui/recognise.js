// @ts-check
/** Recognising: a picture, or the live camera, and the picture that was looked at. */
import { complain, say } from './announce.js';
import { Camera, cameraError, leaveCamera, takeCamera } from './camera.js';
import { CorrectBar, teachAs } from './correct.js';
import { byId, sentence } from './dom.js';
import { dropZone } from './drop.js';
import { picturesOf } from './folders.js';
import { Pace } from './pace.js';

/** @typedef {import('../engine/contract.js').Engine} Engine */
/** @typedef {import('./enrol.js').Enrolment} Enrolment */

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
  #classes = /** @type {readonly import('./sort.js').Taught[]} */ ([]);

  /** @param {{engine: Engine, enrolment: Enrolment, undo: import('./announce.js').UndoStack, sort: (files: File[]) => void}} parts */
  constructor({ engine, enrolment, undo, sort }) {
    this.engine = engine;
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
    try {
      const { embedding, picture } = await this.enrolment.embedFile(file, EDGE);
      if (turn !== this.#turn) return;
      this.#show(picture, file.name);
      await this.engine.recognise(embedding);
      byId('prediction', HTMLElement).scrollIntoView({ block: 'nearest' });
      this.#file = file;
      this.#showBar();
      say(`Recognised “${file.name}”.`);
    } catch (error) {
      if (turn !== this.#turn) return;
      complain(this.error, sentence(error));
      say('');
    }
  }

  /** @param {readonly import('./sort.js').Taught[]} classes what is taught */
  follow(classes) {
    this.#classes = classes;
    this.bar.show(classes);
  }

  /** Teaches what is looked at: the picture, or what the camera sees at this moment. @param {import('./correct.js').Target} target */
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
    this.#show(null, '');
    complain(this.error, '');
    await this.engine.recognise(null);
  }

  closeCamera = () => {
    this.#camera?.close();
    this.#camera = null;
    leaveCamera(this.closeCamera);
    this.live.hidden = true;
    this.live.replaceChildren();
    this.liveButton.setAttribute('aria-pressed', 'false');
    this.#showBar();
  };

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
      if (this.#camera) this.closeCamera();
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
    takeCamera(this.closeCamera);
    complain(this.error, '');
    this.#turn++;
    const fail = (/** @type {unknown} */ error) => {
      if (this.#camera !== camera) return;
      this.closeCamera();
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
    this.#show(null, '');
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
    while (this.#camera === camera) {
      const next = performance.now() + LIVE_INTERVAL;
      try {
        if (camera.open && !document.hidden) {
          const embedding = await this.enrolment.embedFrame(await camera.frame(), pace);
          if (this.#camera !== camera) return;
          await this.engine.recognise(embedding);
        }
      } catch (error) {
        complain(this.error, sentence(error));
        if (this.#camera === camera) this.closeCamera();
        return;
      }
      await new Promise((resolve) => { setTimeout(resolve, Math.max(0, next - performance.now())); });
    }
  }
}
