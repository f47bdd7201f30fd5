// @ts-check
/**
 * The classifier of the open session: the methods of `Classifier`, with the same arguments in the same order, as promises,
 * which are kept once what was changed is stored.
 */
import { Batch } from '../../engine/batch.js';
import { MetaqdaError } from '../../base/remote.js';
import { byView, checkCells, prediction, record } from '../classifier/answers.js';
import { Classifier } from '../classifier/classifier.js';
import { openClassifier } from '../classifier/create.js';
import { EXPLAIN, KEPT, known, SETTINGS } from '../classifier/options.js';
import { membersOf, Remote } from '../remote.js';

/** @import {Answers, LoadedEngine} from '../../engine/contract.js' */
/** @import {BatchOptions, CallOptions, Options, RemoteMethods} from '../classifier/options.js' */
/** @import {Vector} from '../vectors.js' */
/** @typedef {{group?: string, thumbnail?: Uint8Array} & CallOptions} AddOptions thumbnail: bytes of a small picture, kept with the example */

/**
 * `merge` answers a new classifier with what both were taught, in memory: `importSession` of the storage keeps what its
 * `save` answers. `dispose` refuses calls afterwards; what was taught stays, and so does the storage.
 *
 * @template [Input=unknown]
 * @typedef {Omit<RemoteMethods<Input>, 'addExample' | 'addExamples'> & {
 *   addExample: (x: Input | Vector, label: string, options?: AddOptions) => Promise<string>,
 *   addExamples: (batch: Iterable<Input | Vector>, labels: Iterable<string>, options?: AddOptions) => Promise<string[]>,
 *   merge: (other: Classifier<any> | StoredClassifier<any>) => Promise<Classifier<Input>>,
 * }} StoredClassifier
 */

/** @template T @typedef {<U>(ask: (copy: Classifier<T>) => U | Promise<U>) => Promise<U>} Copied asks a copy in memory */
/** Of the classifiers of storages. @type {WeakMap<object, Copied<any>>} */
const copies = new WeakMap();

/**
 * @template Input
 * @param {LoadedEngine} engine @param {Options<Input>['extractor']} [extractor]
 * @returns {StoredClassifier<Input>}
 */
export function storedClassifier(engine, extractor) {
  /** @type {Copied<Input>} */
  const copied = async (ask) => {
    const { classifier, prior } = await engine.batchInput();
    const copy = await openClassifier(classifier, { ...(extractor && { extractor }), ...(prior && { prior }) });
    try {
      return await ask(copy);
    } finally {
      copy.dispose();
    }
  };
  const methods = methodsOf(engine, copied);
  let disposed = false;
  const made = new Remote(
    async (name, args, options) => {
      if (disposed) throw new MetaqdaError('disposed', 'This classifier was disposed of: its storage has another one after it is opened anew.');
      if (name in methods) return methods[name](...args, options);
      if (name === 'dispose') disposed = true;
      else await engine.byLabel(name, ...args);
    },
    membersOf(Classifier),
    extractor,
    KEPT,
  );
  copies.set(made, copied);
  return /** @type {any} */ (made);
}

/** @param {LoadedEngine} engine @param {Copied<any>} copied @returns {Record<string, (...args: any[]) => any>} */
function methodsOf(engine, copied) {
  const classes = async () => (await engine.state()).classes;
  /** The class of a label. A new one has a name and no examples. @param {string} label */
  const classOf = async (label) => {
    const { name, class: id } = await engine.label(label);
    return (await classes()).find((one) => one.id === id) ?? { name, examples: [] };
  };
  /** @param {Float32Array[]} vectors @param {string[]} labels @param {AddOptions} options */
  const addExamples = async (vectors, labels, { group = '', thumbnail }) => (await engine.addExamples(labels, vectors, thumbnail ?? null, group)).ids;
  /**
   * Asks a copy. Its examples have other ids, so the answer gets those of the storage.
   *
   * @template T
   * @param {(copy: Classifier<any>) => Promise<T[]>} ask @param {(one: T, known: (id: string) => string) => T} named
   */
  const ofExamples = async (ask, named) => {
    const [all, [found, ids]] = await Promise.all([
      classes(),
      copied(async (copy) => /** @type {[T[], string[][]]} */ ([await ask(copy), copy.labels.map((label) => copy.examples(label))])),
    ]);
    const stored = new Map(ids.flatMap((some, i) => some.map((id, k) => [id, all[i].examples[k].id])));
    return found.map((one) => named(one, (id) => stored.get(id) ?? ''));
  };
  const predict = async (/** @type {Float32Array} */ x) => {
    const answer = await engine.predict(x);
    if (!answer) throw empty();
    const { classes: all, none, decision } = answer;
    return prediction(
      all.map(({ name }) => name),
      [none, ...all.map(({ probability }) => probability), all.findIndex(({ id }) => id === decision.class), Number(decision.doubtful)],
      0,
      decision.headline,
    );
  };
  return {
    addExamples,
    predict,
    addExample: async (x, label, options) => (await addExamples([x], [label], options))[0],
    async explain(cells, options) {
      known(options, EXPLAIN);
      const { values, dimension } = checkCells(cells);
      const label = options?.label ?? (await predict(cells.embedding)).label;
      const against = options?.against ?? null;
      const [of, to] = await Promise.all([label, against].map(async (one) => (one === null ? null : engine.label(one))));
      const all = await classes();
      const nameOf = (/** @type {{class: string} | null} */ one) => all.find(({ id }) => id === one?.class)?.name ?? null;
      for (const one of [of, to])
        if (one?.class === '') throw new MetaqdaError('argument', `There is no class '${one.name}': choose among ${all.map(({ name }) => name).join(', ')}.`);
      const { score, rest, cells: parts } = await engine.explain(values, dimension, of?.class ?? '', to?.class ?? '');
      return { label: nameOf(of), against: nameOf(to), score, rest, views: byView(parts, cells.views) };
    },
    async setCells(id, cells) {
      const { values, dimension } = checkCells(cells);
      await engine.setCells(id, values, dimension);
    },
    async anomaly(cells) {
      const { values, dimension } = checkCells(cells);
      const { wrong, good, cells: parts } = await engine.anomaly(values, dimension);
      return { wrong, good, views: byView(parts, cells.views) };
    },
    async predictMany(all, { signal }) {
      const answers = [];
      for (const x of all) {
        signal?.throwIfAborted();
        answers.push(await predict(x));
      }
      return answers;
    },
    /** In a worker, in Node.js in slices. */
    async classify(all, options) {
      if (typeof Worker === 'undefined') return copied((copy) => copy.classify(all, options));
      const names = new Map((await classes()).map(({ id, name }) => [id, name]));
      return judged(engine, all, options, async (_, { classes: ids, probabilities, taken, doubtful, headlines }) => {
        if (!probabilities) throw empty();
        const each = ids.length + 1;
        return headlines.map((headline, i) =>
          prediction(
            ids.map((id) => names.get(id) ?? ''),
            [...probabilities.subarray(i * each, (i + 1) * each), taken[i], doubtful[i]],
            0,
            headline,
          ),
        );
      });
    },
    predictSet: (x, options) => copied((copy) => copy.predictSet(x, options)),
    suggest: (all, { count = all.length, ...options }) =>
      typeof Worker === 'undefined'
        ? copied((copy) => copy.suggest(all, { count, ...options }))
        : judged(engine, all, options, async (asked) => (await asked.suggest(count)).places),
    leaveOneOut: (options) =>
      ofExamples(
        (copy) => copy.leaveOneOut(options),
        (one, stored) => ({ ...one, id: stored(one.id) }),
      ),
    influence: (options) =>
      ofExamples(
        (copy) => copy.influence(options),
        (one, stored) => ({ ...one, ids: one.ids.map(stored) }),
      ),
    needs: (options) => copied((copy) => copy.needs(options)),
    merge: (other) => copied((copy) => copies.get(other)?.((too) => copy.merge(too)) ?? copy.merge(other)),
    undo: async () => (await engine.undo()).name !== '',
    redo: async () => (await engine.redo()).name !== '',
    addClass: async (label) => void (await engine.addClass(label)),
    labels: async () => (await classes()).map(({ name }) => name),
    async counts() {
      const all = await classes();
      return record(
        all.map(({ name }) => name),
        (i) => all[i].examples.length,
      );
    },
    /** What undo and redo would be about, in plain words, empty for nothing. */
    steps: async () => (({ undo, redo }) => ({ undo, redo }))(await engine.state()),
    dimension: async () => (await engine.state()).dimension,
    settings: async () => (({ nonePrior }) => ({ nonePrior }))(await engine.state()),
    label: async (label) => (await classOf(label)).name,
    examples: async (label) => (await classOf(label)).examples.map(({ id }) => id),
    async configure(changes) {
      known(changes, SETTINGS);
      await engine.configure(changes);
    },
    save: () => engine.saveSession(),
    export: () => engine.exportClassifier(),
  };
}

/**
 * @template T
 * @param {LoadedEngine} engine @param {Float32Array[]} vectors @param {BatchOptions} options
 * @param {(asked: Batch, answers: Answers) => Promise<T[]>} read
 * @returns {Promise<T[]>}
 */
async function judged(engine, vectors, { onProgress, signal }, read) {
  if (vectors.length === 0) return [];
  const asked = new Batch(engine, { onProgress });
  const stop = () => asked.close();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const answers = await read(asked, await asked.classify(vectors));
    onProgress?.({ done: vectors.length, total: vectors.length });
    return answers;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener('abort', stop);
    asked.close();
  }
}

const empty = () => new MetaqdaError('empty', 'No class has an example yet: add at least one to a class.');
