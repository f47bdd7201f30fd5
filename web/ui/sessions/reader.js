// @ts-check
/**
 * Which extractor reads pictures now: the page's own, or another that a person brought.
 * A session keeps to the one that read its pictures, so that opening it loads that one.
 */
import { say, toast } from '../kit/announce.js';
import { capital, noun, sentence } from '../kit/dom.js';
import { html, live, render } from '../kit/view.js';

/** @import {Engine, Extractor} from '../../library/types.js' */
/** @typedef {Pick<import('../../library/types.js').EngineState, 'sessionId' | 'extractor'>} State */

/**
 * @typedef {object} PageExtractor the page's own for one kind, or a variant of it
 * @property {string} kind
 * @property {() => Promise<string>} identity its sha256, without loading it; empty where that is not known
 * @property {() => Promise<Extractor>} load once
 * @property {() => Promise<unknown>} prior puts its background knowledge to use
 */

/** Remembers for sessions without pictures which one was in use last. */
const LAST = 'extractor';

export class Reader {
  /** The last session and extractor that was looked for, so that a failure is told once. */
  #sought = '';
  /** While a file is opened another session may be shown than its extractor's. */
  #opening = false;
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  #choice = document.createElement('fieldset');

  /** Called with why a session's pictures cannot be compared with new ones. @type {((message: string) => void)|undefined} */
  onForeign;

  /** The page's own that are loaded. @type {Set<Extractor>} */
  #built = new Set();

  /**
   * @param {{engine: Engine, own: Promise<Extractor>, kinds: import('../kinds/index.js').Kinds, pages: Record<string, PageExtractor>, onKind?: () => void}} parts
   *   own: the page's for pictures; pages: the page's by kind, variants as KIND/VARIANT; onKind: another kind is shown from now on
   */
  constructor({ engine, own, kinds, pages, onKind = () => {} }) {
    this.engine = engine;
    this.own = own;
    this.kinds = kinds;
    this.pages = pages;
    this.onKind = onKind;
    own.then((extractor) => this.#built.add(extractor), () => {});
    /** What reads pictures from now on. @type {Promise<Extractor>} */
    this.now = own;
    /** @type {import('./extractors.js').ExtractorsDialog|null} */
    this.dialog = null;
  }

  /** What the settings show of it. @param {{onReplaced: () => void}} parts */
  choice({ onReplaced }) {
    this.onReplaced = onReplaced;
    void this.#name();
    return this.#choice;
  }

  /**
   * After the page's own is loaded: a session of another kind has what reads it in use before anything can be asked, one
   * without pictures goes on with the one that was used last.
   */
  async begin() {
    const { classes, extractor: { sha256, message } } = await this.engine.state();
    if (message && await this.placeOf(sha256)) await this.seek(sha256).catch(() => {}); // `follow` tells
    const last = lastUsed();
    if (!last) return;
    if (classes.some(({ examples }) => examples.length)) return;
    await this.seek(last).catch((error) => say(sentence(error)));
  }

  /**
   * After each change of the state: where the session's pictures were read by another
   * extractor that is here, it is put to use.
   *
   * @param {State} state
   * @returns {boolean} whether that is being done
   */
  follow({ sessionId, extractor: { id, sha256, message } }) {
    const sought = message && sha256 && `${sessionId} ${sha256}`;
    const former = this.#sought;
    this.#sought = sought;
    if (!sought || sought === former) return this.#opening;
    this.seek(sha256).then(async (found) => {
      if (found || this.#sought !== sought) return; // or another session is open by now
      // A former extractor is named after its kind, which is that of the examples.
      const kind = Object.keys(this.kinds.all).find((one) => id.startsWith(`${one}-`));
      if (kind && kind !== this.kinds.now.id) await this.useKind(kind);
      this.#sought = sought;
      this.onForeign?.(message);
    }).catch((error) => toast({ text: sentence(error), key: 'extractor' }));
    return true;
  }

  /** Where in `pages` the extractor with this identity is, '' for one that was brought or is not here. @param {string} sha256 */
  async placeOf(sha256) {
    for (const [place, page] of Object.entries(this.pages)) if (await page.identity() === sha256) return place;
    return '';
  }

  /** What an example of a session is called. @param {string} sha256 of its extractor */
  async nounOf(sha256) {
    const page = this.pages[sha256 ? await this.placeOf(sha256) : 'pictures'];
    return page ? this.kinds.all[page.kind].one : 'example';
  }

  /** The page's own for what is shown now. */
  home() { return this.pages[this.kinds.now.id].load(); }

  /** Shows a kind, read by the page's own extractor for it. @param {string} place in `pages` */
  async useKind(place) {
    await this.use(await this.pages[place].load(), this.pages[place].kind);
  }

  /**
   * Opens a file with the extractor that it names in use, as far as that is here.
   *
   * @template T @param {string|undefined} sha256 @param {(extractor: Extractor) => Promise<T>} open
   */
  async opening(sha256, open) {
    const former = await this.now;
    this.#opening = true;
    try {
      if (sha256) await this.seek(sha256);
      return await open(await this.now);
    } catch (error) {
      await this.seek(former.sha256);
      throw error;
    } finally {
      this.#opening = false;
    }
  }

  /** Puts an extractor to use. @param {Extractor} extractor loaded @param {string} [kind] of what it reads */
  async use(extractor, kind = 'pictures') {
    const former = await this.now.catch(() => null);
    if (await this.placeOf(extractor.sha256)) this.#built.add(extractor);
    if (this.kinds.now.id !== kind) await this.pages[kind].prior(); // meanwhile all goes on as before
    this.now = Promise.resolve(extractor);
    if (this.kinds.now.id !== kind) {
      this.kinds.now = this.kinds.all[kind];
      this.onKind();
    }
    await this.engine.useExtractor({ id: extractor.id, sha256: extractor.sha256 });
    const own = await this.own;
    lastUsed(extractor === own ? '' : extractor.sha256);
    if (former && former !== extractor && !this.#built.has(former)) former.close();
    this.#sought = '';
    await this.#name();
  }

  /**
   * Puts the extractor of this identity to use, one after the other where several are sought.
   *
   * @param {string} sha256
   * @returns {Promise<boolean>} whether it is here and in use
   */
  seek(sha256) {
    const found = this.#last.then(() => this.#find(sha256));
    this.#last = found.catch(() => {});
    return found;
  }

  /** @param {string} sha256 */
  async #find(sha256) {
    const { now } = this;
    if ((await now).sha256 === sha256) return true;
    const place = await this.placeOf(sha256);
    if (place) {
      const found = await this.pages[place].load();
      if (now === this.now) await this.use(found, this.pages[place].kind); // else the person has chosen meanwhile
      return true;
    }
    if (!globalThis.caches) return false;
    const { kept, loadKept } = await import('../../library/kept.js');
    const found = (await kept()).find((one) => one.sha256 === sha256);
    if (!found) return false;
    say(`Loading the extractor “${found.manifest.id}”.`);
    const extractor = await loadKept(found);
    if (now !== this.now) {
      extractor.close();
      return true;
    }
    await this.use(extractor);
    say(`The extractor “${found.manifest.id}” is in use.`);
    return true;
  }

  async #name() {
    const now = await this.now;
    await this.own;
    const { variant } = this.kinds.now;
    const place = variant ? await this.placeOf(now.sha256) : '';
    render(html`<legend>Feature extractor</legend>
      <p class="small muted">The network that turns each ${noun()} into numbers, to compare them.${this.kinds.now.others ? ` One that was trained on your kind of ${noun()}s may tell them apart better.` : ''}</p>
      <p class="small">${this.#built.has(now) ? 'In use: the built-in one.' : `In use: “${now.id}”, which you brought.`}</p>
      ${variant ? html`<label class="choice"><input type="checkbox" .checked=${live(place.includes('/'))} @change=${(/** @type {any} */ { target }) => this.#vary(target.checked)}>
        <span>${variant.name}<span class="small muted block">${variant.hint}</span></span></label>` : ''}
      <div class="actions" ?hidden=${!this.kinds.now.others}><button class="button" type="button" aria-haspopup="dialog" @click=${() => this.open()}>Use another extractor…</button></div>`, this.#choice);
  }

  /** Uses a variant of the page's own, or that itself again: what is taught already is read anew. @param {boolean} on */
  async #vary(on) {
    const { id, one, variant: { id: name, names } = { id: '', names: ['', ''] } } = this.kinds.now;
    const place = on ? `${id}/${name}` : id;
    const is = names[Number(on)];
    const { classes } = await this.engine.state();
    if (classes.some(({ examples }) => examples.length)) {
      await this.#inDialog((dialog) => dialog.readAnew(this.pages[place], (session) => `${names.reduce((text, former) => text.replace(` (${former})`, ''), session)} (${is})`));
    } else {
      await this.useKind(place).then(() => say(`${capital(one)}s: ${is}.`), (error) => say(sentence(error)));
    }
    await this.#name(); // as it is where nothing came of it
  }

  /** Opens the dialog to choose another. */
  open() {
    return this.#inDialog((dialog) => dialog.open());
  }

  /** Reads what is taught in the open session anew with the page's own. */
  readAnew() {
    return this.#inDialog((dialog) => dialog.readAnew({ load: () => this.home() }));
  }

  /** @param {(dialog: import('./extractors.js').ExtractorsDialog) => Promise<void>} work */
  async #inDialog(work) {
    try {
      const { ExtractorsDialog } = await import('./extractors.js');
      this.dialog ??= new ExtractorsDialog({ engine: this.engine, reader: this, onReplaced: () => this.onReplaced?.() });
      await work(this.dialog);
    } catch (error) {
      say(sentence(error));
    }
  }
}

/** Which was in use last, empty for the page's own. @param {string} [now] is remembered from now on */
function lastUsed(now) {
  try {
    if (now !== undefined) localStorage.setItem(LAST, now);
    return localStorage.getItem(LAST) ?? '';
  } catch {
    return ''; // storage that is forbidden
  }
}
