// @ts-check
/** The choice of kind for a new session, later a label. Sets the kind's words in the page. */
import { complain, say } from '../kit/announce.js';
import { byId, capital, dialogHead, el, sentence, setWords } from '../kit/dom.js';
import { canDrop } from '../kit/drop.js';
import { html, icon, nodesOf, render } from '../kit/view.js';
import { onSource, sourceTaken } from './index.js';

/** @import {Kinds} from './index.js' */

/** Sets a kind's words in the recognising part of the page or of a shared file. @param {import('./index.js').Kind} kind */
export function speakOf({ one, choose, accept, icon: drawn, live }) {
  setWords(one, live.senses);
  byId('then-sees', HTMLElement).textContent = live.senses[0];
  const field = byId('query-file', HTMLInputElement);
  field.accept = accept;
  const [several, them] = field.multiple ? ['one or several', 'them'] : ['one', 'it'];
  byId('query-hint', HTMLElement).textContent = `Choose ${several}${canDrop() ? `, or drop or paste ${them} here` : ''}.`;
  byId('query-word', HTMLElement).textContent = choose;
  byId('live-word', HTMLElement).textContent = ` ${live.name.toLowerCase()}`;
  byId('clear-button', HTMLElement).setAttribute('aria-label', `Clear the ${one}`);
  byId('live-button', HTMLElement).querySelector('use')?.setAttribute('href', `#icon-${live.icon}`);
  for (const place of document.querySelectorAll('.stage-hint use, label:has(#query-word) use')) place.setAttribute('href', `#icon-${drawn}`);
}

export class KindChoice {
  #error = '';
  #busy = false;
  /** @type {import('../teach/model.js').Classes|undefined} */
  #model;

  /** @param {{kinds: Kinds, choose: (id: string) => Promise<void>, newSession: (id: string, wanted: () => boolean) => Promise<void>, addClass: (name: string) => Promise<unknown>}} parts */
  constructor({ kinds, choose, newSession, addClass }) {
    this.kinds = kinds;
    this.choose = choose;
    this.newSession = newSession;
    this.addClass = addClass;
    this.element = byId('kind-choice', HTMLElement);
    this.label = byId('kind-button', HTMLElement);
    this.label.addEventListener('click', () => this.#offer());
    onSource(() => this.#draw());
    this.show();
  }

  /** @param {import('../teach/model.js').Classes} model of the open session */
  follow(model) {
    this.#model = model;
    this.#draw();
  }

  /** Sets the words of the current kind in the page. */
  show() {
    const { now } = this.kinds;
    speakOf(now);
    byId('samples', HTMLElement).hidden = !now.samples;
    byId('class-name', HTMLInputElement).placeholder = `Name, such as ${now.such}`;
    this.#draw();
  }

  /** Shown while nothing is taught and no camera is open. If it disappeared with the first picture, the capture button would move under the finger. */
  #draw() {
    const { all, now } = this.kinds;
    this.element.hidden = this.#model?.examples !== 0 || sourceTaken();
    this.label.hidden = !this.#model?.examples;
    render(html`${icon(now.live.icon)}<span><span class="vh">This session is for </span>${capital(now.one)}s</span>${icon('sessions')}`, this.label);
    render(
      html`<p class="kind-question" id="kind-question">What will you show it?</p>
      <div class="actions" role="group" aria-labelledby="kind-question">${Object.values(all).map(
        ({ id, one, live }) => html`<button class="button" type="button" data-kind=${id}
        aria-pressed=${String(id === now.id)} aria-disabled=${String(this.#busy)} @click=${() => this.#press(id)}>${icon(live.icon)}${capital(one)}s</button>`,
      )}</div>
      <p class="small muted">${now.advice}</p>
      <button class="button quiet" type="button" ?hidden=${!now.background || this.#model?.all.length} @click=${() => this.#try(() => this.addClass(now.background ?? ''))}>Add the class “${now.background}”</button>
      <p class="error" role="alert" ?hidden=${!this.#error}>${this.#error}</p>`,
      this.element,
    );
  }

  /** @param {string} id */
  async #press(id) {
    if (this.#busy || id === this.kinds.now.id) return;
    await this.#try(async () => {
      await this.choose(id);
      say(this.#model?.examples ? 'This session already has an example, so its kind cannot change.' : `This session is for ${this.kinds.now.one}s.`);
    });
  }

  /** Offers new sessions of other kinds, since a session with examples keeps its kind. */
  #offer() {
    const { all, now } = this.kinds;
    const dialog = byId('ask-what', HTMLDialogElement);
    const error = el('p', { class: 'error', role: 'alert', hidden: true });
    let busy = false;
    const wanted = () => dialog.open && error.isConnected; // otherwise the dialog was closed, or shows something else
    const start = (/** @type {string} */ id) => async () => {
      if (busy) return; // pressed twice
      busy = true;
      try {
        await this.newSession(id, wanted);
        if (!wanted()) return;
        dialog.close();
        const chosen = this.element.querySelector('[aria-pressed=true]'); // the button that opened the dialog is hidden
        if (chosen instanceof HTMLElement) chosen.focus();
        say(`A new session for ${this.kinds.now.one}s is open.`);
      } catch (reason) {
        complain(error, sentence(reason));
      } finally {
        busy = false;
      }
    };
    dialog.replaceChildren(
      dialogHead(dialog, 'ask-what-title', `This session is for ${now.one}s`),
      nodesOf(html`${error}<p>To teach something else, start a new session. This one is kept.</p>
        <div class="actions">${Object.values(all)
          .filter((kind) => kind !== now)
          .map(
            ({ id, one, live }) => html`<button class="button" type="button" @click=${start(id)}>${icon(live.icon)}New session for ${one}s</button>`,
          )}</div>`),
    );
    dialog.showModal();
  }

  /** @param {() => Promise<unknown>} work */
  async #try(work) {
    [this.#error, this.#busy] = ['', true];
    this.#draw();
    await work().catch((error) => {
      this.#error = sentence(error);
    });
    this.#busy = false;
    this.#draw();
  }
}
