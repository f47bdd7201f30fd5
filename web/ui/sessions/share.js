// @ts-check
/** The share dialog: everything taught in the open session as one file that recognises by itself. Fetched when it is asked for. */
import { complain, say } from '../kit/announce.js';
import { counted, dialogHead, el, one, save, sentence } from '../kit/dom.js';
import { fileName, megabytes } from '../../share/assemble.js';
import { broughtParts, largeness, ownParts, sharedFile } from '../../share/parts.js';
import { withThumbnails } from '../kit/thumbnails.js';

/** @import {Engine} from '../../library/types.js' */
/** @import {Parts} from '../../share/parts.js' */

/** @type {ShareDialog|undefined} */
let dialog;

/**
 * Opens the dialog.
 *
 * @param {{engine: Engine, reader: Pick<import('./reader.js').Reader, 'now' | 'placeOf' | 'kinds'>}} parts
 */
export async function share(parts) {
  dialog ??= new ShareDialog(parts);
  await dialog.open();
}

class ShareDialog {
  /** What is the same in all files with one extractor, packed once. @type {{sha256: string, parts: Promise<Parts>}|undefined} */
  #constant;
  #turn = 0;
  /** @type {{text: string, file: string}|null} */
  #made = null;

  /** @param {Parameters<typeof share>[0]} parts */
  constructor({ engine, reader }) {
    this.engine = engine;
    this.reader = reader;
    this.learn = el('input', { type: 'checkbox', onchange: () => void this.#make() });
    this.pictures = el('input', { type: 'checkbox', onchange: () => void this.#make() });
    this.what = el('p');
    this.with = el('span');
    this.withPictures = el('span', { class: 'small muted block' });
    this.size = el('p', { class: 'muted', role: 'status' });
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.button = el('button', { class: 'button primary', type: 'button', disabled: true, onclick: () => this.#save() }, 'Save the file');
    this.dialog = el('dialog', { class: 'dialog', 'aria-labelledby': 'share-title' });
    this.dialog.append(dialogHead(this.dialog, 'share-title', 'Share'), this.what,
      el('label', { class: 'choice' }, this.learn, el('span', {}, 'People may teach it more',
        el('span', { class: 'small muted block' }, 'What they add stays in the open page until they save it, as a file of the same kind.'))),
      el('label', { class: 'choice' }, this.pictures, el('span', {}, this.with, this.withPictures)),
      this.size, this.error, el('div', { class: 'actions' }, this.button));
    this.dialog.addEventListener('close', () => {
      this.#turn++;
      this.#made = null;
      this.#constant = undefined; // many megabytes
    });
    document.body.append(this.dialog);
  }

  async open() {
    this.dialog.showModal();
    await this.#make();
  }

  /** Makes the file, to tell its size. */
  async #make() {
    const turn = ++this.#turn;
    this.#made = null;
    this.button.disabled = true;
    complain(this.error, '');
    this.size.textContent = 'Putting it together …';
    try {
      const made = await this.#assembled();
      if (turn !== this.#turn) return;
      this.#made = made;
      this.button.disabled = false;
      const size = megabytes(made.text.length);
      this.size.textContent = `The file has ${size}${made.large}.`;
      this.button.textContent = made.large ? `Save ${size} all the same` : 'Save the file';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.size.textContent = '';
      complain(this.error, sentence(error));
    }
  }

  async #assembled() {
    const { engine } = this;
    const { state, classes } = await engine.changes(0);
    const taught = (classes ?? []).filter(({ examples }) => examples.length);
    const pictures = taught.reduce((n, { examples }) => n + examples.length, 0);
    this.what.textContent = `“${state.sessionName}” as one file: ${counted(taught.length, 'class', 'classes')}, ${counted(pictures, one())}. Whoever opens it in a `
      + 'current browser, from disk, can recognise with it, with no network and nothing to install.';
    this.with.textContent = `With the ${one()}s`;
    this.withPictures.textContent = `Small copies of the ${one()}s it was taught. Without them the file has only numbers in their place.`;
    if (!taught.length) throw new Error('There is nothing to share yet: teach a class first.');
    if (state.extractor.message) throw new Error(state.extractor.message);
    const { sha256, id } = await this.reader.now;
    const own = await this.reader.placeOf(sha256) !== '';
    const parts = await this.#parts(sha256, own);
    const [classifier, prior] = await Promise.all([engine.sharedSession({ pictures: false }), engine.exportPrior()]);
    const text = await sharedFile(parts, { name: state.sessionName, learn: this.learn.checked, sort: state.sort, classes: taught.map(({ name }) => name) }, {
      classifier, prior,
      ...this.pictures.checked ? { pictures: new TextEncoder().encode(JSON.stringify(thumbnailsOf(await withThumbnails(engine, taught)))) } : {},
    });
    return { text, file: fileName(state.sessionName), large: largeness(text, parts, own ? 'the extractor' : `the extractor “${id}”`) };
  }

  /** What goes with the extractor in use. @param {string} sha256 of it @param {boolean} own whether it is the page's @returns {Promise<Parts>} */
  async #parts(sha256, own) {
    if (this.#constant?.sha256 !== sha256) this.#constant = { sha256, parts: own ? ownParts(fetched, this.reader.kinds.now.id, sha256) : keptParts(sha256) };
    const constant = this.#constant;
    constant.parts.catch(() => { if (this.#constant === constant) this.#constant = undefined; }); // the next time tries again
    return constant.parts;
  }

  #save() {
    if (!this.#made) return;
    const { text, file } = this.#made;
    void save(new TextEncoder().encode(text), file);
    this.dialog.close();
    say(`“${file}” was saved: ${megabytes(text.length)}.`);
  }
}

/** With one that was brought. @param {string} sha256 @returns {Promise<Parts>} */
async function keptParts(sha256) {
  const { contentsOf, kept } = await import('../../library/kept.js');
  const found = (await kept()).find((one) => one.sha256 === sha256);
  if (!found) throw new Error('The extractor of this session is no longer on this device: bring it again under Settings, “Use another extractor”.');
  return broughtParts(fetched, found.manifest, sha256, () => contentsOf(found));
}

/** @param {string} name */
async function fetched(name) {
  const response = await fetch(name).catch(() => null);
  if (!response?.ok) throw new Error(`What a shared file is made of could not be fetched (${response ? `status ${response.status}` : 'no answer'}): connect to the network this once, and try again.`);
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * The pictures of each class in base64.
 *
 * @param {import('../../library/types.js').ClassState[]} classes
 * @returns {[name: string, pictures: string[]][]}
 */
function thumbnailsOf(classes) {
  return classes.map(({ name, examples }) => [name, examples.flatMap(({ thumbnail }) =>
    (thumbnail?.length ? [btoa(Array.from(thumbnail, (byte) => String.fromCharCode(byte)).join(''))] : []))]);
}
