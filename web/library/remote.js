// @ts-check
/** A classifier in a worker or in a storage. Inputs are embedded in this thread; everything else runs there. */
import { ADD, BATCH, CALL, known, SET, SUGGEST } from './classifier/options.js';
import { embedded, embeddedAll, isVector, labelled, listOf, roomIn, vectorOf } from './vectors.js';

/** @import {BatchOptions, CallOptions, Options} from './classifier/options.js' */
/** @import {Vector} from './vectors.js' */
/** @typedef {(name: string, args: any[], options?: any) => Promise<any>} Ask gets a property or calls a method of a Classifier, with vectors in place of inputs; options only for methods that have some */

/** @typedef {{name: string, property: boolean}[]} Members of Classifier */

/** Names of synchronous members, which are not remote. */
const AT_ONCE = /Sync$|^watch$/;
/** Methods that take an input, or many, and their options. */
const OF_ONE = { addExample: ADD, predict: CALL, predictSet: SET };
const OF_NOTHING = ['leaveOneOut', 'influence', 'needs']; // these take options only
const OF_MANY = { addExamples: ADD, predictMany: CALL, classify: BATCH, suggest: SUGGEST };

/**
 * Lists the members that a remote classifier has too. The worker calls this function, so the window need not load
 * the class.
 *
 * @param {new (...args: any[]) => object} of Classifier @returns {Members}
 */
export const membersOf = (of) =>
  Object.entries(Object.getOwnPropertyDescriptors(of.prototype))
    .filter(([name]) => !AT_ONCE.test(name))
    .map(([name, { get }]) => ({ name, property: get !== undefined }));

/**
 * The answer of the other side to `predictInto`: the probability of none of these, and of each class in the order of
 * `labels`. Work after a change is done in slices.
 *
 * @param {import('./classifier/classifier.js').Classifier} classifier @param {Vector} x @returns {Promise<[number, Float64Array]>}
 */
export async function numbersOf(classifier, x) {
  await classifier.predict(x);
  const probabilities = new Float64Array(classifier.labels.length);
  return [classifier.predictInto(probabilities, x), probabilities];
}

export class Remote {
  #ask;
  #extractor;
  /** @type {Promise<void> | undefined} */
  #gone;

  /** @param {Ask} ask @param {Members} members @param {Options<any>['extractor']} extractor */
  constructor(ask, members, extractor) {
    this.#ask = ask;
    this.#extractor = extractor;
    for (const { name, property } of members) {
      if (name in this) continue; // a method of this class, which embeds inputs or checks arguments first
      Object.defineProperty(this, name, property ? { get: () => ask(name, []) } : { value: (/** @type {unknown[]} */ ...args) => ask(name, args) });
    }
  }

  /** @param {unknown} x @param {CallOptions} [options] */
  async embed(x, options) {
    known(options, CALL);
    return Float32Array.from(await embedded(this.#extractor, x, options?.signal));
  }

  /** @param {Vector} vector @param {number} [count] */
  async nearest(vector, count) {
    return this.#ask('nearest', [Float32Array.from(vectorOf(vector)), count]);
  }

  /** A second call does nothing, as for a classifier in this thread. */
  async dispose() {
    await (this.#gone ??= this.#ask('dispose', []).catch(() => {})); // its worker has ended
  }

  /** @param {Float64Array | Float32Array | number[]} dst @param {Vector} vector @returns {Promise<number>} */
  async predictInto(dst, vector) {
    const [none, probabilities] = await this.#ask('predictInto', [Float32Array.from(vectorOf(vector))]);
    roomIn(dst, probabilities.length);
    for (const [i, p] of probabilities.entries()) dst[i] = p;
    return none;
  }

  static {
    for (const name of OF_NOTHING) {
      Object.defineProperty(
        Remote.prototype,
        name,
        /** @type {PropertyDescriptor & ThisType<Remote>} */ ({
          async value(/** @type {BatchOptions} */ options) {
            known(options, BATCH);
            options?.signal?.throwIfAborted();
            return this.#ask(name, [], options ?? {});
          },
        }),
      );
    }
    for (const [name, kinds] of Object.entries({ ...OF_ONE, ...OF_MANY })) {
      const n = kinds === ADD ? 2 : 1; // arguments before the options
      Object.defineProperty(
        Remote.prototype,
        name,
        /** @type {PropertyDescriptor & ThisType<Remote>} */ ({
          async value(/** @type {any[]} */ ...args) {
            const options = args[n];
            args.length = n; // also where a label is missing
            known(options, kinds);
            const { signal, onProgress } = options ?? {};
            signal?.throwIfAborted();
            const one = name in OF_ONE;
            if (!one && n === 2) args.splice(0, 2, ...labelled(args[0], args[1]));
            const all = one ? [args[0]] : listOf(args[0], 'batch');
            // Inputs to embed count as steps, too, as for a classifier in this thread.
            const inputs = all.filter((x) => !isVector(x)).length;
            let done = 0;
            const told = () => onProgress?.({ done: ++done, total: inputs + all.length });
            // Vectors are sent at once, so that later calls come after this one.
            const vectors = (
              inputs === 0
                ? all.map((x, i) => vectorOf(x, one ? undefined : i))
                : one
                  ? [await embedded(this.#extractor, args[0], signal)]
                  : await embeddedAll(this.#extractor, all, signal, told)
            ).map((x) => Float32Array.from(x));
            const further = onProgress && {
              onProgress: (/** @type {{done: number, total: number}} */ p) => onProgress({ done: done + p.done, total: done + p.total }),
            };
            return this.#ask(name, [one ? vectors[0] : vectors, ...args.slice(1, n)], { ...options, ...further });
          },
        }),
      );
    }
  }
}
