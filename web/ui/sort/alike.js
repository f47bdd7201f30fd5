// @ts-check
/** Groups of similar pictures, to be named together. */
import { cosine } from '../kinds/pictures/pace.js';
import { NONE, saidNone, verdict, WAITING } from './sorting.js';

/** @import {Item} from './items.js' */
/** @import {Group} from './ask.js' */

/**
 * A group is unlike the rest of its class if the cosine of their means is below this. Both means are relative to the
 * mean of all pictures. Two halves of one class have a larger cosine, two classes a smaller one.
 */
const UNLIKE = 0.4;

/**
 * Groups of similar pictures: among none of these, and in each class if they differ from the rest of the class. Groups
 * without a class come first, then larger ones. A picture that a person marked as none of these is in no group.
 *
 * @param {{alike: (sets: number[][]) => Promise<number[][][]>}} batch
 * @param {readonly Item[]} items as the batch has them
 * @param {readonly Item[]} taught the taught pictures
 * @returns {Promise<Group[]>}
 */
export async function lookalikes(batch, items, taught) {
  /** @type {Map<string, number[]>} */
  const shelves = new Map();
  items.forEach((item, i) => {
    if (saidNone(item)) return;
    const { id } = verdict(item);
    const of = id === NONE || id === WAITING ? '' : id;
    if (!shelves.has(of)) shelves.set(of, []);
    shelves.get(of)?.push(i);
  });
  const mean = meanOf(items);
  /** @type {Group[]} */
  const groups = [];
  const sets = [...shelves].filter(([, numbers]) => numbers.length >= 3);
  const found = await batch.alike(sets.map(([, numbers]) => numbers));
  for (const [k, [of, numbers]] of sets.entries()) {
    for (const group of found[k]) {
      const some = group.map((i) => items[i]);
      const rest = of ? [...taught.filter((item) => item.taught === of), ...numbers.flatMap((i) => (group.includes(i) ? [] : [items[i]]))] : [];
      if (!of || (rest.length && likeness(some, rest, mean) < UNLIKE)) groups.push({ items: some, of });
    }
  }
  return groups.sort((a, b) => Number(a.of !== '') - Number(b.of !== '') || b.items.length - a.items.length);
}

/** @param {readonly Item[]} items @returns {Float64Array} */
function meanOf(items) {
  const mean = new Float64Array(items[0]?.embedding.length ?? 0);
  for (const { embedding } of items) for (let j = 0; j < mean.length; j++) mean[j] += embedding[j] / items.length;
  return mean;
}

/** The cosine of the means of two sets of pictures, relative to a third mean. @param {readonly Item[]} a @param {readonly Item[]} b @param {Float64Array} from */
function likeness(a, b, from) {
  const [x, y] = [a, b].map((items) => meanOf(items).map((v, j) => v - from[j]));
  return cosine(x, y) || 0; // zero vectors have none
}
