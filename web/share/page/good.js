// @ts-check
/** Answers of a shared file about whether a picture is like the examples of its only class. */
import { oddBy, onlyClass } from '../../ui/recognise/good.js';

/** @import {Classifier} from '../../library/index.js' */
/** @import {Kinds} from '../../ui/kinds/index.js' */

/** Whether a file can compare a picture with its only class now: it has small copies of enough examples. @param {Pick<Classifier, 'labels'|'examples'>} classifier @param {import('./copies.js').Copies} copies */
export function judges(classifier, copies) {
  const [only, ...others] = classifier.labels.map((label) => classifier.examples(label)).filter(({ length }) => length);
  return others.length === 0 && onlyClass([{ examples: only?.filter((id) => copies.has(id)) }]) !== null;
}

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
