// @ts-check
/** The settings dialog: how probabilities are computed and shown, and background knowledge. */
import { complain, say, toast } from '../kit/announce.js';
import { byId, dialogHead, el, save, sentence } from '../kit/dom.js';

/** @typedef {import('../../library/types.js').Engine} Engine */
/** @typedef {Omit<import('../../library/types.js').EngineState, 'classes'>} EngineState */

/** Largest prior probability of none-of-these that the slider offers. */
const MOST_NONE = 0.5;

/** The settings dialog. */
export class SettingsDialog {
  /** @param {{engine: Engine, reader: {now: Promise<import('../../library/types.js').Identity>}}} parts */
  constructor({ engine, reader }) {
    this.engine = engine;
    this.reader = reader;
    this.working = 0;
    this.dialog = byId('settings', HTMLDialogElement);
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.none = el('input', {
      type: 'range', id: 'none-prior', min: 0, max: MOST_NONE, step: 0.01,
      oninput: () => this.#showNone(), onchange: () => this.#set({ nonePrior: Number(this.none.value) }),
    });
    this.noneText = el('output', { for: 'none-prior' });
    this.priorText = el('p', { class: 'small muted' });
    this.priorName = el('summary', { class: 'small' });
    this.priorFile = '';
    this.priorMessage = el('p', { class: 'small', hidden: true });
    this.reset = this.#button('Back to what is built in', async () => {
      await this.engine.resetPrior();
      say('What is built in is in use.');
    });
    this.#build();
    byId('settings-button', HTMLElement).addEventListener('click', () => this.dialog.showModal());
  }

  /** @param {EngineState} state */
  show(state) {
    for (const choice of this.dialog.querySelectorAll('input[name="sort"]')) {
      if (choice instanceof HTMLInputElement) choice.checked = choice.value === state.sort;
    }
    if (document.activeElement !== this.none) this.none.value = String(state.nonePrior);
    this.#showNone();
    this.priorText.textContent = describePrior(state);
    this.priorName.textContent = `In use: ${priorName(state.prior)}`;
    this.priorFile = state.prior.facts['learned-on'] ? 'learned-prior.safetensors' : 'prior.safetensors';
    this.reset.hidden = state.prior.site && !state.prior.message;
    complain(this.priorMessage, state.prior.message);
  }

  /** Takes in a group of settings that another part of the page has. @param {HTMLElement} group */
  offer(group) {
    this.dialog.insertBefore(group, this.dialog.lastElementChild);
  }

  #build() {
    this.dialog.append(dialogHead(this.dialog, 'settings-title', 'Settings'), this.error,
      this.#order(),
      el('fieldset', {}, el('legend', {}, 'None of these'),
        el('div', { class: 'slider' }, el('label', { for: 'none-prior' }, 'Chance of something unknown'), this.noneText),
        this.none,
        el('p', { class: 'small muted' }, 'At 0 % every picture is taken to be one of the classes. What is more than a third likely to be something unknown is called none of these.')),
      el('fieldset', {}, el('legend', {}, 'Background knowledge'),
        el('p', { class: 'small muted' }, 'What was learned beforehand from other things, so that a few pictures are enough.'), el('details', {}, this.priorName, this.priorText), this.priorMessage,
        el('div', { class: 'actions' },
          this.#load('Open background knowledge', async (bytes) => {
            checkSaved(bytes, 'background knowledge');
            const { notice } = await this.engine.importPrior(bytes, await this.reader.now);
            tell('The background knowledge was opened.', notice);
          }),
          this.#button('Save background knowledge', async () => save(await this.engine.exportPrior(), this.priorFile)),
          this.reset)));
  }

  /** The order of the classes. */
  #order() {
    const choice = (/** @type {import('../../library/types.js').SortOrder} */ value, /** @type {string} */ label) => el('label', { class: 'choice' },
      el('input', { type: 'radio', name: 'sort', value, onchange: () => this.#set({ sort: value }) }), el('span', {}, label));
    return el('fieldset', {}, el('legend', {}, 'Order of the classes'), choice('probability', 'Most probable first'), choice('taught', 'As taught'));
  }

  /** @param {string} label @param {() => Promise<void>} work */
  #button(label, work) {
    return el('button', { class: 'button', type: 'button', onclick: () => void this.#try(work) }, label);
  }

  /** @param {string} label @param {(bytes: Uint8Array) => Promise<void>} work */
  #load(label, work) {
    const field = el('input', {
      type: 'file', accept: '.safetensors',
      onchange: () => {
        const file = field.files?.[0];
        if (file) void this.#try(async () => work(new Uint8Array(await file.arrayBuffer())));
        field.value = '';
      },
    });
    return el('label', { class: 'button file-button' }, label, field);
  }

  /** @param {import('../../library/types.js').Settings} settings */
  #set(settings) {
    void this.#try(async () => { await this.engine.configure(settings); });
  }

  #showNone() {
    this.noneText.textContent = `${Math.round(Number(this.none.value) * 100)} %`;
    this.none.setAttribute('aria-valuetext', this.noneText.textContent);
  }

  /**
   * Does the work; the dialog is busy until what was chosen is stored.
   *
   * @param {() => Promise<void>} work
   */
  async #try(work) {
    this.working++;
    this.dialog.setAttribute('aria-busy', 'true');
    try {
      await work();
      complain(this.error, '');
    } catch (error) {
      complain(this.error, sentence(error));
      this.error.scrollIntoView({ block: 'nearest' });
    } finally {
      if (--this.working === 0) this.dialog.removeAttribute('aria-busy');
    }
  }
}

/**
 * Refuses what is no safetensors file at all: eight bytes that tell how long a header of JSON is, the header, numbers.
 *
 * @param {Uint8Array} bytes
 * @param {string} what it should hold
 */
export function checkSaved(bytes, what) {
  const length = bytes.length > 8 ? Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)) : Infinity;
  if (length > bytes.length - 8 || bytes[8] !== 0x7b) throw new Error(`This file holds no ${what} of metaqda: choose one that this page saved, NAME.safetensors.`);
}

/**
 * Says what was done, and shows a notice that goes with it.
 *
 * @param {string} done
 * @param {string} notice may be empty
 */
export function tell(done, notice) {
  say(done);
  if (notice) toast({ text: notice, key: 'imported' });
}

/**
 * One line about the prior in use.
 *
 * @typedef {Pick<import('../../library/types.js').PriorState, 'site'|'sha256'|'name'|'facts'>} PriorLine
 * @param {{prior: PriorLine, dimension: number}} state
 */
export function describePrior({ prior, dimension }) {
  const parts = [];
  if (dimension) parts.push(`${dimension.toLocaleString('en')} numbers per picture`);
  if (prior.sha256) parts.push(`sha256 ${prior.sha256.slice(0, 12)}…`);
  return [priorName(prior), parts.join(', ')].filter(Boolean).join(': ');
}

/** @param {PriorLine} prior */
function priorName({ site, sha256, name, facts }) {
  if (site) return sha256 ? 'Built in' : 'Plain, not learned';
  const on = facts['learned-on'];
  return on ? `Learned in a browser tab from ${on}` : name || 'From a file';
}
