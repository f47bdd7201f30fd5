// @ts-check
/** Hands, in pictures from files and the camera. The camera shows the landmarks of a hand over the picture. */
import { sleep } from '../../../base/task.js';
import { el } from '../../kit/dom.js';
import { CameraSource, pictures } from '../pictures/index.js';

/** @import {Kind} from '../index.js' */
/** @import {Hand, KindExtractor as Extractor} from '../../../library/kinds.js' */

/** Landmarks joined by lines: from the wrist along each finger, and across the palm. */
const LINES = [
  [0, 1, 2, 3, 4],
  [0, 5, 6, 7, 8],
  [9, 10, 11, 12],
  [13, 14, 15, 16],
  [0, 17, 18, 19, 20],
  [5, 9, 13, 17],
];

/** @param {() => Promise<Extractor>} extractor that reads hands now @returns {Kind} */
export function hands(extractor) {
  return {
    ...pictures(extractor),
    id: 'hands',
    icon: 'hand',
    one: 'hand',
    such: 'Thumbs up',
    vary: 'turn the hand, or show the other one',
    others: false,
    copy: 0.12,
    samples: false,
    choose: 'Choose a photo of a hand',
    live: { name: 'Camera', icon: 'hand', hold: 'Hold to capture', lookAt: 'Recognising the hand that the camera sees.', senses: ['sees', 'seen'] },
    advice:
      'Show one whole hand, not too small. Lines appear on the hand once the page finds it. Left and right hands count as the same; you can change that in the settings.',
    variant: {
      id: 'handedness',
      name: 'Left and right hands are different',
      hint: 'The same sign with the other hand is then a different sign: teach it as another class.',
      names: ['left and right alike', 'left and right apart'],
    },
    source: (options) => new HandSource(extractor, options),
  };
}

/** Milliseconds between two readings that only draw the hand. */
const EVERY = 250;

/** The camera, with the landmarks of the hand over its picture. */
class HandSource extends CameraSource {
  #closed = false;
  #reading = false;
  /** Time of the last reading. */
  #read = -Infinity;
  #canvas = el('canvas', { class: 'video landmarks', 'aria-hidden': 'true' });
  /** The outline of the best place for a hand, shown while no hand is found. */
  #guide = el('div', { class: 'guide', 'aria-hidden': 'true' });
  #note = el('p', { class: 'on-video no-hand small', role: 'status', hidden: true }, 'No hand found.');

  /** @param {() => Promise<Extractor>} extractor @param {{onLost: (error: Error) => void}} options */
  constructor(extractor, options) {
    super(extractor, options);
    this.hands = extractor;
    this.element.append(this.#canvas, this.#guide, this.#note);
  }

  async start() {
    await this.hands(); // load it before the first answer is needed
    await super.start();
    void this.#follow();
  }

  /** Draws the hand while nothing else reads frames, such as before a hand is taught. */
  async #follow() {
    while (!this.#closed) {
      await sleep(EVERY);
      if (!this.open || document.hidden || this.#reading || performance.now() - this.#read < 2 * EVERY) continue;
      await this.camera
        .frame()
        .then((frame) => this.read(frame).finally(() => frame.close()))
        .catch(() => {}); // the next request reports the error
    }
  }

  /** @override */
  close() {
    this.#closed = true;
    super.close();
  }

  /** @override @param {ImageBitmap} frame */
  async read(frame) {
    this.#reading = true;
    try {
      const hand = /** @type {Hand|null} */ (await (await this.hands()).ask('see', frame));
      this.#draw(frame, hand);
      return hand?.embedding ?? null;
    } finally {
      [this.#reading, this.#read] = [false, performance.now()];
    }
  }

  /** @param {ImageBitmap} frame @param {Hand|null} hand */
  #draw({ width, height }, hand) {
    const canvas = this.#canvas;
    Object.assign(canvas, { width, height });
    canvas.classList.toggle('mirrored', this.camera.video.classList.contains('mirrored'));
    this.#note.hidden = this.#guide.hidden = hand !== null;
    const context = canvas.getContext('2d');
    if (!hand || !context) return;
    const line = new Path2D();
    for (const landmarks of LINES)
      landmarks.forEach((number, i) => line[i ? 'lineTo' : 'moveTo'](hand.landmarks[number][0] * width, hand.landmarks[number][1] * height));
    Object.assign(context, { lineWidth: Math.max(2, width / 120), lineJoin: 'round', lineCap: 'round' });
    for (const [style, thinner] of /** @type {const} */ ([
      ['#000', 1],
      ['#fff', 2],
    ])) {
      Object.assign(context, { strokeStyle: style, lineWidth: Math.max(2, width / 100) / thinner });
      context.stroke(line);
    }
  }
}
