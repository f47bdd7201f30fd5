// @ts-check
/** The panel 'Learn from my other sessions': it learns a prior ("background knowledge") on this device. */
import { complain, say } from '../kit/announce.js';
import { byId, counted, el, noun, sentence } from '../kit/dom.js';
import { html, nodesOf } from '../kit/view.js';
import { learn } from '../../library/storage.js';

/** @import {Learned, LoadedEngine} from '../../library/types.js' */

/** The measurement in words. @param {Omit<Learned, 'prior'> & {prior: unknown}} learned */
export function describeLearned({ prior, classes, sessions, before, after }) {
  const change = (/** @type {'accuracy'|'unknown'} */ of) => `${Math.round(100 * before[of])} % before, ${Math.round(100 * after[of])} % after`;
  const tried = `Tested on classes left out of learning, with one and two ${noun()}s each: right answers ${change('accuracy')}; mean chance of “none of these” for something unknown ${change('unknown')}.`;
  if (!prior) return `Nothing has changed. Learned knowledge is used only if its percentages come closer to the truth and nothing gets worse. ${tried}`;
  return `Learned from ${counted(classes, 'class', 'classes')} in ${counted(sessions, 'other session')}, and in use here. ${tried} Its percentages are closer to the truth.`;
}

/** Learns a prior on request, and takes it back on request. */
export class LearningPanel {
  /** The undo token of the learned prior, empty while it is not in use. */
  #undo = '';
  /** The sha256 of the learned prior in use. */
  #used = '';

  /** @param {{engine: LoadedEngine}} parts */
  constructor({ engine }) {
    this.engine = engine;
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.result = el('p', { class: 'small', role: 'status' });
    this.busy = el('progress', { 'aria-label': 'Learning', hidden: true });
    this.begin = el('button', { class: 'button primary', type: 'button', onclick: () => void this.#try(() => this.#learn()) }, 'Learn');
    this.revert = el(
      'button',
      { class: 'button', type: 'button', hidden: true, onclick: () => void this.#try(() => this.#revert()) },
      'Restore the previous knowledge',
    );
    byId('learning', HTMLDetailsElement).append(
      nodesOf(html`<div class="learning-body">
        <p class="small muted">It learns from your other sessions how examples of one thing differ, so that new classes need fewer examples. One of those sessions needs at least four classes with three examples each. The result is tested on classes that were left out, and stays on this device.</p>
        ${this.error}${this.result}${this.busy}<div class="actions">${this.begin}${this.revert}</div></div>`),
    );
  }

  /** Resets the panel after another session was opened. */
  reset() {
    this.#undo = '';
    this.revert.hidden = true;
    this.result.textContent = '';
    complain(this.error, '');
  }

  /** Once another prior is in use, the learned one cannot be taken back. @param {{sha256: string}} prior in use */
  showPrior({ sha256 }) {
    if (this.#undo !== '' && sha256 !== this.#used) this.reset();
  }

  /** @param {string} text @param {boolean} busy */
  #show(text, busy) {
    this.result.textContent = text;
    this.begin.textContent = busy ? 'Learning …' : 'Learn';
    this.busy.hidden = !busy;
  }

  async #learn() {
    const { sessionId, sessionName } = await this.engine.state();
    this.#show('Learning from your other sessions, and testing on classes left out …', true);
    const learned = await learn(this.engine).finally(() => this.#show('', false));
    if ((await this.engine.state()).sessionId !== sessionId) {
      say(`The learned knowledge is not used: another session was opened meanwhile. Open “${sessionName}” and learn again.`);
      return;
    }
    if (learned.prior) {
      const { undo } = await this.engine.importPrior(learned.prior);
      this.#used = (await this.engine.state()).prior.sha256;
      this.#undo = undo;
      this.revert.hidden = !undo; // the same as before
    }
    this.result.textContent = describeLearned(learned);
  }

  async #revert() {
    await this.engine.stored((taught) => taught.undo(this.#undo));
    this.reset();
    say('The previous background knowledge is used again.');
  }

  /** @param {() => Promise<void>} work */
  async #try(work) {
    if (this.begin.ariaDisabled === 'true') return; // pressed twice
    this.begin.ariaDisabled = this.revert.ariaDisabled = 'true'; // disabled ones would lose the focus
    try {
      complain(this.error, '');
      await work();
    } catch (error) {
      complain(this.error, sentence(error));
    } finally {
      this.begin.ariaDisabled = this.revert.ariaDisabled = 'false';
    }
  }
}
