// @ts-check
/**
 * Recognises a long recording in pieces: the whole, by the mean of the pieces' probabilities, and each piece. Press a
 * piece to see its answer in full and to correct it.
 */
import { answerTo } from '../kit/answer.js';
import { el, marked } from '../kit/dom.js';
import { html, render } from '../kit/view.js';
import { percent, together } from '../sort/sorting.js';

/** @typedef {{at: string, picture: Blob, embedding: Float32Array}} Piece at: where in the file it begins */
/** @typedef {Pick<import('../../library/index.js').Prediction, 'probabilities' | 'none' | 'decision'>} Answer */

/** Classes below this probability are not named. */
const LEAST = 0.05;
const NONE = 'None of these';

export class Pieces {
  /** @type {Piece[]} */
  #all = [];
  /** URLs of the pieces' pictures, revoked with the pieces. @type {string[]} */
  #urls = [];
  /** @type {(Answer|null)[]} */
  #answers = [];
  #chosen = 0;
  #turn = 0;
  /** The answer for the whole, as a sentence; empty without pieces. */
  text = '';
  element = el('div', { class: 'pieces', hidden: true });

  /** @param {{taught: Pick<import('./recognise.js').Answering['taught'], 'predict'>, onChoose: (piece: number) => void}} parts */
  constructor({ taught, onChoose }) {
    this.taught = taught;
    this.onChoose = onChoose;
  }

  /** Shows pieces, unless there is only one. @param {Piece[]} all @returns {Promise<number>} the piece most probable to be of the whole's class */
  async show(all) {
    this.clear();
    if (all.length < 2) return 0;
    this.#all = all;
    this.#urls = all.map(({ picture }) => URL.createObjectURL(picture));
    const answers = await this.again();
    const [first] = wholeOf(answers);
    const likely = answers.map((answer) => (first && answer ? (named(answer)[first.name] ?? 0) : 0));
    this.choose(likely.indexOf(Math.max(...likely)));
    return this.#chosen;
  }

  /** @param {number} piece */
  choose(piece) {
    this.#chosen = piece;
    this.#draw();
    this.element.querySelector('[aria-pressed=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  /** Predicts again, since the classes may have changed. */
  async again() {
    const [all, turn] = [this.#all, ++this.#turn];
    const answers = [];
    for (const { embedding } of all) answers.push(await answerTo(this.taught, embedding));
    if (turn === this.#turn) {
      this.#answers = answers;
      this.#draw();
    }
    return answers;
  }

  clear() {
    this.#turn++;
    for (const url of this.#urls) URL.revokeObjectURL(url);
    [this.#all, this.#urls, this.#chosen] = [[], [], 0];
    this.#draw();
  }

  #draw() {
    const [all, whole] = [this.#all, wholeOf(this.#answers)];
    this.element.hidden = !all.length;
    this.text = !all.length
      ? ''
      : whole.length
        ? `All of it: ${whole.map(({ name, p }) => `${marked(name)} ${together(percent(p))}`).join(', ')}.`
        : `${all.length} pieces.`;
    render(
      html`<p class="verdict whole">${this.text}</p>
      <ol class="piece-list" aria-label="Pieces of the recording">${all.map(({ at }, i) => {
        const best = taken(this.#answers[i]);
        return html`<li><button class="piece" type="button" aria-pressed=${String(i === this.#chosen)} aria-label="From ${at}: ${best || 'no answer yet'}" @click=${() => {
          this.choose(i);
          this.onChoose(i);
        }}>
          <img src=${this.#urls[i]} alt=""><span class="muted">${at}</span><span class="ellipsis" dir="auto">${best}</span></button></li>`;
      })}</ol>
      <p class="small muted">This is the mean of ${all.length} pieces. The piece from ${all[this.#chosen]?.at} is shown below: press another to see and correct it.</p>`,
      this.element,
    );
  }
}

/** Probabilities by name. @param {Answer} answer @returns {Record<string, number>} */
const named = ({ probabilities, none }) => ({ ...probabilities, [NONE]: none });

/** The decision in words; empty without an answer. @param {Answer|null|undefined} answer */
function taken(answer) {
  if (!answer) return '';
  const name = answer.decision ?? NONE;
  return `${name} ${percent(named(answer)[name])}`;
}

/**
 * The mean of the pieces' probabilities, which are the probabilities for a random moment of the
 * recording.
 *
 * @param {(Answer|null)[]} answers
 * @returns {{name: string, p: number}[]} the most probable first
 */
function wholeOf(answers) {
  const all = answers.flatMap((answer) => (answer ? [named(answer)] : []));
  const names = Object.keys(all[0] ?? {});
  return names
    .map((name) => ({ name, p: all.reduce((sum, one) => sum + one[name], 0) / all.length }))
    .sort((a, b) => b.p - a.p)
    .filter(({ p }, i) => i === 0 || p >= LEAST);
}
