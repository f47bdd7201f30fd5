// @ts-check
/** The settings dialog: how probabilities are computed and shown, and background knowledge. */
import { say, toast } from '../kit/announce.js';
import { byId, dialogHead, noun, save, sentence } from '../kit/dom.js';
import { metadataOf } from '../../base/safetensors.js';
import { chosenIn } from '../kit/folders.js';
import { html, live, render } from '../kit/view.js';

/** @import {Engine} from '../../library/types.js' */
/** @typedef {Omit<import('../../library/types.js').EngineState, 'classes'>} EngineState */
/** @import {SortOrder} from '../../library/types.js' */

/** Largest prior probability of none-of-these that the slider offers. */
const MOST_NONE = 0.5;

/** @type {[SortOrder, string][]} */
const ORDERS = [
  ['probability', 'Most probable first'],
  ['taught', 'As taught'],
];

/** The settings dialog. */
export class SettingsDialog {
  /** @type {EngineState|undefined} */
  #state;
  #error = '';
  #working = 0;
  #body = document.createElement('div');

  /** @param {{engine: Engine, reader: {now: Promise<import('../../library/types.js').Identity>}, offered: HTMLElement}} parts `offered`: settings that another part of the page has */
  constructor({ engine, reader, offered }) {
    this.offered = offered;
    this.engine = engine;
    this.reader = reader;
    this.dialog = byId('settings', HTMLDialogElement);
    this.#body.className = 'dialog-body';
    this.dialog.append(dialogHead(this.dialog, 'settings-title', 'Settings'), this.#body);
    byId('settings-button', HTMLElement).addEventListener('click', () => this.dialog.showModal());
  }

  /** @param {EngineState} state */
  show(state) {
    this.#state = state;
    this.#draw();
  }

  get #slider() {
    return this.#body.querySelector('input[type="range"]');
  }

  #draw() {
    if (!this.#state) return;
    const { sort, nonePrior, prior } = this.#state;
    const slider = this.#slider;
    const none = slider instanceof HTMLInputElement && document.activeElement === slider ? Number(slider.value) : nonePrior; // the person is moving it
    const share = `${Math.round(100 * none)} %`;
    render(
      html`<p class="error" role="alert" ?hidden=${!this.#error}>${this.#error}</p>
      <fieldset><legend>Order of the classes</legend>${ORDERS.map(
        ([order, label]) => html`<label class="choice">
        <input type="radio" name="sort" value=${order} .checked=${live(order === sort)} @change=${() => this.#order(order)}><span>${label}</span></label>`,
      )}</fieldset>
      <fieldset><legend>None of these</legend>
        <div class="slider"><label for="none-prior">Chance of something unknown</label><output for="none-prior">${share}</output></div>
        <input type="range" id="none-prior" min="0" max=${MOST_NONE} step="0.01" aria-valuetext=${share} .value=${live(String(none))}
          @input=${() => this.#draw()} @change=${() => this.#expect(Number(this.#slider && /** @type {HTMLInputElement} */ (this.#slider).value))}>
        <div class="slider small muted" aria-hidden="true"><span>0 %</span><span>${100 * MOST_NONE} %</span></div>
        <p class="small muted">At 0 % every ${noun()} is taken to be one of the classes. A ${noun()} that is at least ${this.engine.bounds.none}\u00a0% likely to be something unknown is called none of these.</p></fieldset>
      ${this.offered}
      <fieldset><legend>Background knowledge</legend>
        <p class="small muted" ?hidden=${prior.site && !prior.sha256}>Knowledge from other ${noun()}s, learned beforehand, so that a few examples are enough.</p>
        <details><summary class="small">In use: ${priorName(prior)}</summary><p class="small muted">${describePrior(this.#state)}</p></details>
        <p class="small" ?hidden=${!prior.message}>${prior.message}</p>
        <div class="actions"><label class="button file-button">Open background knowledge<input type="file" accept=".safetensors" @change=${this.#import}></label>
          ${this.#button('Save background knowledge', async () => save(await this.engine.exportPrior(), prior.facts['learned-on'] ? 'learned-prior.safetensors' : 'prior.safetensors'))}
          ${
            prior.site && !prior.message
              ? ''
              : this.#button('Use the built-in one', async () => {
                  await this.engine.resetPrior();
                  say('The built-in background knowledge is used.');
                })
          }</div></fieldset>`,
      this.#body,
    );
  }

  /** @param {string} label @param {() => Promise<void>} work */
  #button(label, work) {
    return html`<button class="button" type="button" @click=${() => this.#try(work)}>${label}</button>`;
  }

  /** Opens a file of background knowledge. @param {Event} event */
  #import = (event) =>
    void this.#try(async () => {
      const { bytes } = await savedIn(event, 'background knowledge');
      const { notice } = await this.engine.importPrior(bytes, await this.reader.now);
      tell('The background knowledge was opened.', notice);
    });

  /** @param {number} nonePrior */
  #expect(nonePrior) {
    void this.#try(async () => void (await this.engine.stored((taught) => taught.configure({ nonePrior }))));
  }

  /** @param {import('../../library/types.js').SortOrder} order */
  #order(order) {
    void this.#try(async () => void (await this.engine.order(order)));
  }

  /** Does the work. The dialog is busy until the choice is stored. @param {() => Promise<void>} work */
  async #try(work) {
    this.#working++;
    this.dialog.setAttribute('aria-busy', 'true');
    try {
      await work();
      this.#error = '';
    } catch (error) {
      this.#error = sentence(error);
    } finally {
      if (--this.#working === 0) this.dialog.removeAttribute('aria-busy');
    }
    this.#draw();
    if (this.#error) this.#body.querySelector('.error')?.scrollIntoView({ block: 'nearest' });
  }
}

/** The content of the files of each format, and what to do with them. @type {Record<string, [what: string, remedy: string]>} */
const FORMATS = {
  'metaqda.classifier': ['a session', ': open it under “Session”, “Open a saved session”.'],
  'metaqda.prior': ['background knowledge', ': open it under Settings, “Open background knowledge”.'],
  'metaqda.plain': ['numbers for other programs', ', which cannot be opened here: choose one that “Save this session” saved.'],
};

/**
 * Reads the file chosen in a field and empties the field. Refuses a file that is no safetensors file, or holds something else.
 *
 * @param {Event} event of the field
 * @param {'session'|'background knowledge'} what the file should hold
 * @returns {Promise<{bytes: Uint8Array, facts: Record<string, string>}>} facts: what the header says of it
 */
export async function savedIn({ target }, what) {
  const [file] = chosenIn(/** @type {HTMLInputElement} */ (target));
  const bytes = new Uint8Array(
    await file.arrayBuffer().catch(() => {
      throw new Error(`“${file.name}” could not be read: check that it is still there, and that it is a file that this page saved.`); // files of gigabytes cannot be read either
    }),
  );
  const facts = metadataOf(bytes);
  if (!facts && what === 'session' && bytes[0] === 0x3c /* < */ && new TextDecoder().decode(bytes).includes(' id="block-classifier"'))
    throw new Error(
      `“${file.name}” is a shared page. Open it in the browser, press “Save as a session for metaqda” there, and open the saved file here. ` +
        'If it has no such button, ask its author for the session.',
    );
  if (!facts) throw new Error(`This file holds no ${what} of metaqda: choose one that this page saved, NAME.safetensors.`);
  const [held = '', remedy] = FORMATS[facts.format] ?? [];
  if (held && !held.endsWith(what)) throw new Error(`This file holds ${held}${remedy}`);
  return { bytes, facts };
}

let closeNotice = () => {};

/**
 * Announces what was done, and shows a notice about it in place of the former one, which may no longer be true.
 *
 * @param {string} done
 * @param {string} notice may be empty
 */
export function tell(done, notice) {
  say(done);
  closeNotice();
  if (notice) closeNotice = toast({ text: notice, key: 'imported', passing: true });
}

/**
 * One line about the prior in use.
 *
 * @typedef {Pick<import('../../library/types.js').PriorState, 'site'|'sha256'|'name'|'facts'>} PriorLine
 * @param {{prior: PriorLine, dimension: number}} state
 */
export function describePrior({ prior, dimension }) {
  const parts = [];
  if (dimension) parts.push(`${dimension.toLocaleString('en')} numbers per ${noun()}`);
  if (prior.sha256) parts.push(`sha256 ${prior.sha256.slice(0, 12)}…`);
  return [priorName(prior), parts.join(', ')].filter(Boolean).join(': ');
}

/** @param {PriorLine} prior */
function priorName({ site, sha256, name, facts }) {
  if (site) return sha256 ? 'Built in' : 'Generic, not learned';
  const on = facts['learned-on'];
  return on ? `Learned in a browser tab from ${on}` : name || 'From a file';
}
