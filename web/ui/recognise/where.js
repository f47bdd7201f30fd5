// @ts-check
/**
 * Shows where in a picture an answer comes from: contour lines around the places that speak for
 * a class. The package's `explain` says how much each place does (core/explain.go).
 */
import { answerTo } from '../kit/answer.js';
import { el } from '../kit/dom.js';
import { contourPaths } from '../kit/contours.js';
import { html, render, svg } from '../kit/view.js';
import { contrast, FINE, flat, mapOf, partOf } from './map.js';

/** @import {Cells} from '../../extractor/session.js' */
/** @import {Prediction} from '../../library/index.js' */
/** @import {Answering} from './recognise.js' */
/** @typedef {{cells: Cells, answer: Prediction, odd?: import('./good.js').Odd|null}} Asked odd: its comparison with the good examples, if there is one */

/** Shares of the highest place at which lines are drawn. */
const LEVELS = [0.4, 0.7];
/** The least contrast of a picture in which one place can stand out: just above that of pictures of one colour. */
const LEAST = 0.75;
/**
 * In a picture of less contrast a place is unlike good ones if its distance from them is so many times the median distance.
 * In ten pictures of one colour the largest distance is at most 1.5 times the median, in tiles with a crack at least 1.7 times.
 */
const APART = 1.6;

export class Where {
  /** @type {Asked|null} */
  #asked = null;
  #on = false;
  #rival = false;
  #turn = 0;
  /** Its text, shown while the map is on. */
  element = el('div', { class: 'where', hidden: true });
  /** Below the picture. */
  button = el('button', { class: 'button', type: 'button', 'aria-pressed': 'false', hidden: true }, 'Where');
  overlay = el('div', { class: 'where-lines', hidden: true });

  /** Whether the picture is shown mirrored. */
  mirrored = false;

  /** @param {Answering['taught']} taught */
  constructor(taught) {
    this.taught = taught;
    this.button.addEventListener('click', () => this.#turnOn(!this.#on));
  }

  /** Switches the map and the comparison off. */
  reset() {
    this.#rival = false;
    this.#turnOn(false);
  }

  /** @param {boolean} on */
  #turnOn(on) {
    this.#on = on;
    this.button.setAttribute('aria-pressed', String(on));
    void this.#draw();
  }

  /** Whether the cells of the next frames are wanted. */
  get on() {
    return this.#on;
  }

  /** Sets the query; null for none. @param {Asked|null} asked @param {boolean} [offered] whether there will be one once it is on */
  show(asked, offered = asked !== null) {
    this.#asked = asked;
    this.button.hidden = !offered;
    return this.#draw();
  }

  async #draw() {
    const turn = ++this.#turn;
    try {
      await this.#outline(turn);
    } catch {
      // a class has gone meanwhile, so another answer is on its way
      if (turn === this.#turn) this.overlay.hidden = this.element.hidden = true;
    }
  }

  /** @param {number} turn */
  async #outline(turn) {
    const asked = this.#asked;
    const { of = null, next = null } = asked ? rivals(asked.answer) : {};
    if (!asked || !of || !this.#on) {
      this.overlay.hidden = this.element.hidden = true;
      return;
    }
    const { odd } = asked;
    const against = this.#rival && !odd ? next : null;
    if (contrast((odd ?? asked).cells) < LEAST && !(odd && apart(odd.far))) {
      this.overlay.hidden = true;
      this.#words(null, 'No place stands out: the picture looks nearly the same everywhere.', '');
      return;
    }
    const [parts, ground] = odd
      ? [Float64Array.from(odd.far, beyond), false]
      : [flat(this.taught.explain(asked.cells, { label: of, against })), await this.#ground(asked, of)];
    if (turn !== this.#turn) return;
    const map = mapOf(parts, (odd ?? asked).cells.views);
    const most = Math.max(...map);
    const name = `“${of}”${against ? ` rather than “${against}”` : ''}`;
    const what = odd ? `what is least like “${of}”` : `what speaks most for ${name}`;
    this.overlay.hidden = most <= 0;
    if (most > 0) {
      const [wide, near] = contourPaths(
        map,
        FINE,
        FINE,
        LEVELS.map((level) => level * most),
      );
      // Lines are white on black, so that they are visible on any picture, also to colour-blind
      // people.
      const aspect = asked.cells.width / asked.cells.height;
      this.overlay.classList.toggle('mirrored', this.mirrored);
      this.overlay.style.setProperty('--aspect', `${aspect}`);
      render(
        html`<svg viewBox="0 0 ${FINE * aspect} ${FINE}" role="img" aria-label="Outlined: ${what}"><g transform="scale(${aspect} 1)">
        <path class="where-dark" d="M0 0H${FINE}V${FINE}H0Z${wide}"></path>
        ${[wide, near].map((d) => [svg`<path class="where-under" d=${d}></path>`, svg`<path class="where-line" d=${d}></path>`])}</g></svg>`,
        this.overlay,
      );
    }
    this.#words(
      odd ? null : next,
      most > 0 ? `Outlined: ${what}.` : odd ? `No place is unlike “${of}”.` : `No place speaks for ${name}.`,
      ground ? 'The answer may come from the background: move the thing, or teach the background as a class.' : '',
    );
  }

  /** Whether the edge of the picture gives the same answer, more surely than its middle does. @param {Asked} asked @param {string} of */
  async #ground({ cells, answer }, of) {
    if (answer.decision !== of) return false;
    const [edge, middle] = await Promise.all([true, false].map((one) => answerTo(this.taught, partOf(cells, one))));
    return !!edge && !!middle && edge.decision === of && edge.probabilities[of] > middle.probabilities[of];
  }

  /** @param {string|null} next @param {string} said @param {string} guide */
  #words(next, said, guide) {
    const turn = () => {
      this.#rival = !this.#rival;
      void this.#draw();
    };
    this.element.hidden = false;
    render(
      html`<p class="small muted">${said}</p>${guide && html`<p class="small">${guide}</p>`}
      ${next && html`<button class="button" type="button" aria-pressed=${String(this.#rival)} @click=${turn}>Compare with ${next}</button>`}`,
      this.element,
    );
  }
}

/** How much farther a cell is from good ones than the farthest cells of a good picture. @param {number} distance */
const beyond = (distance) => Math.max(0, distance - 1);

/** Whether the farthest place is much farther from good ones than the median place. @param {ArrayLike<number>} far */
function apart(far) {
  const sorted = Float64Array.from(far).sort();
  return sorted[sorted.length - 1] > APART * sorted[sorted.length >> 1];
}

/** The labels of the most probable class and the next one, if there are any with examples. @param {Prediction} answer */
function rivals({ probabilities }) {
  const taught = Object.keys(probabilities).filter((label) => probabilities[label] > 0);
  const [of = null, next = null] = taught.sort((a, b) => probabilities[b] - probabilities[a]);
  return { of, next };
}
