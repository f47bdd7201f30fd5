// @ts-check
/**
 * The classifier of the open session. It has the methods of `Classifier`, with the same arguments in the same order. They
 * return promises, which resolve once a change is stored.
 */
import { MetaqdaError } from '../../base/remote.js';
import { Classifier } from '../classifier/classifier.js';
import { openClassifier } from '../classifier/create.js';
import { membersOf, numbersOf, Remote } from '../remote.js';
import { turns } from './turns.js';

/** @import {LoadedEngine} from '../types.js' */
/** @import {Options, RemoteMethods} from '../classifier/options.js' */

/**
 * `merge` returns a new classifier in memory with the examples of both. To store it, pass its `save()` to
 * `importSession` of the storage. After `dispose` calls are refused; the examples and the storage stay.
 *
 * @template [Input=unknown]
 * @typedef {RemoteMethods<Input> & {merge: (other: Classifier<any> | StoredClassifier<any>) => Promise<Classifier<Input>>}} StoredClassifier
 */

/** Copies in memory of classifiers of storages. @type {WeakMap<object, () => Promise<Classifier<any>>>} */
const copies = new WeakMap();

/** Methods that wait until all examples are enrolled, without blocking the thread. */
const ENROLLED = /^(predict|classify|suggest|leaveOneOut|influence|needs|explain|nearest|anomaly)/;

/**
 * @template Input
 * @param {LoadedEngine} engine @param {Options<Input>['extractor']} [extractor]
 * @returns {StoredClassifier<Input>}
 */
export function storedClassifier(engine, extractor) {
  let disposed = false;
  const copy = async () => {
    const [classifier, prior] = await Promise.all([engine.sharedSession({ pictures: false }), engine.learnedPrior()]);
    return openClassifier(classifier, { ...(extractor && { extractor }), ...(prior && { prior }) });
  };
  /** Methods that replace the classifier's own. @type {Record<string, (...args: any[]) => unknown>} */
  const own = {
    save: () => engine.saveSession(),
    predictInto: (x) => numbersOf(engine.taught, x),
    async merge(other) {
      const copied = copies.get(other);
      const both = [await copy()];
      try {
        both.push(await (copied?.() ?? other));
        return both[0].merge(both[1]);
      } finally {
        for (const one of copied ? both : both.slice(0, 1)) one.dispose();
      }
    },
    dispose() {
      disposed = true;
    },
    addExample: (x, label, { signal, ...of }) => engine.taught.addExampleSync(x, label, of),
    addExamples: (all, labels, { signal, ...of }) => engine.taught.addExamplesSync(all, labels, of),
  };
  const inTurn = turns(engine);
  const made = new Remote(
    (name, args, options) =>
      inTurn(async () => {
        if (disposed) throw new MetaqdaError('disposed', 'This classifier was disposed of: its storage has another one after it is opened anew.');
        if (ENROLLED.test(name)) await engine.ready();
        const { taught } = /** @type {{taught: any}} */ (engine);
        const { result } = await engine.stored(() => {
          const found = own[name] ?? taught[name];
          return typeof found === 'function' ? found.call(taught, ...args, ...(options ? [options] : [])) : found;
        });
        return result;
      }),
    membersOf(Classifier),
    extractor,
  );
  copies.set(made, copy);
  return /** @type {any} */ (made);
}
