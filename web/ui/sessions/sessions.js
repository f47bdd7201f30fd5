// @ts-check
/** The sessions dialog: several classifiers, one open at a time. They can be saved to files and opened from files. */
import { say, toast } from '../kit/announce.js';
import { byId, counted, dialogHead, noun, save, sentence } from '../kit/dom.js';
import { writable } from '../kit/folders.js';
import { html, icon, live, nothing, render, repeat } from '../kit/view.js';
import { megabytes } from '../../share/assemble.js';
import { savePictures } from './pictures.js';
import { savedIn, tell } from './settings.js';
import { share } from './share.js';

/** @import {LoadedEngine as Engine, SessionInfo} from '../../library/types.js' */

/** The sessions dialog and the name of the open session in the bar. */
export class SessionsDialog {
  #creating = false;
  /** The state of the open session. @type {Omit<import('../../library/types.js').EngineState, 'classes'>|undefined} */
  #state;
  /** @type {(SessionInfo & {noun: string})[]} */
  #all = [];
  /** The id of the session whose deletion waits for a confirmation. */
  #leaving = '';
  /** The ids of the sessions that this tab has deleted. @type {Set<string>} */
  #deleted = new Set();
  /** Number of stored records that cannot be read, also those that belong to no session. */
  #damaged = 0;
  #memory = '';
  #error = '';
  /** Labels of the buttons whose work is not finished. @type {Set<string>} */
  #busy = new Set();
  #body = document.createElement('div');

  /** @param {{engine: Engine, reader: Pick<import('./reader.js').Reader, 'now' | 'opening' | 'placeOf' | 'kinds' | 'nounOf'>, onSwitched: () => Promise<void>}} parts */
  constructor({ engine, reader, onSwitched }) {
    this.engine = engine;
    this.reader = reader;
    this.onSwitched = onSwitched;
    this.dialog = byId('sessions', HTMLDialogElement);
    this.#body.className = 'dialog-body';
    this.dialog.append(dialogHead(this.dialog, 'sessions-title', 'Sessions'), this.#body);
    byId('session-button', HTMLElement).addEventListener('click', () => void this.#open());
  }

  /** @param {Omit<import('../../library/types.js').EngineState, 'classes'>} state of the one that is open now */
  async show(state) {
    const former = this.#state;
    this.#state = state;
    if (
      former &&
      former.sessionId !== state.sessionId &&
      !this.#deleted.has(former.sessionId) &&
      !state.storage.message &&
      !(await this.engine.sessions()).some(({ id }) => id === former.sessionId)
    ) {
      void this.onSwitched();
      say(''); // the last sentence is about the other one
      toast({ text: `“${former.sessionName}” was deleted in another tab. “${state.sessionName}” is open now.`, key: 'deleted', passing: true });
    }
    byId('session-name', HTMLElement).textContent = state.sessionName;
    if (this.dialog.open) await this.#list();
    this.#draw();
  }

  async #list() {
    this.#all = await Promise.all((await this.engine.sessions()).map(async (one) => ({ ...one, noun: await this.reader.nounOf(one.extractor) })));
  }

  #draw() {
    if (!this.#state) return;
    const damaged = Math.max(this.#damaged, this.#state.damaged);
    render(
      html`<p class="error" role="alert" ?hidden=${!this.#error}>${this.#error}</p>
      <fieldset><legend>In use: ${this.#state.sessionName}</legend>
        <p class="small">${describeKeeping({ ...this.#state, damaged })}</p>
        <div class="actions">${this.#button('Save this session', async () => {
          say('Writing the file …');
          const file = sessionFile(this.#state?.sessionName ?? ''); // another session may be open once it is written
          await this.#saved(await this.engine.saveSession(), file);
        })}
          ${this.#button('Share…', async () => {
            this.dialog.close(); // the next one takes its place
            share({ engine: this.engine, reader: this.reader });
          })}
          ${this.#button(`Save its ${noun()}s`, async () => {
            const { file, pictures } = await savePictures(this.engine, this.reader.kinds.now);
            say(`“${file}” was saved: ${counted(pictures, noun())}.`);
          })}
          ${damaged ? this.#button('Save the damaged records', async () => save(await this.engine.damaged(), 'damaged-records.json')) : nothing}</div></fieldset>
      <fieldset><legend>All sessions</legend>
        <p class="small muted">Each session has its own classes, ${noun()}s and settings.</p>
        <ul class="session-list" aria-label="Sessions">${repeat(
          this.#all,
          ({ id }) => id,
          (session) => this.#row(session),
        )}</ul>
        <form class="add-class" @submit=${(/** @type {Event} */ event) => {
          event.preventDefault();
          void this.#try(() => this.#create());
        }}>
          <label class="vh" for="new-session">Name of a new session</label>
          <input class="field" type="text" id="new-session" maxlength="80" placeholder="Such as Garden" autocomplete="off">
          <button class="button primary" type="submit">New session</button></form>
        <div class="actions"><label class="button file-button">Open a saved session<input type="file" accept=".safetensors" @change=${this.#import}></label></div></fieldset>
      <fieldset><legend>More for this session</legend>
        <details><summary class="small">For other programs</summary>
          <p class="small muted">A file of numbers (safetensors) that answers as this session does now, and cannot be taught more. “Use it…” beside the answer has
            programs that read such files, and other forms.</p>
          <div class="actions">${this.#button('Save the numbers', async () => this.#saved(this.engine.taught.export(), sessionFile(`${this.#state?.sessionName} numbers`)))}</div></details>
        <p class="small muted">Removed ${noun()}s are kept as long as you can undo the removal.</p>
        <div class="actions">${this.#button('Erase undo history', async () => {
          await this.engine.forgetUndo();
          say('The undo history is erased.');
        })}</div>
        <p class="small muted">${this.#memory}</p></fieldset>`,
      this.#body,
    );
  }

  /** @param {SessionInfo & {noun: string}} session */
  #row(session) {
    const { id, name } = session;
    const open = id === this.#state?.sessionId;
    const at = document.activeElement; // text that is being typed stays, whatever is drawn meanwhile
    const typed = at instanceof HTMLInputElement && at.dataset.session === id ? at.value : name;
    const exact = this.#all.some((other) => other.id !== id && other.name === name); // otherwise two sessions of one name look the same
    const press = (/** @type {string} */ kind, /** @type {() => unknown} */ work, /** @type {unknown} */ text, label = '') =>
      html`<button class="button ${kind}" type="button" aria-label=${label || nothing} aria-describedby=${exact ? `about-${id}` : nothing} @click=${work}>${text}</button>`;
    const about = html`<span class="small muted block" id="about-${id}">${describe(session, { exact, open })}</span>`;
    if (id === this.#leaving) {
      // deleting cannot be undone, so the row asks for a confirmation
      return html`<li class="session"><p class="session-text">Delete “${name}” with ${counted(session.examples, session.noun)} for good?${exact ? about : nothing}</p>
        ${press('danger', () => this.#try(() => this.#delete(session)), 'Delete')}${press('keep', () => this.#confirm(''), 'Keep')}</li>`;
    }
    return html`<li class=${open ? 'session open' : 'session'} tabindex="-1">
      <div class="session-text"><input class="card-name" type="text" maxlength="80" data-session=${id} .value=${live(typed)} aria-label="Name of the session ${name}"
        @input=${this.#settle} @change=${(/** @type {any} */ { target }) => this.#try(() => this.#rename(session, target))} @keydown=${(
          /** @type {any} */ { key, target },
        ) => {
          if (key === 'Escape') target.value = name; // the dialog closes, which would end the typing and rename
          if (key === 'Enter') target.closest('li').focus();
        }}>
        ${about}</div>
      ${open ? html`<span class="badge">In use</span>` : press('', () => this.#try(() => this.#switch(session)), 'Open', `Open ${name}`)}
      ${this.#all.length > 1 ? press('quiet square', () => this.#confirm(id), icon('trash'), `Delete ${name}`) : nothing}</li>`;
  }

  /** Clears the error of a refused name once another name is typed. */
  #settle = () => {
    if (!this.#error) return;
    this.#error = '';
    this.#draw();
  };

  /** Asks whether a session is to be deleted. @param {string} id empty for none */
  #confirm(id) {
    const former = this.#placeOf(this.#leaving);
    this.#leaving = id;
    this.#draw();
    const keep = this.#body.querySelector('.keep');
    if (keep instanceof HTMLElement) keep.focus();
    else this.#focusRow(former);
  }

  /** @param {string} id of a session */
  #placeOf(id) {
    return this.#all.findIndex((one) => one.id === id);
  }

  /** The focused button is gone: focuses the row at a place, or the last one. @param {number} place */
  #focusRow(place) {
    const row = [...this.#body.querySelectorAll('.session')].slice(0, place + 1).at(-1);
    /** @type {HTMLElement|null|undefined} */ (row?.querySelector('.square') ?? row?.querySelector('input'))?.focus();
  }

  /** @param {Uint8Array} bytes @param {string} file */
  async #saved(bytes, file) {
    await save(bytes, file);
    say(`“${file}” was saved: ${megabytes(bytes.length)}.`);
  }

  /** A button that ignores a second press while the work of the first one runs. @param {string} label @param {() => Promise<void>} work */
  #button(label, work) {
    return html`<button class="button" type="button" aria-busy=${String(this.#busy.has(label))} @click=${async () => {
      if (this.#busy.has(label)) return;
      this.#busy.add(label);
      this.#draw();
      await this.#try(work);
      this.#busy.delete(label);
      this.#draw();
    }}>${label}</button>`;
  }

  /** Opens a session of a file. @param {Event} event */
  #import = (event) =>
    void this.#try(async () => {
      const { bytes, facts } = await savedIn(event, 'session');
      await this.onSwitched();
      const { notice } = await this.reader.opening(extractorOf(facts), (reader) => this.engine.importSession(bytes, reader));
      tell('The session was opened.', notice);
      await this.#refresh();
    });

  /** Opens the dialog, also when the storage is gone. */
  async #open() {
    this.#leaving = '';
    await this.#try(async () => {
      this.#memory = `metaqda uses ${Math.round((await this.engine.memory()) / 1e6)} MB of memory.`;
      await this.#list();
      this.#damaged = JSON.parse(new TextDecoder().decode(await this.engine.damaged())).records.length;
    });
    if (!this.dialog.open) this.dialog.showModal(); // pressed twice
    this.dialog.scrollTop = 0;
  }

  async #create() {
    const field = /** @type {HTMLInputElement} */ (this.#body.querySelector('#new-session'));
    const name = field.value.trim();
    if (!name) throw new Error('Give the new session a name first.');
    if (this.#creating) return; // pressed twice
    this.#creating = true;
    try {
      await this.onSwitched(); // stops adding: the pictures were for the session that is still open
      await this.engine.newSession(name);
    } finally {
      this.#creating = false;
    }
    field.value = '';
    const { sessionName } = await this.engine.state(); // as it is kept
    this.#leave(`The new session “${sessionName}” is open.`);
  }

  /** @param {SessionInfo} session */
  async #switch(session) {
    await this.onSwitched();
    await this.engine.openSession(session.id);
    const { sessionName } = await this.engine.state(); // the press may have ended the typing of another name
    this.#leave(`The session “${sessionName}” is open.`);
  }

  /** Deletes a session. No notice says that another tab did. @param {string} id */
  async delete(id) {
    this.#deleted.add(id);
    await this.engine.deleteSession(id);
  }

  /** @param {SessionInfo} session */
  async #delete(session) {
    if (this.#leaving !== session.id) return; // pressed twice
    const place = this.#placeOf(session.id);
    this.#leaving = '';
    const open = session.id === this.#state?.sessionId; // afterwards another session may be open
    if (open) await this.onSwitched();
    await this.delete(session.id);
    say(`The session “${session.name}” was deleted.`);
    await this.#refresh();
    this.#focusRow(place);
  }

  /** @param {SessionInfo} session @param {HTMLInputElement} field */
  async #rename(session, field) {
    const name = field.value.trim();
    if (!name) throw new Error('A session needs a name.');
    await this.engine.renameSession(session.id, name);
    await this.#refresh();
  }

  async #refresh() {
    await this.show(await this.engine.state());
  }

  /** @param {string} text */
  #leave(text) {
    this.dialog.close();
    void this.onSwitched();
    say(text);
  }

  /** @param {() => Promise<void>} work */
  async #try(work) {
    this.#error = '';
    try {
      await work();
    } catch (error) {
      this.#error = sentence(error);
    }
    this.#draw();
  }
}

/** The sha256 of the extractor that a file names. Empty if it names none, or is malformed: then the engine reports the error. @param {Record<string, string>} facts */
function extractorOf({ extractor = '{}' }) {
  try {
    return JSON.parse(extractor)?.sha256 ?? '';
  } catch {
    return '';
  }
}

const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** The file name of a session. @param {string} session its name */
export const sessionFile = (session) => `${writable(session)}.safetensors`;

/** The number of a moment's calendar day, in local time. @param {number} time in milliseconds since 1970 */
function dayOf(time) {
  const at = new Date(time);
  return Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) / 86_400_000;
}

/**
 * "5 classes, 15 pictures, 21 Nov, saved to a file 3 days ago".
 *
 * @param {Pick<SessionInfo, 'classes' | 'examples' | 'updated' | 'saved'> & {noun: string}} session
 * @param {{now?: number, exact?: boolean, open?: boolean}} [options] now: in milliseconds since 1970; exact: with the time of the last change;
 *   open: whether the session is in use; then `describeKeeping` says when it was saved
 */
export function describe({ classes, examples, noun: word, updated, saved }, { now = Date.now(), exact = false, open = false } = {}) {
  const parts = [counted(classes, 'class', 'classes'), counted(examples, word)];
  if (updated)
    parts.push(
      new Date(updated).toLocaleString(undefined, { day: 'numeric', month: 'short', ...(exact && { hour: 'numeric', minute: '2-digit', second: '2-digit' }) }),
    );
  if (examples && !open)
    parts.push(
      saved
        ? `saved to a file ${ago.format(-Math.max(0, dayOf(now) - dayOf(saved)), 'day')}${updated > saved ? ' and changed since' : ''}`
        : 'never saved to a file',
    );
  return parts.join(', ');
}

/**
 * Says how safe the session is: the last save to a file, the browser's promise, and the damage.
 *
 * @param {Pick<import('../../library/types.js').EngineState, 'storage'|'saved'|'updated'|'damaged'>} state
 */
export function describeKeeping({ storage, saved, updated, damaged }) {
  const parts = [
    saved ? `Last saved to a file: ${new Date(saved).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}.` : 'Never saved to a file.',
  ];
  const changed = saved && updated > saved;
  if (changed) parts.push('It was changed since: save it again.');
  if (!storage.kept) parts.push('It may be gone when this window is closed: save it to a file first.');
  else if (storage.persistent === 'yes') parts.push('This browser has promised to keep all that you teach.');
  else if (storage.persistent === 'no') {
    parts.push('This browser may delete the session when the device runs short of space, or after a long time without a visit.');
    if (!changed) parts.push(saved ? 'So save it again after changes.' : 'So save it to a file.');
  }
  if (damaged)
    parts.push(`${damaged === 1 ? 'One stored record' : `${damaged} stored records`} cannot be read and ${damaged === 1 ? 'was' : 'were'} left out.`);
  return parts.join(' ');
}
