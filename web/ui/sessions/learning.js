// @ts-check
/** The panel 'Learn from my pictures': background knowledge of one's own (a prior), learned on this device. */
import { complain, say } from '../kit/announce.js';
import { Curve, tell } from './curve.js';
import { byId, counted, el, save, sentence } from '../kit/dom.js';
import { Trainer } from '../../library/storage.js';

/** @typedef {import('./curve.js').TrainingPoint} TrainingPoint */
/** @typedef {import('../../library/types.js').FullEngine} FullEngine */
/** @typedef {import('../../library/types.js').Learned} Learned */
/** @typedef {import('../../library/types.js').Point} Point */
/** @typedef {import('../../library/types.js').Progress} Progress */
/** @typedef {'idle'|'running'|'paused'|'interrupted'|'done'} Stage */

/**
 * What the panel shows.
 *
 * @typedef {object} Learning
 * @property {Stage} stage
 * @property {number} step
 * @property {number} steps
 * @property {number} secondsLeft Infinity while nothing tells
 * @property {TrainingPoint[]} history
 */

/** How long to learn: label and steps. @type {[string, number][]} */
const EFFORTS = [['Short', 100], ['Medium', 300], ['Long', 1000]];

/** Share of the newest loss in the smoothed one: single steps jump about. */
const NEWEST = 0.15;

/** The most points of the curve; beyond, every other is dropped. */
const MOST_POINTS = 400;

/** @type {Learning} */
const NOTHING = { stage: 'idle', step: 0, steps: 1, secondsLeft: Infinity, history: [] };

/**
 * What is shown after the worker has told how far it is.
 *
 * @param {Learning} before
 * @param {Progress} progress
 * @returns {Learning}
 */
export function follow(before, { step, steps, loss, secondsLeft, paused, done, point }) {
  const last = before.history.at(-1);
  const history = before.history.slice();
  if (point && Number.isFinite(point.loss)) history.push(pointOf(point));
  else if (Number.isFinite(loss) && loss > 0 && step > (last?.step ?? -1)) {
    history.push({ step, loss: last ? last.loss + NEWEST * (loss - last.loss) : loss });
  }
  return { stage: done ? 'done' : paused ? 'paused' : 'running', step, steps, secondsLeft, history: thinned(history) };
}

/** @param {Point} point @returns {TrainingPoint} */
function pointOf({ step, loss, validation }) {
  return validation ? { step, loss, validation: validation.loss, right: validation.accuracy } : { step, loss };
}

/**
 * Drops every other point that was not measured on held-out classes.
 *
 * @param {TrainingPoint[]} history
 */
function thinned(history) {
  if (history.length <= MOST_POINTS) return history;
  return history.filter(({ validation }, i) => validation !== undefined || i % 2 === 0);
}

/**
 * "Round 120 of 300, about 40 seconds left."
 *
 * @param {Learning} learning
 */
export function describeLearning({ stage, step, steps, secondsLeft, history }) {
  const at = `Round ${step.toLocaleString('en')} of ${steps.toLocaleString('en')}`;
  switch (stage) {
    case 'paused': return `${at}, paused.`;
    case 'interrupted': return `${at}, interrupted.`;
    case 'done': return tell(history);
    case 'running': return Number.isFinite(secondsLeft) ? `${at}, about ${duration(secondsLeft)} left.` : `${at}.`;
    default: return '';
  }
}

/** @param {number} seconds */
function duration(seconds) {
  if (seconds < 90) return counted(Math.max(1, Math.round(seconds)), 'second');
  return counted(Math.round(seconds / 60), 'minute');
}

/**
 * The reader comes with the first file: few people bring one.
 *
 * @param {Uint8Array} bytes of an .npz file
 * @returns {Promise<import('../../library/types.js').Dataset>}
 */
async function readDataset(bytes) {
  /** @type {typeof import('../../files/npz.mjs')} */
  const { readNpz } = await import(new URL('npz.js', document.baseURI).href).catch(() => {
    throw new Error('The reader of data sets could not be fetched: check the connection and reload the page.');
  });
  return readNpz(bytes);
}

/** The panel. The worker starts when the panel is first opened. */
export class LearningPanel {
  /** @type {Learning} */
  #now = NOTHING;
  /** @type {Learned|null} */
  #learned = null;
  /** Takes the learned prior out of use again; empty while it is not in use. */
  #undo = '';
  /** The sha256 of the learned prior in use. */
  #used = '';

  /** @param {{engine: FullEngine}} parts */
  constructor({ engine }) {
    this.engine = engine;
    this.trainer = this.#newTrainer();
    this.panel = byId('learning', HTMLDetailsElement);
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.curve = new Curve();
    this.progress = el('progress', { max: 1, value: 0, 'aria-label': 'Learning' });
    this.text = el('p', { class: 'small' });
    this.pause = this.#button('Pause', () => this.trainer.pause());
    this.resume = this.#button('Resume', () => this.#resume(), 'primary');
    this.cancel = this.#button('Cancel', () => this.#cancel());
    this.use = this.#button('Use what was learned', () => this.#use(), 'primary');
    this.keep = this.#button('Save it to a file', async () => {
      if (this.#learned) void save(this.#learned.prior, 'learned-prior.safetensors');
    });
    this.revert = this.#button('Back to before', () => this.#revert());
    this.figure = el('figure', { class: 'curve-figure' }, this.curve.element,
      el('figcaption', { class: 'small muted' },
        el('span', { class: 'key key-training' }, 'errors while learning'), el('span', { class: 'key key-validation' }, 'errors on classes kept aside')));
    this.run = el('div', { class: 'learning-run', hidden: true },
      this.figure, this.progress, this.text,
      el('div', { class: 'actions' }, this.pause, this.resume, this.use, this.keep, this.revert, this.cancel));
    this.effort = el('select', { id: 'learning-effort', class: 'field' },
      ...EFFORTS.map(([label, steps]) => el('option', { value: steps, selected: label === 'Medium' }, `${label}: ${steps.toLocaleString('en')} rounds`)));
    this.file = el('input', { type: 'file', accept: '.npz', onchange: () => void this.#try(() => this.#startFile()) });
    this.begin = this.#beginning();
    this.panel.append(el('div', { class: 'learning-body' },
      el('p', { class: 'small muted' }, 'Learns what your kind of pictures have in common, so that new classes need fewer examples. '
        + 'It takes at least four classes with three pictures each, runs in the background and stays on this device.'),
      this.error, this.run, this.begin));
    this.panel.addEventListener('toggle', () => { if (this.panel.open) void this.#try(() => this.#look()); });
  }

  /** Starts afresh after another session was opened; what was running there can be resumed there. */
  reset() {
    this.trainer.close();
    this.trainer = this.#newTrainer();
    this.#learned = null;
    this.#undo = '';
    this.#show(NOTHING);
    if (this.panel.open) void this.#try(() => this.#look());
  }

  /**
   * Offers what was learned for use again once another prior has taken its place.
   *
   * @param {{sha256: string}} prior in use
   */
  showPrior({ sha256 }) {
    if (this.#undo === '' || sha256 === this.#used) return;
    this.#undo = '';
    this.#show(this.#now);
  }

  #newTrainer() {
    /** @type {Trainer} */
    const trainer = new Trainer(this.engine, {
      onProgress: (progress) => {
        if (trainer !== this.trainer || progress.done) return; // the end is told by finished()
        this.#show(follow(this.#now, progress));
      },
    });
    return trainer;
  }

  /** Finds what a reload has interrupted. */
  async #look() {
    if (this.#now.stage !== 'idle') return;
    const pending = await this.trainer.pending();
    if (pending && this.#now.stage === 'idle') {
      this.#show({ ...NOTHING, stage: 'interrupted', step: pending.done, steps: pending.steps });
    }
  }

  /** @param {import('../../library/types.js').Dataset} [dataset] */
  async #start(dataset) {
    await this.#follow(await this.trainer.begin({ steps: Number(this.effort.value), dataset }));
  }

  async #startFile() {
    const file = this.file.files?.[0];
    if (!file) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    this.file.value = '';
    await this.#start(await readDataset(bytes));
  }

  async #resume() {
    if (this.#now.stage === 'interrupted') await this.#follow(await this.trainer.resume());
    else await this.trainer.proceed();
  }

  async #cancel() {
    if (this.#now.stage === 'interrupted') await this.trainer.forget();
    else await this.trainer.cancel();
    this.#show(NOTHING);
    say('Learning was cancelled. All stays as it was.');
  }

  /**
   * Follows a run to its end.
   *
   * @param {import('../../library/types.js').Started} started
   */
  async #follow({ step, steps, history }) {
    const { trainer } = this;
    this.#learned = null;
    this.#undo = '';
    this.#show({ stage: 'running', step, steps, secondsLeft: Infinity, history: history.map(pointOf) });
    try {
      const learned = await trainer.finished();
      if (trainer !== this.trainer) return;
      this.#learned = learned;
      this.#show({ ...this.#now, stage: 'done', step: steps, history: [...this.#now.history, pointOf(learned.best)].sort((a, b) => a.step - b.step) });
      say(`Learning is done. ${tell(this.#now.history)}`);
    } catch (error) {
      if (trainer !== this.trainer) return;
      this.#show(NOTHING);
      if (/** @type {{code?: string}} */ (error).code !== 'cancelled') throw error;
    }
  }

  async #use() {
    if (!this.#learned) return;
    const { undo } = await this.trainer.use(this.#learned);
    this.#used = (await this.engine.state()).prior.sha256;
    this.#undo = undo;
    this.#show(this.#now);
    say('What was learned is in use.');
  }

  async #revert() {
    await this.engine.undo(this.#undo);
    this.#undo = '';
    this.#show(this.#now);
    say('All is as before learning.');
  }

  /** @param {Learning} learning */
  #show(learning) {
    this.#now = learning;
    const { stage, step, steps, history } = learning;
    const alive = stage === 'running' || stage === 'paused' || stage === 'interrupted';
    this.run.hidden = stage === 'idle';
    this.begin.hidden = alive;
    this.pause.hidden = stage !== 'running';
    this.resume.hidden = stage !== 'paused' && stage !== 'interrupted';
    this.cancel.hidden = this.progress.hidden = !alive;
    this.figure.hidden = history.length === 0;
    this.use.hidden = stage !== 'done' || this.#undo !== '';
    this.keep.hidden = stage !== 'done';
    this.revert.hidden = this.#undo === '';
    this.progress.max = Math.max(1, steps);
    this.progress.value = step;
    this.text.textContent = describeLearning(learning);
    this.curve.draw(history, steps);
  }

  #beginning() {
    return el('div', { class: 'learning-begin' },
      el('label', { for: 'learning-effort' }, 'How long'), this.effort,
      el('div', { class: 'actions' },
        this.#button('Learn from this session', () => this.#start(), 'primary'),
        el('label', { class: 'button file-button' }, 'Learn from prepared data', this.file)));
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
