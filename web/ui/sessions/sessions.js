// @ts-check
/** The sessions dialog: several classifiers side by side, one open at a time, and as files. */
import { complain, say } from '../kit/announce.js';
import { byId, counted, dialogHead, el, icon, save, sentence } from '../kit/dom.js';
import { writable } from '../kit/folders.js';
import { handOn } from './hand-on.js';
import { checkSaved, tell } from './settings.js';

/** @typedef {import('../../library/types.js').LoadedEngine} Engine */
/** @typedef {import('../../library/types.js').SessionInfo} SessionInfo */

/** The sessions dialog and the name of the open session in the bar. */
export class SessionsDialog {
  #current = '';
  #name = '';
  /** @type {Parameters<typeof describeKeeping>[0] | undefined} */
  #state;
  /** How many stored records cannot be read, of all sessions and of none. */
  #damaged = 0;

  /** @param {{engine: Engine, reader: {now: Promise<import('../../library/types.js').Identity>, own: Promise<import('../../library/types.js').Identity>, kinds: import('../kinds/index.js').Kinds}, onSwitched: () => void}} parts */
  constructor({ engine, reader, onSwitched }) {
    this.engine = engine;
    this.reader = reader;
    this.onSwitched = onSwitched;
    this.dialog = byId('sessions', HTMLDialogElement);
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.list = el('ul', { class: 'session-list', 'aria-label': 'Sessions' });
    this.field = el('input', { class: 'field', type: 'text', id: 'new-session', maxlength: 80, placeholder: 'Such as Garden', autocomplete: 'off' });
    this.keeping = el('p', { class: 'small' });
    this.memory = el('p', { class: 'small muted' });
    this.damaged = this.#button('Save the damaged records', async () => save(await this.engine.damaged(), 'damaged-records.json'));
    this.dialog.append(dialogHead(this.dialog, 'sessions-title', 'Sessions'),
      el('p', { class: 'muted' }, 'Each session has its own classes, pictures and settings.'),
      this.error, this.list,
      el('form', { class: 'add-class', onsubmit: (event) => { event.preventDefault(); void this.#try(() => this.#create()); } },
        el('label', { class: 'vh', for: 'new-session' }, 'Name of a new session'), this.field,
        el('button', { class: 'button primary', type: 'submit' }, 'New session')),
      this.#files());
    byId('session-button', HTMLElement).addEventListener('click', () => void this.#open());
  }

  /** @param {Omit<import('../../library/types.js').EngineState, 'classes'>} state of the one that is open now */
  async show(state) {
    this.#current = state.sessionId;
    this.#name = state.sessionName;
    byId('session-name', HTMLElement).textContent = state.sessionName;
    this.#state = state;
    this.#keep();
    if (this.dialog.open) this.#fill(await this.engine.sessions());
  }

  #keep() {
    if (!this.#state) return;
    const damaged = Math.max(this.#damaged, this.#state.damaged);
    this.keeping.textContent = describeKeeping({ ...this.#state, damaged });
    this.damaged.hidden = damaged === 0;
  }

  /** The open session as a file, and one from a file. */
  #files() {
    const field = el('input', {
      type: 'file', accept: '.safetensors',
      onchange: () => {
        const file = field.files?.[0];
        if (file) void this.#try(async () => this.#import(new Uint8Array(await file.arrayBuffer())));
        field.value = '';
      },
    });
    return el('fieldset', {}, el('legend', {}, 'As a file'),
      el('p', { class: 'small muted' }, 'Everything taught in the open session in one file, to keep or to use on another device.'), this.keeping,
      el('div', { class: 'actions' },
        this.#button('Save this session', () => this.#save()),
        el('label', { class: 'button file-button' }, 'Open a saved session', field),
        this.#button('Save its pictures', async () => {
          const { file, pictures } = await (await import('./pictures.js')).savePictures(this.engine);
          say(`“${file}” was saved: ${counted(pictures, 'picture')}.`);
        }),
        handOn(this.engine, this.reader), this.damaged),
      el('p', { class: 'small muted' }, 'What was removed is kept for as long as that can be undone.'),
      el('div', { class: 'actions' }, this.#button('Forget what can be undone', async () => {
        await this.engine.forgetUndo();
        say('What was removed is gone, and nothing can be undone.');
      })),
      this.memory);
  }

  async #save() {
    const file = fileName(this.#name);
    say('Writing the file …');
    const bytes = await this.engine.exportSession();
    await save(bytes, file);
    say(`“${file}” was saved: ${(bytes.length / 1e6).toFixed(1)} MB.`);
  }

  /** A second press while the first is at work is none. @param {string} label @param {() => Promise<void>} work */
  #button(label, work) {
    const button = el('button', { class: 'button', type: 'button', onclick: async () => {
      if (button.ariaBusy === 'true') return;
      button.ariaBusy = 'true';
      await this.#try(work);
      button.ariaBusy = 'false';
    } }, label);
    return button;
  }

  /** @param {Uint8Array} bytes */
  async #import(bytes) {
    checkSaved(bytes, 'session');
    const { notice } = await this.engine.importSession(bytes, await this.reader.now);
    this.onSwitched();
    tell('The session was opened.', notice);
    await this.#refresh();
  }

  /** Where the storage is gone, too: what is open goes out as a file from here. */
  async #open() {
    await this.#try(async () => {
      this.memory.textContent = `All that is open uses ${Math.round(await this.engine.memory() / 1e6)} MB of memory.`;
      this.#fill(await this.engine.sessions());
      this.#damaged = JSON.parse(new TextDecoder().decode(await this.engine.damaged())).records.length;
    });
    this.#keep();
    this.dialog.showModal();
  }

  /** @param {SessionInfo[]} sessions */
  #fill(sessions) {
    this.list.replaceChildren(...sessions.map((session) => this.#row(session, sessions.length > 1)));
  }

  /** @param {SessionInfo} session @param {boolean} deletable */
  #row(session, deletable) {
    const open = session.id === this.#current;
    const name = el('input', {
      class: 'card-name', type: 'text', maxlength: 80, value: session.name, 'aria-label': `Name of the session ${session.name}`,
      onchange: () => void this.#try(() => this.#rename(session, name)),
      onkeydown: (event) => { if (/** @type {KeyboardEvent} */ (event).key === 'Enter') name.blur(); },
    });
    const row = el('li', { class: open ? 'session open' : 'session' },
      el('div', { class: 'session-text' }, name, el('span', { class: 'small muted' }, describe(session))),
      open
        ? el('span', { class: 'badge' }, 'Open')
        : el('button', { class: 'button', type: 'button', 'aria-label': `Open ${session.name}`, onclick: () => void this.#try(() => this.#switch(session)) }, 'Open'),
      deletable
        ? el('button', {
          class: 'button quiet square', type: 'button', 'aria-label': `Delete ${session.name}`, onclick: () => this.#confirm(row, session),
        }, icon('trash'))
        : null);
    return row;
  }

  /**
   * Deleting a session cannot be undone, so it is asked for once more in its place.
   *
   * @param {HTMLElement} row
   * @param {SessionInfo} session
   */
  #confirm(row, session) {
    const keep = el('button', { class: 'button', type: 'button', onclick: () => void this.#refresh() }, 'Keep');
    row.replaceChildren(
      el('p', { class: 'session-text' }, `Delete “${session.name}” with ${counted(session.examples, 'picture')} for good?`),
      el('button', { class: 'button danger', type: 'button', onclick: () => void this.#try(() => this.#delete(session)) }, 'Delete'), keep);
    keep.focus();
  }

  async #create() {
    const name = this.field.value.trim();
    if (!name) throw new Error('Give the new session a name first.');
    await this.engine.newSession(name);
    this.field.value = '';
    this.#leave(`The new session “${name}” is open.`);
  }

  /** @param {SessionInfo} session */
  async #switch(session) {
    await this.engine.openSession(session.id);
    this.#leave(`The session “${session.name}” is open.`);
  }

  /** @param {SessionInfo} session */
  async #delete(session) {
    await this.engine.deleteSession(session.id);
    if (session.id === this.#current) this.onSwitched();
    say(`The session “${session.name}” was deleted.`);
    await this.#refresh();
  }

  /** @param {SessionInfo} session @param {HTMLInputElement} field */
  async #rename(session, field) {
    const name = field.value.trim();
    try {
      if (!name) throw new Error('A session needs a name.');
      await this.engine.renameSession(session.id, name);
    } catch (error) {
      field.value = session.name;
      throw error;
    }
    await this.#refresh();
  }

  async #refresh() {
    await this.show(await this.engine.state());
  }

  /** @param {string} text */
  #leave(text) {
    this.dialog.close();
    this.onSwitched();
    say(text);
  }

  /** @param {() => Promise<void>} work */
  async #try(work) {
    try {
      await work();
      complain(this.error, '');
    } catch (error) {
      complain(this.error, sentence(error));
    }
  }
}

/** What the file of a session is called. @param {string} session its name */
export const fileName = (session) => `${writable(session)}.safetensors`;

/**
 * "5 classes, 15 pictures, 21 Nov, saved to a file 3 days ago".
 *
 * @param {SessionInfo} session
 * @param {number} [now] in milliseconds since 1970
 */
export function describe({ classes, examples, updated, saved }, now = Date.now()) {
  const parts = [counted(classes, 'class', 'classes'), counted(examples, 'picture')];
  const time = new Date(updated);
  if (updated && !Number.isNaN(time.getTime())) {
    parts.push(time.toLocaleDateString(undefined, { day: 'numeric', month: 'short' }));
  }
  if (examples) parts.push(saved ? `saved to a file ${ago(now - saved)}` : 'never saved to a file');
  return parts.join(', ');
}

/** @param {number} milliseconds */
function ago(milliseconds) {
  const days = Math.floor(milliseconds / 86_400_000);
  return days < 1 ? 'today' : `${counted(days, 'day')} ago`;
}

/**
 * How safe what was taught is: what the browser promised, when it was last saved, and
 * what of it is damaged.
 *
 * @param {Pick<import('../../library/types.js').EngineState, 'storage'|'saved'|'damaged'>} state
 */
export function describeKeeping({ storage, saved, damaged }) {
  const parts = [];
  if (storage.persistent === 'yes') parts.push('This browser has promised to keep what is taught here.');
  if (storage.persistent === 'no') parts.push('This browser may clear what is taught here when the device runs short of room, or after some time without a visit: save what you want to keep to a file.');
  parts.push(saved ? `Last saved to a file on ${new Date(saved).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}.` : 'Never saved to a file.');
  if (damaged) parts.push(`${damaged === 1 ? 'One stored record' : `${damaged} stored records`} cannot be read and ${damaged === 1 ? 'was' : 'were'} left out.`);
  return parts.join(' ');
}
