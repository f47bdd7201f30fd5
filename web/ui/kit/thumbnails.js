// @ts-check
/** Thumbnails of taught examples. The bytes are the engine's: here is what the browser shows of them. */
import { say } from './announce.js';
import { sentence } from './dom.js';

/** @import {Example} from '../../library/types.js' */
/** @typedef {Pick<import('../../library/types.js').Engine, 'thumbnails'>} Engine */

/** Object URLs by example; each is made once and released when its example is gone. */
export class Thumbnails {
  /** @type {Map<string, string>} */
  #urls = new Map();
  /** Images that wait for their thumbnails, by class and example. @type {Map<string, Map<string, HTMLImageElement[]>>} */
  #blank = new Map();

  /** @param {Engine} engine */
  constructor(engine) {
    this.engine = engine;
  }

  /** Keeps an example's thumbnail, where it came with one. @param {Example} example */
  take({ id, thumbnail }) {
    if (thumbnail?.length && !this.#urls.has(id)) this.#urls.set(id, URL.createObjectURL(new Blob([new Uint8Array(thumbnail)])));
  }

  /** Shows an example's thumbnail in the image of a template, as soon as it is there. @param {string} classId @param {string} id @returns {(image?: Element) => void} */
  painter(classId, id) {
    return (element) => {
      const image = /** @type {HTMLImageElement|undefined} */ (element);
      if (!image || image.dataset.of === id) return;
      image.dataset.of = id; // until it is to show another one
      const url = this.#urls.get(id);
      if (url) return void (image.src = url);
      if (!this.#blank.size) queueMicrotask(() => void this.#fetch());
      const some = this.#blank.get(classId) ?? new Map();
      this.#blank.set(classId, some.set(id, [...some.get(id) ?? [], image]));
    };
  }

  async #fetch() {
    const blank = this.#blank;
    this.#blank = new Map();
    for (const [classId, some] of blank) {
      const thumbnails = await this.engine.thumbnails(classId, [...some.keys()]).catch((error) => {
        if (error.code !== 'class') say(sentence(error)); // one that has gone needs none
        return [];
      });
      [...some].forEach(([id, images], i) => {
        this.take({ id, thumbnail: thumbnails[i] ?? undefined });
        for (const image of images) if (this.#urls.has(id) && image.dataset.of === id) image.src = this.#urls.get(id) ?? '';
      });
    }
  }

  /** Releases that of one example. @param {string} id */
  drop(id) {
    URL.revokeObjectURL(this.#urls.get(id) ?? '');
    this.#urls.delete(id);
  }

  /** Releases all but these. @param {Iterable<string>} ids */
  keep(ids) {
    const wanted = new Set(ids);
    for (const id of this.#urls.keys()) if (!wanted.has(id)) this.drop(id);
  }
}

/**
 * The classes with the thumbnails of all their pictures: where there are many pictures, the state comes without.
 *
 * @param {Engine} engine
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
