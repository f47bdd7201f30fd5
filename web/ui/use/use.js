// @ts-check
/** The dialog "Use it": saves the open session as a program that runs elsewhere. */
import { say } from '../kit/announce.js';
import { blobOf, dialogHead, el, noun, save, sentence } from '../kit/dom.js';
import { html, nothing, render } from '../kit/view.js';
import { Zip } from '../kit/zip.js';
import { megabytes } from '../../share/assemble.js';
import { aboutOf, choices } from '../../share/choices.js';
import { onlyClass } from '../recognise/good.js';
import { fetched, share } from '../sessions/share.js';

/** @import {Engine} from '../../library/types.js' */
/** @import {Choice, Taught} from '../../share/choices.js' */

/** @type {UseDialog|undefined} */
let dialog;

/** Opens the dialog. @param {{engine: Engine, reader: Pick<import('../sessions/reader.js').Reader, 'now' | 'placeOf' | 'kinds'>}} parts */
export function use(parts) {
  dialog ??= new UseDialog(parts);
  dialog.open();
}

class UseDialog {
  /** The choice, null while all choices are shown. @type {Choice|null} */
  #choice = null;
  #turn = 0;
  /** @type {{blob: Blob, file: string, size: string}|null} */
  #made = null;
  #saved = false;
  #missing = '';
  /** Sentences about the made file and how to run it; only: the class with which the page compares pictures part by part. @type {{what: string, how: string[], only?: string}} */
  #about = { what: '', how: [] };
  #error = '';
  #body = el('div', { class: 'dialog-body' });

  /** @param {Parameters<typeof use>[0]} parts */
  constructor({ engine, reader }) {
    this.engine = engine;
    this.reader = reader;
    this.dialog = el('dialog', { class: 'dialog', 'aria-labelledby': 'use-title' });
    this.dialog.append(dialogHead(this.dialog, 'use-title', 'Use it'), this.#body);
    this.dialog.addEventListener('close', () => this.#choose(null)); // the made file has many megabytes
    document.body.append(this.dialog);
  }

  open() {
    this.#draw();
    this.dialog.showModal();
    this.dialog.scrollTop = 0;
  }

  /** @param {Choice|null} choice null shows all of them */
  #choose(choice) {
    this.#choice = choice;
    this.#turn++;
    this.#saved = false;
    [this.#made, this.#missing, this.#error] = [null, '', ''];
    this.#about = { what: choice ? this.#what(choice) : '', how: [] };
    this.#draw();
  }

  /** @param {Choice} choice */
  async #open(choice) {
    if (!choice.make) {
      this.dialog.close(); // the next one takes its place
      share({ engine: this.engine, reader: this.reader });
      return;
    }
    this.#choose(choice);
    this.dialog.scrollTop = 0;
    this.#button('.use-back')?.focus();
    const turn = this.#turn;
    try {
      const taught = await this.#taught();
      const missing = choice.missing?.(taught) ?? '';
      const about = { ...aboutOf(choice, taught), only: await this.#only() };
      if (turn === this.#turn) this.#about = about;
      if (!missing) this.#draw();
      const made = missing ? null : await packed(await choice.make(fetched, taught, about.how));
      if (turn === this.#turn) [this.#missing, this.#made] = [missing, made];
    } catch (error) {
      if (turn === this.#turn) this.#error = sentence(error);
    }
    this.#draw();
  }

  #draw() {
    const choice = this.#choice;
    if (choice) this.#drawChoice(choice);
    else {
      render(
        html`<p>Your classes work elsewhere too, without an account and without the internet. Each choice saves one file.</p>
        <ul class="use-choices" aria-label="Choices">${choices.map(
          (one) => html`<li><button class="use-choice" type="button" @click=${() => void this.#open(one)}>
          <b>${one.name}</b><span class="small muted">${this.#what(one)}</span></button></li>`,
        )}</ul>`,
        this.#body,
      );
    }
  }

  /** @param {Choice} choice */
  #drawChoice({ name }) {
    const made = this.#made;
    const { what, how, only } = this.#about;
    render(
      html`<h3>${name}</h3><p>${what}</p>
      ${only ? html`<p>It says how likely a picture is “${only}”. Only “A page”, with its pictures, compares a picture part by part.</p>` : nothing}
      ${
        this.#missing
          ? html`<p role="status">${this.#missing}</p>`
          : html`<ol class="use-how">${how.map((line) => html`<li>${line}</li>`)}</ol>
        <p class="muted" role="status">${made ? `“${made.file}” has ${made.size}.` : this.#error ? '' : 'Putting it together …'}</p>`
      }
      <p class="error" role="alert" ?hidden=${!this.#error}>${this.#error}</p>
      <div class="actions">${this.#missing ? nothing : html`<button class="button primary" type="button" ?disabled=${!made} @click=${() => this.#save()}>${this.#saved ? 'Save it again' /* as wide, for a second press */ : 'Save the file'}</button>`}
        <button class="button use-back" type="button" @click=${() => this.#back()}>Other choices</button></div>`,
      this.#body,
    );
  }

  /** The sentence about a choice, before it is known whether the extractor is the user's. @param {Choice} choice */
  #what(choice) {
    return aboutOf(choice, { kind: this.reader.kinds.now.id, own: true }).what;
  }

  #back() {
    const { id } = this.#choice ?? {};
    this.#choose(null);
    this.#button(`.use-choices li:nth-child(${choices.findIndex((one) => one.id === id) + 1}) button`)?.focus();
  }

  /** @param {string} selector */
  #button(selector) {
    return /** @type {HTMLElement|null} */ (this.#body.querySelector(selector));
  }

  /** The only class of a session of pictures, with enough of them to compare others with. */
  async #only() {
    return this.reader.kinds.now.id === 'pictures' ? onlyClass((await this.engine.state()).classes)?.name : undefined;
  }

  /** @returns {Promise<Taught>} */
  async #taught() {
    const { engine } = this;
    const { sessionName, classes, extractor } = await engine.state();
    const labels = classes.filter(({ examples }) => examples.length).map(({ name }) => name);
    if (!labels.length) throw new Error(`There is nothing to use yet: teach a ${noun()} first.`);
    if (extractor.message) throw new Error(extractor.message);
    const { sha256 } = await this.reader.now;
    const place = await this.reader.placeOf(sha256);
    return {
      name: sessionName,
      kind: this.reader.kinds.now.id,
      variant: place.split('/')[1] ?? '',
      own: place !== '',
      labels,
      sha256,
      session: () => engine.sharedSession({ pictures: false }),
      prior: () => engine.exportPrior(),
      numbers: async () => engine.taught.export(),
    };
  }

  #save() {
    if (!this.#made) return;
    const { blob, file, size } = this.#made;
    void save(blob, file);
    this.#saved = true; // the dialog stays: its steps come now
    say(`“${file}” was saved: ${size}.`);
    this.#draw();
  }
}

/** @param {import('../../share/choices.js').Made} made */
async function packed(made) {
  const { file } = made;
  const blob = 'folder' in made ? await zipped(made.folder) : await blobOf(made.bytes);
  return { blob, file, size: megabytes(blob.size) };
}

/** @param {import('../../share/packaged.js').Files} folder */
async function zipped(folder) {
  const zip = new Zip();
  for (const [path, content] of Object.entries(folder)) await zip.add(path, new Blob([/** @type {BlobPart} */ (await content())]), { smaller: true });
  return zip.end();
}
