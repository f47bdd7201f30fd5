// @ts-check
/** The panel 'Learn from my pictures': a prior of one's own, learned on this device. */
import { complain, say } from './announce.js';
import { Curve, tell } from './curve.js';
import { byId, counted, el, sentence } from './dom.js';
import { save } from './settings.js';

/** @typedef {import('./types.js').Engine} Engine */
/** @typedef {import('./types.js').Trainer} Trainer */
/** @typedef {import('./types.js').Training} Training */

/** How long to learn: label and episodes. @type {[string, number][]} */
const EFFORTS = [['Short', 200], ['Medium', 1000], ['Long', 5000]];

/** The panel. The trainer is loaded when the panel is first opened. */
export class LearningPanel {
  /** @type {Promise<Trainer>|null} */
  #trainer = null;
  /** @type {Uint8Array|null} the prior that was in use before the learned one */
  #former = null;

  /**
   * @param {{engine: Engine, loadTrainer: () => Promise<Trainer>}} parts
   */
  constructor({ engine, loadTrainer }) {
    this.engine = engine;
    this.loadTrainer = loadTrainer;
    this.panel = byId('learning', HTMLDetailsElement);
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.curve = new Curve();
    this.progress = el('progress', { max: 1, value: 0, 'aria-label': 'Learning' });
    this.text = el('p', { class: 'small', id: 'learning-text' });
    this.effort = el('select', { id: 'learning-effort', class: 'field' },
      ...EFFORTS.map(([label, episodes]) => el('option', { value: episodes }, `${label}: ${episodes.toLocaleString()} rounds`)));
    this.file = el('input', { type: 'file', accept: '.npz', onchange: () => void this.#try(() => this.#startFile()) });
    this.begin = el('div', { class: 'learning-begin' },
      el('label', { for: 'learning-effort' }, 'How long'), this.effort,
      el('div', { class: 'actions' },
        this.#button('Learn from this session', () => this.#start({}), 'primary'),
        el('label', { class: 'button file-button' }, 'Learn from a file of embeddings (.npz)', this.file)));
    this.pause = this.#button('Pause', async () => { await (await this.#ready()).pause(); });
    this.resume = this.#button('Resume', async () => { await (await this.#ready()).resume(); }, 'primary');
    this.cancel = this.#button('Cancel', async () => { await (await this.#ready()).cancel(); });
    this.use = this.#button('Use the new prior', () => this.#use());
    this.keep = this.#button('Save it to a file', async () => save(await (await this.#ready()).prior(), 'learned-prior.safetensors'));
    this.revert = this.#button('Back to the former prior', () => this.#revert());
    this.run = el('div', { class: 'learning-run', hidden: true },
      this.#figure(), this.progress, this.text,
      el('div', { class: 'actions' }, this.pause, this.resume, this.use, this.keep, this.revert, this.cancel));
    this.revert.hidden = true;
    this.panel.append(el('div', { class: 'learning-body' },
      el('p', { class: 'small muted' }, 'Learns what your kind of pictures have in common, so that new classes need fewer examples. '
        + 'It takes at least four classes with three pictures each, runs in the background and stays on this device.'),
      this.error, this.run, this.begin));
    this.panel.addEventListener('toggle', () => { if (this.panel.open) void this.#try(async () => { await this.#ready(); }); });
  }

  /** @param {Training} training */
  show(training) {
    const { state, episode, episodes, secondsLeft, history, message } = training;
    this.run.hidden = state === 'idle' || state === 'failed';
    this.begin.hidden = state === 'running' || state === 'paused';
    this.pause.hidden = state !== 'running';
    this.resume.hidden = state !== 'paused';
    this.cancel.hidden = state !== 'running' && state !== 'paused';
    this.use.hidden = this.keep.hidden = state !== 'done' && !(state === 'paused' && history.length > 0);
    this.use.classList.toggle('primary', state === 'done');
    this.progress.hidden = state === 'done';
    this.progress.max = Math.max(1, episodes);
    this.progress.value = episode;
    this.text.textContent = describeTraining(training);
    this.curve.draw(history, episodes);
    if (state === 'failed') complain(this.error, message || 'Learning failed: try again with more pictures.');
    if (state === 'done') say(`Learning is done. ${tell(history)}`);
  }

  /** @returns {Promise<Trainer>} */
  async #ready() {
    this.#trainer ??= this.loadTrainer().then(async (trainer) => {
      trainer.onChange((training) => this.show(training));
      this.show(await trainer.training());
      return trainer;
    });
    try {
      return await this.#trainer;
    } catch (error) {
      this.#trainer = null; // so that it can be tried again
      throw error;
    }
  }

  /** @param {{embeddings?: Uint8Array}} source */
  async #start(source) {
    await (await this.#ready()).start({ ...source, episodes: Number(this.effort.value) });
  }

  async #startFile() {
    const file = this.file.files?.[0];
    if (!file) return;
    const embeddings = new Uint8Array(await file.arrayBuffer());
    this.file.value = '';
    await this.#start({ embeddings });
  }

  async #use() {
    const learned = await (await this.#ready()).prior();
    this.#former ??= await this.engine.exportPrior();
    await this.engine.importPrior(learned);
    this.revert.hidden = false;
    say('The new prior is in use.');
  }

  async #revert() {
    if (!this.#former) return;
    await this.engine.importPrior(this.#former);
    this.#former = null;
    this.revert.hidden = true;
    say('The former prior is in use again.');
  }

  #figure() {
    return el('figure', { class: 'curve-figure' }, this.curve.element,
      el('figcaption', { class: 'small muted' },
        el('span', { class: 'key key-training' }, 'while learning'), el('span', { class: 'key key-validation' }, 'held-out classes')));
  }

  /** @param {string} label @param {() => Promise<void>} work @param {string} [kind] */
  #button(label, work, kind = '') {
    return el('button', { class: `button ${kind}`, type: 'button', onclick: () => void this.#try(work) }, label);
  }

  /** @param {() => Promise<void>} work */
  async #try(work) {
    try {
      complain(this.error, '');
      await work();
    } catch (error) {
      complain(this.error, sentence(error));
    }
  }
}

/**
 * "Round 120 of 1,000, about 40 seconds left."
 *
 * @param {Training} training
 */
export function describeTraining({ state, episode, episodes, secondsLeft, history }) {
  const at = `Round ${episode.toLocaleString()} of ${episodes.toLocaleString()}`;
  if (state === 'paused') return `${at}, paused.`;
  if (state === 'done') return tell(history);
  if (state !== 'running') return '';
  return secondsLeft === null ? `${at}.` : `${at}, about ${duration(secondsLeft)} left.`;
}

/** @param {number} seconds */
function duration(seconds) {
  if (seconds < 90) return counted(Math.max(1, Math.round(seconds)), 'second');
  return counted(Math.round(seconds / 60), 'minute');
}
