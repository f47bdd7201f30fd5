// @ts-check
/** The share dialog: everything taught in the open session as one file that recognises by itself. Fetched when it is asked for. */
import { complain, say } from './announce.js';
import { counted, dialogHead, el, save, sentence } from './dom.js';
import { assemble, fileName, LARGE, megabytes, packed } from '../share/assemble.js';

/** @typedef {import('../library/types.js').Engine} Engine */
/** @typedef {import('../library/types.js').ExtractorRecord} ExtractorRecord */

/** @type {ShareDialog|undefined} */
let dialog;

/**
 * Opens the dialog.
 *
 * @param {{engine: Engine, reader: {now: Promise<import('../library/types.js').Identity>}}} parts
 */
export async function share(parts) {
  dialog ??= new ShareDialog(parts);
  await dialog.open();
}

class ShareDialog {
  /** What is the same in all files, packed once. @type {Promise<Record<string, string>>|undefined} */
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
    this.withPictures = el('span', { class: 'small muted block' });
    this.size = el('p', { class: 'muted', role: 'status' });
    this.error = el('p', { class: 'error', role: 'alert', hidden: true });
    this.button = el('button', { class: 'button primary', type: 'button', disabled: true, onclick: () => this.#save() }, 'Save the file');
    this.dialog = el('dialog', { class: 'dialog', 'aria-labelledby': 'share-title' });
    this.dialog.append(dialogHead(this.dialog, 'share-title', 'Share'), this.what,
      el('label', { class: 'choice' }, this.learn, el('span', {}, 'People may teach it more',
        el('span', { class: 'small muted block' }, 'What they add stays in the open page until they save it, as a file of the same kind.'))),
      el('label', { class: 'choice' }, this.pictures, el('span', {}, 'With the pictures', this.withPictures)),
      this.size, this.error, el('div', { class: 'actions' }, this.button));
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
      this.size.textContent = `The file has ${megabytes(made.text.length)}.${made.text.length > LARGE ? ' That is too large for many a mail.' : ''}`;
    } catch (error) {
      if (turn !== this.#turn) return;
      this.size.textContent = '';
      complain(this.error, sentence(error));
    }
  }

  async #assembled() {
    const { engine } = this;
    const [{ state, classes }, { id }] = await Promise.all([engine.changes(0), this.reader.now]);
    const taught = (classes ?? []).filter(({ examples }) => examples.length);
    const pictures = taught.reduce((n, { examples }) => n + examples.length, 0);
    this.what.textContent = `“${state.sessionName}” as one file: ${counted(taught.length, 'class', 'classes')}, ${counted(pictures, 'picture')}. Whoever opens it in a `
      + 'current browser, from disk or out of a mail, can recognise with it, with no network and nothing to install.';
    this.withPictures.textContent = 'Small copies of the pictures it was taught. Without them the file has only numbers in their place.';
    if (!taught.length) throw new Error('There is nothing to share yet: teach a class first.');
    if (state.extractor.message) throw new Error(state.extractor.message);
    this.#constant ??= constantParts();
    this.#constant.catch(() => { this.#constant = undefined; }); // the next time tries again
    const { page, record, version, ...blocks } = await this.#constant;
    const extractor = /** @type {ExtractorRecord} */ (JSON.parse(record));
    if (extractor.id !== id) throw new Error(`This session uses another feature extractor (${id}), which cannot go into one file: save the session instead.`);
    const [classifier, prior] = await Promise.all([engine.sharedSession({ pictures: false }), engine.exportPrior()]);
    /** @type {import('../share/assemble.js').About} */
    const about = { name: state.sessionName, made: new Date().toISOString(), version, learn: this.learn.checked, sort: state.sort, classes: taught.map(({ name }) => name), extractor };
    const own = {
      about: await packed(new TextEncoder().encode(JSON.stringify(about))), classifier: await packed(classifier), prior: await packed(prior),
      ...this.pictures.checked ? { pictures: await packed(new TextEncoder().encode(JSON.stringify(thumbnailsOf(taught)))) } : {},
    };
    return { text: assemble(page, state.sessionName, { ...own, ...blocks }), file: fileName(state.sessionName) };
  }

  #save() {
    if (!this.#made) return;
    const { text, file } = this.#made;
    void save(new TextEncoder().encode(text), file);
    this.dialog.close();
    say(`“${file}” was saved: ${megabytes(text.length)}.`);
  }
}

/** What every file has: the page, and the packed files behind it. */
async function constantParts() {
  const [page, record, manifest] = await Promise.all(['share/page.html', 'extractor/extractor.json', 'manifest.json'].map(async (name) => (await fetched(name)).text()));
  const { files, runtimes } = /** @type {ExtractorRecord} */ (JSON.parse(record));
  const names = { engine: 'share/engine.wasm', notices: 'share/notices.txt',
    ...Object.fromEntries([...files, runtimes.simd, runtimes.plain].map(({ name }) => [name, `extractor/${name}`])) };
  const blocks = await Promise.all(Object.entries(names).map(async ([name, path]) =>
    [name, await packed(new Uint8Array(await (await fetched(path)).arrayBuffer()))]));
  return { page, record, version: JSON.parse(manifest).version, ...Object.fromEntries(blocks) };
}

/** @param {string} name */
async function fetched(name) {
  const response = await fetch(name).catch(() => null);
  if (!response?.ok) throw new Error(`What a shared file is made of could not be fetched (${response ? `status ${response.status}` : 'no answer'}): connect to the network this once, and try again.`);
  return response;
}

/**
 * The pictures of each class in base64.
 *
 * @param {import('../library/types.js').ClassState[]} classes
 * @returns {[name: string, pictures: string[]][]}
 */
function thumbnailsOf(classes) {
  return classes.map(({ name, examples }) => [name, examples.flatMap(({ thumbnail }) =>
    (thumbnail?.length ? [btoa(Array.from(thumbnail, (byte) => String.fromCharCode(byte)).join(''))] : []))]);
}
