// @ts-check
/** The share dialog: the open session as one file that recognises by itself. */
import { say } from '../kit/announce.js';
import { blobOf, counted, dialogHead, el, noun, save, sentence } from '../kit/dom.js';
import { html, render } from '../kit/view.js';
import { contentsOf, kept } from '../../library/kept.js';
import { pageFile, megabytes } from '../../share/assemble.js';
import { onlyClass } from '../recognise/good.js';
import { broughtParts, largeness, ownParts, sharedFile } from '../../share/parts.js';

/** @import {Engine} from '../../library/types.js' */
/** @import {Parts} from '../../share/parts.js' */

/** @type {ShareDialog|undefined} */
let dialog;

/** Opens the dialog. Errors are shown in it. @param {{engine: Engine, reader: Pick<import('./reader.js').Reader, 'now' | 'placeOf' | 'kinds'>}} parts */
export function share(parts) {
  dialog ??= new ShareDialog(parts);
  dialog.dialog.showModal();
  void dialog.make();
}

class ShareDialog {
  /** The parts that all files with one extractor share, packed once. @type {{sha256: string, parts: Promise<Parts>}|undefined} */
  #constant;
  #turn = 0;
  /** @type {{blob: Blob, file: string, large: string}|null} */
  #made = null;
  #what = '';
  #error = '';
  /** The use of small copies in a session of one class. */
  #compares = '';
  #chosen = { learn: false, pictures: false };
  #body = el('div', { class: 'dialog-body' });

  /** @param {Parameters<typeof share>[0]} parts */
  constructor({ engine, reader }) {
    this.engine = engine;
    this.reader = reader;
    this.dialog = el('dialog', { class: 'dialog', 'aria-labelledby': 'share-title' });
    this.dialog.append(dialogHead(this.dialog, 'share-title', 'Share'), this.#body);
    this.dialog.addEventListener('close', () => {
      this.#turn++;
      this.#made = null;
      this.#constant = undefined; // many megabytes
    });
    document.body.append(this.dialog);
  }

  /** Makes the file and shows its size. */
  async make() {
    const turn = ++this.#turn;
    [this.#made, this.#error] = [null, ''];
    this.#draw();
    try {
      const made = await this.#assembled();
      if (turn === this.#turn) this.#made = made;
    } catch (error) {
      if (turn === this.#turn) this.#error = sentence(error);
    }
    this.#draw();
  }

  #draw() {
    const made = this.#made;
    const size = made && megabytes(made.blob.size);
    const choice = (
      /** @type {'learn'|'pictures'} */ which,
      /** @type {string} */ text,
      /** @type {string} */ more,
    ) => html`<label class="choice"><input type="checkbox"
      @change=${(/** @type {any} */ { target }) => {
        this.#chosen[which] = target.checked;
        void this.make();
      }}><span>${text}<span class="small muted block">${more}</span></span></label>`;
    render(
      html`<p>${this.#what}</p>
      ${choice('learn', 'Others may teach it more', 'Their examples stay in the open page until they save it as a file of the same kind.')}
      ${choice('pictures', `With the ${noun()}s`, `Small copies of the taught ${noun()}s. Without them the file holds only numbers.${this.#compares}`)}
      <p class="muted" role="status">${made ? `The file has ${size}${made.large}.` : this.#error ? '' : 'Putting it together …'}</p>
      <p class="error" role="alert" ?hidden=${!this.#error}>${this.#error}</p>
      <div class="actions"><button class="button primary" type="button" ?disabled=${!made} @click=${() => this.#save()}>${made?.large ? `Save ${size} all the same` : 'Save the file'}</button></div>`,
      this.#body,
    );
  }

  async #assembled() {
    const { engine } = this;
    const { state, classes } = await engine.changes(0);
    const taught = (classes ?? []).filter(({ examples }) => examples.length);
    const pictures = taught.reduce((n, { examples }) => n + examples.length, 0);
    this.#compares = onlyClass(taught) && noun() === 'picture' ? ' With them the file says whether something is wrong with a picture.' : '';
    this.#what =
      `“${state.sessionName}” as one file: ${counted(taught.length, 'class', 'classes')}, ${counted(pictures, noun())}. It opens from disk ` +
      'in Chrome, Edge and Firefox and recognises there, without a network and with nothing to install.' +
      (this.reader.kinds.now.id === 'sounds' ? ' In Chrome and Edge it can use the microphone only if it is opened by https.' : '');
    this.#draw();
    if (!taught.length) throw new Error('There is nothing to share yet: teach a class first.');
    if (state.extractor.message) throw new Error(state.extractor.message);
    const { sha256, id } = await this.reader.now;
    const own = (await this.reader.placeOf(sha256)) !== '';
    const parts = await this.#parts(sha256, own);
    const [classifier, prior] = await Promise.all([engine.sharedSession({ pictures: this.#chosen.pictures }), engine.exportPrior()]);
    const text = await sharedFile(
      parts,
      { name: state.sessionName, learn: this.#chosen.learn, sort: state.sort, classes: taught.map(({ name }) => name) },
      {
        classifier,
        prior,
      },
    );
    return {
      blob: await blobOf(new TextEncoder().encode(text)),
      file: pageFile(state.sessionName),
      large: largeness(text, parts, own ? 'the extractor' : `the extractor “${id}”`),
    };
  }

  /** The parts of the extractor in use. @param {string} sha256 of it @param {boolean} own whether it is the page's @returns {Promise<Parts>} */
  async #parts(sha256, own) {
    if (this.#constant?.sha256 !== sha256) this.#constant = { sha256, parts: own ? ownParts(fetched, this.reader.kinds.now.id, sha256) : keptParts(sha256) };
    const constant = this.#constant;
    constant.parts.catch(() => {
      if (this.#constant === constant) this.#constant = undefined;
    }); // the next time tries again
    return constant.parts;
  }

  #save() {
    if (!this.#made) return;
    const { blob, file } = this.#made;
    void save(blob, file);
    this.dialog.close();
    say(`“${file}” was saved: ${megabytes(blob.size)}.`);
  }
}

/** The parts of an extractor that was brought. @param {string} sha256 @returns {Promise<Parts>} */
async function keptParts(sha256) {
  const found = (await kept()).find((one) => one.sha256 === sha256);
  if (!found) throw new Error('The extractor of this session is no longer on this device: add it again under Settings, “Use another extractor”.');
  return broughtParts(fetched, found.manifest, sha256, () => contentsOf(found));
}

/** A file of the site. @param {string} name */
export async function fetched(name) {
  const response = await fetch(name).catch(() => null);
  const bytes = response?.ok && (await response.arrayBuffer().catch(() => null)); // the connection may be lost meanwhile
  if (bytes) return new Uint8Array(bytes);
  throw new Error(
    `The parts of this file could not be fetched (${response?.ok === false ? `status ${response.status}` : 'no answer'}): connect to the network once and try again.`,
  );
}
