// @ts-check
/** The thread of worker.js, which describes the messages. */
import { answer, MetaqdaError } from '../base/remote.js';
import { paced } from '../base/task.js';
import { Classifier } from './classifier/classifier.js';
import { createClassifier, openClassifier } from './classifier/create.js';
import { init } from './engine.js';
import { membersOf, numbersOf } from './remote.js';

/** @type {Map<number, any>} */
const classifiers = new Map();
let last = 0;
const members = membersOf(Classifier);

/** @param {any} classifier */
function handle(classifier) {
  classifiers.set(++last, classifier);
  return last;
}

/** @param {number} at @returns {any} */
function held(at) {
  const classifier = classifiers.get(at);
  if (!classifier) throw new MetaqdaError('disposed', 'This classifier was disposed of: create another one.');
  return classifier;
}

/** Options with an extractor that has only its identity, since inputs are embedded in the window. @param {any} options */
const named = ({ extractor, ...options }) => ({ ...options, ...(extractor && { extractor: { ...extractor, embed: () => [] } }) });

/** Controllers that abort the calls in progress, by the numbers of the calls. @type {Map<number, AbortController>} */
const running = new Map();

const tell = answer(
  {
    init,
    create: async (options) => [handle(await createClassifier(named(options))), members],
    open: async ([bytes, options]) => [handle(await openClassifier(bytes, named(options))), members],
    async call([at, method, args, number, options]) {
      const classifier = held(at);
      if (method === 'dispose') classifiers.delete(at);
      if (method === 'merge') return handle(classifier.merge(held(args[0])));
      if (method === 'predictInto') return numbersOf(classifier, args[0]);
      const found = classifier[method];
      if (!options) return typeof found === 'function' ? found.apply(classifier, args) : found;
      const controller = new AbortController();
      running.set(number, controller);
      const { onProgress, ...rest } = options;
      try {
        return await found.call(classifier, ...args, {
          ...rest,
          signal: controller.signal,
          ...(onProgress && { onProgress: paced((progress) => tell('progress', { number, ...progress })) }),
        });
      } finally {
        running.delete(number);
      }
    },
    stop: (number) => running.get(number)?.abort(),
  },
  { code: 'internal' },
);
