// @ts-check
/** Answers of a shared file about whether a picture is like the examples of its only class. */
import { oddBy } from '../../ui/recognise/good.js';

/** @import {Classifier} from '../../library/index.js' */
/** @import {Kinds} from '../../ui/kinds/index.js' */

/** Small copies of the examples, JPEG in base64, by class. @typedef {ReadonlyMap<string, readonly string[]>} Pictures */

/** Whether a file can say so: it has one class, and the small copies of its pictures. @param {readonly string[]} classes with examples @param {Pictures} pictures */
export const judges = ([only, ...others], pictures) => others.length === 0 && !!pictures.get(only)?.length;

/**
 * @param {{classifier: Classifier, kinds: Kinds, label: string, pictures: Pictures}} parts label: of the only class
 */
export function goodOnes({ classifier, kinds, label, pictures }) {
  const own = pictures.get(label) ?? [];
  /** Small copies by the numbers of examples. @type {Map<string, () => Uint8Array>} */
  const copies = new Map(
    classifier
      .examples(label)
      .slice(0, own.length)
      .map((number, i) => [number, () => Uint8Array.from(atob(own[i]), (c) => c.charCodeAt(0))]),
  );
  /** Copies of what was taught in the file, by the page's ids: an example that is brought back has another number. @type {Map<string, Uint8Array>} */
  const added = new Map();
  return {
    /** @param {string} id of an example that is taught @param {Uint8Array} copy */
    keep: (id, copy) => void added.set(id, copy),
    /** @param {string} id @param {string} number that it has now */
    number(id, number) {
      const copy = added.get(id);
      if (copy) copies.set(number, () => copy);
    },
    odd: oddBy({
      kinds,
      taught: {
        get withoutCells() {
          return classifier.withoutCells.filter((number) => copies.has(number));
        },
        setCells: (number, cells) => classifier.setCells(number, cells),
        anomaly: (cells) => classifier.anomaly(cells),
      },
      thumbnails: async (numbers) => numbers.map((number) => copies.get(number)?.() ?? null),
    }),
  };
}
