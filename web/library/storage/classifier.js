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
import { known, SETTINGS } from '../classifier/options.js';
import { embedded, embeddedAll, vectorOf } from '../vectors.js';

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
  async embed(x, options) { return Float32Array.from(await embedded(this.#extractor, x, options)); }

  /** @param {Iterable<Input | Vector>} batch @param {CallOptions} [options] */
  async #embedAll(batch, options) { return (await embeddedAll(this.#extractor, batch, options)).map((one) => Float32Array.from(one)); }

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
  async addExample(x, label, options) { return (await this.addExamples([x], [label], options))[0]; }

  /** @param {Iterable<Input | Vector>} batch @param {Iterable<string>} labels one for each @param {AddOptions} [options] @returns {Promise<string[]>} */
  async addExamples(batch, labels, options = {}) {
    known(options, ['group', 'thumbnail', 'signal']);
    const { group = '', thumbnail, signal } = options;
    const [vectors, names] = [await this.#embedAll(batch, { signal }), [...labels]];
    if (vectors.length !== names.length) throw new MetaqdaError('argument', `There are ${vectors.length} examples and ${names.length} labels: give one label for each.`);
    /** @type {string[]} */
    const ids = [];
    await this.#engine.beginStep();
    try {
      for (const [i, vector] of vectors.entries()) {
        let { class: id } = await this.#engine.label(names[i]);
        if (!id) ({ id } = await this.#engine.addClass(names[i]));
        ids.push((await this.#engine.addExample(id, vector, thumbnail ?? null, group)).id);
      }
    } catch (error) {
      await this.#engine.cancelStep(); // all or none
      throw error;
    }
    await this.#engine.endStep();
    return ids;
  }

  /** @param {string} id @returns {Promise<void>} */
  async removeExample(id) { await this.#engine.removeExample(await this.#holding(id), id); }

  /** @param {string} id @param {string} label @returns {Promise<void>} */
  async moveExample(id, label) { await this.#engine.moveExample(await this.#holding(id), id, await this.#class(label)); }

  /** @param {string} label @returns {Promise<void>} */
  async addClass(label) { await this.#engine.addClass(label); }

  /** @param {string} label @returns {Promise<void>} */
  async removeClass(label) { await this.#engine.removeClass(await this.#class(label)); }

  /** @param {string} label @param {string} to @returns {Promise<void>} */
  async renameClass(label, to) { await this.#engine.renameClass(await this.#class(label), to); }

  /** @param {string} label @param {string} into @returns {Promise<void>} */
  async mergeClasses(label, into) { await this.#engine.mergeClasses(await this.#class(label), await this.#class(into)); }

  /** @returns {Promise<boolean>} */
  async undo() { return (await this.#engine.undo()).name !== ''; }

  /** @returns {Promise<boolean>} */
  async redo() { return (await this.#engine.redo()).name !== ''; }

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
    answer.classes.slice(0, dst.length).forEach(({ probability }, i) => { dst[i] = probability; });
    return answer.none;
  }

  /** @param {Iterable<Input | Vector>} batch @param {CallOptions} [options] @returns {Promise<Prediction[]>} */
  async predictMany(batch, options) {
    const all = [];
    for (const x of batch) all.push(await this.predict(x, options));
    return all;
  }

  /** In a worker. @param {Iterable<Input | Vector>} batch @param {BatchOptions} [options] @returns {Promise<Prediction[]>} */
  async classify(batch, options) {
    const { classes } = await this.#engine.state();
    const names = new Map(classes.map(({ id, name }) => [id, name]));
    return this.#batch(batch, options, async (_, { classes: ids, probabilities, taken, doubtful, headlines }) => {
      if (!probabilities) throw empty();
      const each = ids.length + 1;
      return headlines.map((headline, i) => prediction(ids.map((id) => names.get(id) ?? ''), [...probabilities.subarray(i * each, (i + 1) * each), taken[i], doubtful[i]], 0, headline));
    });
  }

  /** In a worker. @param {Iterable<Input | Vector>} batch @param {{count?: number} & BatchOptions} [options] @returns {Promise<number[]>} */
  async suggest(batch, { count, ...options } = {}) { return this.#batch(batch, options, (asked, _, n) => asked.suggest(count ?? n)); }

  /**
   * @template T
   * @param {Iterable<Input | Vector>} batch @param {BatchOptions | undefined} options
   * @param {(asked: Batch, answers: Answers, n: number) => Promise<T[]>} read
   * @returns {Promise<T[]>}
   */
  async #batch(batch, { onProgress, signal } = {}, read) {
    const vectors = await this.#embedAll(batch, { signal });
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
