// @ts-check
/** Why an answer is what it is: the taught pictures nearest to what was asked, and what of the picture spoke for it. */
import { complain, say } from '../kit/announce.js';
import { byId, el, sentence } from '../kit/dom.js';
import { decide } from '../../library/storage.js';

/** @typedef {import('../../library/types.js').Engine} Engine */
/** @typedef {import('../../library/types.js').Prediction} Prediction */
/** @typedef {import('../kinds/enrol.js').Enrolment} Enrolment */
/** @typedef {import('../teach/classes.js').ClassList} ClassList */

/**
 * What was asked: the embedding, and the picture where it is at hand.
 *
 * @typedef {{embedding: Float32Array, picture: Blob|null}} Question
 */

/** How many of the nearest pictures are shown. */
const NEAREST = 4;
/** Parts of a picture across and down: as fine as the coarser of the feature maps. */
const GRID = 7;
/** How long nothing may change before the nearest are looked for anew, in milliseconds. */
const SETTLED = 300;
/** Probabilities are kept this far from 0 and 1, where log odds are infinite. */
const LEAST = 1e-9;

/** What a picture is taken for: a class, or null for none of these. @param {Prediction} answer */
export function bestOf({ classes, none }) {
  return classes[decide(classes.map(({ probability }) => probability), none)] ?? null;
}

/** Log odds of an answer, a class or none of these. @param {Prediction} answer @param {string|null} id */
export function logOdds({ classes, none }, id) {
  const p = id === null ? none : classes.find((one) => one.id === id)?.probability ?? 0;
  const kept = Math.min(1 - LEAST, Math.max(LEAST, p));
  return Math.log(kept / (1 - kept));
}

/**
 * Where most of what spoke for an answer lies, in words.
 *
 * @param {number[]} shares of the parts of a grid, row by row; only what is positive spoke for it
 * @param {number} grid
 */
export function whereInWords(shares, grid) {
  let [sum, x, y] = [0, 0, 0];
  shares.forEach((share, i) => {
    const weight = Math.max(0, share);
    sum += weight;
    x += weight * (i % grid + 0.5) / grid;
    y += weight * (Math.floor(i / grid) + 0.5) / grid;
  });
  if (sum === 0) return 'nowhere in particular';
  const down = y / sum < 0.4 ? 'upper' : y / sum > 0.6 ? 'lower' : '';
  const across = x / sum < 0.4 ? 'left' : x / sum > 0.6 ? 'right' : '';
  if (!down && !across) return 'mostly the middle';
  return `mostly the ${[down, across].filter(Boolean).join(' ')}${across ? '' : ' part'}`;
}

/** The part of the page under an answer. */
export class Why {
  /** @type {Question|null} */
  #question = null;
  #turn = 0;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #settling;
  /** Of what is to be shown only the newest counts. @type {AbortController|null} */
  #looking = null;

  /** @param {{engine: Engine, enrolment: Enrolment, classes: ClassList}} parts */
  constructor({ engine, enrolment, classes }) {
    this.engine = engine;
    this.enrolment = enrolment;
    this.classes = classes;
    this.box = byId('why', HTMLElement);
    this.list = el('ul', { class: 'nearest', 'aria-labelledby': 'nearest-title' });
    this.title = el('p', { class: 'small muted', id: 'nearest-title' });
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.legend = el('p', { class: 'small muted', hidden: true });
    this.button = el('button', { class: 'button', type: 'button', 'aria-pressed': 'false', onclick: () => void this.#press() }, 'Where did it look?');
    this.overlay = el('canvas', { class: 'overlay', role: 'img', hidden: true });
    byId('stage', HTMLElement).append(this.overlay);
    this.box.append(this.title, this.list, el('div', { class: 'actions' }, this.button), this.legend, this.error);
  }

  /** Tells what is asked now, nothing if null. @param {Question|null} question */
  ask(question) {
    this.#question = question;
    this.#hide();
    void this.#refresh();
  }

  /** After a change of what is taught: the nearest may be others, once nothing changes for a moment. */
  changed() {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => void this.#refresh(), SETTLED);
  }

  /** Shows the nearest pictures. */
  async #refresh() {
    const question = this.#question;
    const turn = ++this.#turn;
    const taught = this.classes.all().some(({ examples }) => examples.length);
    if (!question || !taught) {
      this.box.hidden = true;
      this.#hide();
      return;
    }
    try {
      const near = await this.engine.nearest(question.embedding, NEAREST);
      const answer = await this.engine.probabilities(question.embedding);
      if (turn !== this.#turn) return;
      this.#showNearest(near, answer);
    } catch {
      this.box.hidden = true; // the engine says elsewhere why it cannot answer
    }
  }

  /** @param {import('../../library/types.js').Near[]} near @param {Prediction|null} answer */
  #showNearest(near, answer) {
    const all = this.classes.all();
    this.title.textContent = answer && !bestOf(answer)
      ? `None of the taught pictures is close enough. The nearest ${near.length === 1 ? 'is' : 'are'}:`
      : near.length === 1 ? 'The taught picture most like it:' : `The ${near.length} taught pictures most like it, nearest first:`;
    this.list.replaceChildren(...near.map(({ class: id, example }) => {
      const name = all.find((one) => one.id === id)?.name ?? '';
      const image = el('img', { alt: '', width: 56, height: 56 });
      this.classes.paint(image, id, example);
      return el('li', {}, el('button', {
        class: 'near', type: 'button', 'aria-label': `${name}: show this picture`, onclick: () => this.classes.enlarge(id, example),
      }, image, el('span', { class: 'small ellipsis' }, name)));
    }));
    this.button.hidden = !this.#question?.picture;
    this.box.hidden = near.length === 0;
  }

  async #press() {
    if (!this.overlay.hidden || this.#looking) {
      this.#hide();
      return;
    }
    const picture = this.#question?.picture;
    if (!picture) return;
    const looking = new AbortController();
    this.#looking = looking;
    this.button.setAttribute('aria-pressed', 'true');
    say('Looking at each part of the picture …');
    try {
      const { shares, name } = await this.#shares(picture);
      if (!looking.signal.aborted) await this.#draw(picture, shares, name);
    } catch (error) {
      if (looking.signal.aborted) return;
      this.#hide();
      complain(this.error, sentence(error));
    }
  }

  /**
   * By how much each part of the picture moves the log odds of the answer.
   *
   * @param {Blob} picture
   */
  async #shares(picture) {
    const { embedding, without } = await this.enrolment.leaveOutParts(picture, GRID);
    const answer = await this.engine.probabilities(embedding);
    if (!answer) throw new Error('There is nothing to compare with: add a picture to a class first.');
    const best = bestOf(answer);
    const whole = logOdds(answer, best?.id ?? null);
    const shares = [];
    for (const one of without) {
      const less = await this.engine.probabilities(one);
      shares.push(less ? whole - logOdds(less, best?.id ?? null) : 0);
    }
    return { shares, name: best ? `“${best.name}”` : 'none of these' };
  }

  /** @param {Blob} picture @param {number[]} shares @param {string} name */
  async #draw(picture, shares, name) {
    const shown = byId('query-picture', HTMLImageElement);
    await shown.decode().catch(() => {});
    const { naturalWidth: width, naturalHeight: height } = shown;
    const small = Object.assign(document.createElement('canvas'), { width: GRID, height: GRID });
    paint(small, shares);
    Object.assign(this.overlay, { width, height });
    const context = this.overlay.getContext('2d');
    if (context) {
      context.imageSmoothingQuality = 'high';
      context.drawImage(small, 0, 0, width, height);
    }
    const where = whereInWords(shares, GRID);
    this.overlay.setAttribute('aria-label', `What spoke for ${name}: ${where}`);
    this.overlay.hidden = this.legend.hidden = false;
    this.legend.textContent = `What is left bright spoke for ${name}: ${where}.`;
    say(this.legend.textContent, { seen: true });
  }

  #hide() {
    this.#looking?.abort();
    this.#looking = null;
    this.button.setAttribute('aria-pressed', 'false');
    this.overlay.hidden = this.legend.hidden = true;
    complain(this.error, '');
  }
}

/**
 * Darkens each part by how little it spoke for the answer.
 *
 * @param {HTMLCanvasElement} canvas a pixel for each part
 * @param {number[]} shares
 */
function paint(canvas, shares) {
  const context = canvas.getContext('2d');
  if (!context) return;
  const most = Math.max(...shares, 0) || 1;
  const image = context.createImageData(canvas.width, canvas.height);
  shares.forEach((share, i) => { image.data[4 * i + 3] = Math.round(205 * (1 - Math.sqrt(Math.max(0, share) / most))); });
  context.putImageData(image, 0, 0);
}
