// @ts-check
/** The share dialog: everything taught in the open session as one file that recognises by itself. Fetched when it is asked for. */
import { complain, say } from '../kit/announce.js';
import { counted, dialogHead, el, save, sentence } from '../kit/dom.js';
import { assemble, broughtNotices, fileName, LARGE, megabytes, MOST, packed } from '../../share/assemble.js';
import { withThumbnails } from '../kit/thumbnails.js';

/** @typedef {import('../../library/types.js').Engine} Engine */
/** @typedef {import('../../library/types.js').ExtractorRecord} ExtractorRecord */
/** @typedef {import('../../library/types.js').Identity} Identity */
/** @typedef {{page: string, version: string, extractor: import('../../share/assemble.js').SharedExtractor, blocks: Record<string, string>, network: number}} Parts
    what all files with one extractor have; network: how long its blocks and those of what runs it are */

/** @type {ShareDialog|undefined} */
let dialog;

/**
 * Opens the dialog.
 *
 * @param {{engine: Engine, reader: {now: Promise<Identity>, own: Promise<Identity>}}} parts
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
      const large = made.text.length > LARGE;
      const of = large && made.network > LARGE / 2 ? `, ${megabytes(made.network)} of it ${made.brought ? `the extractor “${made.brought}”` : 'the extractor'} and what runs it` : '';
      this.size.textContent = `The file has ${size}${of}.${large ? ' That is too large for many a mail.' : ''}`;
      this.button.textContent = large ? `Save ${size} all the same` : 'Save the file';
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
    const { page, version, extractor, blocks, network } = await this.#parts();
    const [classifier, prior] = await Promise.all([engine.sharedSession({ pictures: false }), engine.exportPrior()]);
    /** @type {import('../../share/assemble.js').About} */
    const about = { name: state.sessionName, made: new Date().toISOString(), version, learn: this.learn.checked, sort: state.sort, classes: taught.map(({ name }) => name), extractor };
    const own = {
      about: await packed(new TextEncoder().encode(JSON.stringify(about))), classifier: await packed(classifier), prior: await packed(prior),
      ...this.pictures.checked ? { pictures: await packed(new TextEncoder().encode(JSON.stringify(thumbnailsOf(await withThumbnails(engine, taught))))) } : {},
    };
    const text = assemble(page, state.sessionName, { ...own, ...blocks });
    if (text.length > MOST) throw tooLarge(`With all that it was taught the file would have ${megabytes(text.length)}`);
    return { text, file: fileName(state.sessionName), network, brought: extractor.sha256 === (await this.reader.own).sha256 ? '' : extractor.id };
  }

  /** What goes with the extractor in use. @returns {Promise<Parts>} */
  async #parts() {
    const [{ sha256 }, own] = await Promise.all([this.reader.now, this.reader.own]);
    if (this.#constant?.sha256 !== sha256) this.#constant = { sha256, parts: sha256 === own.sha256 ? ownParts() : broughtParts(sha256) };
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

/** With the page's own extractor. @returns {Promise<Parts>} */
async function ownParts() {
  const { runtimes, ...record } = await recordOfOwn();
  const files = Object.fromEntries(record.files.map(({ name }, i) => [`file-${i}`, () => bytesOf(`extractor/${name}`)]));
  return partsOf({ ...record, plain: true }, 'share/page.html', await textOf('share/notices.txt'), { ...files, ...programs(runtimes) });
}

/** With one that was brought. @param {string} sha256 @returns {Promise<Parts>} */
async function broughtParts(sha256) {
  const { contentsOf, kept } = await import('../../library/kept.js');
  const found = (await kept()).find((one) => one.sha256 === sha256);
  if (!found) throw new Error('The extractor of this session is no longer on this device: bring it again under Settings, “Use another extractor”.');
  const { manifest } = found;
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  // Base64 makes them a third longer, and what weights are made of hardly packs.
  if (bytes > 2 * MOST) throw tooLarge(`The extractor “${manifest.id}” has ${megabytes(bytes)}`);
  const contents = await contentsOf(found);
  const onnx = manifest.runtime === 'onnx';
  const files = Object.fromEntries(manifest.files.map(({ name }, i) => [`file-${i}`, async () => new Uint8Array(/** @type {ArrayBuffer} */ (contents.get(name)))]));
  const runtime = onnx ? { 'runtime-simd': async () => bytesOf(`networks/${JSON.parse(await textOf('networks/networks.json')).onnx.name}`) } : programs((await recordOfOwn()).runtimes);
  const notices = await textOf(`networks/share-${manifest.runtime}.txt`);
  return partsOf({ ...manifest, sha256, plain: !onnx }, `networks/share-${manifest.runtime}.html`, broughtNotices(manifest, notices), { ...files, ...runtime });
}

/** @returns {Promise<ExtractorRecord>} */
const recordOfOwn = async () => JSON.parse(await textOf('extractor/extractor.json'));

/** @param {ExtractorRecord['runtimes']} runtimes */
const programs = ({ simd, plain }) => ({ 'runtime-simd': () => bytesOf(`extractor/${simd.name}`), 'runtime-plain': () => bytesOf(`extractor/${plain.name}`) });

/**
 * @param {import('../../share/assemble.js').SharedExtractor} extractor
 * @param {string} page @param {string} notices
 * @param {Record<string, () => Promise<Uint8Array>>} network blocks of the extractor and of what runs it
 * @returns {Promise<Parts>}
 */
async function partsOf(extractor, page, notices, network) {
  const version = JSON.parse(await textOf('manifest.json')).version;
  /** @type {Record<string, string>} */
  const blocks = {};
  let length = 0;
  for (const [name, read] of Object.entries(network)) {
    blocks[name] = await packed(await read());
    length += blocks[name].length;
    if (length > MOST) throw tooLarge(`With the extractor “${extractor.id}” the file would have over ${megabytes(MOST)}`);
  }
  blocks.engine = await packed(await bytesOf('share/engine.wasm'));
  blocks.notices = await packed(new TextEncoder().encode(notices));
  return { page: await textOf(page), version, extractor, blocks, network: length };
}

/** @param {string} why */
const tooLarge = (why) => new Error(`${why}, and one file holds at most ${MOST / 1e6} MB: save the session instead, and hand on the extractor beside it.`);

/** @param {string} name */
const textOf = async (name) => (await fetched(name)).text();

/** @param {string} name */
const bytesOf = async (name) => new Uint8Array(await (await fetched(name)).arrayBuffer());

/** @param {string} name */
async function fetched(name) {
  const response = await fetch(name).catch(() => null);
  if (!response?.ok) throw new Error(`What a shared file is made of could not be fetched (${response ? `status ${response.status}` : 'no answer'}): connect to the network this once, and try again.`);
  return response;
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
