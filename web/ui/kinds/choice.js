// @ts-check
/** "What will you show it?": the kind of a session that is new, with one press; and the words of the page for it. */
import { complain, say } from '../kit/announce.js';
import { byId, callOne, capital, el, icon, sentence } from '../kit/dom.js';
import { onSource, sourceTaken } from './index.js';

/** @import {Kinds} from './index.js' */

/** Puts what recognises, in the page and in a shared file, into the words of a kind. @param {import('./index.js').Kind} kind */
export function speakOf({ one, accept, icon: drawn, live }) {
  callOne(one);
  const field = byId('query-file', HTMLInputElement);
  field.accept = accept;
  byId('query-hint', HTMLElement).textContent = `Choose a ${one}, ${field.multiple ? 'or many, drop them' : 'drop one'} here or paste.`;
  byId('query-word', HTMLElement).textContent = `${capital(one)} to recognise`;
  byId('live-word', HTMLElement).textContent = ` ${live.name.toLowerCase()}`;
  byId('clear-button', HTMLElement).setAttribute('aria-label', `Clear the ${one}`);
  byId('live-button', HTMLElement).querySelector('use')?.setAttribute('href', `#icon-${live.icon}`);
  for (const place of document.querySelectorAll('.stage-hint use, label:has(#query-word) use')) place.setAttribute('href', `#icon-${drawn}`);
}

export class KindChoice {
  #fresh = false;
  #error = el('p', { class: 'error', role: 'alert', hidden: true });
  #advice = el('p', { class: 'small muted' });
  #background = el('button', { class: 'button quiet', type: 'button', onclick: () => void this.#try(() => this.addClass(this.kinds.now.background ?? '')) });

  /**
   * @param {{kinds: Kinds, choose: (id: string) => Promise<void>, addClass: (name: string) => Promise<unknown>}} parts
   */
  constructor({ kinds, choose, addClass }) {
    this.kinds = kinds;
    this.choose = choose;
    this.addClass = addClass;
    this.element = byId('kind-choice', HTMLElement);
    this.buttons = Object.values(kinds.all).map((kind) => el('button', {
      class: 'button', type: 'button', 'aria-pressed': 'false', 'data-kind': kind.id, onclick: () => void this.#press(kind.id),
    }, icon(kind.live.icon), `${capital(kind.one)}s`));
    this.element.append(el('p', { class: 'kind-question', id: 'kind-question' }, 'What will you show it?'),
      el('div', { class: 'actions', role: 'group', 'aria-labelledby': 'kind-question' }, ...this.buttons), this.#advice, this.#background, this.#error);
    onSource(() => this.#place());
    this.show();
  }

  /** Is there while nothing is taught and no camera is open: were it to go with the first picture, the button that captures would move under the finger. */
  #place() {
    this.element.hidden = !this.#fresh || sourceTaken();
  }

  /** @param {import('../teach/model.js').Classes} model of the open session */
  follow(model) {
    this.#fresh = model.examples === 0;
    this.#place();
    this.#background.hidden = !this.kinds.now.background || model.all.length > 0;
  }

  /** Puts the page into the words of the kind that is shown now. */
  show() {
    const { now } = this.kinds;
    speakOf(now);
    for (const button of this.buttons) button.setAttribute('aria-pressed', String(button.dataset.kind === now.id));
    byId('samples', HTMLElement).hidden = !now.samples;
    byId('class-name', HTMLInputElement).placeholder = `Name, such as ${now.such}`;
    this.#advice.textContent = now.advice ?? '';
    this.#background.hidden = !now.background;
    this.#background.textContent = `Add the class “${now.background}”`;
    now.limits?.().then((text) => { if (now === this.kinds.now) this.#advice.append(text); }, () => {});
  }

  /** @param {string} id */
  async #press(id) {
    if (id === this.kinds.now.id) return;
    await this.#try(async () => {
      await this.choose(id);
      say(`${capital(this.kinds.now.one)}s it is.`);
    });
  }

  /** @param {() => Promise<unknown>} work */
  async #try(work) {
    complain(this.#error, '');
    for (const button of this.buttons) button.disabled = true;
    try {
      await work();
    } catch (error) {
      complain(this.#error, sentence(error));
    } finally {
      for (const button of this.buttons) button.disabled = false;
    }
  }
}
