// @ts-check
/** The panel 'How good is it?': predicts every picture by a session without it. */
import { complain } from '../kit/announce.js';
import { byId, capital, counted, el, noun, sentence } from '../kit/dom.js';
import { advice, bandInWords, goodnessOf, headline } from './goodness.js';
import { html, nothing, ref, render, repeat } from '../kit/view.js';
import { rests } from '../../base/task.js';

/** @import {Engine, Trial} from '../../library/types.js' */
/** @import {ClassList} from './classes.js' */
/** @import {Goodness} from './goodness.js' */

/** Milliseconds without a change before it computes again. */
const SETTLED = 600;
/** Most pictures shown of a list. */
const MOST = 24;

/** Computes while it is open, and again after every change. */
export class CheckPanel {
  /** @type {AbortController|null} */
  #running = null;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #settling;
  /** Whether the shown result is outdated. */
  #stale = true;

  /** @param {{engine: Engine, classes: ClassList}} parts */
  constructor({ engine, classes }) {
    this.engine = engine;
    this.classes = classes;
    this.panel = byId('goodness', HTMLDetailsElement);
    this.progress = el('progress', { max: 1, value: 0, 'aria-label': 'Leaving out each example', hidden: true });
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.headline = el('p', { class: 'headline', 'aria-live': 'polite' });
    this.result = el('div', { class: 'goodness-result' });
    this.panel.append(el('div', { class: 'learning-body' },
      el('p', { class: 'small muted' }, 'Each example is hidden in turn and recognised from the others. Examples that are nearly the same are hidden together and count as one.'),
      this.error, this.progress, this.headline, this.result));
    this.panel.addEventListener('toggle', () => { if (this.panel.open && this.#stale) void this.#compute(); });
  }

  /** Call it after a change of the classes: stops the computation, which is outdated. */
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

  /** All trials, or null if the classes changed meanwhile. @param {AbortSignal} signal */
  async #trials(signal) {
    /** @type {Trial[]} */
    const trials = [];
    const rest = rests(signal);
    for (let i = 0; ; i++) {
      await rest();
      const trial = await this.engine.leaveOut(i);
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
    const name = (/** @type {string|null} */ id) => (id === null ? 'none of these' : this.classes.model.name(id));
    this.headline.textContent = headline(goodness);
    this.result.classList.remove('stale');
    const { asked, classes, confusions, misfits, bands } = goodness;
    const repeats = classes.filter((one) => one.repeats > 0);
    const section = (/** @type {unknown} */ there, /** @type {string} */ title, /** @type {() => unknown} */ body) => (there ? html`<section><h3>${title}</h3>${body()}</section>` : nothing);
    render(html`<p>${advice(goodness, name)}</p>
      ${section(asked, 'Class by class', () => html`<ul class="by-class">${classes.map((one) => classRow(one, name(one.id)))}</ul>`)}
      ${section(confusions.length, 'Mistakes', () => confusions.map(({ truth, answer, trials }) =>
    this.#pictures(`“${name(truth)}” taken for ${answer === null ? 'none of these' : `“${name(answer)}”`}: ${trials.length}`, trials)))}
      ${section(misfits.length, `${capital(noun())}s that fit badly`, () => this.#pictures(
    'Possibly in the wrong class. Check that each one shows what its class says.', misfits))}
      ${section(repeats.length, 'Nearly the same', () => repeats.map(({ id, repeats: n, examples }) => html`<p class="small">“${name(id)}”: ${
    counted(n + examples, noun())} show ${counted(examples, 'different view')} and count as that many.</p>`))}
      ${section(bands.length, 'Can its percentages be believed?', () => bands.map((band) => html`<p class="small">${bandInWords(band)}</p>`))}`, this.result);
  }

  /** @param {string} text @param {{truth: string, pictures: string[]}[]} all */
  #pictures(text, all) {
    return html`<div><p class="small">${text}</p>
      <ul class="thumbs">${repeat(all.slice(0, MOST), ({ pictures: [id] }) => id, ({ truth, pictures: [id] }) => html`<li>
        <button class="thumb-open" type="button" aria-label="Show this ${noun()} of ${this.classes.model.name(truth)}" @click=${() => this.classes.enlarge(truth, id)}>
          <img class="thumb-picture" alt="" width="56" height="56" ${ref(this.classes.thumbnails.painter(truth, id))}></button></li>`)}</ul>
      ${all.length > MOST ? html`<p class="small muted">And ${all.length - MOST} more.</p>` : nothing}</div>`;
  }
}

/** @param {import('./goodness.js').ClassResult} result @param {string} name */
function classRow({ right, asked }, name) {
  const text = asked ? `${right} of ${asked} right` : `only one ${noun()}`;
  return html`<li><span class="ellipsis">${name}</span>
    ${asked ? html`<meter min="0" max=${asked} .value=${right} aria-label="${name}: ${text}"></meter>` : html`<span></span>`}
    <span class="small muted">${text}</span></li>`;
}
