// @ts-check
/** The pictures to sort: made from files, taught, copied. */
import { named, near, teach } from '../kinds/index.js';
import { answerTo } from '../kit/answer.js';
import { folderNames, pathOf } from '../kit/folders.js';
import { say } from '../kit/announce.js';
import { counted, noun, save } from '../kit/dom.js';
import { unlike } from '../recognise/good.js';
import { NONE, tableOf, verdict, WAITING } from './sorting.js';

/** @import {Engine} from '../../library/types.js' */
/** @import {Kind} from '../kinds/index.js' */
/**
 * One of the pictures. `example` is its id if it is taught. `url` is a small picture, made
 * when it is first used: the browser takes a millisecond for each.
 *
 * @typedef {import('./sorting.js').Sortable & {file: File, piece: number, embedding: Float32Array, readonly url: string, release: () => void, example: string, examples: string[], like: number, out: Set<string>, compared: string, cells: import('../../extractor/session.js').Cells|null}} Item
 *   piece: number in its file; examples: all ids that it was ever taught by, since undo may bring one back; like: number of similar pictures, if it is a question; out: ids of excluded classes; compared: the cache key of its comparison, empty if it was not compared; cells: of the last comparison, if they are kept
 */

/** Edge of a picture in the gallery, in pixels. */
const EDGE = 200;

/**
 * The pictures of a file, each with its answer.
 *
 * @param {Pick<Engine, 'ready' | 'taught'>} engine @param {Kind} kind @param {File} file @param {readonly import('../teach/correct.js').Named[]} classes
 * @returns {Promise<Item[]>}
 */
export async function itemsOf(engine, kind, file, classes) {
  const items = [];
  for (const [piece, sample] of (await kind.open(file)).entries()) {
    try {
      const picture = await sample.picture(EDGE);
      const embedding = await sample.embed().catch((error) => named(error, sample));
      const answer = answerOf(await answerTo(engine.taught, embedding), classes);
      const examples = (await near(engine, kind, embedding)).flatMap(({ copy, id }) => (copy ? [id] : []));
      let url = '';
      items.push({
        name: sample.name,
        path: pathOf(file).replace(/[^/]*$/, () => sample.name),
        file,
        piece,
        embedding,
        answer,
        taught: '',
        example: '',
        examples,
        like: 0,
        out: /** @type {Set<string>} */ (new Set()),
        compared: '',
        cells: null,
        get url() {
          return (url ||= URL.createObjectURL(new Blob([new Uint8Array(picture)], { type: 'image/jpeg' })));
        },
        release() {
          URL.revokeObjectURL(url);
        },
      });
    } finally {
      sample.close();
    }
  }
  return items;
}

/** @param {import('../../library/index.js').Prediction|null} prediction @param {readonly import('../teach/correct.js').Named[]} classes @returns {import('./sorting.js').Answer|null} */
function answerOf(prediction, classes) {
  if (!prediction) return null;
  const { probabilities, none, decision, doubtful } = prediction;
  const all = classes.filter(({ name }) => Object.hasOwn(probabilities, name)); // classes have come or gone meanwhile
  return {
    classes: all.map(({ id }) => id),
    probabilities: all.map(({ name }) => probabilities[name]),
    none,
    taken: all.findIndex(({ name }) => name === decision),
    doubtful,
  };
}

/** Opens an item again. @param {Kind} kind @param {Item} item */
async function openItem(kind, { file, piece }) {
  const samples = await kind.open(file);
  samples.forEach((one, i) => {
    if (i !== piece) one.close();
  });
  return samples[piece];
}

/** Teaches an item. @param {import('../kinds/index.js').Learner} engine @param {Kind} kind @param {() => string} label of the class @param {Item} item @returns {Promise<string>} the id of the example */
export async function teachItem(engine, kind, label, item) {
  return (await teach(engine, kind, label, await openItem(kind, item), item.embedding)).id;
}

/**
 * Compares an item with the examples of the only class, part by part, unless it was compared under the same key.
 *
 * @param {import('../recognise/good.js').OddOf} odd
 * @param {Kind} kind @param {Item} item @param {string} id of the class @param {{key: string, sure: number, keeps: (bytes: number) => boolean}} options
 *   key: changes whenever answers may; sure: least percentage of an answer that is not doubtful; keeps: whether the item's cells may be kept
 * @returns {Promise<boolean>} false if it cannot be compared
 */
export async function compare(odd, kind, item, id, { key, sure, keeps }) {
  if (item.compared === key) return true;
  const found = await odd(() => openItem(kind, item), item.cells);
  if (!found) return false;
  if (!item.cells && keeps(found.cells.values.byteLength)) item.cells = found.cells;
  item.compared = key;
  const { wrong } = found;
  const out = item.out.has(id); // a person said that it is not of this class
  item.answer = {
    classes: [id],
    probabilities: [out ? 0 : 1 - wrong],
    none: out ? 1 : wrong,
    taken: out || unlike(found) ? -1 : 0,
    doubtful: !out && 100 * Math.max(wrong, 1 - wrong) < sure,
  };
  return true;
}

/** Updates the class that each item is taught as. @param {Item[]} items @param {readonly {id: string, examples: readonly string[]}[]} classes */
export function noteTaught(items, classes) {
  const at = new Map(classes.flatMap(({ id, examples }) => examples.map((example) => /** @type {[string, string]} */ ([example, id]))));
  for (const item of items) {
    item.example = item.examples.find((one) => at.has(one)) ?? '';
    item.taught = at.get(item.example) ?? '';
  }
}

/** Excludes an item from all existing classes, as a person said. @param {Item} item @param {string[]} classes ids */
export function leaveOut(item, classes) {
  for (const id of classes) item.out.add(id);
  item.none = true;
  item.answer &&= { classes, probabilities: classes.map(() => 0), none: 1, taken: -1, doubtful: false };
}

/**
 * Copies the files into a folder per answer. A file with several pieces goes once into each of its folders.
 *
 * @param {import('../kit/folders.js').Folders} folders
 * @param {readonly Item[]} items
 * @param {readonly {id: string, name: string}[]} classes
 * @param {{signal: AbortSignal, onProgress: (done: number) => void}} options
 * @returns {Promise<{copied: number, there: number}>} how many items were copied, and how many were there already
 */
export async function copyAll(folders, items, classes, { signal, onProgress }) {
  const groups = [...classes, { id: NONE, name: 'none of these' }, { id: WAITING, name: 'not sorted' }];
  const names = folderNames(groups.map(({ name }) => name));
  /** Whether each file was copied, by folder. */
  const put = new Map(names.map((name) => [name, /** @type {Map<File, boolean>} */ (new Map())]));
  const ids = new Map(items.map((item) => [item, verdict(item).id])); // as it is now: others may be taught meanwhile
  let [done, copied] = [0, 0];
  for (const [item, id] of ids) {
    if (signal.aborted) break;
    onProgress(done++);
    const folder = names[groups.findIndex((one) => one.id === id)] ?? names.at(-1);
    const fresh = put.get(folder)?.get(item.file) ?? (await folders.put(folder, item.file));
    put.get(folder)?.set(item.file, fresh);
    if (fresh) copied++;
  }
  return { copied, there: done - copied };
}

/** Bytes of the files in all folders: a file is once in each folder that one of its pieces belongs to. @param {readonly Item[]} items */
export function copiedBytes(items) {
  /** @type {Map<string, Set<File>>} */
  const folders = new Map();
  for (const item of items) {
    const { id } = verdict(item);
    folders.set(id, (folders.get(id) ?? new Set()).add(item.file));
  }
  return [...folders.values()].flatMap((files) => [...files]).reduce((sum, { size }) => sum + size, 0);
}

/** Saves the answers as a table. @param {readonly Item[]} items @param {readonly import('../teach/correct.js').Named[]} classes */
export function saveTable(items, classes) {
  const table = `\uFEFF${tableOf(items, classes)}`; // with this mark spreadsheets read UTF-8
  void save(new TextEncoder().encode(table), `${noun()}s.csv`);
  say(`Saved a table of ${counted(items.length, noun())}.`);
}
