// @ts-check
/** Addresses for thumbnails. The bytes are the engine's: here is what the browser shows of them. */

/** @typedef {import('../../library/types.js').Example} Example */

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

  /** Releases that of one example. @param {string} id */
  drop(id) {
    URL.revokeObjectURL(this.#urls.get(id) ?? '');
    this.#urls.delete(id);
  }

  /**
   * Releases all but these.
   *
   * @param {Iterable<string>} ids
   */
  keep(ids) {
    const wanted = new Set(ids);
    for (const id of this.#urls.keys()) if (!wanted.has(id)) this.drop(id);
  }
}

/**
 * The classes with the thumbnails of all their pictures: where there are many pictures, the state comes without.
 *
 * @param {Pick<import('../../library/types.js').Engine, 'thumbnails'>} engine
 * @param {import('../../library/types.js').ClassState[]} classes of the open session
 * @returns {Promise<import('../../library/types.js').ClassState[]>}
 */
export async function withThumbnails(engine, classes) {
  const all = [];
  for (const one of classes) {
    const found = await engine.thumbnails(one.id, one.examples.map(({ id }) => id));
    all.push({ ...one, examples: one.examples.map((example, i) => ({ ...example, thumbnail: found[i] ?? undefined })) });
  }
  return all;
}
