// @ts-check
/** Small copies of the examples in a shared file: pictures, or sounds with their spectrograms. */
import { metadataOf, tensorOf } from '../../base/safetensors.js';

/** Copies by the ids of examples in the classifier. @typedef {Map<string, Uint8Array>} Copies */

/**
 * @param {import('../../library/index.js').Classifier} classifier which was opened from the file
 * @param {Uint8Array} session the file
 * @returns {Copies} empty if no copies went along
 */
export function copiesOf(classifier, session) {
  const [thumbnails, ends, classes] = ['thumbnails', 'thumbnail_end', 'class'].map((name) => tensorOf(session, name));
  const labels = /** @type {{label: string}[]} */ (JSON.parse(metadataOf(session)?.classes ?? '[]'));
  const ids = labels.map(({ label }) => classifier.examples(label).values());
  const indices = new Int32Array(classes.buffer);
  /** @type {Copies} */
  const copies = new Map();
  let from = 0;
  for (const [i, end] of new BigInt64Array(ends.buffer).entries()) {
    const id = ids[indices[i]].next().value;
    const copy = thumbnails.subarray(from, Number(end));
    if (id !== undefined && copy.length) copies.set(id, copy);
    from = Number(end);
  }
  return copies;
}
