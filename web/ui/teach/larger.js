// @ts-check
/**
 * The dialog with a larger view of a taught picture: shows its neighbours, moves it to another
 * class, removes it. Or it shows all pictures of the class, to move or remove several.
 */
import { byId, capital, counted, dialogHead, el, isShortcut, sentence } from '../kit/dom.js';
import { html, live, nothing, ref, render, repeat } from '../kit/view.js';

/** @import {Classes} from './model.js' */

/** One picture at a time, or several. */
export class LargerView {
  #classId = '';
  #exampleId = '';
  /** The chosen pictures while several can be chosen. @type {Set<string>|null} */
  #chosen = null;
  /** The id of the class that is chosen to move to; empty for the one that it is in. */
  #to = '';
  #error = '';
  #body = el('div', { class: 'larger-body' });

  /**
   * @param {{kinds: import('../kinds/index.js').Kinds, model: () => Classes, thumbnails: import('../kit/thumbnails.js').Thumbnails, changes: import('./changes.js').Changes, focus: (classId: string, exampleId?: string) => void}} parts
   */
  constructor({ kinds, model, thumbnails, changes, focus }) {
    this.kinds = kinds;
    this.model = model;
    this.thumbnails = thumbnails;
    this.changes = changes;
    this.focus = focus;
    this.dialog = byId('picture', HTMLDialogElement);
    this.dialog.append(dialogHead(this.dialog, 'picture-title', 'Picture'), this.#body);
    this.dialog.addEventListener('keydown', (event) => {
      const { key, target } = event;
      if (target instanceof HTMLSelectElement || this.#chosen || isShortcut(event)) return;
      if (key === 'ArrowLeft') this.#go(-1);
      if (key === 'ArrowRight') this.#go(1);
    });
  }

  /** @param {string} classId @param {string} exampleId */
  open(classId, exampleId) {
    this.#classId = classId;
    this.#exampleId = exampleId;
    this.#chosen = null;
    this.#to = '';
    this.#error = '';
    if (!this.model().of(classId)?.examples.includes(exampleId)) return;
    this.#draw();
    this.dialog.showModal();
    void this.#play();
  }

  /** Call it after a change of the classes: the shown picture may be removed or moved. */
  changed() {
    if (!this.dialog.open) return;
    const { examples = [] } = this.model().of(this.#classId) ?? {};
    if (this.#chosen) this.#chosen = new Set(examples.filter((id) => this.#chosen?.has(id)));
    if (examples.includes(this.#exampleId)) this.#draw();
    else this.dialog.close();
  }

  #draw() {
    const { all } = this.model();
    const one = this.model().of(this.#classId);
    if (!one) return;
    const { name, examples } = one;
    const kind = this.kinds.now.one;
    byId('picture-title', HTMLElement).textContent = capital(kind);
    const at = examples.indexOf(this.#exampleId);
    const chosen = this.#chosen;
    const count = chosen?.size ?? 1;
    const to = this.model().of(this.#to) ? this.#to : this.#classId; // by keyboard each class on the way is chosen once, so a press moves
    render(
      html`
      <p class="error" role="alert" ?hidden=${!this.#error}>${this.#error}</p>
      ${
        chosen
          ? html`<ul class="alike-list several" aria-label="Examples of ${name}">${repeat(
              examples,
              (id) => id,
              (id, i) => html`<li>
          <button class="alike-picture" type="button" aria-pressed=${String(chosen.has(id))} aria-label="${capital(kind)} ${i + 1} of ${name}" @click=${() => this.#choose(id)}>
            <img alt="" width="64" height="64" ${ref(this.thumbnails.painter(id))}></button></li>`,
            )}</ul>`
          : repeat(
              [this.#exampleId],
              (id) => id,
              (id) => html`<img class="larger" alt="${capital(kind)} ${at + 1} of ${name}" ${ref(this.thumbnails.painter(id))}>`,
            )
      }
      <p class="muted" aria-live="polite">${chosen ? `${name}: ${count} of ${counted(examples.length, kind)} selected` : `${name}, ${kind} ${at + 1} of ${examples.length}`}</p>
      <div class="actions">
        ${
          chosen
            ? nothing
            : html`<button class="button" type="button" aria-disabled=${String(at === 0) /* a disabled one would lose the focus */} @click=${() => this.#go(-1)}>Previous</button>
        <button class="button" type="button" aria-disabled=${String(at === examples.length - 1)} @click=${() => this.#go(1)}>Next</button>
        ${this.kinds.now.play ? html`<button class="button" type="button" @click=${() => this.#play()}>Play</button>` : nothing}`
        }
        <button class="button" type="button" ?hidden=${examples.length < 2} aria-pressed=${String(chosen !== null)} @click=${() => this.#toggleSeveral()}>Select several</button>
        <button class="button danger" type="button" ?disabled=${!count} @click=${() =>
          this.#try(
            async (ids) => {
              await this.changes.remove(ids);
            },
            () => this.focus(this.#classId),
          )}>${count === 1 ? 'Remove it' : `Remove ${count}`}</button>
      </div>
      <div class="move"><label for="move-to">${count === 1 ? 'It belongs to' : 'They belong to'}</label>
        <select id="move-to" class="field" ?disabled=${!count} @change=${(/** @type {Event} */ { target }) => {
          this.#to = /** @type {HTMLSelectElement} */ (target).value;
          this.#draw();
        }}>
          ${all.map(({ id, name: label }) => html`<option value=${id} .selected=${live(id === to)}>${label}</option>`)}</select>
        <div class="actions"><button class="button" type="button" ?disabled=${!count || to === this.#classId} @click=${() => this.#move(to)}>${to === this.#classId ? 'Move' : `Move to “${this.model().name(to)}”`}</button></div></div>`,
      this.#body,
    );
  }

  /** Plays the example, if its kind can be played. Says so if there is no copy of it. */
  async #play() {
    const { play, one } = this.kinds.now;
    const id = this.#exampleId;
    try {
      const [bytes] = await this.thumbnails.engine.thumbnails([id]);
      if (id !== this.#exampleId) return; // another one is shown by now
      if (bytes?.length) await play?.(bytes);
      else {
        this.#error = `There is no copy of this ${one} here, only its numbers: the file of the session came without copies.`;
        this.#draw();
      }
    } catch (error) {
      this.#error = `It could not be played: ${sentence(error)}`;
      this.#draw();
    }
  }

  #toggleSeveral() {
    this.#chosen = this.#chosen ? null : new Set([this.#exampleId]);
    this.#error = '';
    this.#draw();
  }

  /** @param {string} id */
  #choose(id) {
    if (!this.#chosen?.delete(id)) this.#chosen?.add(id);
    this.#draw();
  }

  /** @param {number} step */
  #go(step) {
    const examples = this.model().of(this.#classId)?.examples ?? [];
    const next = examples[examples.indexOf(this.#exampleId) + step];
    if (!next) return;
    this.#exampleId = next;
    this.#to = '';
    this.#error = '';
    this.#draw();
    void this.#play();
  }

  /** @param {string} to */
  async #move(to) {
    await this.#try(
      (ids) => this.changes.move(ids, { id: to }),
      (ids) => this.focus(to, ids.at(-1)),
    );
  }

  /**
   * Runs the work and closes the dialog, since the pictures leave their places.
   *
   * @param {(ids: string[]) => Promise<unknown>} work
   * @param {(ids: string[]) => void} focus focuses the new or former place of the pictures
   */
  async #try(work, focus) {
    const ids = this.#chosen ? [...this.#chosen] : [this.#exampleId];
    try {
      await work(ids);
      this.dialog.close(); // the focus returns to its former place
      focus(ids);
    } catch (error) {
      this.#error = sentence(error);
      this.#draw();
    }
  }
}
