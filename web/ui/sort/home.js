// @ts-check
/** Keeps the pictures that are sorted to the session in which that was begun, and offers to open again what was closed. */
import { toast } from '../kit/announce.js';

/** @typedef {Pick<import('../../library/types.js').EngineState, 'sessionId'|'extractor'>} State */

export class Home {
  /** The open session, and that of the pictures. */
  #now = '';
  #session = '';
  #extractor = '';
  /** The session whose pictures were forgotten. */
  #gone = '';
  /** Shows again what was put away. @type {(() => void)|null} */
  #restore = null;
  #unoffer = () => {};

  /** @param {{any: () => boolean, putAway: () => () => void, open: () => void, close: () => void}} view any: whether there is anything to keep; putAway hides it, and answers what shows it again */
  constructor(view) { this.view = view; }

  /**
   * Has the view put away while another session is open. Pictures that another extractor has read are forgotten.
   *
   * @param {State} state @returns {boolean} whether the view is that of the open session
   */
  follow({ sessionId, extractor: { sha256, message } }) {
    this.#now = sessionId;
    const any = this.#restore !== null || this.view.any();
    if (any && sessionId === this.#session && this.#extractor && sha256 !== this.#extractor) {
      this.view.close();
      this.#gone = sessionId;
    }
    if (sessionId === this.#gone) {
      this.#gone = '';
      toast({ text: 'What was being sorted here is gone: choose it again.', key: 'closed' });
    }
    if (any && sessionId !== this.#session) {
      this.#restore ??= this.view.putAway();
      this.#unoffer();
      return false;
    }
    [this.#session, this.#extractor] = [sessionId, sha256];
    const restore = this.#restore;
    if (!restore) return true;
    if (message) return false; // the session's extractor is about to be loaded
    this.#restore = null;
    restore();
    return true;
  }

  /** Forgets the pictures of the open session; those of another one are told to be gone when that is open again. */
  forget() {
    if (this.#session !== this.#now) this.#gone = this.#session;
    this.view.close();
    [this.#session, this.#extractor] = [this.#now, ''];
  }

  /** Takes back the offer and whatever was put away. */
  clear() {
    this.#unoffer();
    this.#restore = null;
  }

  /** Offers to open again what was closed, until the notice is dismissed. @param {string} what */
  offer(what) {
    const close = toast({ text: `${what} closed; what was taught is kept.`, key: 'closed', action: 'Open again', onAction: this.view.open, onDismiss: this.view.close });
    this.#unoffer = () => { close(); this.#unoffer = () => {}; };
  }
}
