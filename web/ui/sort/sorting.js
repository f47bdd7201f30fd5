// @ts-check
/** Groups, order, filters and table of many pictures. Nothing here touches the page. */
import { byPath } from '../kit/folders.js';
import { NONE } from '../teach/correct.js';

/**
 * The engine's answer about one picture, with the ids of the classes. `taken` is the index of the decision, -1 for none of these.
 *
 * @typedef {{classes: string[], probabilities: ArrayLike<number>, none: number, taken: number, doubtful: boolean}} Answer
 */
/**
 * @typedef {object} Sortable one of the pictures
 * @property {string} name of its file
 * @property {string} path of its file below the folder that was dropped
 * @property {Answer|null} answer null while nothing is taught
 * @property {string} taught id of the class that it is taught as, else empty
 * @property {boolean} [none] whether a person said that it is none of the classes
 */
/** @typedef {{id: string, name: string}} Named a class */
/** @typedef {'doubt'|'sure'|'name'|'arrival'} Order */
/**
 * Which pictures to show: all, the doubtful ones, or those of one group.
 *
 * @typedef {{kind: 'all'|'doubtful'}|{kind: 'group', id: string}} Filter
 */
/**
 * @template {Sortable} T
 * @typedef {{id: string, name: string, items: T[]}} Group
 */

/** Ids of groups without a class. */
export { NONE };
export const WAITING = 'not-sorted-yet';

/**
 * A cache key for answers: it changes whenever answers may change.
 *
 * @param {Pick<import('../../library/types.js').EngineState, 'sessionId'|'nonePrior'|'prior'>} state
 * @param {readonly {id: string, examples: readonly string[]}[]} classes
 */
export const judgedBy = ({ sessionId, nonePrior, prior }, classes) =>
  JSON.stringify([sessionId, nonePrior, prior.sha256, classes.map(({ id, examples }) => [id, examples.join(' ')])]);

/**
 * The group of a picture and its probability. A taught picture belongs to the class that
 * it is taught as.
 *
 * @param {Sortable} item
 * @returns {{id: string, probability: number}}
 */
export function verdict({ answer, taught }) {
  if (taught) return { id: taught, probability: 1 };
  if (!answer) return { id: WAITING, probability: 0 };
  const best = answer.taken;
  return best < 0 ? { id: NONE, probability: answer.none } : { id: answer.classes[best], probability: answer.probabilities[best] };
}

/** Whether a person said that it is none of these, and no class that came since fits it. @param {Sortable} item */
export const saidNone = (item) => item.none === true && verdict(item).id === NONE;

/** @param {Sortable} item */
export const isDoubtful = (item) => !item.taught && item.answer !== null && item.answer.doubtful && !saidNone(item);

/**
 * The pictures by group: the classes in their order, then none of these, then pictures
 * without an answer. Empty groups are left out.
 *
 * @template {Sortable} T
 * @param {readonly T[]} items
 * @param {readonly Named[]} classes
 * @param {{order?: Order, filter?: Filter}} [options]
 * @returns {Group<T>[]}
 */
export function groupsOf(items, classes, { order = 'doubt', filter = { kind: 'all' } } = {}) {
  const groups = new Map(
    [...classes, { id: NONE, name: 'None of these' }, { id: WAITING, name: 'Not sorted yet' }].map(({ id, name }) => [
      id,
      { id, name, items: /** @type {{item: T, probability: number}[]} */ ([]) },
    ]),
  );
  for (const item of items) {
    const { id, probability } = verdict(item);
    if (filter.kind === 'doubtful' && !isDoubtful(item)) continue;
    // The class was just removed: new answers are on their way.
    const group = groups.get(id) ?? groups.get(WAITING);
    if (filter.kind === 'group' && filter.id !== group?.id) continue;
    group?.items.push({ item, probability });
  }
  const compare = {
    doubt: (/** @type {{probability: number}} */ a, /** @type {{probability: number}} */ b) => a.probability - b.probability,
    sure: (/** @type {{probability: number}} */ a, /** @type {{probability: number}} */ b) => b.probability - a.probability,
    name: (/** @type {{item: T}} */ a, /** @type {{item: T}} */ b) => byPath(a.item.path, b.item.path),
    arrival: () => 0,
  }[order];
  return [...groups.values()]
    .filter((group) => group.items.length)
    .map(({ id, name, items: all }) => ({ id, name, items: all.sort(compare).map(({ item }) => item) }));
}

/** Number of pictures in each group, and of doubtful ones in all. @param {readonly Sortable[]} items */
export function countsOf(items) {
  /** @type {Map<string, number>} */
  const groups = new Map();
  let doubtful = 0;
  for (const item of items) {
    const { id } = verdict(item);
    groups.set(id, (groups.get(id) ?? 0) + 1);
    if (isDoubtful(item)) doubtful++;
  }
  return { groups, doubtful };
}

/** A probability in percent. Only 0 and 1 read as 0 % and 100 %. @param {number} p */
export function percent(p) {
  if (p >= 0.995 && p < 1) return '> 99 %';
  if (p > 0 && p < 0.005) return '< 1 %';
  return `${Math.round(100 * p)} %`;
}

/** Keeps a number and its percent sign on one line. @param {string} text */
export const together = (text) => text.replaceAll(' %', '\u00a0%').replaceAll('> 99', '>\u00a099');

/**
 * A table with a line per picture (RFC 4180): file, answer, its probability, the class that it
 * is taught as or a person's none of these, whether it is doubtful, and the probabilities of all classes and of none.
 *
 * @param {readonly Sortable[]} items
 * @param {readonly Named[]} classes
 */
export function tableOf(items, classes) {
  const names = new Map([...classes.map(({ id, name }) => /** @type {[string, string]} */ ([id, name])), [NONE, 'none of these'], [WAITING, '']]);
  const number = (/** @type {number|undefined} */ p) => (p === undefined ? '' : p.toFixed(4));
  const rows = items.map((item) => {
    const { id, probability } = verdict(item);
    const { answer } = item;
    return [
      item.path,
      names.get(id) ?? '',
      id === WAITING ? '' : number(probability),
      names.get(saidNone(item) ? NONE : item.taught) ?? '',
      isDoubtful(item) ? 'yes' : '',
      ...(item.taught
        ? [...classes.map((one) => number(one.id === item.taught ? 1 : 0)), number(0)]
        : [...classes.map((one) => number(answer?.probabilities[answer.classes.indexOf(one.id)])), number(answer?.none)]),
    ];
  });
  const head = ['file', 'answer', 'probability', 'taught as', 'doubtful'];
  const all = classes.map(({ name }) => name);
  for (const own of all) {
    let name = own;
    while (name === 'none of these' || head.includes(name) || (name !== own && all.includes(name))) name = `class ${name}`; // no two columns have one name
    head.push(name);
  }
  head.push('none of these');
  return [head, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}

/** A cell. An apostrophe keeps spreadsheets from reading it as a formula. @param {string} text */
function quoted(text) {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
