// @ts-check
/** Ties the sorting view to its session, and offers to open a closed view again. */
import { toast } from '../kit/announce.js';
import { noun } from '../kit/dom.js';

/** @typedef {Pick<import('../../library/types.js').EngineState, 'sessionId'|'extractor'>} State */

export class Home {
  /** The open session, and the session of the pictures. */
  #now = '';
  #session = '';
  #extractor = '';
  /** The session whose pictures were forgotten. */
  #gone = '';
  /** Shows the hidden view again. @type {(() => void)|null} */
  #restore = null;
  #unoffer = () => {};

  /** @param {{any: () => boolean, putAway: () => () => void, open: () => void, close: () => void}} view any: whether there is anything to keep; putAway hides it, and answers what shows it again */
  constructor(view) {
    this.view = view;
  }

  /**
   * Hides the view while another session is open. Forgets pictures of another extractor.
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
      toast({ text: `The ${noun()}s that were being sorted here are gone: choose them again.`, key: 'closed' });
    }
    if (any && sessionId !== this.#session) {
      this.#restore ??= this.view.putAway();
      this.#unoffer();
      return false;
    }
    [this.#session, this.#extractor] = [sessionId, sha256];
    const restore = this.#restore;
    if (!restore) return true;
    if (message) return false; // the session's extractor will be loaded
    this.#restore = null;
    restore();
    return true;
  }

  /** Forgets the pictures. If they belong to another session, a notice says so when it is opened. */
  forget() {
    if (this.#session !== this.#now) this.#gone = this.#session;
    this.view.close();
    [this.#session, this.#extractor] = [this.#now, ''];
  }

  /** Removes the offer and the hidden view. */
  clear() {
    this.#unoffer();
    this.#restore = null;
  }

  /** Offers to open the closed view again, until the notice is dismissed. @param {string} what */
  offer(what) {
    const close = toast({
      text: `The view of ${what} is closed. Your examples are kept.`,
      key: 'closed',
      action: 'Open again',
      onAction: this.view.open,
      onDismiss: this.view.close,
    });
    this.#unoffer = () => {
      close();
      this.#unoffer = () => {};
    };
  }
}
