// @ts-check
/** Shows thumbnails of examples. The engine holds their bytes. */
import { rests } from '../../base/task.js';
import { say } from './announce.js';
import { sentence } from './dom.js';

/** @import {Example} from '../../library/types.js' */
/** @import {Engine} from '../../library/types.js' */

/** Object URLs by example. Each is made once, and released when its example is removed. */
export class Thumbnails {
  /** @type {Map<string, string>} */
  #urls = new Map();
  /** Images waiting for their thumbnails, by example. @type {Map<string, HTMLImageElement[]>} */
  #blank = new Map();

  /** @param {Pick<Engine, 'thumbnails'>} engine */
  constructor(engine) {
    this.engine = engine;
  }

  /** Keeps an example's thumbnail, if it has one. @param {Example} example */
  take({ id, thumbnail }) {
    if (thumbnail?.length && !this.#urls.has(id)) this.#urls.set(id, URL.createObjectURL(new Blob([new Uint8Array(thumbnail)])));
  }

  /** Shows an example's thumbnail in a template's image, once it is loaded. @param {string} id @returns {(image?: Element) => void} */
  painter(id) {
    return (element) => {
      const image = /** @type {HTMLImageElement|undefined} */ (element);
      if (!image || image.dataset.of === id) return;
      image.dataset.of = id; // until it shows another example
      const url = this.#urls.get(id);
      if (url) return void (image.src = url);
      if (!this.#blank.size) queueMicrotask(() => void this.#fetch());
      this.#blank.set(id, [...(this.#blank.get(id) ?? []), image]);
    };
  }

  async #fetch() {
    const blank = this.#blank;
    this.#blank = new Map();
    const thumbnails = await this.engine.thumbnails([...blank.keys()]).catch((error) => {
      say(sentence(error));
      return [];
    });
    const rest = rests(); // many cards may come into view at once
    let at = 0;
    for (const [id, images] of blank) {
      await rest();
      this.take({ id, thumbnail: thumbnails[at++] ?? undefined });
      const url = this.#urls.get(id);
      for (const image of images) {
        if (image.dataset.of !== id) continue;
        if (url) image.src = url;
        else image.removeAttribute('src'); // the thumbnail of the example shown before
      }
    }
  }

  /** Releases the URL of one example. @param {string} id */
  drop(id) {
    URL.revokeObjectURL(this.#urls.get(id) ?? '');
    this.#urls.delete(id);
  }

  /** Releases the URLs of all other examples. @param {Iterable<string>} ids */
  keep(ids) {
    const wanted = new Set(ids);
    const gone = [...this.#urls].filter(([id]) => !wanted.has(id));
    for (const [id] of gone) this.#urls.delete(id);
    void release(gone.map(([, url]) => url));
  }
}

/** Releases URLs in small steps: thousands at once would take some tenths of a second. @param {string[]} urls */
async function release(urls) {
  const rest = rests();
  for (const url of urls) {
    await rest();
    URL.revokeObjectURL(url);
  }
}

/**
 * The classes with all thumbnails. The state of a large session comes without them.
 *
 * @param {Pick<Engine, 'thumbnails'>} engine
 * @param {import('../../library/types.js').ClassState[]} classes of the open session
 * @returns {Promise<import('../../library/types.js').ClassState[]>}
 */
export async function withThumbnails(engine, classes) {
  const all = [];
  for (const one of classes) {
    const found = await engine.thumbnails(one.examples.map(({ id }) => id));
    all.push({ ...one, examples: one.examples.map((example, i) => ({ ...example, thumbnail: found[i] ?? undefined })) });
  }
  return all;
}
