// @ts-check
/** Explains an answer: shows the taught pictures nearest to the query. */
import { answerTo } from '../kit/answer.js';
import { byId, noun } from '../kit/dom.js';
import { html, nothing, ref, render } from '../kit/view.js';

/** @import {Near, Prediction} from '../../library/index.js' */
/** @import {Engine} from '../../library/types.js' */

/** Number of nearest pictures shown. */
const NEAREST = 4;
/** Below this distance the nearest example is the query itself. Other photographs are at .5 or more. */
const SAME = 0.01;
/** Milliseconds without a change before the nearest pictures are searched again. */
const SETTLED = 300;

/** The part of the page under an answer. */
export class Why {
  /** The embedding of the query. @type {Float32Array|null} */
  #question = null;
  #turn = 0;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #settling;

  /** @param {{engine: Engine, classes: import('../teach/classes.js').ClassList}} parts */
  constructor({ engine, classes }) {
    this.engine = engine;
    this.classes = classes;
    this.box = byId('why', HTMLElement);
  }

  /** Sets the query; null for none. @param {Float32Array|null} question its embedding */
  ask(question) {
    this.#question = question;
    return this.#refresh();
  }

  /** Call it after a change of the classes: searches again once nothing changes for a moment. */
  changed() {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => void this.#refresh(), SETTLED);
  }

  async #refresh() {
    const question = this.#question;
    const turn = ++this.#turn;
    this.box.hidden = !question || !this.classes.model.examples;
    if (!question || this.box.hidden) return;
    try {
      const answer = await answerTo(this.engine.taught, question);
      if (turn === this.#turn) this.#show(this.engine.taught.nearest(question, NEAREST), answer);
    } catch {
      if (turn === this.#turn) this.box.hidden = true; // the page says elsewhere why there is no answer
    }
  }

  /** @param {Near[]} near @param {Prediction|null} answer */
  #show(near, answer) {
    const taken = answer?.decision;
    const far = taken === null && (answer?.none ?? 0) >= Math.max(...Object.values(answer?.probabilities ?? {}));
    const others = taken && near.length > 0 && near[0].label !== taken;
    const [first] = near;
    const title =
      first?.distance < SAME
        ? `This ${noun()} is an example of “${first.label}”, so the answer is no test.`
        : far
          ? `No taught ${noun()} is close enough. Nearest:`
          : `Nearest taught ${noun()}${near.length === 1 ? '' : 's'}:`;
    this.box.hidden = near.length === 0;
    render(
      html`<h3 class="small" id="why-title">Why</h3>
      <p class="small muted" id="nearest-title">${title}</p>
      <ul class="nearest" aria-labelledby="nearest-title">${near.map(
        ({ label, id }) => html`<li>
        <button class="near" type="button" aria-label="${label}: show this ${noun()}" @click=${() => this.classes.enlarge(this.classes.model.holding(id)?.id ?? '', id)}>
          <img alt="" width="48" height="48" ${ref(this.classes.thumbnails.painter(id))}>
          <span class="small ellipsis" dir="auto">${label}</span></button></li>`,
      )}</ul>
      ${others ? html`<p class="small muted why-note">The answer weighs whole classes, not single ${noun()}s.</p>` : nothing}`,
      this.box,
    );
  }
}
