// @ts-check
/** The class Classifier, which learns from examples and predicts. create.js makes classifiers. */
import { MetaqdaError } from '../../base/remote.js';
import { rests } from '../../base/task.js';
import { answered, DECISION, prepared } from '../../engine/job.js';
import { byView, checkCells, describe, influenceOf, leftOut, nearOf, prediction, record } from './answers.js';
import { adding, atOnce, inPieces } from './adding.js';
import { ADD, BATCH, CALL, EXAMPLE, EXPLAIN, isCount, kindOf, known, SET, SETTINGS, SUGGEST, text } from './options.js';
import { Watch } from './watch.js';
import { checkLength, copied, embedded, embeddedAll, isVector, labelled, listOf, roomIn, vectorOf } from '../vectors.js';

/** @import {Exports} from '../../engine/exports.js' */
/** @import {Anomaly, BatchOptions, CallOptions, ExampleOptions, Explanation, Extractor, Influence, LeftOut, Near, Need, Options, PredictedSet, Prediction} from './options.js' */
/** @import {Cells} from '../../extractor/session.js' */
/** @import {Numbers, Vector} from '../vectors.js' */
/** @import {WatchOptions} from './watch.js' */

/**
 * A classifier, made by `createClassifier` or `openClassifier`. Methods that embed inputs or take long return promises.
 * All others are synchronous; some of these have a name that ends in Sync.
 *
 * @template [Input=unknown]
 */
export class Classifier {
  #engine;
  #handle;
  #extractor;
  /** Labels, examples and settings as read last, null after a change. @type {ReturnType<typeof describe> | null} */
  #state = null;
  /** The engine's version when they were read. */
  #seen = 0;
  #onNote;
  #noteFrom = 3; // the number of examples at which #note looks next; each look doubles it

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

  /** @returns {ReturnType<typeof describe>} */
  #described() {
    if (this.#state && this.#seen === this.#engine.version) return this.#state;
    this.#seen = this.#engine.version;
    this.#engine.reserve(0);
    const state = (this.#state = describe(this.#engine.reply(this.#call('mq_describe'))));
    this.#note(state.examples.flat().length);
    return this.#state === state ? state : this.#described(); // onNote may have changed it
  }

  /** Calls onNote once, if the option scale would probably help with these vectors. @param {number} examples */
  #note(examples) {
    if (!this.#onNote || examples < this.#noteFrom) return;
    this.#noteFrom = 2 * examples;
    if (!this.#call('mq_unscaled')) return;
    const onNote = this.#onNote;
    this.#onNote = undefined; // also where it throws
    onNote(
      "metaqda: These vectors look like rows of a table: their lengths, or the spreads of their columns, differ a lot. If they are, create the classifier with the option scale: 'standardise'.",
    );
  }

  /** The vector of an input. @param {Input | Vector} x @param {CallOptions} [options] @returns {Promise<Numbers>} */
  async embed(x, options) {
    known(options, CALL);
    return embedded(this.#extractor, x, options?.signal);
  }

  /**
   * Adds an example to a class, and returns the example's id. A new label makes a new class. Examples of a class with
   * the same `group` are frames of one burst, or views of one thing, and count as one.
   *
   * @param {Input | Vector} x @param {string} label @param {ExampleOptions & CallOptions} [options]
   * @returns {Promise<string>}
   */
  async addExample(x, label, options) {
    known(options, ADD);
    const { signal, ...of } = options ?? {};
    signal?.throwIfAborted();
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
   * Adds many examples, all or none, as one step. It works in slices and yields between them. The classifier has the
   * examples once the promise resolves. Vectors must not change until then.
   *
   * @param {Iterable<Input | Vector>} batch @param {Iterable<string>} labels one for each @param {ExampleOptions & CallOptions} [options]
   * @returns {Promise<string[]>}
   */
  async addExamples(batch, labels, options) {
    known(options, ADD);
    const { signal, ...of } = options ?? {};
    signal?.throwIfAborted();
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
    if (vectors.length === 0) this.#described(); // throws if it was disposed of
    return adding(
      this.#engine,
      () => this.#handle,
      (name, ...args) => this.#change(name, ...args),
      vectors,
      labels,
      options,
    );
  }

  /** Removes one example. The classifier then answers as if it had never been added. @param {string} id */
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
   * Sets a text that describes the actions when a class comes or goes. Only your program reads it; files keep it.
   *
   * @param {string | null} label null for none of the classes @param {string} actions empty for nothing
   */
  setActions(label, actions) {
    this.#do('mq_set_actions', label === null ? '' : this.label(label), text(actions, 'text of the actions'));
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

  /** Repeats the change that was undone last, and returns its name; empty if there is none, as after any other change. @returns {string} */
  redo() {
    return this.#text(this.#do('mq_redo'));
  }

  /** The names of the changes that undo would take back and redo would repeat, empty for none. @returns {{undo: string, redo: string}} */
  get steps() {
    const { undo, redo } = this.#described();
    return { undo, redo };
  }

  /** Calls a function of the engine that changes the classifier and takes texts. @param {string} name @param {...string} words */
  #do(name, ...words) {
    return this.#change(name, ...this.#engine.write(null, ...words));
  }

  /** The reply of n bytes. @param {number} n */
  #text(n) {
    return this.#engine.text(n);
  }

  /**
   * Predicts the class of x: the probability of each class and of none of these, and the decision.
   *
   * @param {Input | Vector} x @param {CallOptions} [options]
   * @returns {Promise<Prediction>}
   */
  async predict(x, options) {
    return this.#judged(await this.embed(copied(x), options), options);
  }

  /** @param {Vector} vector @param {CallOptions} [options] */
  async #judged(vector, options) {
    await prepared(this.#engine, () => this.#call('mq_prepare') === 1, options?.signal);
    return this.predictSync(vector);
  }

  /** `predict` for a vector. The first call after a change takes longer. @param {Vector} vector @returns {Prediction} */
  predictSync(vector) {
    const { labels } = this.#described(); // before the answer: onNote may ask the engine, too
    this.#ask(vector);
    const headline = this.#text(this.#call('mq_decide'));
    return prediction(labels, this.#engine.doubles, this.#engine.answer(), headline);
  }

  /**
   * The smallest set of labels that contains the right one with the probability `coverage`, by conformal prediction with
   * each example left out. The first call after a change leaves out up to 200 examples, and yields between slices.
   *
   * @param {Input | Vector} x @param {{coverage?: number | undefined} & CallOptions} [options] coverage: 0.9 if left out
   * @returns {Promise<PredictedSet>}
   */
  async predictSet(x, options) {
    known(options, SET);
    const { coverage = 0.9, signal } = options ?? {};
    const vector = await this.embed(copied(x), { signal });
    for (const piece of ['mq_prepare', 'mq_prepare_set']) await prepared(this.#engine, () => this.#call(piece) === 1, signal);
    const answer = this.predictSync(vector); // throws if there are no examples
    const n = this.#call('mq_set', coverage);
    const at = this.#engine.answer();
    const [examples, borrowed, ...classes] = this.#engine.doubles.subarray(at, at + 2 + n);
    const { labels } = this.#described();
    return { labels: classes.map((i) => labels[i] ?? null), examples, borrowed: borrowed === 1, prediction: answer };
  }

  /**
   * `predict` for each input of a batch, one by one; `classify` judges them together. Vectors must not change until the
   * promise resolves.
   *
   * @param {Iterable<Input | Vector>} batch @param {CallOptions} [options]
   * @returns {Promise<Prediction[]>}
   */
  async predictMany(batch, options) {
    known(options, CALL);
    options?.signal?.throwIfAborted();
    const rest = rests(options?.signal);
    this.#described(); // throws if it was disposed of
    const all = [];
    for (const [i, x] of listOf(batch, 'batch').entries()) {
      all.push(await this.#judged(await embedded(this.#extractor, x, options?.signal, i), options));
      await rest();
    }
    return all;
  }

  /**
   * `predict` for a vector, without making an object: it writes the probabilities of the classes into dst, in the order
   * of `labels`, and returns the probability of none of these.
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
   * The examples nearest to a vector, the closest first. The first frame stands for its burst.
   *
   * @param {Vector} vector @param {number} [count] how many at most
   * @returns {Near[]}
   */
  nearest(vector, count = 4) {
    const x = vectorOf(vector);
    if (!isCount(count)) throw new MetaqdaError('argument', `The count is ${kindOf(count)}: give a whole number from 0 on, or leave it out for 4.`);
    this.#engine.write(x);
    const lines = this.#text(this.#call('mq_nearest', x.length, Math.min(count, MOST)));
    const at = this.#engine.answer();
    return lines === '' ? [] : nearOf(this.#engine.doubles, at, lines.split('\n'));
  }

  /**
   * How much each place of a picture speaks for a class. The network is not run again.
   *
   * @param {Cells} cells what the method `cells` of an extractor answers
   * @param {{label?: string | undefined, against?: string | null | undefined}} [options] label: the most probable class if left out; against:
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
      if (one !== null && !labels.includes(one)) throw new MetaqdaError('label', `There is no class '${one}': choose among ${some(labels)}.`);
    const engine = this.#engine;
    engine.write(values);
    const n = this.#call('mq_explain', values.length / dimension, dimension, labels.indexOf(label), against === null ? -1 : labels.indexOf(against));
    const at = engine.answer();
    const [score, rest, ...parts] = engine.doubles.subarray(at, at + n);
    return { label, against, score, rest, views: byView(parts, cells.views) };
  }

  /**
   * Sets the cells of an example's picture, for `anomaly` to compare with. 128 bytes of each cell are kept, for at
   * most 64 pictures. Files do not have them.
   *
   * @param {string} id of the example @param {Cells} cells what the method `cells` of an extractor answers
   */
  setCells(id, cells) {
    const { values, dimension } = checkCells(cells);
    const [m] = this.#engine.write(values, text(id, 'id'));
    this.#call('mq_set_cells', values.length / dimension, dimension, m);
  }

  /** Ids of the examples for which `anomaly` lacks the cells; none if more than one class has examples. @returns {string[]} */
  get withoutCells() {
    this.#engine.reserve(0);
    const ids = this.#text(this.#call('mq_without_cells'));
    return ids === '' ? [] : ids.split('\n');
  }

  /**
   * The probability that a picture is not like the examples of the only class: that something is wrong with it, if they
   * are good ones. It needs at least three examples with `setCells`.
   *
   * @param {Cells} cells of the picture
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

  /** Watches a stream of predictions, such as those about a camera's frames, for events: a class has come, or has gone. @param {WatchOptions} [options] @returns {Watch} */
  watch(options) {
    return new Watch(this.#engine, this.#handle, () => this.#described().labels, options);
  }

  /**
   * Predicts all inputs of a batch, judged together. Inputs that are probably of a class serve as further examples of it.
   * So more answers are right than one by one, above all with few examples. No input serves as an example in its own
   * answer. `none` equals the `none` of `predict`, except with `scale`. The classifier does not change. It yields between
   * slices. Vectors must not change until the promise resolves.
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
   * The inputs of a batch that help most as the next examples, the best one first, by their indices. Each is chosen
   * so that the other inputs are most similar to an example or a chosen input. The classifier may be empty. Vectors
   * must not change until the promise resolves.
   *
   * @param {Iterable<Input | Vector>} batch
   * @param {{count?: number | undefined} & BatchOptions} [all] count: how many indices, all if left out; of a batch of more than 1,024
   *   only 1,024 at equal steps are looked at
   * @returns {Promise<number[]>}
   */
  async suggest(batch, all) {
    known(all, SUGGEST);
    const { count, ...options } = all ?? {};
    return this.#batch(batch, options, 'mq_suggest', [Math.min(count ?? MOST, MOST)], (numbers) => Array.from(numbers));
  }

  /**
   * Embeds a batch and calls a function of the engine that predicts it.
   *
   * @template T
   * @param {Iterable<Input | Vector>} batch
   * @param {BatchOptions | undefined} options
   * @param {string} name of the function @param {number[]} args after those for the vectors
   * @param {(numbers: Float64Array, labels: string[], lines: string[]) => T[]} read reads some of the answers, see `answered`
   */
  async #batch(batch, options, name, args, read) {
    known(options, BATCH);
    const { onProgress, signal } = options ?? {};
    signal?.throwIfAborted();
    const all = listOf(batch, 'batch');
    this.#described(); // beforehand, unless something changes meanwhile; it throws if this was disposed of
    if (all.length === 0) return [];
    let total = all.length;
    let done = 0;
    for (const x of all) if (!isVector(x)) total++;
    const engine = this.#engine;
    const rest = rests(signal);
    /** @type {Float32Array | undefined} */
    let rows;
    let d = 0;
    for (const [i, x] of all.entries()) {
      const vector = await embedded(this.#extractor, x, signal, i);
      if (!rows) {
        d = vector.length;
        rows = new Float32Array(all.length * d);
      }
      checkLength(vector, i, d);
      rows.set(vector, i * d);
      if (!isVector(x)) onProgress?.({ done: ++done, total });
      await rest();
    }
    const { labels } = this.#described(); // before the rows are written: it uses the same room
    engine.write(/** @type {Float32Array} */ (rows));
    return answered(engine, this.#call(name, all.length, d, ...args), labels, options, read, done, all.length);
  }

  /**
   * Predicts each example as if it had not been added, to measure how well the classes can be told apart. Frames of one
   * burst are left out together. Progress is counted in examples. It yields between slices.
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
   * The examples that probably have a wrong label: at most 12 that another class fits better, the worst first. For each
   * it says how the answers about all other examples change without it. Frames of one burst are left out together.
   * Progress and slices are as for `leaveOneOut`.
   *
   * @param {BatchOptions} [options]
   * @returns {Promise<Influence[]>}
   */
  async influence(options) {
    return (await this.#influence(MOST_INFLUENCE, options)).influence;
  }

  /**
   * The class that needs another example most, null while fewer than two classes have examples. Progress and slices are
   * as for `leaveOneOut`. After `influence` the result is known, until something changes.
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

  /** A label as it is stored: the label of the class that has this label or one that looks the same, else the label that a new class would have. @param {string} label @returns {string} */
  label(label) {
    this.#engine.writeTexts([text(label, 'label')]);
    return this.#text(this.#call('mq_labels', 1));
  }

  /** Whether there is a class with this label, or with one that looks the same. @param {string} label @returns {boolean} */
  has(label) {
    const [n] = this.#engine.write(null, text(label, 'label'));
    return this.#call('mq_has', n) === 1;
  }

  /** Ids of a class's examples, in the order added; the frames of a group stand together. @param {string} label @returns {string[]} */
  examples(label) {
    const i = this.#described().labels.indexOf(this.label(label));
    return i < 0 ? [] : [...this.#described().examples[i]];
  }

  /** Numbers per vector; 0 before the first example, unless there is a learned prior. @returns {number} */
  get dimension() {
    return this.#described().dimension;
  }

  /** The current settings. @returns {{nonePrior: number, scale?: 'standardise'}} */
  get settings() {
    return { ...this.#described().settings };
  }

  /** Changes settings; those that are left out stay. @param {{nonePrior?: number | undefined}} changes */
  configure(changes) {
    known(changes, SETTINGS);
    this.#change('mq_configure', changes?.nonePrior ?? this.settings.nonePrior);
  }

  /** The bytes of a file with vectors, thumbnails, classes and settings. It names its prior and does not contain it. @returns {Uint8Array<ArrayBuffer>} */
  save() {
    this.#engine.reserve(0);
    return this.#engine.reply(this.#call('mq_save'));
  }

  /**
   * The bytes of a file that predicts as this classifier does now, for programs without metaqda. It is a safetensors
   * file that needs no other file. Some lines of Python or JavaScript read it: see `web/share/README.md` of the repository.
   *
   * @returns {Uint8Array<ArrayBuffer>}
   */
  export() {
    this.#engine.reserve(0);
    return this.#engine.reply(this.#call('mq_export'));
  }

  /**
   * A new classifier with the examples of both, under the prior and the settings of this one. Classes of the same
   * label become one.
   *
   * @param {Classifier<any>} other
   * @returns {Classifier<Input>}
   */
  merge(other) {
    const instead = 'open its save() with openClassifier, and merge that one.';
    if (!(other instanceof Classifier)) throw new MetaqdaError('argument', `There is ${kindOf(other)} in place of a classifier of this module: ${instead}`);
    for (const one of [this, other]) one.#described(); // throws if it was disposed of
    if (other.#engine !== this.#engine || this.#handle === 0)
      throw new MetaqdaError('argument', `The classifier of a storage runs in a program of its own: ${instead}`);
    const handle = this.#call('mq_merge', other.#handle);
    this.#engine.share();
    return new Classifier(this.#engine, handle, this.#extractor);
  }

  /** Frees the classifier's memory, and after the last classifier of a realm the engine's memory. Calls afterwards throw. */
  dispose() {
    if (this.#handle === 0) return;
    this.#engine.free('mq_free', this.#handle);
    this.#handle = 0;
    this.#state = null;
    this.#engine.release();
  }
}

/** The largest count that the engine takes. */
const MOST = 2 ** 31 - 1;

// Each of these examples takes as long as leaveOneOut. The same as MostInfluence of core/influence.go.
const MOST_INFLUENCE = 12;

/** Number of labels that a message names. */
const NAMED = 12;

/** The first labels, as a text. @param {string[]} labels */
function some(labels) {
  const more = labels.length - NAMED;
  return labels.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
