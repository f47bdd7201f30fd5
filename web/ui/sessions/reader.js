// @ts-check
/**
 * Chooses the extractor: the page's own of each kind, or one that a person brought.
 * A session keeps its extractor, so opening the session loads it.
 */
import { queue } from '../../base/task.js';
import { say, toast } from '../kit/announce.js';
import { capital, noun, sentence } from '../kit/dom.js';
import { html, live, render } from '../kit/view.js';
import { kept, loadKept } from '../../library/kept.js';
import { ExtractorsDialog } from './extractors.js';

/** @import {Engine, Extractor} from '../../library/types.js' */
/** @typedef {Pick<import('../../library/types.js').EngineState, 'sessionId' | 'extractor'>} State */

/**
 * @typedef {object} PageExtractor the page's own for one kind, or a variant of it
 * @property {string} kind
 * @property {() => Promise<string>} identity its sha256, without loading it; empty if not known
 * @property {() => Promise<Extractor>} load loads it once
 * @property {() => Promise<unknown>} prior makes the engine use its prior
 */

/** The storage key of the extractor used last, for sessions without pictures. */
const LAST = 'extractor';

export class Reader {
  /** The session and extractor that were searched last, so that a failure is shown once. */
  #sought = '';
  /** The extractor that is being found and loaded now; null for none. @type {string|null} */
  #seeking = null;
  /** Whether a file is being opened: the shown session may not be of the current extractor. */
  #opening = false;
  #turn = queue();

  #choice = document.createElement('fieldset');

  /** Gets the reason why a session's pictures cannot be compared with new ones. @type {((message: string) => void)|undefined} */
  onForeign;

  /** Gets a promise that settles once the session's extractor is there or not found, or another session is open. @type {((over: Promise<unknown>) => void)|undefined} */
  onSeek;
  /** Settles it for another session. @type {(nothing?: unknown) => void} */
  #leave = () => {};

  /** The page's own extractors loaded so far. @type {Set<Extractor>} */
  #built = new Set();

  /**
   * @param {{engine: Engine, own: Promise<Extractor>, kinds: import('../kinds/index.js').Kinds, pages: Record<string, PageExtractor>, onKind?: () => void}} parts
   *   own: the page's for pictures; pages: the page's by kind, variants as KIND/VARIANT; onKind: called when another kind is shown
   */
  constructor({ engine, own, kinds, pages, onKind = () => {} }) {
    this.engine = engine;
    this.own = own;
    this.kinds = kinds;
    this.pages = pages;
    this.onKind = onKind;
    own.then(
      (extractor) => this.#built.add(extractor),
      () => {},
    );
    /** The current extractor. @type {Promise<Extractor>} */
    this.now = own;
    /** @type {ExtractorsDialog|null} */
    this.dialog = null;
  }

  /** The choice shown in the settings. @param {{onReplaced: () => void|Promise<void>, deleteSession: (id: string) => Promise<void>}} parts */
  choice({ onReplaced, deleteSession }) {
    this.onReplaced = onReplaced;
    this.deleteSession = deleteSession;
    void this.#name();
    return this.#choice;
  }

  /**
   * Call it once the page's own extractor is loaded. It loads the extractor of the open session. A session without
   * pictures gets the one that was chosen for it, or else the extractor used last.
   */
  async begin() {
    const { now } = this;
    const wanted = () => this.now === now; // otherwise the person chose another one meanwhile
    const {
      classes,
      extractor: { sha256, message, chosen },
    } = await this.engine.state();
    if ((message || chosen) && (await this.placeOf(sha256))) await this.#seek(sha256, wanted).catch(() => {}); // `follow` tells
    if (chosen) return;
    const last = lastUsed();
    if (!last) return;
    if (classes.some(({ examples }) => examples.length)) return;
    await this.#seek(last, wanted).catch((error) => say(sentence(error)));
  }

  /**
   * Call it after each change of the state: switches to the extractor of the session's
   * pictures, or the one that was chosen for it, if the page has it.
   *
   * @param {State} state
   * @returns {boolean} whether that is being done
   */
  follow({ sessionId, extractor: { id, sha256, message, chosen } }) {
    const sought = (message || (chosen && !this.#opening) ? sha256 : '') && `${sessionId} ${sha256}`;
    const former = this.#sought;
    this.#sought = sought;
    if (sought !== former) this.#leave();
    if (!sought || sought === former) return this.#opening || sought === this.#seeking;
    this.#seeking = sought;
    const seeking = this.#seek(sha256, () => this.#sought === sought).finally(() => {
      if (this.#seeking === sought) this.#seeking = null;
    });
    const left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    this.onSeek?.(Promise.race([seeking, left]));
    seeking
      .then(async (found) => {
        if (found || this.#sought !== sought) return; // otherwise another session is open
        if (chosen) return; // there is nothing to compare new ones with
        // The id of a former extractor begins with its kind.
        const kind = Object.keys(this.kinds.all).find((one) => id.startsWith(`${one}-`));
        if (kind && kind !== this.kinds.now.id) await this.useKind(kind);
        this.#sought = sought;
        this.onForeign?.(message);
      })
      .catch((error) => toast({ text: sentence(error), key: 'extractor' }));
    return true;
  }

  /** The key in `pages` of the extractor with this identity; '' if it was brought, or is not here. @param {string} sha256 */
  async placeOf(sha256) {
    for (const [place, page] of Object.entries(this.pages)) if ((await page.identity()) === sha256) return place;
    return '';
  }

  /** The word for an example of a session. @param {string} sha256 of its extractor */
  async nounOf(sha256) {
    const page = this.pages[sha256 ? await this.placeOf(sha256) : 'pictures'];
    return page ? this.kinds.all[page.kind].one : 'example';
  }

  /** The page's own extractor for the current kind. */
  home() {
    return this.pages[this.kinds.now.id].load();
  }

  /** Switches to a kind with the page's own extractor, for the session that is open at the call. @param {string} place in `pages` */
  async useKind(place) {
    const { sessionId, sessionName } = await this.engine.state();
    const extractor = await this.pages[place].load();
    if ((await this.engine.state()).sessionId !== sessionId)
      throw new Error(`Another session was opened meanwhile. Open “${sessionName}” again to choose what it is for.`);
    await this.use(extractor, this.pages[place].kind);
  }

  /**
   * Opens a session file, with its extractor if the page has it.
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

  /** Switches to an extractor that a person chose. The open session keeps it. @param {Extractor} extractor loaded @param {string} [kind] that it reads */
  use(extractor, kind = 'pictures') {
    return this.#use(extractor, kind, true);
  }

  /** @param {Extractor} extractor @param {string} kind @param {boolean} chosen */
  async #use(extractor, kind, chosen) {
    const former = await this.now.catch(() => null);
    if (await this.placeOf(extractor.sha256)) this.#built.add(extractor);
    if (this.kinds.now.id !== kind) await this.pages[kind].prior(); // until then nothing changes
    this.now = Promise.resolve(extractor);
    if (this.kinds.now.id !== kind) {
      this.kinds.now = this.kinds.all[kind];
      this.onKind();
    }
    this.#sought = ''; // the former search is no longer wanted
    await this.engine[chosen ? 'chooseExtractor' : 'useExtractor']({ id: extractor.id, sha256: extractor.sha256 });
    const own = await this.own;
    lastUsed(extractor === own ? '' : extractor.sha256);
    if (former && former !== extractor && !this.#built.has(former)) former.close();
    await this.#name();
  }

  /**
   * Switches to the extractor of this identity. Several calls run one after the other.
   *
   * @param {string} sha256
   * @returns {Promise<boolean>} whether it is here and in use
   */
  seek(sha256) {
    return this.#seek(sha256, () => true);
  }

  /** @param {string} sha256 @param {() => boolean} wanted asked when its turn comes, and once it is loaded @returns {Promise<boolean>} */
  #seek(sha256, wanted) {
    return this.#turn(async () => !wanted() || this.#find(sha256, wanted));
  }

  /** @param {string} sha256 @param {() => boolean} wanted */
  async #find(sha256, wanted) {
    const { now } = this;
    const still = () => now === this.now && wanted(); // otherwise the person chose another one meanwhile, or opened another session
    if ((await now).sha256 === sha256) return true;
    const place = await this.placeOf(sha256);
    if (place) {
      const found = await this.pages[place].load();
      if (still()) await this.#use(found, this.pages[place].kind, false);
      return true;
    }
    if (!globalThis.caches) return false;
    const found = (await kept()).find((one) => one.sha256 === sha256);
    if (!found) return false;
    say(`Loading the extractor “${found.manifest.id}”.`);
    const extractor = await loadKept(found);
    if (!still()) {
      extractor.close();
      return true;
    }
    await this.#use(extractor, 'pictures', false);
    say(`The extractor “${found.manifest.id}” is in use.`);
    return true;
  }

  async #name() {
    const now = await this.now;
    await this.own;
    const { variant } = this.kinds.now;
    const place = variant ? await this.placeOf(now.sha256) : '';
    render(
      html`<legend>Feature extractor</legend>
      <p class="small muted">It turns each ${noun()} into numbers, to compare them.${this.kinds.now.others ? ` An extractor that was trained on ${noun()}s like yours may tell them apart better.` : ''}</p>
      <p class="small">${this.#built.has(now) ? 'In use: the built-in one.' : `In use: “${now.id}”, your own.`}</p>
      ${
        variant
          ? html`<label class="choice"><input type="checkbox" .checked=${live(place.includes('/'))} @change=${(/** @type {any} */ { target }) => this.#vary(target.checked)}>
        <span>${variant.name}<span class="small muted block">${variant.hint}</span></span></label>`
          : ''
      }
      <div class="actions" ?hidden=${!this.kinds.now.others}><button class="button" type="button" aria-haspopup="dialog" @click=${() => this.open()}>Use another extractor…</button></div>`,
      this.#choice,
    );
  }

  /** Switches a variant of the page's extractor on or off. Taught examples are read again. @param {boolean} on */
  async #vary(on) {
    const { id, one, variant: { id: name, names } = { id: '', names: ['', ''] } } = this.kinds.now;
    const place = on ? `${id}/${name}` : id;
    const is = names[Number(on)];
    const { classes } = await this.engine.state();
    if (classes.some(({ examples }) => examples.length)) {
      await this.#inDialog((dialog) =>
        dialog.readAnew(this.pages[place], (session) => `${names.reduce((text, former) => text.replace(` (${former})`, ''), session)} (${is})`),
      );
    } else {
      await this.useKind(place).then(
        () => say(`${capital(one)}s: ${is}.`),
        (error) => say(sentence(error)),
      );
    }
    await this.#name(); // shows the actual state, also after a failure
  }

  /** Opens the dialog to choose another extractor. */
  open() {
    return this.#inDialog((dialog) => dialog.open());
  }

  /** Reads the open session's pictures again with the page's own extractor. */
  readAnew() {
    return this.#inDialog((dialog) => dialog.readAnew({ load: () => this.home() }));
  }

  /** @param {(dialog: ExtractorsDialog) => Promise<void>} work */
  async #inDialog(work) {
    try {
      this.dialog ??= new ExtractorsDialog({
        engine: this.engine,
        reader: this,
        onReplaced: () => this.onReplaced?.(),
        deleteSession: async (id) => this.deleteSession?.(id),
      });
      await work(this.dialog);
    } catch (error) {
      say(sentence(error));
    }
  }
}

/** The extractor used last; empty for the page's own. @param {string} [now] stores this one */
function lastUsed(now) {
  try {
    if (now !== undefined) localStorage.setItem(LAST, now);
    return localStorage.getItem(LAST) ?? '';
  } catch {
    return ''; // storage is forbidden
  }
}
