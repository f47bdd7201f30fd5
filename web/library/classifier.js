// @ts-check
/** Classifiers: what was taught, what it is taken for, files. */
import { nextTask } from '../base/task.js';
import { acquire, release, share } from './engine.js';
import { MetaqdaError } from './errors.js';
import { bytesOf } from './files.js';
import { isVector, numbersOf } from './vectors.js';

/** @typedef {import('./vectors.js').Vector} Vector */
/** @typedef {import('./engine.js').Engine} Engine */

/**
 * Turns pictures, sounds or what else into vectors. One without `id` is not written into files.
 *
 * @template Input
 * @typedef {object} Extractor
 * @property {string} [id] names network, version and views: what was taught with one is not comparable with another
 * @property {string} [sha256]
 * @property {(input: Input) => Vector | Promise<Vector>} embed
 */

/**
 * @template [Input=unknown]
 * @typedef {object} Options
 * @property {Extractor<Input> | ((input: Input) => Vector | Promise<Vector>)} [extractor] for what is no vector
 * @property {ArrayBuffer | ArrayBufferView | Response | URL | string} [prior] a prior file that was learned for the
 *   extractor, or where it is; without one a prior made by hand serves, for vectors of any length
 * @property {number} [nonePrior] probability of none of these beforehand, from 0 (never) to below 1; 0.2 if left out
 * @property {'standardise'} [scale] for tables of numbers that have units of their own: each number is taken less the mean
 *   of the examples' and over their standard deviation, as these are after every change; only without `prior`
 * @property {string} [name] written into files
 */

/**
 * @typedef {object} Prediction
 * @property {string} label the most probable class, whatever the probability of none
 * @property {Record<string, number>} probabilities of each class; with `none` they sum to one
 * @property {number} none probability that it is of none of the classes
 * @property {string | null} decision what it is taken for: a class, null for none of these
 * @property {boolean} doubtful whether somebody should look at it: less than 60 %, not the largest number, or told from one
 *   class of fewer than three examples
 * @property {string} headline in one sentence, of which the first number is the largest
 */

/**
 * @typedef {object} LeftOut what an example would be taken for had it never been taught
 * @property {string} id
 * @property {string} label its own class
 * @property {Prediction | null} prediction null for the only example of all
 */

/** @typedef {{signal?: AbortSignal}} CallOptions */
/** @typedef {{onProgress?: (progress: {done: number, total: number}) => void} & CallOptions} BatchOptions progress is counted in steps of the work */

const SETTINGS = ['nonePrior'];
const OPTIONS = ['extractor', 'prior', 'scale', 'name', ...SETTINGS];
const FORMER = ['inference', 'pooled'];

/**
 * Creates a classifier that knows no class yet.
 *
 * @template [Input=unknown]
 * @param {Options<Input>} [options]
 * @returns {Promise<Classifier<Input>>}
 */
export async function createClassifier(options = {}) {
  const { nonePrior = 0.2, name = '', scale } = options;
  if (scale !== undefined && scale !== 'standardise') throw new MetaqdaError('argument', `The option scale is ${String(scale)}: 'standardise' or nothing can be.`);
  return made(options, (engine, sum) => {
    const [n, m] = engine.write(null, sum, text(name, 'name'));
    return engine.program.exports.mq_create(nonePrior, scale ? 1 : 0, n, m);
  });
}

/**
 * Opens what `save` wrote, or what the page of metaqda exported.
 *
 * The prior that it names is taken if a classifier of this realm was created with it; else `options.prior`
 * must be its file. Another prior there serves in its place.
 *
 * @template [Input=unknown]
 * @param {ArrayBuffer | ArrayBufferView | Response | URL | string} file
 * @param {Pick<Options<Input>, 'extractor' | 'prior'>} [options]
 * @returns {Promise<Classifier<Input>>}
 */
export async function openClassifier(file, options = {}) {
  known(options, ['extractor', 'prior']);
  const bytes = await bytesOf(file);
  return made(options, (engine, sum) => {
    const [n, m] = engine.writeBytes(bytes, sum);
    return engine.program.exports.mq_open(n, m);
  });
}

/**
 * @template Input
 * @param {Options<Input>} options
 * @param {(engine: Engine, sum: string) => number} make calls the engine and returns its handle
 */
async function made(options, make) {
  known(options, OPTIONS);
  const prior = options.prior === undefined ? null : await bytesOf(options.prior);
  const engine = await acquire();
  /** @type {Classifier<Input> | undefined} */
  let classifier;
  try {
    let sum = '';
    if (prior) {
      engine.writeBytes(prior, '');
      sum = new TextDecoder().decode(engine.reply(engine.checked(engine.program.exports.mq_prior(prior.length))));
    }
    classifier = new Classifier(engine, engine.checked(make(engine, sum)), options.extractor);
    return classifier;
  } catch (error) {
    if (!classifier) release();
    throw error;
  }
}

/**
 * The vector of an input.
 *
 * @template Input
 * @param {Options<Input>['extractor']} extractor
 * @param {Input | Vector} x @param {CallOptions} [options]
 * @returns {Promise<ArrayLike<number>>}
 */
export async function embedded(extractor, x, { signal } = {}) {
  signal?.throwIfAborted();
  if (isVector(x)) return numbersOf(x);
  if (!extractor) throw new MetaqdaError('extractor', 'This is no vector, and the classifier has no extractor: create it with the option extractor, or hand over an array of numbers.');
  const vector = await (typeof extractor === 'function' ? extractor(x) : extractor.embed(x));
  signal?.throwIfAborted();
  if (!isVector(vector)) throw new MetaqdaError('extractor', 'The extractor answered no vector: its embed must return an array of numbers, or a promise of one.');
  return numbersOf(vector);
}

/** Refuses an option that would change nothing. @param {object} options @param {string[]} names */
function known(options, names) {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  if (FORMER.includes(unknown)) throw new MetaqdaError('argument', `There is one way to answer now: leave the option '${unknown}' out.`);
  throw new MetaqdaError('argument', `There is no option '${unknown}': choose among ${names.join(', ')}.`);
}

/**
 * A classifier. Everything but what reads pictures is synchronous and quick; methods for pictures return promises.
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

  /**
   * @internal
   * @param {Engine} engine
   * @param {number} handle
   * @param {Options<Input>['extractor']} extractor
   */
  constructor(engine, handle, extractor) {
    this.#engine = engine;
    this.#handle = handle;
    this.#extractor = typeof extractor === 'function' ? { embed: extractor } : extractor;
    const { id, sha256 = '' } = /** @type {Extractor<Input>} */ (this.#extractor ?? {});
    if (!id) return;
    try {
      const [n, m] = engine.write(null, id, sha256);
      this.#call('mq_identify', n, m);
    } catch (error) {
      engine.program.exports.mq_free(handle);
      throw error;
    }
  }

  /** @param {string} name @param {...number} args */
  #call(name, ...args) {
    return this.#engine.checked(this.#engine.program.exports[name](this.#handle, ...args));
  }

  /** @param {string} name @param {...number} args */
  #change(name, ...args) {
    this.#state = null;
    return this.#call(name, ...args);
  }

  #described() {
    if (this.#state) return this.#state;
    this.#engine.reserve(0);
    return this.#state = describe(this.#engine.reply(this.#call('mq_describe')));
  }

  /** The vector of an input. @param {Input | Vector} x @param {CallOptions} [options] @returns {Promise<ArrayLike<number>>} */
  async embed(x, { signal } = {}) {
    return embedded(this.#extractor, x, { signal });
  }

  /**
   * Adds an example to a class, which comes into being with its first one, and returns the example's id. Examples of
   * a class with the same `group` are frames of one burst, or views of one thing, and count as one.
   *
   * @param {Input | Vector} x @param {string} label @param {{group?: string} & CallOptions} [options]
   * @returns {Promise<string>}
   */
  async addExample(x, label, options = {}) {
    known(options, ['group', 'signal']);
    return this.addExampleSync(await this.embed(x, options), label, { group: options.group });
  }

  /**
   * `addExample` for a vector.
   *
   * @param {Vector} vector @param {string} label @param {{group?: string}} [options]
   * @returns {string}
   */
  addExampleSync(vector, label, options = {}) {
    known(options, ['group']);
    const x = vectorOf(vector);
    const [n, m] = this.#engine.write(x, text(label, 'label'), text(options.group ?? '', 'group'));
    return this.#text(this.#change('mq_add', x.length, n, m));
  }

  /**
   * Adds many examples, all or none, as one step.
   *
   * @param {Iterable<Input | Vector>} batch @param {Iterable<string>} labels one for each @param {{group?: string} & CallOptions} [options]
   * @returns {Promise<string[]>}
   */
  async addExamples(batch, labels, options = {}) {
    known(options, ['group', 'signal']);
    const vectors = [];
    for (const x of batch) vectors.push(await this.embed(x, options));
    return this.addExamplesSync(vectors, labels, { group: options.group });
  }

  /**
   * `addExamples` for vectors.
   *
   * @param {Iterable<Vector>} vectors @param {Iterable<string>} labels @param {{group?: string}} [options]
   * @returns {string[]}
   */
  addExamplesSync(vectors, labels, options = {}) {
    const [all, names] = [[...vectors], [...labels]];
    if (all.length !== names.length) throw new MetaqdaError('argument', `There are ${all.length} examples and ${names.length} labels: give one label for each.`);
    this.#do(BEGIN);
    let done = 0;
    try {
      const ids = [];
      for (const x of all) {
        ids.push(this.addExampleSync(x, names[done], options));
        done++;
      }
      return ids;
    } finally {
      this.#do(END);
      if (done < all.length && done > 0) this.#do(UNDO);
    }
  }

  /** Removes one example: what is left answers as if it had never been there. @param {string} id */
  removeExample(id) { this.#do(REMOVE, text(id, 'id')); }

  /** Moves an example to the end of another class. @param {string} id @param {string} label */
  moveExample(id, label) { this.#do(MOVE, text(id, 'id'), text(label, 'label')); }

  /** Adds a class without examples. @param {string} label */
  addClass(label) { this.#do(ADD_CLASS, text(label, 'label')); }

  /** Removes a class with its examples. @param {string} label */
  removeClass(label) { this.#do(REMOVE_CLASS, text(label, 'label')); }

  /** Changes a label and nothing else. @param {string} label @param {string} to */
  renameClass(label, to) { this.#do(RENAME_CLASS, text(label, 'label'), text(to, 'label')); }

  /** Moves all examples of a class to another one and removes it. @param {string} label @param {string} into */
  mergeClasses(label, into) { this.#do(MERGE_CLASSES, text(label, 'label'), text(into, 'label')); }

  /** Takes back the last change of classes or examples, up to a hundred of them; false if there is none. @returns {boolean} */
  undo() { return this.#do(UNDO) !== ''; }

  /** Does again what was undone last, until something else is changed; false if there is nothing. @returns {boolean} */
  redo() { return this.#do(REDO) !== ''; }

  /** What undo and redo would be about, in plain words, empty for nothing. @returns {{undo: string, redo: string}} */
  get steps() {
    const { undo, redo } = this.#described();
    return { undo, redo };
  }

  /** @param {number} what @param {...string} words */
  #do(what, ...words) {
    const [n = 0, m = 0] = this.#engine.write(null, ...words);
    return this.#text(this.#change('mq_change', what, n, m));
  }

  /** The reply of n bytes. @param {number} n */
  #text(n) { return decoder.decode(this.#engine.reply(n)); }

  /**
   * What x is, and how surely.
   *
   * @param {Input | Vector} x @param {CallOptions} [options]
   * @returns {Promise<Prediction>}
   */
  async predict(x, options) { return this.predictSync(await this.embed(x, options)); }

  /** `predict` for a vector. @param {Vector} vector @returns {Prediction} */
  predictSync(vector) {
    this.#ask(vector);
    const headline = this.#text(this.#call('mq_decide'));
    return prediction(this.#described().labels, this.#engine.doubles, this.#engine.program.exports.mq_answer() >> 3, headline);
  }

  /**
   * `predict` for each of many, one by one; `classify` judges them together.
   *
   * @param {Iterable<Input | Vector>} batch @param {CallOptions} [options]
   * @returns {Promise<Prediction[]>}
   */
  async predictMany(batch, options) {
    const rest = rests(options?.signal);
    const all = [];
    for (const x of batch) {
      all.push(await this.predict(x, options));
      await rest();
    }
    return all;
  }

  /**
   * `predict` for a vector without making anything: stores the probabilities of the classes in the order of `labels`
   * and returns that of none.
   *
   * @param {Float64Array | Float32Array | number[]} dst @param {Vector} vector
   * @returns {number}
   */
  predictInto(dst, vector) {
    const at = this.#ask(vector);
    const { doubles } = this.#engine;
    for (let i = 0, n = Math.min(dst.length, this.#asked - 1); i < n; i++) dst[i] = doubles[at + 1 + i];
    return doubles[at];
  }

  #asked = 0;

  /** @param {Vector} vector @returns {number} where the answer begins in the engine's numbers */
  #ask(vector) {
    const x = vector instanceof Float32Array ? vector : vectorOf(vector);
    const engine = this.#engine;
    engine.reserve(4 * x.length);
    engine.floats.set(x, engine.room >> 2);
    this.#asked = engine.checked(engine.program.exports.mq_predict(this.#handle, x.length));
    return engine.program.exports.mq_answer() >> 3;
  }

  /**
   * What each of a batch is, in their order, judged together: what is probably of a class tells what the class looks
   * like, so that answers are right more often than one by one, the more so the fewer examples there are. No vector is
   * judged by itself, `none` is that of `predict`, and what was taught stays as it is. The thread is left free in between.
   *
   * @param {Iterable<Input | Vector>} batch @param {BatchOptions} [options]
   * @returns {Promise<Prediction[]>}
   */
  async classify(batch, options) {
    return this.#together(batch, options, 'mq_together', [], (numbers, labels, headlines) => {
      const each = 3 + labels.length;
      return Array.from({ length: numbers.length / each }, (_, i) => prediction(labels, numbers, i * each, headlines[i]));
    });
  }

  /**
   * Which of a batch tell most once they are labelled, the best one first, by their places in it: those that leave the
   * least of the others unlike anything taught. Nothing need be taught before.
   *
   * @param {Iterable<Input | Vector>} batch
   * @param {{count?: number} & BatchOptions} [options] count: how many, all if left out; of more than 1,024 so many at
   *   equal steps are looked at
   * @returns {Promise<number[]>}
   */
  async suggest(batch, { count, ...options } = {}) {
    if (count !== undefined && !(Number.isInteger(count) && count >= 0)) throw new MetaqdaError('argument', 'The option count must be a whole number from 0 on.');
    return this.#together(batch, options, 'mq_suggest', [Math.min(count ?? Infinity, 2 ** 31 - 1)], (numbers) => Array.from(numbers));
  }

  /**
   * @template T
   * @param {Iterable<Input | Vector>} batch
   * @param {BatchOptions | undefined} options
   * @param {string} name @param {number[]} args after those for the vectors
   * @param {(numbers: Float64Array, labels: string[], headlines: string[]) => T[]} read reads the answer, about the classes of these labels
   */
  async #together(batch, { onProgress, signal } = {}, name, args, read) {
    signal?.throwIfAborted();
    const all = [...batch];
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
      const vector = await this.embed(x, { signal });
      if (!rows) {
        d = vector.length;
        rows = new Float32Array(all.length * d);
      }
      if (vector.length !== d) throw new MetaqdaError('dimension', `Vector ${i} of the batch has ${vector.length} numbers, the first one ${d}: use one extractor for all of them.`);
      rows.set(vector, i * d);
      if (!isVector(x)) onProgress?.({ done: ++done, total });
      await rest();
    }
    engine.write(/** @type {Float32Array} */ (rows));
    rows = undefined;
    const job = this.#call(name, d, all.length, ...args);
    share(); // whatever becomes of the classifier meanwhile
    try {
      const { labels } = this.#described(); // at the time of the copy that is asked, not of the call
      for (;;) {
        engine.reserve(0);
        const more = engine.checked(engine.program.exports.mq_step(job));
        const at = engine.program.exports.mq_answer() >> 3;
        const [first, second] = engine.doubles.subarray(at, at + 2);
        if (!more) {
          const answers = read(engine.doubles.subarray(at + 2, at + 2 + first), labels, this.#text(second).split('\n'));
          onProgress?.({ done: total, total });
          return answers;
        }
        onProgress?.({ done: done + Math.floor(all.length * (first / second)), total });
        await rest();
      }
    } finally {
      engine.program.exports.mq_stop(job);
      release();
    }
  }

  /**
   * Leaves each example out in turn, exactly: how well the classifier knows its own classes. Frames of one burst are
   * left out together.
   *
   * @returns {LeftOut[]}
   */
  leaveOneOut() {
    const { labels } = this.#described();
    this.#engine.reserve(0);
    const n = this.#call('mq_leave_one_out');
    const at = this.#engine.program.exports.mq_answer() >> 3;
    const { doubles } = this.#engine;
    const each = 6 + labels.length;
    const lines = this.#text(doubles[at]).split('\n');
    const headlines = lines.splice(0, (n - 1) / each);
    return headlines.flatMap((headline, i) => {
      const from = at + 1 + i * each;
      const answer = doubles[from + 2] === 1 ? prediction(labels, doubles, from + 3, headline) : null;
      return lines.splice(0, doubles[from]).map((id) => ({ id, label: labels[doubles[from + 1]], prediction: answer }));
    });
  }

  /** Names of the classes in the order they were added. @returns {string[]} */
  get labels() { return [...this.#described().labels]; }

  /** How many examples each class has. @returns {Record<string, number>} */
  get counts() { return record(this.#described().labels, (i) => this.#described().examples[i].length); }

  /** Ids of a class's examples. @param {string} label @returns {string[]} */
  examples(label) {
    const i = this.#described().labels.indexOf(label);
    return i < 0 ? [] : [...this.#described().examples[i]];
  }

  /** Numbers per vector, 0 while no example and no prior has settled it. @returns {number} */
  get dimension() { return this.#described().dimension; }

  /** Settings in force. @returns {{nonePrior: number}} */
  get settings() { return { nonePrior: this.#described().nonePrior }; }

  /** Changes settings; what is left out stays. @param {Partial<Classifier<Input>['settings']>} changes */
  configure(changes) {
    known(changes, SETTINGS);
    this.#change('mq_configure', { ...this.settings, ...changes }.nonePrior);
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
    share();
    return new Classifier(this.#engine, handle, this.#extractor);
  }

  /** Frees what the classifier holds. With the last one of a realm the engine's memory is free. Calls afterwards throw. */
  dispose() {
    if (this.#handle === 0) return;
    this.#engine.program.exports.mq_free(this.#handle);
    this.#handle = 0;
    this.#state = null;
    release();
  }
}

// What mq_change does.
const [REMOVE, ADD_CLASS, REMOVE_CLASS, RENAME_CLASS, MOVE, MERGE_CLASSES, BEGIN, END, UNDO, REDO] = Array(10).keys();

const decoder = new TextDecoder();

/** How long the thread may be busy at a time, in milliseconds. */
const SLICE = 12;

/** What waits for the next turn of the event loop where it is time, and throws what the signal says. @param {AbortSignal} [signal] */
function rests(signal) {
  let began = performance.now();
  return async () => {
    signal?.throwIfAborted();
    if (performance.now() - began < SLICE) return;
    await nextTask();
    signal?.throwIfAborted();
    began = performance.now();
  };
}

/** @param {unknown} s @param {string} what */
function text(s, what) {
  if (typeof s !== 'string') throw new MetaqdaError('argument', `The ${what} must be a string.`);
  return s;
}

/** @param {Vector} x @returns {ArrayLike<number>} */
function vectorOf(x) {
  if (!isVector(x)) throw new MetaqdaError('argument', 'The vector must be an array of numbers, a typed array or a tensor.');
  return numbersOf(x);
}

/** Of labels that may be any text. @template T @param {string[]} labels @param {(i: number) => T} value @returns {Record<string, T>} */
function record(labels, value) {
  /** @type {Record<string, T>} */
  const all = Object.create(null);
  labels.forEach((label, i) => { all[label] = value(i); });
  return all;
}

/**
 * @param {string[]} labels @param {Float64Array} numbers @param {number} at of none; the classes follow, and the decision
 * @param {string} headline
 * @returns {Prediction}
 */
function prediction(labels, numbers, at, headline) {
  let best = 0;
  for (let i = 1; i < labels.length; i++) if (numbers[at + 1 + i] > numbers[at + 1 + best]) best = i;
  const [taken, doubtful] = numbers.subarray(at + 1 + labels.length);
  return { label: labels[best], probabilities: record(labels, (i) => numbers[at + 1 + i]), none: numbers[at], decision: labels[taken] ?? null, doubtful: doubtful === 1, headline };
}

/** Reads the reply of mq_describe. @param {Uint8Array<ArrayBuffer>} reply */
function describe(reply) {
  const view = new DataView(reply.buffer);
  const [dimension, nonePrior, n] = [view.getUint32(0, true), view.getFloat64(4, true), view.getUint32(12, true)];
  const [undo, redo, ...lines] = decoder.decode(reply.subarray(16 + 4 * n)).split('\n');
  /** @type {string[]} */
  const labels = [];
  const examples = Array.from({ length: n }, (_, i) => {
    const [label, ...ids] = lines.splice(0, 1 + view.getUint32(16 + 4 * i, true));
    labels.push(label);
    return ids;
  });
  return { dimension, nonePrior, labels, examples, undo, redo };
}
