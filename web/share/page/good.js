// @ts-check
/** Answers of a shared file about whether a picture is like the examples of its only class. */
import { oddBy } from '../../ui/recognise/good.js';

/** @import {Classifier} from '../../library/index.js' */
/** @import {Kinds} from '../../ui/kinds/index.js' */

/** Whether a file can say so: it has one class, and small copies of its pictures. @param {readonly string[]} classes with examples @param {import('./copies.js').Copies} copies */
export const judges = (classes, copies) => classes.length === 1 && copies.size > 0;

/** @param {{classifier: Classifier, kinds: Kinds, copies: import('./copies.js').Copies}} parts */
export const goodOnes = ({ classifier, kinds, copies }) =>
  oddBy({
    kinds,
    taught: {
      get withoutCells() {
        return classifier.withoutCells.filter((id) => copies.has(id));
      },
      setCells: (id, cells) => classifier.setCells(id, cells),
      anomaly: (cells) => classifier.anomaly(cells),
    },
    thumbnails: async (ids) => ids.map((id) => copies.get(id) ?? null),
  });
