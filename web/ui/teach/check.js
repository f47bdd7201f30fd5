// @ts-check
/** The panel 'How good is it?': every picture left out in turn and asked about. */
import { complain } from '../kit/announce.js';
import { byId, counted, el, sentence } from '../kit/dom.js';
import { advice, bandInWords, goodnessOf, headline } from './goodness.js';
import { nextTask } from '../../library/storage.js';

/** @typedef {import('../../library/types.js').Engine} Engine */
/** @typedef {import('../../library/types.js').Trial} Trial */
/** @typedef {import('./classes.js').ClassList} ClassList */
/** @typedef {import('./goodness.js').Goodness} Goodness */

/** How long nothing may change before it is computed anew, in milliseconds. */
const SETTLED = 600;
/** How long trials follow one another before the page may breathe, in milliseconds. */
const SLICE = 16;
/** The most pictures shown of a list. */
const MOST = 24;

/** Computes while it is open, and anew after every change. */
export class CheckPanel {
  /** @type {AbortController|null} */
  #running = null;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #settling;
  /** Whether what is shown is of classes that have changed. */
  #stale = true;

  /** @param {{engine: Engine, classes: ClassList}} parts */
  constructor({ engine, classes }) {
    this.engine = engine;
    this.classes = classes;
    this.panel = byId('goodness', HTMLDetailsElement);
    this.progress = el('progress', { max: 1, value: 0, 'aria-label': 'Leaving out each picture', hidden: true });
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.headline = el('p', { class: 'headline', 'aria-live': 'polite' });
    this.result = el('div', { class: 'goodness-result' });
    this.panel.append(el('div', { class: 'learning-body' },
      el('p', { class: 'small muted' }, 'Each picture is hidden in turn and recognised from the others. Pictures that are nearly the same are hidden together and count as one.'),
      this.error, this.progress, this.headline, this.result));
    this.panel.addEventListener('toggle', () => { if (this.panel.open && this.#stale) void this.#compute(); });
  }

  /** After a change of what is taught: what is being computed is of no use any more. */
  changed() {
    this.#running?.abort();
    this.#stale = true;
    this.result.classList.add('stale');
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => { if (this.panel.open) void this.#compute(); }, SETTLED);
  }

  async #compute() {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    complain(this.error, '');
    try {
      const trials = await this.#trials(running.signal);
      if (!trials) return;
      this.#stale = false;
      this.#show(goodnessOf(trials));
    } catch (error) {
      if (!running.signal.aborted) complain(this.error, sentence(error));
    } finally {
      if (this.#running === running) {
        this.#running = null;
        this.progress.hidden = true;
      }
    }
  }

  /** All trials, or null where the classes changed meanwhile. @param {AbortSignal} signal */
  async #trials(signal) {
    /** @type {Trial[]} */
    const trials = [];
    let begun = performance.now();
    for (let i = 0; ; i++) {
      if (performance.now() - begun > SLICE) {
        await nextTask();
        begun = performance.now();
      }
      const trial = signal.aborted ? null : await this.engine.leaveOut(i);
      if (signal.aborted || (trial && trials.length && trial.revision !== trials[0].revision)) return null;
      if (!trial) return trials;
      trials.push(trial);
      this.progress.max = trial.of;
      this.progress.value = i + 1;
      this.progress.hidden = false;
    }
  }

  /** @param {Goodness} goodness */
  #show(goodness) {
    const names = new Map(this.classes.all().map(({ id, name }) => [id, name]));
    const name = (/** @type {string|null} */ id) => (id === null ? 'none of these' : names.get(id) ?? '');
    this.headline.textContent = headline(goodness);
    this.result.classList.remove('stale');
    const { asked, classes, confusions, misfits, bands } = goodness;
    const repeats = classes.filter((one) => one.repeats > 0);
    this.result.replaceChildren(
      el('p', {}, advice(goodness, name)),
      ...asked ? [section('Class by class', el('ul', { class: 'by-class' }, ...classes.map((one) => classRow(one, name(one.id)))))] : [],
      ...confusions.length ? [section('What was taken for what', ...confusions.map(({ truth, answer, trials }) =>
        this.#pictures(`“${name(truth)}” taken for ${answer === null ? 'none of these' : `“${name(answer)}”`}: ${trials.length}`,
          trials.map(({ pictures }) => ({ id: pictures[0], classId: truth })))))] : [],
      ...misfits.length ? [section('Pictures that fit badly', this.#pictures(
        'Hardly taken for what they were taught as. Look whether they are in the right class, or show the thing at all.',
        misfits.map(({ truth, pictures }) => ({ id: pictures[0], classId: truth }))))] : [],
      ...repeats.length ? [section('Nearly the same', ...repeats.map(({ id, repeats: n, examples }) => el('p', { class: 'small' },
        `“${name(id)}”: ${counted(n + examples, 'picture')} show ${counted(examples, 'different view')} and count as that many.`)))] : [],
      ...bands.length ? [section('Can its percentages be believed?', ...bands.map((band) => el('p', { class: 'small' }, bandInWords(band))))] : []);
  }

  /** @param {string} classId @param {string} id */
  #thumbnail(classId, id) {
    const image = el('img', { class: 'thumb-picture', alt: '', width: 56, height: 56 });
    this.classes.paint(image, classId, id);
    return image;
  }

  /** @param {string} text @param {{id: string, classId: string}[]} pictures */
  #pictures(text, pictures) {
    const names = new Map(this.classes.all().map(({ id, name }) => [id, name]));
    return el('div', {}, el('p', { class: 'small' }, text),
      el('ul', { class: 'thumbs' }, ...pictures.slice(0, MOST).map(({ id, classId }) => el('li', {}, el('button', {
        class: 'thumb-open', type: 'button', 'aria-label': `Show this picture of ${names.get(classId)}`, onclick: () => this.classes.enlarge(classId, id),
      }, this.#thumbnail(classId, id))))),
      pictures.length > MOST ? el('p', { class: 'small muted' }, `And ${pictures.length - MOST} more.`) : null);
  }
}

/** @param {string} title @param {...Node} children */
function section(title, ...children) {
  return el('section', {}, el('h3', {}, title), ...children);
}

/** @param {import('./goodness.js').ClassResult} result @param {string} name */
function classRow({ right, asked }, name) {
  const text = asked ? `${right} of ${asked} right` : 'only one picture';
  return el('li', {}, el('span', { class: 'ellipsis' }, name),
    asked ? el('meter', { min: 0, max: asked, value: right, 'aria-label': `${name}: ${text}` }) : el('span', {}),
    el('span', { class: 'small muted' }, text));
}
