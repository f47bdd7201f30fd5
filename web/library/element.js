// @ts-check
/**
 * <metaqda-classifier>: an element that teaches and recognises camera frames. Importing this module defines it.
 *
 * Events: `ready`; `example`, {label, ids}; `answer`, a Prediction, several times a second; `failed`, an error with a
 * sentence. Parts to style: video, form, label, add, undo, answer.
 */
import { mediaDevices, sourceError } from '../base/media.js';
import { MetaqdaError } from '../base/remote.js';
import { sleep } from '../base/task.js';
import { createClassifier, openClassifier } from './classifier/create.js';
import { loadExtractor, prior } from './efficientnet-lite0.js';

/** @import {Classifier} from './classifier/classifier.js' */
/** @import {Picture} from './inputs.js' */

const FRAMES = 3; // frames of one press: one burst, which counts as one example
const PAUSE = 100; // milliseconds between answers, so that the page stays responsive
const READING = 5000; // milliseconds in which no answer takes the place of an error

const PROMPT = 'Show something, say what it is, and add it.';
const STYLE =
  ':host { display: inline-grid; gap: 0.5rem; font: inherit; } :host([hidden]) { display: none; } video { width: 100%; max-width: 24rem; background: #8884; } form { display: flex; flex-wrap: wrap; gap: 0.5rem; } input { flex: 1 1 8rem; min-width: 0; } input, button { font: inherit; }';

/** An element with properties and children: a policy may forbid markup (Trusted Types). @param {string} name @param {string} part @param {object} properties @param {(Node | string)[]} children */
function make(name, part, properties, ...children) {
  const made = document.createElement(name);
  made.setAttribute('part', part);
  made.append(...children);
  return Object.assign(made, properties);
}

const parts = () => [
  make('video', 'video', { autoplay: true, playsInline: true, muted: true }),
  make(
    'form',
    'form',
    {},
    make('input', 'label', { ariaLabel: 'What is it?', placeholder: 'what is it?', required: true }),
    make('button', 'add', { disabled: true }, 'This is it'),
    make('button', 'undo', { type: 'button', disabled: true }, 'Undo'),
  ),
  make('output', 'answer', {}, 'The feature extractor is loading.'),
];

/** @returns {Promise<MediaStream>} */
async function camera() {
  try {
    return await mediaDevices(globalThis, 'camera').getUserMedia({ video: { facingMode: 'environment' } });
  } catch (error) {
    throw sourceError(error, 'camera', { again: 'reload the page' });
  }
}

// A server that renders pages may import this module, but has no elements.
const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

export class MetaqdaClassifier extends Base {
  /** @type {Classifier<Picture> | null} */
  #classifier = null;
  /** @type {import('./efficientnet-lite0.js').PictureExtractor | null} */
  #extractor = null;
  /** The time until which an error is shown. */
  #reading = 0;
  /** Whether an error has ended the camera. */
  #over = false;
  /** Aborted when it leaves the page. */
  #stay = new AbortController();

  /** The classifier that it teaches; null until `ready` and after it left the page. @returns {Classifier<Picture> | null} */
  get classifier() {
    return this.#classifier;
  }

  /** Opens a file in place of the present examples. @param {import('./files.js').File} file that `classifier.save()` wrote */
  async open(file) {
    const { signal } = this.#stay;
    if (!this.#classifier) throw new MetaqdaError('argument', 'The element cannot open a file yet: wait for its event ready.');
    const next = await openClassifier(file, { extractor: /** @type {import('./efficientnet-lite0.js').PictureExtractor} */ (this.#extractor), prior: prior() });
    if (signal.aborted) return next.dispose();
    this.#classifier?.dispose();
    this.#classifier = next;
  }

  connectedCallback() {
    const shadow = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    shadow.replaceChildren(...parts());
    const style = new CSSStyleSheet(); // a policy may forbid style elements
    style.replaceSync(STYLE);
    shadow.adoptedStyleSheets = [style];
    this.#stay = new AbortController();
    this.#over = false;
    const { signal } = this.#stay;
    this.#run(signal).catch((error) => {
      if (signal.aborted) return;
      this.#over = this.#part('add').disabled = true;
      this.#part('answer').textContent = error.message;
      this.#tell('failed', error);
    });
  }

  disconnectedCallback() {
    this.#stay.abort();
  }

  /** @param {string} name @returns {any} */
  #part(name) {
    return this.shadowRoot?.querySelector(`[part=${name}]`);
  }

  /** @param {string} name @param {unknown} [detail] */
  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  /** Loads, then answers about frames for as long as it is in the page. @param {AbortSignal} signal */
  async #run(signal) {
    const video = this.#part('video');
    const extractor = await loadExtractor();
    signal.addEventListener('abort', () => extractor.close());
    if (signal.aborted) return extractor.close();
    const first = await createClassifier({ extractor, prior: prior() });
    signal.addEventListener('abort', () => {
      (this.#classifier ?? first).dispose();
      this.#classifier = this.#extractor = null;
    });
    if (signal.aborted) return first.dispose();
    const stream = await camera();
    const tracks = stream.getTracks();
    const stop = () => {
      for (const track of tracks) track.stop();
    };
    signal.addEventListener('abort', stop);
    if (signal.aborted) return stop();
    video.srcObject = stream;
    await video.play();
    if (signal.aborted) return;
    [this.#classifier, this.#extractor] = [first, extractor];
    this.#listen(video, signal);
    this.#tell('ready');
    const output = this.#part('answer');
    const show = (/** @type {string} */ text) => {
      if (performance.now() >= this.#reading) output.textContent = text;
    };
    const taught = (/** @type {Classifier<Picture>} */ one) => Object.values(one.counts).some((n) => n > 0);
    while (!signal.aborted) {
      if (tracks.every(({ readyState }) => readyState === 'ended')) throw new MetaqdaError('missing', 'The camera is gone: connect it and reload the page.');
      const classifier = /** @type {Classifier<Picture>} */ (this.#classifier);
      this.#part('undo').disabled = classifier.steps.undo === '';
      if (!taught(classifier)) show(PROMPT);
      else if (!document.hidden) {
        const vector = await classifier.embed(video);
        if (signal.aborted) return;
        if (classifier === this.#classifier && taught(classifier)) {
          const answer = classifier.predictSync(vector);
          show(answer.headline);
          this.#tell('answer', answer);
        }
      }
      await sleep(PAUSE);
    }
  }

  /** @param {HTMLVideoElement} video @param {AbortSignal} signal */
  #listen(video, signal) {
    const [form, label, add, undo] = ['form', 'label', 'add', 'undo'].map((name) => this.#part(name));
    const adding = async () => {
      add.disabled = true;
      this.#reading = 0;
      const name = label.value;
      try {
        const burst = [];
        for (let i = 0; i < FRAMES; i++) burst.push(await /** @type {Classifier<Picture>} */ (this.#classifier).embed(video));
        const classifier = /** @type {Classifier<Picture>} */ (this.#classifier); // open may have put another one in its place
        const ids = await classifier.addExamples(
          burst,
          burst.map(() => name),
          { group: crypto.randomUUID() },
        );
        this.#tell('example', { label: classifier.label(name), ids });
      } catch (error) {
        if (signal.aborted) return;
        this.#part('answer').textContent = /** @type {Error} */ (error).message;
        this.#reading = performance.now() + READING;
        this.#tell('failed', error);
      }
      add.disabled = this.#over;
    };
    form.addEventListener(
      'submit',
      (/** @type {Event} */ event) => {
        event.preventDefault();
        void adding();
      },
      { signal },
    );
    undo.addEventListener('click', () => void this.#classifier?.undo(), { signal });
    add.disabled = false;
  }
}

// Another version of this module may have defined it before.
if (globalThis.customElements && !customElements.get('metaqda-classifier')) customElements.define('metaqda-classifier', MetaqdaClassifier);
