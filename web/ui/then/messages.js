// @ts-check
/**
 * Tells other pages what is recognised here: those that opened this one or have it in a frame, by
 * postMessage, and other tabs of this site, by BroadcastChannel. A page asks with
 *   { type: 'metaqda', listen: 'events' }     or 'answers', for each answer too
 * Nothing is sent to it before a person allows it here. Then it gets
 *   { type: 'metaqda', event: WatchEvent }     something came or went
 *   { type: 'metaqda', answer: Told }         an answer
 *   { type: 'metaqda', message, event }       the action "post a message"
 * web/share/README.md has a page that listens.
 */

/** @import {Prediction} from '../../library/index.js' */
/** @import {WatchEvent} from '../../library/types.js' */
/** @typedef {{decision: string|null, probabilities: Record<string, number>, none: number, headline: string}} Told decision: the label, null for none of these */
/**
 * @typedef {object} Listener
 * @property {number} number
 * @property {string} who in words, for the person who allows it, to begin a sentence with
 * @property {MessageEventSource|null} source null for other tabs
 * @property {string} origin
 * @property {boolean} answers whether it asked for answers too
 * @property {'asks'|'listens'|'refused'} state
 */

const TYPE = 'metaqda';
/** Name of the channel of other tabs. */
const CHANNEL = 'metaqda-messages';
/** The largest number of unanswered requests that are shown. */
const MOST = 4;

class Messages {
  /** @type {Listener[]} */
  #all = [];
  #number = 0;
  /** @type {BroadcastChannel|undefined} */
  #channel;
  #changed = () => {};

  /** Listens for those that ask. @param {() => void} changed is called when `listeners` changes */
  start(changed) {
    this.#changed = changed;
    addEventListener('message', ({ data, source, origin }) => {
      if (source && source !== window) this.#ask(data, source, origin);
    });
    this.#channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(CHANNEL) : undefined;
    this.#channel?.addEventListener('message', ({ data }) => this.#ask(data, null, location.origin));
  }

  /** Those that ask or listen. */
  get listeners() {
    return this.#all.filter(({ state }) => state !== 'refused');
  }

  /** @param {unknown} data @param {MessageEventSource|null} source @param {string} origin */
  #ask(data, source, origin) {
    const { type, listen } = /** @type {{type?: unknown, listen?: unknown}} */ (data ?? {});
    if (type !== TYPE || (listen !== 'events' && listen !== 'answers')) return;
    const answers = listen === 'answers';
    const known = this.#all.find((one) => one.source === source && one.origin === origin);
    if (known && (known.answers || !answers)) return; // it asks until it is told something
    if (this.#all.filter((one) => one !== known && one.state === 'asks').length >= MOST) return;
    if (known) this.#all.splice(this.#all.indexOf(known), 1); // it asks for more than it was allowed
    this.#all.push({ number: ++this.#number, who: whoIs(source, origin), source, origin, answers, state: known?.state === 'refused' ? 'refused' : 'asks' });
    this.#changed();
  }

  /** @param {number} number of a listener @param {'listens'|'refused'} state */
  set(number, state) {
    const one = this.#all.find((listener) => listener.number === number);
    if (one) one.state = state;
    this.#changed();
  }

  /** Posts to all that listen and tells whether there is one. @param {{message?: string, event?: WatchEvent, answer?: Told}} content */
  post(content) {
    this.#all = this.#all.filter(({ source }) => !(source && 'closed' in source && source.closed));
    const to = this.#all.filter(({ state, answers }) => state === 'listens' && (answers || !content.answer));
    for (const { source, origin } of to) {
      const message = { type: TYPE, ...content };
      if (!source) this.#channel?.postMessage(message);
      else source.postMessage(message, { targetOrigin: hidden(origin) ? '*' : origin });
    }
    return to.length > 0;
  }

  /** @param {Prediction|null} given */
  answer(given) {
    if (!given || !this.#all.length) return;
    const { decision, probabilities, none, headline } = given;
    this.post({ answer: { decision, probabilities, none, headline } });
  }
}

/** Whether an origin identifies no site, as for a file on disk. @param {string} origin */
const hidden = (origin) => origin === 'null' || origin.startsWith('file:');

/** @param {MessageEventSource|null} source @param {string} origin */
function whoIs(source, origin) {
  if (!source) return hidden(origin) ? 'another tab with a file of this device' : `another tab of ${origin}`;
  const how = source === window.parent ? 'the page around this one' : source === window.opener ? 'the page that opened this one' : 'a page in another window';
  return hidden(origin) ? `${how}, which has no address (a file on this device),` : `${how}, ${origin},`;
}

export const messages = new Messages();
