// @ts-check
/** Addresses for thumbnails that are held as bytes. */

/** @typedef {import('../engine/contract.js').Example} Example */

/** Object URLs by example; each is made once and released when its example is gone. */
export class Thumbnails {
  /** @type {Map<string, string>} */
  #urls = new Map();

  /**
   * @param {Example} example
   * @returns {string} empty where the example has no thumbnail
   */
  url({ id, thumbnail }) {
    const known = this.#urls.get(id);
    if (known) return known;
    if (!thumbnail?.length) return '';
    const url = URL.createObjectURL(new Blob([new Uint8Array(thumbnail)]));
    this.#urls.set(id, url);
    return url;
  }

  /**
   * Releases all but these.
   *
   * @param {Iterable<string>} ids
   */
  keep(ids) {
    const wanted = new Set(ids);
    for (const [id, url] of this.#urls) {
      if (wanted.has(id)) continue;
      URL.revokeObjectURL(url);
      this.#urls.delete(id);
    }
  }
}
