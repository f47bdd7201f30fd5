// @ts-check
/** Follows which class is before the camera or the microphone. If none is for a while, “none of these” comes. */

/** @import {Live, WatchEvent} from '../../library/types.js' */
/** @typedef {{id: string, event: WatchEvent}} Happening id: of the class, empty for none of these */

/** Milliseconds without any class until none of these comes: longer than the gap between two classes. */
export const PAUSE = 1500;

export class Presence {
  /** Id of the class that is here, empty for none. */
  #here = '';
  /** Whether none of these is seen, and since when in milliseconds nothing has been here. */
  #nothing = { seen: true, since: Infinity };

  /** @param {{idOf: (name: string) => string, nameOf: (id: string) => string, none: string}} parts none: the name of none of these */
  constructor({ idOf, nameOf, none }) {
    this.idOf = idOf;
    this.nameOf = nameOf;
    this.none = none;
  }

  /** Id of the class that is here, empty for none. */
  get here() {
    return this.#here;
  }

  /** Returns what comes and goes with the next answer of a live view. @param {Live} live @param {number} now in milliseconds since 1970 @returns {Happening[]} */
  next({ events, here }, now) {
    /** @type {Happening[]} */
    const all = [];
    for (const event of events) {
      if (!event.here) all.push(...this.#gone(event, now));
      else all.push({ id: (this.#here = this.idOf(event.label)), event });
    }
    if (this.#here && this.nameOf(this.#here) !== here) all.push(...this.#gone(eventOf(this.nameOf(this.#here), false, now), now)); // another tab changed the session
    return [...all.filter(({ id }) => id), ...this.#none(now)];
  }

  /** Returns what goes as the live view ends. “None of these” neither comes nor goes then. @param {number} now @returns {Happening[]} */
  end(now) {
    const all = this.#gone(eventOf(this.nameOf(this.#here), false, now), now);
    this.#nothing = { seen: true, since: Infinity };
    return all;
  }

  /** @param {WatchEvent} event @param {number} now @returns {Happening[]} */
  #gone(event, now) {
    const id = this.#here;
    this.#here = '';
    this.#nothing.since = now;
    return id ? [{ id, event }] : [];
  }

  /** @param {number} now @returns {Happening[]} */
  #none(now) {
    const nothing = this.#nothing;
    const turns = this.#here ? nothing.seen : !nothing.seen && now - nothing.since >= PAUSE;
    if (!turns) return [];
    nothing.seen = !nothing.seen;
    return [{ id: '', event: eventOf(this.none, nothing.seen, nothing.seen ? nothing.since : now) }];
  }
}

/** @param {string} label @param {boolean} here @param {number} since in milliseconds @returns {WatchEvent} */
export const eventOf = (label, here, since) => ({ label, here, since: since / 1000, probability: 1 });
