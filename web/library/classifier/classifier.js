// @ts-check
/** A classifier: what was taught, and what things are taken for. create.js makes them. */
import { MetaqdaError } from '../../base/remote.js';
import { rests } from '../../base/task.js';
import { answered, DECISION, prepared } from '../../engine/job.js';
import { byView, checkCells, describe, influenceOf, leftOut, nearOf, prediction, record } from './answers.js';
import { adding, atOnce, inPieces } from './adding.js';
import { ADD, BATCH, CALL, EXAMPLE, EXPLAIN, known, SET, SETTINGS, SUGGEST, text } from './options.js';
import { Watch } from './watch.js';
import { embedded, embeddedAll, isVector, labelled, listOf, roomIn, vectorOf } from '../vectors.js';

/** @import {Exports} from '../../engine/exports.js' */
/** @import {Anomaly, BatchOptions, CallOptions, ExampleOptions, Explanation, Extractor, Influence, LeftOut, Near, Need, Options, PredictedSet, Prediction} from './options.js' */
/** @import {Cells} from '../../extractor/session.js' */
/** @import {Vector} from '../vectors.js' */
/** @import {WatchOptions} from './watch.js' */

/**
 * A classifier. Methods that may read an input or take long return promises. Those named …Sync, and those for cells, are synchronous.
 * Get one from `createClassifier` or `openClassifier`.
 *
 * @template [Input=unknown]
 */
export class Classifier {
  #engine;
  #handle;
  #extractor;
  /** What the engine says of itself, null after a change. @type {ReturnType<typeof describe> | null} */
  #state = null;
  /** The engine's version then. */
  #seen = 0;
  #onNote;
  #noteFrom = 3; // examples, and twice as many each time that there is nothing to note

  /** @internal @param {Exports} engine @param {number} handle @param {Options<Input>['extractor']} extractor @param {Options<Input>['onNote']} [onNote] */
  constructor(engine, handle, extractor, onNote) {
    this.#engine = engine;
    this.#onNote = extractor ? undefined : onNote;
    this.#handle = handle;
    this.#extractor = typeof extractor === 'function' ? { embed: extractor } : extractor;
    const { id, sha256 = '' } = /** @type {Extractor<Input>} */ (this.#extractor ?? {});
    if (!id) return;
    try {
      const [n, m] = engine.write(null, id, sha256);
      this.#call('mq_identify', n, m);
    } catch (error) {
      engine.free('mq_free', handle);
      throw error;
    }
  }

  /** @param {string} name @param {...number} args */
  #call(name, ...args) {
    return this.#engine.call(name, this.#handle, ...args);
  }

  /** @param {string} name @param {...number} args */
  #change(name, ...args) {
    this.#state = null;
    return this.#call(name, ...args);
  }

  #described() {
    if (this.#state && this.#seen === this.#engine.version) return this.#state;
    this.#seen = this.#engine.version;
    this.#engine.reserve(0);
    this.#state = describe(this.#engine.reply(this.#call('mq_describe')));
    this.#note(this.#state.examples.flat().length);
    return this.#state;
  }

  /** Tells once where a scale would help. @param {number} examples */
  #note(examples) {
    if (!this.#onNote || examples < this.#noteFrom) return;
    this.#noteFrom = 2 * examples;
    if (!this.#call('mq_unscaled')) return;
    this.#onNote(
      "metaqda: These vectors look like rows of a table: their lengths, or the spreads of their columns, differ a lot. If they are, create the classifier with the option scale: 'standardise'.",
    );
    this.#onNote = undefined;
  }

  /** The vector of an input. @param {Input | Vector} x @param {CallOptions} [options] @returns {Promise<ArrayLike<number>>} */
  async embed(x, options) {
    known(options, CALL);
    return embedded(this.#extractor, x, options?.signal);
  }

  /**
   * Adds an example to a class, which comes into being with its first one, and returns the example's id. Examples of
   * a class with the same `group` are frames of one burst, or views of one thing, and count as one.
   *
   * @param {Input | Vector} x @param {string} label @param {ExampleOptions & CallOptions} [options]
   * @returns {Promise<string>}
   */
  async addExample(x, label, options) {
    known(options, ADD);
    const { signal, ...of } = options ?? {};
    return this.addExampleSync(isVector(x) ? x : await embedded(this.#extractor, x, signal), label, of);
  }

  /** `addExample` for a vector. @param {Vector} vector @param {string} label @param {ExampleOptions} [options] @returns {string} */
  addExampleSync(vector, label, options) {
    known(options, EXAMPLE);
    const x = vectorOf(vector);
    const lengths = this.#engine.write(x, text(label, 'label'), options?.group ?? '', options?.thumbnail ?? '');
    return this.#text(this.#change('mq_add', x.length, ...lengths));
  }

  /**
   * Adds many examples, all or none, as one step. The thread is left free in between; the classifier has them once the
   * promise resolves.
   *
   * @param {Iterable<Input | Vector>} batch @param {Iterable<string>} labels one for each @param {ExampleOptions & CallOptions} [options]
   * @returns {Promise<string[]>}
   */
  async addExamples(batch, labels, options) {
    known(options, ADD);
    const { signal, ...of } = options ?? {};
    const [all, names] = labelled(batch, labels);
    const vectors = all.every(isVector) ? all : await embeddedAll(this.#extractor, all, signal);
    return inPieces(this.#engine, this.#adding(vectors, names, of), signal);
  }

  /** `addExamples` for vectors, at once. @param {Iterable<Vector>} vectors @param {Iterable<string>} labels @param {ExampleOptions} [options] @returns {string[]} */
  addExamplesSync(vectors, labels, options) {
    known(options, EXAMPLE);
    return atOnce(this.#adding(...labelled(vectors, labels), options));
  }

  /** @param {Vector[]} vectors @param {string[]} labels @param {ExampleOptions} [options] */
  #adding(vectors, labels, options) {
    return adding(
      this.#engine,
      () => this.#handle,
      (name, ...args) => this.#change(name, ...args),
      vectors,
      labels,
      options,
    );
  }

  /** Removes one example: what is left answers as if it had never been there. @param {string} id */
  removeExample(id) {
    this.#do('mq_remove', text(id, 'id'));
  }

  /** Moves an example to the end of another class. @param {string} id @param {string} label */
  moveExample(id, label) {
    this.#do('mq_move', text(id, 'id'), text(label, 'label'));
  }

  /** Adds a class without examples. @param {string} label */
  addClass(label) {
    this.#do('mq_add_class', text(label, 'label'));
  }

  /** Removes a class with its examples. @param {string} label */
  removeClass(label) {
    this.#do('mq_remove_class', text(label, 'label'));
  }

  /** Changes a label and nothing else. @param {string} label @param {string} to */
  renameClass(label, to) {
    this.#do('mq_rename_class', text(label, 'label'), text(to, 'label'));
  }

  /** Moves all examples of a class to another one and removes it. @param {string} label @param {string} into */
  mergeClasses(label, into) {
    this.#do('mq_merge_classes', text(label, 'label'), text(into, 'label'));
  }

  /**
   * Sets what happens when a class comes and goes. The text is for the program that does it; files keep it.
   *
   * @param {string | null} label null for none of the classes @param {string} actions empty for nothing
   */
  setActions(label, actions) {
    this.#do('mq_set_actions', label === null ? '' : text(label, 'label'), text(actions, 'actions'));
  }

  /**
   * Takes back the last change of classes or examples, and returns its name, such as "add an example to cup". It returns
   * an empty text if there is none. The last hundred changes can be taken back.
   *
   * @param {string} [step] takes back this change instead: the id that `stored` of a storage gave
   * @returns {string}
   */
  undo(step = '') {
    return this.#text(this.#do('mq_undo', text(step, 'step')));
  }

  /** Does again what was undone last, until something else is changed, and says what it was about; empty if there is nothing. @returns {string} */
  redo() {
    return this.#text(this.#do('mq_redo'));
  }

  /** What undo and redo would be about, in plain words, empty for nothing. @returns {{undo: string, redo: string}} */
  get steps() {
    const { undo, redo } = this.#described();
    return { undo, redo };
  }

  /** Calls a function that changes it by texts. @param {string} name @param {...string} words */
  #do(name, ...words) {
    return this.#change(name, ...this.#engine.write(null, ...words));
  }

  /** The reply of n bytes. @param {number} n */
  #text(n) {
    return this.#engine.text(n);
  }

  /**
   * What x is, and how surely.
   *
   * @param {Input | Vector} x @param {CallOptions} [options]
   * @returns {Promise<Prediction>}
   */
  async predict(x, options) {
    const vector = await this.embed(x, options);
    await prepared(this.#engine, () => this.#call('mq_prepare') === 1, options?.signal);
    return this.predictSync(vector);
  }

  /** `predict` for a vector. The first one after a change blocks longer. @param {Vector} vector @returns {Prediction} */
  predictSync(vector) {
    this.#ask(vector);
    const headline = this.#text(this.#call('mq_decide'));
    return prediction(this.#described().labels, this.#engine.doubles, this.#engine.answer(), headline);
  }

  /**
   * The smallest set of labels that contains the right one with the probability `coverage`, by conformal prediction with
   * each example left out. The first one after a change leaves out up to 200, in slices.
   *
   * @param {Input | Vector} x @param {{coverage?: number} & CallOptions} [options] coverage: 0.9 if left out
   * @returns {Promise<PredictedSet>}
   */
  async predictSet(x, options) {
    known(options, SET);
    const { coverage = 0.9, signal } = options ?? {};
    const vector = await this.embed(x, { signal });
    for (const piece of ['mq_prepare', 'mq_prepare_set']) await prepared(this.#engine, () => this.#call(piece) === 1, signal);
    const answer = this.predictSync(vector); // which says that there are no examples
    const n = this.#call('mq_set', coverage);
    const at = this.#engine.answer();
    const [examples, borrowed, ...classes] = this.#engine.doubles.subarray(at, at + 2 + n);
    const { labels } = this.#described();
    return { labels: classes.map((i) => labels[i] ?? null), examples, borrowed: borrowed === 1, prediction: answer };
  }

  /**
   * `predict` for each of many, one by one; `classify` judges them together.
   *
   * @param {Iterable<Input | Vector>} batch @param {CallOptions} [options]
   * @returns {Promise<Prediction[]>}
   */
  async predictMany(batch, options) {
    known(options, CALL);
    const rest = rests(options?.signal);
    const all = [];
    for (const x of listOf(batch, 'batch')) {
      all.push(await this.predict(x, options));
      await rest();
    }
    return all;
  }

  /**
   * `predict` for a vector, without making an object: it stores the probabilities of the classes in the order of
   * `labels`, and returns that of none.
   *
   * @param {Float64Array | Float32Array | number[]} dst @param {Vector} vector
   * @returns {number}
   */
  predictInto(dst, vector) {
    const at = this.#ask(vector);
    roomIn(dst, this.#asked - 1);
    const { doubles } = this.#engine;
    for (let i = 0, n = this.#asked - 1; i < n; i++) dst[i] = doubles[at + 1 + i];
    return doubles[at];
  }

  #asked = 0;

  /** @param {Vector} vector @returns {number} where the answer begins in the engine's numbers */
  #ask(vector) {
    const x = vectorOf(vector);
    const engine = this.#engine;
    engine.reserve(4 * x.length);
    engine.floats.set(x, engine.room / 4);
    this.#asked = engine.call('mq_predict', this.#handle, 1, x.length);
    return engine.answer();
  }

  /**
   * The examples nearest to a vector, the closest first. Frames of one burst are represented by the first one.
   *
   * @param {Vector} vector @param {number} [count] how many at most
   * @returns {Near[]}
   */
  nearest(vector, count = 4) {
    const x = vectorOf(vector);
    this.#engine.write(x);
    const lines = this.#text(this.#call('mq_nearest', x.length, count));
    const at = this.#engine.answer();
    return lines === '' ? [] : nearOf(this.#engine.doubles, at, lines.split('\n'));
  }

  /**
   * Which places of a picture speak for a class, and how much. The network is not run again.
   *
   * @param {Cells} cells what the method `cells` of an extractor answers
   * @param {{label?: string, against?: string | null}} [options] label: the most probable class if left out; against:
   *   another class, or none of the classes if left out or null
   * @returns {Explanation}
   */
  explain(cells, options) {
    known(options, EXPLAIN);
    const { values, dimension } = checkCells(cells);
    const label = options?.label === undefined ? this.predictSync(cells.embedding).label : this.label(options.label);
    const against = options?.against === undefined || options.against === null ? null : this.label(options.against);
    const { labels } = this.#described();
    for (const one of [label, against])
      if (one !== null && !labels.includes(one)) throw new MetaqdaError('argument', `There is no class '${one}': choose among ${labels.join(', ')}.`);
    const engine = this.#engine;
    engine.write(values);
    const n = this.#call('mq_explain', values.length / dimension, dimension, labels.indexOf(label), against === null ? -1 : labels.indexOf(against));
    const at = engine.answer();
    const [score, rest, ...parts] = engine.doubles.subarray(at, at + n);
    return { label, against, score, rest, views: byView(parts, cells.views) };
  }

  /**
   * Tells the places of the picture that an example was made of, so that `anomaly` can compare with them. 128 bytes of
   * each are kept, of the last 64 pictures; files do not have them.
   *
   * @param {string} id of the example @param {Cells} cells what the method `cells` of an extractor answers
   */
  setCells(id, cells) {
    const { values, dimension } = checkCells(cells);
    const [m] = this.#engine.write(values, text(id, 'id'));
    this.#call('mq_set_cells', values.length / dimension, dimension, m);
  }

  /** Ids of the examples whose places `anomaly` lacks; none if more than one class has examples. @returns {string[]} */
  get withoutCells() {
    this.#engine.reserve(0);
    const ids = this.#text(this.#call('mq_without_cells'));
    return ids === '' ? [] : ids.split('\n');
  }

  /**
   * Whether a picture is like the examples of the only class: whether it is all right, if these are. It takes three
   * examples whose cells are told.
   *
   * @param {Cells} cells
   * @returns {Anomaly}
   */
  anomaly(cells) {
    const { values, dimension } = checkCells(cells);
    const engine = this.#engine;
    engine.write(values);
    const n = this.#call('mq_anomaly', values.length / dimension, dimension);
    const at = engine.answer();
    const [wrong, good, ...parts] = engine.doubles.subarray(at, at + n);
    return { wrong, good, views: byView(parts, cells.views) };
  }

  /** Watches a stream of predictions, such as those of a camera, and says what comes and goes. @param {WatchOptions} [options] @returns {Watch} */
  watch(options) {
    return new Watch(this.#engine, this.#handle, () => this.#described().labels, options);
  }

  /**
   * What each of a batch is, in their order, judged together. What is probably of a class tells what the class looks like,
   * so answers are right more often than one by one. That helps most with few examples. No vector is judged by itself,
   * `none` is that of `predict`, and what was taught stays as it is. The thread is left free in between.
   *
   * @param {Iterable<Input | Vector>} batch @param {BatchOptions} [options]
   * @returns {Promise<Prediction[]>}
   */
  async classify(batch, options) {
    return this.#batch(batch, options, 'mq_classify', [], (numbers, labels, headlines) => {
      const each = 1 + labels.length + DECISION;
      return Array.from({ length: numbers.length / each }, (_, i) => prediction(labels, numbers, i * each, headlines[i]));
    });
  }

  /**
   * Which of a batch tell most once they are labelled, the best one first, by their places in it: those that leave the
   * least of the others unlike anything taught. Nothing need be taught before.
   *
   * @param {Iterable<Input | Vector>} batch
   * @param {{count?: number} & BatchOptions} [all] count: how many, all if left out; of more than 1,024 so many at
   *   equal steps are looked at
   * @returns {Promise<number[]>}
   */
  async suggest(batch, all) {
    known(all, SUGGEST);
    const { count, ...options } = all ?? {};
    return this.#batch(batch, options, 'mq_suggest', [Math.min(count ?? Infinity, 2 ** 31 - 1)], (numbers) => Array.from(numbers));
  }

  /**
   * @template T
   * @param {Iterable<Input | Vector>} batch
   * @param {BatchOptions | undefined} options
   * @param {string} name @param {number[]} args after those for the vectors
   * @param {(numbers: Float64Array, labels: string[], lines: string[]) => T[]} read as of answered
   */
  async #batch(batch, options, name, args, read) {
    known(options, BATCH);
    const { onProgress, signal } = options ?? {};
    signal?.throwIfAborted();
    const all = listOf(batch, 'batch');
    if (all.length === 0) return [];
    let total = all.length;
    let done = 0;
    for (const x of all) if (!isVector(x)) total++;
    const engine = this.#engine;
    const rest = rests(signal);
    this.#described(); // beforehand, unless something changes meanwhile
    /** @type {Float32Array | undefined} */
    let rows;
    let d = 0;
    for (const [i, x] of all.entries()) {
      const vector = await embedded(this.#extractor, x, signal);
      if (!rows) {
        d = vector.length;
        rows = new Float32Array(all.length * d);
      }
      if (vector.length !== d)
        throw new MetaqdaError('dimension', `Vector ${i} of the batch has ${vector.length} numbers, the first one ${d}: use one extractor for all of them.`);
      rows.set(vector, i * d);
      if (!isVector(x)) onProgress?.({ done: ++done, total });
      await rest();
    }
    engine.write(/** @type {Float32Array} */ (rows));
    const { labels } = this.#described();
    return answered(engine, this.#call(name, all.length, d, ...args), labels, options, read, done, all.length);
  }

  /**
   * Leaves each example out in turn: how well the classifier knows its own classes. Frames of one burst are left out
   * together. Progress is counted in examples, and the thread is left free in between.
   *
   * @param {BatchOptions} [options]
   * @returns {Promise<LeftOut[]>}
   */
  async leaveOneOut(options) {
    known(options, BATCH);
    options?.signal?.throwIfAborted();
    const { labels, examples } = this.#described();
    this.#engine.reserve(0);
    return answered(this.#engine, this.#call('mq_leave_one_out'), labels, options, leftOut, 0, examples.flat().length);
  }

  /**
   * The examples that probably spoil others, such as those in the wrong class: at most 12 that another class fits better,
   * the worst first, and how the answers to all others change without each. `removeExample` leaves one out, and `undo`
   * brings it back. Frames of one burst are left out together. Progress and slices are those of `leaveOneOut`.
   *
   * @param {BatchOptions} [options]
   * @returns {Promise<Influence[]>}
   */
  async influence(options) {
    return (await this.#influence(MOST_INFLUENCE, options)).influence;
  }

  /**
   * The class that needs another example most, null while fewer than two have any. Progress and slices are those of
   * `leaveOneOut`. After `influence` it is known, until something changes.
   *
   * @param {BatchOptions} [options]
   * @returns {Promise<Need | null>}
   */
  async needs(options) {
    return (await this.#influence(0, options)).need;
  }

  /** @param {number} most @param {BatchOptions | undefined} options */
  async #influence(most, options) {
    known(options, BATCH);
    options?.signal?.throwIfAborted();
    const { labels, examples } = this.#described();
    this.#engine.reserve(0);
    const [found] = await answered(
      this.#engine,
      this.#call('mq_influence', most),
      labels,
      options,
      (...all) => [influenceOf(...all)],
      0,
      examples.flat().length,
    );
    return found;
  }

  /** Names of the classes in the order they were added. @returns {string[]} */
  get labels() {
    return [...this.#described().labels];
  }

  /** How many examples each class has. @returns {Record<string, number>} */
  get counts() {
    return record(this.#described().labels, (i) => this.#described().examples[i].length);
  }

  /** A label as it is kept: of the class that has it, or one that people take for the same, or else of a new class. @param {string} label @returns {string} */
  label(label) {
    this.#engine.writeTexts([text(label, 'label')]);
    return this.#text(this.#call('mq_labels', 1));
  }

  /** Whether there is a class of a label, or of one that people take for the same. @param {string} label @returns {boolean} */
  has(label) {
    const [n] = this.#engine.write(null, text(label, 'label'));
    return this.#call('mq_has', n) === 1;
  }

  /** Ids of a class's examples. @param {string} label @returns {string[]} */
  examples(label) {
    const i = this.#described().labels.indexOf(this.label(label));
    return i < 0 ? [] : [...this.#described().examples[i]];
  }

  /** Numbers per vector, 0 while no example and no prior has settled it. @returns {number} */
  get dimension() {
    return this.#described().dimension;
  }

  /** Settings in force. @returns {{nonePrior: number, scale?: 'standardise'}} */
  get settings() {
    return { ...this.#described().settings };
  }

  /** Changes settings; what is left out stays. @param {{nonePrior?: number}} changes */
  configure(changes) {
    known(changes, SETTINGS);
    this.#change('mq_configure', changes?.nonePrior ?? this.settings.nonePrior);
  }

  /** The bytes of a file: vectors, classes and settings, no pictures; a prior is named in it, not held. @returns {Uint8Array<ArrayBuffer>} */
  save() {
    this.#engine.reserve(0);
    return this.#engine.reply(this.#call('mq_save'));
  }

  /**
   * The bytes of a file for programs without metaqda: what this classifier answers by now, in the safetensors format,
   * complete in itself. Some lines of Python or JavaScript read it; the README of `web/share` has them.
   *
   * @returns {Uint8Array<ArrayBuffer>}
   */
  export() {
    this.#engine.reserve(0);
    return this.#engine.reply(this.#call('mq_export'));
  }

  /**
   * A new classifier with what both were taught, under the prior and the settings of this one. Classes of the same
   * label become one.
   *
   * @param {Classifier<any>} other
   * @returns {Classifier<Input>}
   */
  merge(other) {
    if (!(other instanceof Classifier)) throw new MetaqdaError('argument', 'Only a classifier can be merged with a classifier.');
    if (other.#engine !== this.#engine) throw new MetaqdaError('internal', 'The classifiers run in different engines: save one of them and open it again.');
    const handle = this.#call('mq_merge', other.#handle);
    this.#engine.share();
    return new Classifier(this.#engine, handle, this.#extractor);
  }

  /** Frees what the classifier holds. With the last one of a realm the engine's memory is free. Calls afterwards throw. */
  dispose() {
    if (this.#handle === 0) return;
    this.#engine.free('mq_free', this.#handle);
    this.#handle = 0;
    this.#state = null;
    this.#engine.release();
  }
}

// Each takes as long as leaveOneOut (MostInfluence of core/influence.go).
const MOST_INFLUENCE = 12;
