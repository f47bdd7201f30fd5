// @ts-check
/** Adds many examples, in pieces between which the thread may be free. */
import { rests } from '../../base/task.js';
import { rowsOf, vectorOf } from '../vectors.js';

/** @import {Exports} from '../../engine/exports.js' */
/** @import {Vector} from '../vectors.js' */

/** How many numbers are passed at once: a megabyte. */
const PIECE = 2 ** 18;

/** How many labels are passed at once. */
const LABELS = 512;

/**
 * Adds vectors, all or none, and returns the ids of the examples. After each piece of work it yields whether the examples
 * have been added. The pieces after that only prepare the first answer.
 *
 * @param {Exports} engine @param {() => number} handle of the classifier, 0 once it was disposed
 * @param {(name: string, ...args: number[]) => number} change calls a function that changes it
 * @param {Vector[]} vectors @param {string[]} labels @param {{group?: string, thumbnail?: Uint8Array | null}} [options]
 * @returns {Generator<boolean, string[]>}
 */
export function* adding(engine, handle, change, vectors, labels, { group = '', thumbnail = null } = {}) {
  if (vectors.length === 0) return [];
  const rows = rowsOf(vectors.map(vectorOf));
  const d = rows[0].length;
  yield false;
  const bulk = engine.call('mq_add_begin', handle(), rows.length, d);
  try {
    yield false;
    const size = Math.max(1, Math.floor(PIECE / d));
    for (let i = 0; i < rows.length; i += size) {
      const some = rows.slice(i, i + size);
      engine.writeRows(some);
      engine.call('mq_add_rows', bulk, some.length * d);
      yield false;
    }
    if (thumbnail) {
      engine.write(null, thumbnail);
      engine.call('mq_add_thumbnail', bulk, thumbnail.length);
    }
    for (let i = 0; i < rows.length; i += LABELS) {
      const some = labels.slice(i, i + LABELS);
      engine.writeTexts([...some, group]);
      engine.call('mq_add_labels', bulk, some.length, 1);
      yield false;
    }
    while (change('mq_add_some', bulk) === 1) yield true;
    const ids = engine.text(change('mq_add_end', bulk)).split('\n');
    do yield true;
    while (handle() !== 0 && engine.call('mq_enrol', handle()) === 1);
    return ids;
  } finally {
    engine.free('mq_add_stop', bulk);
  }
}

/** @template T @param {Generator<boolean, T>} pieces @returns {T} */
export function atOnce(pieces) {
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
  }
}

/** Runs the pieces, and yields to the event loop between them. Once the examples have been added, an abort has no effect. @template T @param {Exports} engine @param {Generator<boolean, T>} pieces @param {AbortSignal} [signal] @returns {Promise<T>} */
export async function inPieces(engine, pieces, signal) {
  const [before, after] = [rests(signal), rests()];
  engine.share(); // the program stays even if the classifier is disposed of meanwhile
  try {
    for (;;) {
      const { done, value } = pieces.next();
      if (done) return value;
      await (value ? after : before)();
    }
  } finally {
    pieces.return(/** @type {any} */ (undefined));
    engine.release();
  }
}
