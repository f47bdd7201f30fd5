// @ts-check
/**
 * The classifier of the open session: the methods of `Classifier`, with the same arguments in the same order, as promises,
 * which are kept once what was changed is stored.
 */
import { Batch } from '../../engine/batch.js';
import { MetaqdaError } from '../../base/remote.js';
import { prediction, record } from '../classifier/answers.js';
import { Classifier } from '../classifier/classifier.js';
import { openClassifier } from '../classifier/create.js';
import { BATCH, CALL, KEPT, known, SETTINGS, SUGGEST } from '../classifier/options.js';
import { embedded, embeddedAll, isVector, labelled, listOf, roomIn, vectorOf } from '../vectors.js';

/** @import {Answers, LoadedEngine} from '../../engine/contract.js' */
/** @import {BatchOptions, CallOptions, LeftOut, Options, Prediction, RemoteMethods} from '../classifier/options.js' */
/** @import {Vector} from '../vectors.js' */
/** @typedef {{group?: string, thumbnail?: Uint8Array} & CallOptions} AddOptions thumbnail: bytes of a small picture, kept with the example */

/**
 * @template [Input=unknown]
 * @implements {RemoteMethods<Input>}
 */
export class StoredClassifier {
  #engine;
  #extractor;

  /** @internal @param {LoadedEngine} engine @param {Options<Input>['extractor']} [extractor] */
  constructor(engine, extractor) {
    this.#engine = engine;
    this.#extractor = extractor;
  }

  /** @param {Input | Vector} x @param {CallOptions} [options] @returns {Promise<Float32Array>} */
  async embed(x, options) {
    known(options, CALL);
    return Float32Array.from(await embedded(this.#extractor, x, options?.signal));
  }

  /** @param {Iterable<Input | Vector>} batch @param {AbortSignal} [signal] */
  async #embedAll(batch, signal) { return (await embeddedAll(this.#extractor, batch, signal)).map((one) => Float32Array.from(one)); }

  /** What was asked for last, once it has changed what is taught, which is before it is stored. @type {Promise<unknown>} */
  #before = Promise.resolve();

  /**
   * Makes a change after those that were asked for before it: what it looks up is what they leave.
   *
   * @template Found, T
   * @param {() => Promise<Found>} look @param {(found: Found) => Promise<T>} change
   * @returns {Promise<T>}
   */
  async #after(look, change) {
    const found = this.#before.then(look);
    this.#before = found.catch(() => {});
    return change(await found);
  }

  /** The id of the class of a label. @param {string} label */
  async #class(label) {
    const found = await this.#engine.label(label);
    if (!found.class) throw new MetaqdaError('label', `There is no class “${found.name}”: add it first.`);
    return found.class;
  }

  /** @param {string} id */
  async #holding(id) {
    const { class: found } = await this.#engine.holding(id);
    if (!found) throw new MetaqdaError('example', 'There is no such example: it was removed, or belongs to another session.');
    return found;
  }

  /** @param {Input | Vector} x @param {string} label @param {AddOptions} [options] @returns {Promise<string>} */
  async addExample(x, label, options) {
    known(options, KEPT);
    return (await this.addExamples([x], [label], options))[0];
  }

  /** @param {Iterable<Input | Vector>} batch @param {Iterable<string>} labels one for each @param {AddOptions} [options] @returns {Promise<string[]>} */
  async addExamples(batch, labels, options) {
    known(options, KEPT);
    const { group, thumbnail, signal } = options ?? {};
    const [all, names] = labelled(batch, labels);
    signal?.throwIfAborted();
    const vectors = all.every(isVector) ? all.map((x) => Float32Array.from(vectorOf(x))) : await this.#embedAll(all, signal); // vectors are added before what is asked next
    return (await this.#after(async () => {}, () => this.#engine.addExamples(names, vectors, thumbnail ?? null, group ?? ''))).ids;
  }

  /** @param {string} id @returns {Promise<void>} */
  async removeExample(id) { await this.#after(() => this.#holding(id), (from) => this.#engine.removeExample(from, id)); }

  /** @param {string} id @param {string} label @returns {Promise<void>} */
  async moveExample(id, label) {
    await this.#after(() => Promise.all([this.#holding(id), this.#class(label)]), ([from, to]) => this.#engine.moveExample(from, id, to));
  }

  /** @param {string} label @returns {Promise<void>} */
  async addClass(label) { await this.#after(async () => {}, () => this.#engine.addClass(label)); }

  /** @param {string} label @returns {Promise<void>} */
  async removeClass(label) { await this.#after(() => this.#class(label), (id) => this.#engine.removeClass(id)); }

  /** @param {string} label @param {string} to @returns {Promise<void>} */
  async renameClass(label, to) { await this.#after(() => this.#class(label), (id) => this.#engine.renameClass(id, to)); }

  /** @param {string} label @param {string} into @returns {Promise<void>} */
  async mergeClasses(label, into) {
    await this.#after(() => Promise.all([this.#class(label), this.#class(into)]), ([id, to]) => this.#engine.mergeClasses(id, to));
  }

  /** @returns {Promise<boolean>} */
  async undo() { return (await this.#after(async () => {}, () => this.#engine.undo())).name !== ''; }

  /** @returns {Promise<boolean>} */
  async redo() { return (await this.#after(async () => {}, () => this.#engine.redo())).name !== ''; }

  /** @param {Input | Vector} x @param {CallOptions} [options] @returns {Promise<Prediction>} */
  async predict(x, options) {
    const answer = await this.#engine.predict(await this.embed(x, options));
    if (!answer) throw empty();
    const { classes, none, decision } = answer;
    const p = classes.map(({ probability }) => probability);
    return prediction(classes.map(({ name }) => name), [none, ...p, classes.findIndex(({ id }) => id === decision.class), Number(decision.doubtful)], 0, decision.headline);
  }

  /** @param {Float64Array | Float32Array | number[]} dst @param {Vector} vector @returns {Promise<number>} */
  async predictInto(dst, vector) {
    const answer = await this.#engine.predict(Float32Array.from(vectorOf(vector)));
    if (!answer) throw empty();
    roomIn(dst, answer.classes.length);
    answer.classes.forEach(({ probability }, i) => { dst[i] = probability; });
    return answer.none;
  }

  /** @param {Iterable<Input | Vector>} batch @param {CallOptions} [options] @returns {Promise<Prediction[]>} */
  async predictMany(batch, options) {
    known(options, CALL);
    const all = [];
    for (const x of listOf(batch, 'batch')) all.push(await this.predict(x, options));
    return all;
  }

  /** In a worker, in Node.js in slices. @param {Iterable<Input | Vector>} batch @param {BatchOptions} [options] @returns {Promise<Prediction[]>} */
  async classify(batch, options) {
    known(options, BATCH);
    if (typeof Worker === 'undefined') return this.#copied((copy) => copy.classify(batch, options));
    const { classes } = await this.#engine.state();
    const names = new Map(classes.map(({ id, name }) => [id, name]));
    return this.#batch(batch, options, async (_, { classes: ids, probabilities, taken, doubtful, headlines }) => {
      if (!probabilities) throw empty();
      const each = ids.length + 1;
      return headlines.map((headline, i) => prediction(ids.map((id) => names.get(id) ?? ''), [...probabilities.subarray(i * each, (i + 1) * each), taken[i], doubtful[i]], 0, headline));
    });
  }

  /** As classify. @param {Iterable<Input | Vector>} batch @param {{count?: number} & BatchOptions} [options] @returns {Promise<number[]>} */
  async suggest(batch, options) {
    known(options, SUGGEST);
    if (typeof Worker === 'undefined') return this.#copied((copy) => copy.suggest(batch, options));
    return this.#batch(batch, options, (asked, _, n) => asked.suggest(options?.count ?? n));
  }

  /**
   * @template T
   * @param {Iterable<Input | Vector>} batch @param {BatchOptions | undefined} options
   * @param {(asked: Batch, answers: Answers, n: number) => Promise<T[]>} read
   * @returns {Promise<T[]>}
   */
  async #batch(batch, { onProgress, signal } = {}, read) {
    const vectors = await this.#embedAll(batch, signal);
    if (vectors.length === 0) return [];
    const asked = new Batch(this.#engine, { onProgress });
    const stop = () => asked.close();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const answers = await read(asked, await asked.classify(vectors), vectors.length);
      onProgress?.({ done: vectors.length, total: vectors.length });
      return answers;
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      signal?.removeEventListener('abort', stop);
      asked.close();
    }
  }

  /** @returns {Promise<LeftOut[]>} */
  leaveOneOut() { return this.#copied((copy) => copy.leaveOneOut()); }

  /**
   * A new classifier with what both were taught, in memory: `importSession` of the storage keeps what its `save` answers.
   *
   * @param {Classifier<any> | StoredClassifier<any>} other
   * @returns {Promise<Classifier<Input>>}
   */
  merge(other) { return this.#copied((copy) => (other instanceof StoredClassifier ? other.#copied((too) => copy.merge(too)) : copy.merge(other))); }

  /** Asks a copy in memory, a Classifier. @template T @param {(copy: Classifier<Input>) => T | Promise<T>} ask @returns {Promise<T>} */
  async #copied(ask) {
    const { classifier, prior } = await this.#engine.batchInput();
    const copy = await openClassifier(classifier, { ...this.#extractor && { extractor: this.#extractor }, ...prior && { prior } });
    try {
      return await ask(copy);
    } finally {
      copy.dispose();
    }
  }

  async #state() { return this.#engine.state(); }

  /** @returns {Promise<string[]>} */
  get labels() { return this.#state().then(({ classes }) => classes.map(({ name }) => name)); }

  /** @returns {Promise<Record<string, number>>} */
  get counts() { return this.#state().then(({ classes }) => record(classes.map(({ name }) => name), (i) => classes[i].examples.length)); }

  /** What undo and redo would be about, in plain words, empty for nothing. @returns {Promise<{undo: string, redo: string}>} */
  get steps() { return this.#state().then(({ undo, redo }) => ({ undo, redo })); }

  /** @returns {Promise<number>} */
  get dimension() { return this.#state().then(({ dimension }) => dimension); }

  /** @returns {Promise<{nonePrior: number}>} */
  get settings() { return this.#state().then(({ nonePrior }) => ({ nonePrior })); }

  /** @param {string} label @returns {Promise<string>} */
  async label(label) { return (await this.#known(label)).name; }

  /** @param {string} label @returns {Promise<string[]>} */
  async examples(label) { return (await this.#known(label)).examples.map(({ id }) => id); }

  /** The class of a label, or what there is of a new one. @param {string} label */
  async #known(label) {
    const { name, class: id } = await this.#engine.label(label);
    return (await this.#engine.state()).classes.find((one) => one.id === id) ?? { name, examples: [] };
  }

  /** @param {{nonePrior?: number}} changes @returns {Promise<void>} */
  async configure(changes) {
    known(changes, SETTINGS);
    await this.#engine.configure(changes);
  }

  /** @returns {Promise<Uint8Array<ArrayBuffer>>} */
  async save() { return this.#engine.saveSession(); }

  /** @returns {Promise<Uint8Array<ArrayBuffer>>} */
  async export() { return this.#engine.exportClassifier(); }

  /** Calls afterwards are refused. What was taught stays, and so does the storage. */
  async dispose() { this.#engine = GONE; }
}

const empty = () => new MetaqdaError('empty', 'No class has an example yet: add at least one to a class.');

const GONE = /** @type {LoadedEngine} */ (new Proxy({}, { get() { throw new MetaqdaError('disposed', 'This classifier was disposed of: its storage has another one after it is opened anew.'); } }));
