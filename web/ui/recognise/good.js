// @ts-check
/**
 * Says whether a picture is like the examples of a session's only class. If these are good, it says whether the picture is
 * good. It replaces the answer about classes, so that there is only one number.
 */
import { queue } from '../../base/task.js';
import { capital, el, marked, noun } from '../kit/dom.js';
import { flat } from './map.js';
import { html, render } from '../kit/view.js';
import { percent } from '../sort/sorting.js';

/** @import {Prediction} from '../../library/index.js' */
/** @import {Cells} from '../../extractor/session.js' */
/** @import {Classifier} from '../../library/index.js' */
/** @import {Sample} from '../kinds/index.js' */
/** @typedef {(open: () => Promise<Sample>, cells?: Cells|null) => Promise<Odd|null>} OddOf whether a picture is unlike the examples, null if that cannot be told; cells: those of an earlier answer */
/** @typedef {{wrong: number, good: number, far: ArrayLike<number>, cells: Cells}} Odd probability that something is wrong, how many examples say so, and how far each of the picture's cells is from theirs */

/** Fewest examples that can be compared with (core/anomaly). */
const FEWEST = 3;
/** From this probability on the sentence about a picture has no “perhaps”. */
const SURE = 0.6;

/** Whether a picture is more probably unlike the examples than like them. @param {Pick<Odd, 'wrong'>} odd */
export const unlike = ({ wrong }) => wrong > 0.5;

/**
 * The only class that is taught, if it has enough examples to compare pictures with; else null.
 *
 * @template {{examples?: readonly unknown[]}} T
 * @param {readonly T[]} classes
 */
export function onlyClass(classes) {
  const [only, other] = classes.filter(({ examples }) => examples?.length);
  return only && !other && (only.examples?.length ?? 0) >= FEWEST ? only : null;
}

export class Good {
  element = el('div', { class: 'good', hidden: true });
  #name = '';
  /** Whether the examples are nearly the same picture. */
  #alike = false;

  /** @param {{odd?: OddOf, teachable?: boolean, instead?: HTMLElement[]}} parts teachable: whether to say what to teach; instead: is hidden meanwhile */
  constructor({ odd, teachable = true, instead = [] }) {
    this.odd = odd;
    this.teachable = teachable;
    this.instead = instead;
  }

  /** The element of the sentence; null while pictures are not judged. */
  get says() {
    return this.element.hidden ? null : this.element.querySelector('.good-says');
  }

  /** @param {boolean} shown */
  #turn(shown) {
    this.element.hidden = !shown;
    for (const other of this.instead) other.hidden = shown;
  }

  /** Replaces the answer about classes at once, so that it is not shown before the comparison is ready. */
  wait() {
    if (!this.on || noun() !== 'picture') return; // others are not compared
    render(html`<p class="verdict good-says">Comparing …</p>`, this.element);
    this.#turn(true);
  }

  /** Whether pictures are judged. */
  get on() {
    return this.#name !== '';
  }

  /** @param {readonly {name: string, examples?: readonly unknown[], bursts?: {length: number}}[]} classes that are taught */
  follow(classes) {
    const only = this.odd ? onlyClass(classes) : null;
    this.#name = only?.name ?? '';
    this.#alike = (only?.bursts?.length ?? FEWEST) < FEWEST;
    if (!this.on) this.#turn(false);
  }

  /** Judges a picture and shows the result, if the picture is still the query. @param {(() => Promise<Sample>)|null} open @param {() => boolean} still @returns {Promise<Odd|null>} */
  async judge(open, still) {
    let odd = null;
    try {
      if (open && this.on) odd = (await this.odd?.(open)) ?? null;
      return odd;
    } finally {
      if (still()) this.show(odd);
    }
  }

  /** The answer that is shown: the one about classes, or the comparison in its place. @template {Prediction|null} T @param {T} answer @param {Odd|null} odd @returns {T} */
  told(answer, odd) {
    if (!answer || !odd || !this.on) return answer;
    const own = answerOf(odd, this.#name);
    return { ...answer, ...own, probabilities: { ...answer.probabilities, ...own.probabilities } }; // classes without examples have 0
  }

  /** @param {Odd|null} odd */
  show(odd) {
    this.#turn(!!odd && this.on);
    if (!odd || !this.on) return;
    render(
      html`<p class="verdict good-says">${sayingOf(odd, marked(this.#name))}</p>
      <p class="small muted good-note">${
        this.#alike
          ? `The ${noun()}s of this class are nearly the same, so anything else looks unlike them${this.teachable ? ': teach other views, too' : ''}.`
          : `Compared part by part with ${odd.good} different ${noun()}s.${this.teachable ? ` More ${noun()}s would make the answer surer.` : ''}`
      }</p>
      <p class="small muted good-note" ?hidden=${!this.teachable}>To tell “${this.#name}” from other things, teach a second class.</p>`,
      this.element,
    );
  }
}

/** A comparison as an answer about the only class. @param {Pick<Odd, 'wrong'>} odd @param {string} name of the class */
export function answerOf(odd, name) {
  const decision = unlike(odd) ? null : name;
  return { decision, first: decision, probabilities: { [name]: 1 - odd.wrong }, none: odd.wrong, headline: sayingOf(odd, name) };
}

/** @param {Pick<Odd, 'wrong'>} odd @param {string} name of the only class */
function sayingOf(odd, name) {
  const [p, like] = unlike(odd) ? [odd.wrong, `not like the examples of “${name}”`] : [1 - odd.wrong, `like the examples of “${name}”`];
  return p < SURE ? `Perhaps ${like}` : `${capital(like)}: ${percent(p)}`;
}

/**
 * Calls the engine, which must know the cells of the examples. They are read from the stored thumbnails, once each.
 * A query is first reduced to the same size, so that its size makes no difference.
 *
 * @param {{taught: Pick<Classifier, 'withoutCells'|'setCells'|'anomaly'>, thumbnails: (ids: string[]) => Promise<(Uint8Array|null)[]>, kinds: import('../kinds/index.js').Kinds}} parts
 * @returns {OddOf}
 */
export function oddBy({ taught, thumbnails, kinds }) {
  const read = queue();
  const cellsOf = async (/** @type {Uint8Array} */ thumbnail) => {
    const [sample] = await kinds.now.open(kinds.now.fileOf(thumbnail, 'example'));
    return await (sample.cells?.() ?? Promise.resolve(null)).finally(() => sample.close());
  };
  const smallOf = (/** @type {Sample} */ sample) => sample.thumbnail().finally(() => sample.close());
  const readAll = async () => {
    const ids = taught.withoutCells;
    for (const [i, picture] of (ids.length ? await thumbnails(ids) : []).entries()) {
      const cells = picture && (await cellsOf(picture));
      if (cells) taught.setCells(ids[i], cells);
    }
  };
  return async (open, known) => {
    if (kinds.now.id !== 'pictures') return null; // others have no cells
    try {
      const cells = known ?? (await cellsOf(await smallOf(await open())));
      if (!cells) return null;
      await read(readAll);
      const anomaly = taught.anomaly(cells);
      return { wrong: anomaly.wrong, good: anomaly.good, far: flat(anomaly), cells };
    } catch (error) {
      const { code } = /** @type {{code?: string}} */ (error);
      if (['few', 'classes', 'class', 'example'].includes(code ?? '')) return null; // the examples have changed meanwhile, or have no pictures
      throw error;
    }
  };
}
