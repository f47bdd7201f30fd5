// @ts-check
/** The card of one class: its name, its pictures, and the ways to add more. */
import { nextTask } from '../../base/task.js';
import { say, toast } from '../kit/announce.js';
import { Line, summary } from '../kit/batch.js';
import { capital, counted, sentence } from '../kit/dom.js';
import { dropZone } from '../kit/drop.js';
import { chosenIn } from '../kit/folders.js';
import { holdRepeat } from '../kit/hold.js';
import { note } from '../kit/note.js';
import { html, icon, live, nothing, ref, render, repeat } from '../kit/view.js';
import { leaveSource, sourceFailed, takeSource, teach, teachFile, unseen } from '../kinds/index.js';
import { partOf } from './changes.js';
import { added, leftOut, removedMeanwhile, repeated } from './words.js';

/** @import {ClassList} from './classes.js' */
/** @import {Taught} from './model.js' */

/** Newest pictures shown at first, and number added by each press. */
const AT_ONCE = 120;
/** The data type of a dragged picture. */
const DRAGGED = 'application/x-metaqda-example';

/** Milliseconds of adding a single picture after which the page says that it does. */
const LONG = 1000;

/** The reasons to stop a batch: it is undone, another session is opened, the class is deleted here, or it vanished, perhaps in another tab. */
const UNDONE = 'undone';
export const LEFT = 'left';
const DELETED = 'deleted';
const VANISHED = 'vanished';

/** Number of batches running or waiting, in all cards. */
let atWork = 0;

/**
 * Progress of the batches of a class, running or waiting. Counts start when the first one is
 * added. total: files; past: files handled; added: ids of the examples made; again: how many of them the class had already.
 *
 * @typedef {{stop: AbortController, batches: number, total: number, past: number, done: number, added: string[], again: number, begun: boolean, errors: unknown[]}} Adding
 */

export class ClassCard {
  /** @type {Adding|null} */
  #adding = null;
  /** The camera, while it is open. @type {import('../kinds/index.js').Source|null} */
  #source = null;
  #started = false;
  /** Ids of the examples captured by the open source. @type {string[]} */
  #taken = [];
  /** Number of earlier pictures that a press has added. */
  #earlier = 0;
  #hinted = '';
  #error = '';
  /** Examples added in the batches that the error is about. @type {string[]} */
  #beside = [];
  /** Whether the error shown is about a refused name. Any change clears it. */
  #misnamed = false;
  /** The last picture added here that is also in another class. @type {{own: string, example: string}|null} */
  #twin = null;
  /** Whether the card is drawn. With many classes only cards near the view are. */
  drawn = false;

  /** @param {ClassList} list @param {Taught} taught */
  constructor(list, taught) {
    this.list = list;
    this.taught = taught;
    this.element = document.createElement('li');
    Object.assign(this.element, { className: 'card', tabIndex: -1 });
    this.element.dataset.class = taught.id;
    dropZone(this.element, (files) => void this.addFiles(files), {
      wanted: (file) => list.kinds.now.claims(file), // the kind may change
      other: { type: DRAGGED, take: (text) => void this.#guard(() => list.takeIn(text, taught.id)) },
    });
  }

  get id() {
    return this.taught.id;
  }

  /** Shows the class as it is now. An undrawn card shows only its name, so that searching the page finds it. @param {boolean} [draw] */
  show(draw = this.drawn) {
    if (!draw) {
      this.element.textContent = this.taught.name;
      return;
    }
    if (!this.drawn) this.element.textContent = '';
    this.drawn = true;
    render(this.#template(), this.element);
  }

  #template() {
    const { id, name, examples, bursts } = this.taught;
    const { one, accept, vary, live: words } = this.list.kinds.now;
    const field = this.element.querySelector('.card-name');
    const typed = field instanceof HTMLInputElement && field === document.activeElement ? field.value : name;
    const hidden = Math.max(0, examples.length - AT_ONCE - this.#earlier);
    const hint = repeated(bursts, vary);
    const announced = this.#hinted && hint ? 'off' : 'polite'; // announced when it appears, not at each change of its numbers
    this.#hinted = hint;
    return html`
      <div class="card-head">
        <input class="card-name" type="text" dir="auto" maxlength="80" spellcheck="false" autocomplete="off" enterkeyhint="done" aria-label="Name of the class ${name}"
          .value=${live(typed)} @input=${() => {
            if (this.#misnamed) this.complain('');
          }} @change=${this.#rename} @keydown=${this.#nameKey}>
        <div class="card-side">
          <span class="card-count">${examples.length ? counted(examples.length, one) : `No ${one}s yet`}</span>
          <button class="button quiet square" type="button" aria-label="More for ${name}" title="Rename, merge, save ${one}s" aria-haspopup="dialog" @click=${() => this.list.menu(id)}>${icon('more')}</button>
          <button class="button quiet square" type="button" aria-label="Delete ${name}" title="Delete ${name}" @click=${this.#delete}>${icon('trash')}</button>
        </div>
      </div>
      ${this.#source ? this.#capture(words) : nothing /* above the pictures, which grow in number: the shutter keeps its place while it is held */}
      <button class="button quiet" type="button" ?hidden=${!hidden} @click=${() => {
        this.#earlier += 2 * AT_ONCE;
        this.show();
      }}>Show ${counted(Math.min(2 * AT_ONCE, hidden), `earlier ${one}`)}</button>
      <div class="pictures">
        <ul class="thumbs" aria-label="${capital(one)}s of ${name}" ?hidden=${!examples.length}>${repeat(
          examples.slice(hidden),
          (example) => example,
          (example, at) => this.#thumb(example, hidden + at + 1),
        )}</ul>
        <div class="tiles">
          <label class="tile file-button">${icon('plus')}<span>Add<span class="vh"> ${one}s to ${name}</span></span><input type="file" accept=${accept} multiple @change=${this.#pick}></label>
          <button class="tile" type="button" aria-label="${words.name} for ${name}" aria-pressed=${String(this.#source !== null)} @click=${() => this.toggleSource()}>${icon(words.icon)}${words.name}</button>
        </div>
      </div>
      <div class="card-hint" aria-live=${announced} aria-atomic="true">${hint ? html`<p class="small muted">${hint}</p>` : nothing}</div>
      ${this.#twinHint(one)}
      ${this.#progress(name)}
      <p class="error" role="alert" ?hidden=${!this.#error}>${this.#error}</p>`;
  }

  /** @param {string} id @param {number} number */
  #thumb(id, number) {
    const label = `${this.list.kinds.now.one} ${number} of ${this.taught.name}`;
    return html`<li class="thumb" data-example=${id} draggable="true" @dragstart=${(/** @type {DragEvent} */ event) => event.dataTransfer?.setData(DRAGGED, `${this.id} ${id}`)}>
      <button class="thumb-open" type="button" aria-label="Show ${label}" @click=${() => this.list.enlarge(this.id, id)}><img class="thumb-picture" width="64" height="64" alt="" draggable="false" ${ref(this.list.thumbnails.painter(id))}></button>
      <button class="thumb-remove" type="button" aria-label="Remove ${label}" @click=${(/** @type {MouseEvent} */ { detail }) => this.#removeExample(id, detail)}>${icon('close')}</button></li>`;
  }

  /** @param {{name: string, hold: string}} words */
  #capture({ hold }) {
    const taken = this.#taken.filter((id) => this.taught.examples.includes(id)).length; // undo may have removed some
    return html`<div class="card-camera">${this.#source?.element}
      <div class="actions">
        <button class="button primary shutter" type="button" ?disabled=${!this.#started} ${ref(this.#wireShutter)}>${hold}<span class="vh"> ${this.taught.name}</span></button>
        <span class="capture-count">${taken ? `${counted(taken, this.list.kinds.now.one)} taken` : ''}</span>
      </div></div>`;
  }

  /** @param {string} name */
  #progress(name) {
    const { batches = 0, total = 0, past = 0, done = 0, begun = false } = this.#adding ?? {};
    const now = past + done;
    if (!batches || (begun && (total < 2 || now === total))) return nothing;
    return html`<div class="card-batch"><progress max=${total} value=${now} aria-label="Adding ${this.list.kinds.now.one}s to ${name}"></progress>
      <span class="small">${begun ? `${Math.min(now + 1, total)} of ${total}` : `${total} waiting`}</span>
      <button class="button quiet" type="button" @click=${() => this.stop()}>Cancel</button></div>`;
  }

  /** Says that a new example is also in another class. @param {string} own its id @param {string} example id in the other class */
  tellTwin(own, example) {
    this.#twin = { own, example };
    this.show();
  }

  /** The hint about a picture in two classes, while it is in both. @param {string} one */
  #twinHint(one) {
    const other = this.#twin && this.list.model.holding(this.#twin.example);
    if (!this.#twin || !other || other.id === this.id || !this.taught.examples.includes(this.#twin.own)) return nothing;
    const { own, example } = this.#twin;
    const [here, there] = [
      { in: this.taught, id: own },
      { in: other, id: example },
    ];
    const keep = (/** @type {typeof here} */ kept, /** @type {typeof here} */ gone) =>
      html`<button class="link" type="button" @click=${() =>
        this.#guard(async () => {
          await this.list.changes.remove([gone.id]);
          this.list.focus(kept.in.id, kept.id);
        })}>It is ${kept.in.name}</button>`;
    return html`<p class="small twin" role="alert">A ${one} that you added is also in “${other.name}”. In two classes it makes both less sure.
      <button class="link" type="button" @click=${() => this.list.enlarge(this.id, own)}>Show it</button>
      ${keep(here, there)} ${keep(there, here)}
      <button class="link" type="button" @click=${() => {
        this.#twin = null;
        this.show();
      }}>It is both</button></p>`;
  }

  /** Shows an error, or clears it. @param {string} text */
  complain(text) {
    if (text && !this.element.parentElement) toast({ text, key: this.id, passing: true }); // the class was removed, here or in another tab
    this.#error = text;
    this.#beside = [];
    this.#misnamed &&= text !== '';
    this.show();
  }

  /** Call this after any change. It clears the error about a name or an undone batch, and updates the hint about a picture in two classes. */
  settle() {
    const undone = this.#beside.length && !this.#beside.some((id) => this.list.model.holding(id));
    if (this.#misnamed || undone) this.complain('');
    else if (this.#twin) this.show();
  }

  /**
   * Adds files one after the other, after those chosen before. Says which files could
   * not be added.
   *
   * @param {File[]} files
   * @param {import('../kinds/index.js').Learner} [step] of a larger step, whose turn has come; without it they wait for their turn
   * @param {string} [progress] of the step, said once they are added
   * @returns {Promise<import('../kit/batch.js').BatchResult|null>} null where there was nothing to do
   */
  async addFiles(files, step, progress = '') {
    if (!files.length) return null;
    if (!this.#adding) [this.#error, this.#beside] = ['', []];
    const adding = (this.#adding ??= { stop: new AbortController(), batches: 0, total: 0, past: 0, done: 0, added: [], again: 0, begun: false, errors: [] });
    if (adding.stop.signal.aborted) adding.stop = new AbortController(); // these were chosen after the stop
    const { stop } = adding;
    adding.batches++;
    adding.total += files.length;
    note('adding', ++atWork > 0);
    this.show();
    const { one } = this.list.kinds.now;
    const single = !step; // several folders are one step, and one message
    let learner = step ?? this.list.engine;
    const late = files.length === 1 ? setTimeout(() => say(`Adding “${files[0].name}” …`), LONG) : undefined; // several have a bar
    try {
      const result = await (single ? this.list.line : new Line()).run(
        files,
        async (file) => {
          for (const { id, twin, again } of await teachFile(learner, this.list.kinds.now, () => this.list.model.name(this.id), file)) {
            adding.added.push(id);
            if (again) adding.again++;
            if (twin) this.tellTwin(id, twin);
          }
        },
        {
          signal: stop.signal,
          ready: this.list.ready,
          around: single
            ? (work) =>
                this.list.changes.step(
                  (own) => {
                    learner = own;
                    return work();
                  },
                  () => stop.abort(UNDONE),
                )
            : undefined,
          onProgress: (done) => {
            adding.begun = true;
            adding.done = done;
            this.show();
          },
        },
      );
      adding.errors.push(...result.errors);
      this.#error = summary(adding.errors.map(sentence));
      this.#beside = this.#error ? adding.added : [];
      const told = added(this.taught.name, adding.added.length, adding.again);
      const { reason } = stop.signal;
      if (reason === DELETED || (reason === UNDONE && adding.added.length)) return result; // that has been announced
      if (reason === VANISHED) {
        if (single) this.complain(removedMeanwhile(this.taught.name, one, `add the missing ${one}s to another class`));
      } else if (reason === LEFT && (result.cancelled || result.errors.length)) {
        if (single) toast({ text: leftOut(one, `to “${this.taught.name}”`), key: this.id });
      } else if (!result.cancelled)
        say(adding.added.length || !this.#error ? told + progress : ''); // the error says it
      else if (adding.batches === 1) say(`Cancelled: ${told}`);
      return result;
    } catch (error) {
      // the step was not stored
      this.#error = sentence(error);
      return null;
    } finally {
      clearTimeout(late);
      note('adding', --atWork > 0);
      adding.past += files.length;
      adding.done = 0;
      if (!--adding.batches) this.#adding = null;
      this.show();
    }
  }

  /** Stops adding. @param {string} [reason] */
  stop(reason) {
    this.#adding?.stop.abort(reason);
  }

  /** Stops adding, because the class will be removed. Resolves once nothing is added any more. */
  async quit() {
    this.stop(DELETED);
    while (this.#adding) await nextTask();
  }

  /** Releases everything that the card holds. */
  dispose() {
    this.stop(VANISHED);
    this.#close();
    this.element.remove();
  }

  /** @param {Event} event */
  #pick = ({ target }) => void this.addFiles(chosenIn(/** @type {HTMLInputElement} */ (target)));

  #rename = async () => {
    const field = /** @type {HTMLInputElement} */ (this.element.querySelector('.card-name'));
    const name = field.value.trim();
    const { name: former } = this.taught;
    if (name === former) return;
    await this.#guard(async () => {
      try {
        await this.list.changes.rename(this.id, name);
        this.#error = '';
      } catch (error) {
        field.value = former;
        this.#misnamed = true;
        say('');
        throw error;
      }
    });
  };

  /** @param {KeyboardEvent} event */
  #nameKey = ({ key, target }) => {
    const field = /** @type {HTMLInputElement} */ (target);
    if (key === 'Escape') {
      field.value = this.taught.name;
      this.settle();
    }
    if (key === 'Enter' || key === 'Escape') this.element.focus({ preventScroll: true }); // leaves the field, so that a phone's keyboard closes
  };

  /** @param {MouseEvent} event */
  #delete = ({ detail }) => {
    if (detail > 1 || this.#adding?.stop.signal.reason === DELETED) return; // the second click of a double click was meant for the class that was here
    void this.#guard(() => this.list.remove(this.id));
  };

  /** @param {string} id @param {number} clicks */
  #removeExample = (id, clicks) =>
    this.#guard(async () => {
      if (clicks === 2) return; // of a double click: by now another picture may be in this place
      const item = this.element.querySelector(`[data-example="${CSS.escape(id)}"]`);
      const near = item?.nextElementSibling ?? item?.previousElementSibling;
      await this.list.changes.remove([id]);
      const target = near?.querySelector('.thumb-remove') ?? this.element.querySelector('input[type=file]');
      if (target instanceof HTMLElement) target.focus({ preventScroll: true });
    });

  /** Opens the camera in this card, or closes it. */
  toggleSource() {
    if (this.#source) this.#close();
    else void this.#open();
  }

  #close = () => {
    this.#source?.close();
    this.#source = null;
    leaveSource(this.#close);
    this.show();
  };

  async #open() {
    takeSource(this.#close);
    const fail = (/** @type {unknown} */ error) => {
      if (this.#source !== source) return;
      this.#close();
      const said = sentence(error);
      this.complain(said);
      sourceFailed(() => {
        if (this.#error === said) this.complain('');
      });
    };
    const source = this.list.kinds.now.source({ onLost: fail });
    this.#source = source;
    this.#started = false;
    this.#taken = [];
    this.complain('');
    // A message about the first pictures must not cover the button for the next.
    this.element.querySelector('.shutter')?.scrollIntoView({ block: 'nearest' });
    try {
      await source.start();
      if (this.#source !== source) return; // closed, or opened anew
      this.#started = true;
      this.show();
      const [opener, shutter] = ['button.tile', '.shutter'].map((one) => this.element.querySelector(one));
      if (shutter instanceof HTMLElement && document.activeElement === opener) shutter.focus({ preventScroll: true });
    } catch (error) {
      fail(error);
    }
  }

  /** @param {Element} [shutter] */
  #wireShutter = (shutter) => {
    if (!(shutter instanceof HTMLButtonElement)) return;
    const source = this.#source;
    let taken = 0;
    /** @type {import('../kinds/index.js').Learner} */
    let learner = this.list.engine;
    const onHold = (/** @type {boolean} */ held) => {
      source?.element.classList.toggle('capturing', held);
      if (!held && taken) say(`Took ${taken === 1 ? `a ${this.list.kinds.now.one}` : counted(taken, this.list.kinds.now.one)} of “${this.taught.name}”.`);
      taken = 0;
      if (held) learner = partOf({ undo: '' }, this.list.engine); // all pictures of one press are one step
    };
    holdRepeat(
      shutter,
      async () => {
        if (!source?.open) return;
        try {
          const { id, twin } = await teach(learner, this.list.kinds.now, () => this.list.model.name(this.id), await source.sample());
          if (twin) this.tellTwin(id, twin);
          taken++;
          this.#taken.push(id);
          this.complain('');
        } catch (error) {
          // Otherwise the person has closed it, or pauses while the button is held, as between two words.
          if (source?.open && !(taken && unseen(error))) this.complain(sentence(error));
        }
      },
      { onHold },
    );
  };

  /** @param {() => Promise<unknown>} work */
  async #guard(work) {
    try {
      await work();
      this.show();
    } catch (error) {
      this.complain(sentence(error));
    }
  }
}
