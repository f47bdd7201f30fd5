// @ts-check
/** The panel 'How good is it?': predicts every picture by a session without it, and finds possible wrong labels. */
import { complain } from '../kit/announce.js';
import { byId, counted, el, marked, noun, sentence } from '../kit/dom.js';
import { advice, bandInWords, goodnessOf, headline, spoilsInWords, trialsOf } from './goodness.js';
import { onlyClass } from '../recognise/good.js';
import { html, icon, nodesOf, nothing, ref, render, repeat } from '../kit/view.js';

/** @import {Influence} from '../../library/index.js' */
/** @import {Engine} from '../../library/types.js' */
/** @import {ClassList} from './classes.js' */
/** @import {Goodness, Review} from './goodness.js' */

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
  /** The shown result. @type {{goodness: Goodness, review: Review|null}|null} */
  #shown = null;
  /** Examples that were left out or moved in this panel, the last ones first. `to` is the class that they were moved to. @type {{label: string, ids: string[], undo: string, to?: string}[]} */
  #out = [];

  /** @param {{engine: Engine, classes: ClassList}} parts */
  constructor({ engine, classes }) {
    this.engine = engine;
    this.classes = classes;
    this.panel = byId('goodness', HTMLDetailsElement);
    this.progress = el('progress', { max: 1, value: 0, 'aria-label': 'Leaving out each example', hidden: true });
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.headline = el('p', { class: 'headline', 'aria-live': 'polite' });
    this.result = el('div', { class: 'goodness-result' });
    this.panel.append(
      nodesOf(html`<div class="learning-body">
        <p class="small muted">Each example is hidden in turn and recognised from the others. Examples that are nearly the same are hidden together and count as one.</p>
        ${this.error}${this.progress}${this.headline}${this.result}</div>`),
    );
    this.panel.addEventListener('toggle', () => {
      if (this.panel.open && this.#stale) void this.#compute();
    });
  }

  /** Clears the list of left-out examples after another session was opened. */
  reset() {
    this.#out = [];
    this.#shown = null;
    this.headline.textContent = '';
    render(html``, this.result);
  }

  /** Call it after a change of the classes: stops the computation, which is outdated. */
  changed() {
    this.#running?.abort();
    this.#stale = true;
    this.result.classList.add('stale');
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      if (this.panel.open) void this.#compute();
    }, SETTLED);
  }

  async #compute() {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    complain(this.error, '');
    try {
      await this.engine.ready();
      const { taught } = this.engine;
      const { signal } = running;
      const goodness = goodnessOf(trialsOf(await taught.leaveOneOut({ signal, onProgress: (progress) => this.#tell(progress) })));
      this.#stale = false;
      this.#show(goodness, null);
      this.progress.removeAttribute('value'); // the time depends on how many wrong labels are found
      const influence = await taught.influence({ signal });
      this.#show(goodness, { influence, need: await taught.needs({ signal }) });
    } catch (error) {
      if (!running.signal.aborted) complain(this.error, sentence(error));
    } finally {
      if (this.#running === running) {
        this.#running = null;
        this.progress.hidden = true;
      }
    }
  }

  /** @param {{done: number, total: number}} progress */
  #tell({ done, total }) {
    this.progress.max = total;
    this.progress.value = done;
    this.progress.hidden = false;
  }

  /** @param {Goodness} goodness @param {Review|null} review null while it is not there */
  #show(goodness, review) {
    this.#shown = { goodness, review };
    const { model, kinds } = this.classes;
    this.headline.textContent = headline(goodness, kinds.now.id === 'pictures' && onlyClass(model.all) !== null);
    this.result.classList.remove('stale');
    const { asked, classes, confusions, bands } = goodness;
    // The other examples were restored, or their class is gone.
    this.#out = this.#out.filter((one) => model.idOf(one.label) && model.holding(one.ids[0])?.name === one.to);
    const repeats = classes.filter((one) => one.repeats > 0);
    const section = (/** @type {unknown} */ there, /** @type {string} */ title, /** @type {() => unknown} */ body) =>
      there ? html`<section><h3>${title}</h3>${body()}</section>` : nothing;
    const spoiling = review?.influence ?? [];
    render(
      html`<p>${review && advice(goodness, review.need)}</p>
      ${section(asked, 'Class by class', () => html`<ul class="by-class">${classes.map((one) => classRow(one))}</ul>`)}
      ${section(confusions.length, 'Mistakes', () =>
        confusions.map(({ truth, answer, trials }) =>
          this.#pictures(`“${truth}” taken for ${answer === null ? 'none of these' : `“${marked(answer)}”`}: ${trials.length}`, trials),
        ),
      )}
      ${section(
        spoiling.length || this.#out.length,
        'Possibly in the wrong class',
        () => html`<p class="small">${
          spoiling.length ? 'Check that each one belongs to its class.' : review && 'No other example looks like another class.'
        }</p>
      <ul class="spoiling">${repeat(
        spoiling,
        ({ ids: [id] }) => id,
        (one) => this.#spoils(one),
      )}
        ${repeat(
          this.#out,
          ({ undo }) => undo,
          (
            one,
          ) => html`<li><p class="small muted">${one.to ? 'Moved' : 'Left out'}: ${one.ids.length === 1 ? `a ${noun()}` : counted(one.ids.length, noun())} of “${one.label}”${one.to ? `, to “${one.to}”` : ''}.</p>
          <button class="button" type="button" @click=${() => this.#bringBack(one)}>${icon('undo')}${one.to ? 'Move' : 'Bring'} ${one.ids.length === 1 ? 'it' : 'them'} back</button></li>`,
        )}</ul>`,
      )}
      ${section(repeats.length, 'Nearly the same', () =>
        repeats.map(
          ({ label, repeats: n, examples }) =>
            html`<p class="small">“${label}”: its ${counted(n + examples, noun())} are ${examples === 1 ? 'nearly the same and count as one' : `${examples} different views and count as ${examples}`}.</p>`,
        ),
      )}
      ${section(bands.length, 'Can its percentages be believed?', () => bands.map((band) => html`<p class="small">${bandInWords(band)}</p>`))}`,
      this.result,
    );
  }

  /** @param {Influence} one */
  #spoils(one) {
    return html`<li>${this.#thumbnail(one.label, one.ids[0])}<p class="small">${spoilsInWords(one)}</p>
      <div class="spoiling-presses"><button class="button" type="button" @click=${() => this.#move(one)}>Move to “${one.like}”</button>
      <button class="button" type="button" @click=${() => this.#leaveOut(one)}>Leave ${one.ids.length === 1 ? 'it' : 'them'} out</button></div></li>`;
  }

  /** @param {Influence} one */
  async #move({ label, like, ids }) {
    await this.#change(async () => {
      this.#out = [{ label, ids, to: like, undo: await this.classes.changes.move(ids, { id: this.classes.model.idOf(like) }) }, ...this.#out];
    });
  }

  /** @param {Influence} one */
  async #leaveOut({ label, ids }) {
    await this.#change(async () => {
      this.#out = [{ label, ids, undo: await this.classes.changes.remove(ids) }, ...this.#out];
    });
  }

  /** @param {{undo: string}} one */
  async #bringBack({ undo }) {
    await this.#change(async () => {
      await this.classes.changes.undo(undo);
      this.#out = this.#out.filter((one) => one.undo !== undo);
    });
  }

  /** Makes a change and shows it at once. The list is computed anew once nothing changes any more. @param {() => Promise<void>} work */
  async #change(work) {
    complain(this.error, '');
    try {
      await work();
    } catch (error) {
      complain(this.error, sentence(error));
    }
    if (!this.#shown) return;
    const { goodness, review } = this.#shown;
    const there = review && { ...review, influence: review.influence.filter(({ label, ids: [id] }) => this.classes.model.holding(id)?.name === label) };
    this.#show(goodness, there);
    this.result.classList.add('stale');
  }

  /** @param {string} truth @param {string} id */
  #thumbnail(truth, id) {
    return html`<button class="thumb-open" type="button" aria-label="Show this ${noun()} of ${truth}" @click=${() => this.classes.enlarge(this.classes.model.idOf(truth), id)}>
      <img class="thumb-picture" alt="" width="56" height="56" ${ref(this.classes.thumbnails.painter(id))}></button>`;
  }

  /** @param {string} text @param {{truth: string, ids: string[]}[]} all */
  #pictures(text, all) {
    return html`<div><p class="small">${text}</p>
      <ul class="thumbs">${repeat(
        all.slice(0, MOST),
        ({ ids: [id] }) => id,
        ({ truth, ids: [id] }) => html`<li>${this.#thumbnail(truth, id)}</li>`,
      )}</ul>
      ${all.length > MOST ? html`<p class="small muted">And ${all.length - MOST} more.</p>` : nothing}</div>`;
  }
}

/** @param {import('./goodness.js').ClassResult} result */
function classRow({ label, right, asked }) {
  const text = asked ? `${right} of ${asked} right` : `only one ${noun()}`;
  return html`<li><span class="ellipsis" dir="auto">${label}</span>
    ${asked ? html`<meter aria-hidden="true" min="0" max=${asked} .value=${right}></meter>` : html`<span></span>`}
    <span class="small muted">${text}</span></li>`;
}
