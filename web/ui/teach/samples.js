// @ts-check
/** Emoji in several art styles: some to teach, another to recognise. */
import { complain, say } from '../kit/announce.js';
import { byId, sentence } from '../kit/dom.js';
import { html, nodesOf } from '../kit/view.js';
import { teachFile } from '../kinds/index.js';

/** @import {Engine} from '../../library/types.js' */
/** @typedef {{id: string, name: string, author: string, licence: string, url: string}} Style */
/** @typedef {{name: string, examples: readonly unknown[]}} Holding a class */
/** @typedef {{styles: Style[], concepts: {id: string, name: string}[]}} Catalog contents of samples.json */

/** The concepts that are taught, and one that is not. */
const KNOWN = ['cat', 'banana', 'rocket', 'umbrella', 'bicycle'];
const UNTAUGHT = 'penguin';
const SUPPORT_STYLES = ['noto', 'twemoji', 'openmoji'];
const QUERY_STYLE = 'fluent-emoji-flat';

/** Name of the session for samples, used if the open one is not empty. */
const SESSION = 'Samples';

/** The sample button and the strip of pictures to recognise. */
export class Samples {
  /** The session of the samples. Only there pictures to recognise are offered. */
  #session = '';
  /** The session that the pictures were looked for in last. */
  #looked = '';
  /** The sample pressed last, while several are being fetched. */
  #pressed = '';

  /**
   * @param {{engine: Engine, changes: import('./changes.js').Changes, kinds: import('../kinds/index.js').Kinds, onSwitched: () => Promise<void>, take: (files: File[]) => Promise<void>}} parts
   */
  constructor({ engine, changes, kinds, onSwitched, take }) {
    this.engine = engine;
    this.changes = changes;
    this.onSwitched = onSwitched;
    this.kinds = kinds;
    this.take = take;
    this.button = byId('samples-button', HTMLButtonElement);
    this.button.addEventListener('click', () => void this.#start());
  }

  /** Offers pictures to recognise in the session with their classes. @param {string} sessionId that is open @param {readonly Holding[]} classes of it */
  showIn(sessionId, classes) {
    if (this.#looked !== sessionId) {
      this.#looked = sessionId;
      if (!this.#session && holdsSamples(classes)) {
        this.#session = sessionId; // taught before this page was loaded
        catalogOf().then(
          (catalog) => this.#offer(catalog, sessionId),
          () => {}, // the button says why
        );
      }
    }
    const here = sessionId === this.#session;
    byId('sample-queries', HTMLElement).hidden = !here;
    if (!here) this.#pressed = '';
  }

  async #start() {
    if (this.button.ariaDisabled === 'true') return; // pressed twice
    this.button.ariaDisabled = 'true'; // a disabled one would lose the focus
    const stop = new AbortController();
    try {
      const catalog = await catalogOf();
      const where = await this.#makeRoom();
      await this.changes.step(
        async (learner) => {
          const taught = await this.#teach(catalog, stop.signal, learner);
          this.#offer(catalog, this.#session);
          byId('recognise', HTMLElement).scrollIntoView({ block: 'nearest' });
          say(`The samples are taught${where || (taught ? '' : ' already')}. Press one of the new drawings to recognise it.`);
        },
        () => stop.abort(),
      );
    } catch (error) {
      if (!stop.signal.aborted) complain(byId('add-class-error', HTMLElement), sentence(error));
    } finally {
      this.button.ariaDisabled = 'false';
    }
  }

  /**
   * Opens a session for the samples if the open one has other classes.
   *
   * @returns {Promise<string>} what to say of another session, empty for the same one
   */
  async #makeRoom() {
    const { classes, sessionId } = await this.engine.state();
    const here = classes.length === 0 || sessionId === this.#session || holdsSamples(classes);
    const known = here ? { id: sessionId } : (await this.engine.sessions()).find(({ name }) => name === SESSION);
    this.#session = known?.id ?? '';
    if (this.#session === sessionId) return '';
    await this.onSwitched(); // as for every other session
    if (known) await this.engine.openSession(known.id);
    else this.#session = (await this.engine.newSession(SESSION)).id;
    void this.onSwitched();
    return known ? ` in the session “${SESSION}”, which is open now` : ` in a new session, “${SESSION}”`;
  }

  /** Teaches the samples that are missing in the session of the samples. It stops once another session is open. @param {Catalog} catalog @param {AbortSignal} signal @param {import('../kinds/index.js').Learner} step @returns {Promise<number>} how many were missing */
  async #teach(catalog, signal, step) {
    const { engine, changes, kinds } = this;
    const [session, kind] = [this.#session, kinds.now];
    /** Resolves with the state if that session is open and nothing was undone. */
    const goOn = async () => {
      const state = await engine.state();
      if (!signal.aborted && state.sessionId === session) return state;
      say('Cancelled.'); // undo announces itself next
      throw new Error('Another session was opened before all samples were taught: open the former one and try the samples again.');
    };
    /** @type {import('../kinds/index.js').Learner} */
    const learner = { ...step, stored: (change) => goOn().then(() => step.stored(change)) };
    const { classes } = await goOn();
    const missing = catalog.concepts.filter(({ id, name }) => KNOWN.includes(id) && !classes.some((known) => known.name === name && known.examples.length > 0));
    missing.sort((a, b) => KNOWN.indexOf(a.id) - KNOWN.indexOf(b.id));
    const total = missing.length * SUPPORT_STYLES.length;
    let done = 0;
    for (const { id, name } of missing) {
      await goOn();
      const known = classes.find((one) => one.name === name) ?? (await changes.addClass(name, step));
      for (const style of SUPPORT_STYLES) {
        say(`Adding sample ${++done} of ${total}.`);
        const file = await fetchSample(pictureURL(style, id), name, signal).catch(async (error) => {
          await goOn();
          throw error;
        });
        await teachFile(learner, kind, () => changes.model().name(known.id), file);
      }
    }
    return total;
  }

  /** @param {Catalog} catalog @param {string} sessionId of the samples */
  #offer(catalog, sessionId) {
    if (sessionId !== this.#session) return; // others meanwhile
    const shown = [...KNOWN, UNTAUGHT].flatMap((id) => catalog.concepts.filter((concept) => concept.id === id));
    byId('sample-list', HTMLElement).replaceChildren(nodesOf(shown.map(({ id, name }) => this.#question(pictureURL(QUERY_STYLE, id), name))));
    byId('sample-note', HTMLElement).textContent = credit(catalog.styles);
    byId('sample-queries', HTMLElement).hidden = sessionId !== this.#looked;
  }

  /** @param {string} url @param {string} name */
  #question(url, name) {
    const ask = async () => {
      this.#pressed = url;
      try {
        const file = await fetchSample(url, name);
        if (this.#pressed === url) await this.take([file]);
      } catch (error) {
        if (this.#pressed === url) complain(byId('query-error', HTMLElement), sentence(error));
      }
    };
    return html`<li><button class="sample" type="button" aria-label="Recognise the ${name.toLowerCase()}" @click=${ask}><img src=${url} alt="" width="40" height="40"></button></li>`;
  }
}

/** Whether a session has all samples. @param {readonly Holding[]} classes */
const holdsSamples = (classes) =>
  KNOWN.every((id) => classes.some(({ name, examples }) => name.toLowerCase() === id && examples.length >= SUPPORT_STYLES.length));

/** @returns {Promise<Catalog>} */
const catalogOf = () => get('samples/samples.json', (response) => response.json());

/** Names the artists of the pictures and the licences. @param {Style[]} styles */
export function credit(styles) {
  const used = [...SUPPORT_STYLES, QUERY_STYLE].flatMap((id) => styles.filter((style) => style.id === id));
  return `Pictures: ${used.map(({ name, author, licence }) => `${name} by ${author} (${licence})`).join(', ')}.`;
}

/** @param {string} style @param {string} concept */
const pictureURL = (style, concept) => `samples/${style}/${concept}.png`;

/** @param {string} url @param {string} name @param {AbortSignal} [signal] */
const fetchSample = async (url, name, signal) =>
  new File([await get(url, (response) => response.blob(), signal)], `${name.toLowerCase()}.png`, { type: 'image/png' });

/** @template T @param {string} url @param {(response: Response) => Promise<T>} read @param {AbortSignal} [signal] */
async function get(url, read, signal) {
  const response = await fetch(url, { signal }).catch(() => null);
  const content = response?.ok && (await read(response).catch(() => null));
  if (content) return content;
  throw new Error('The sample pictures could not be fetched: check the connection and try again.');
}
