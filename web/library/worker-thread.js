// @ts-check
/** The thread of worker.js, which describes the messages. */
import { answer } from '../base/remote.js';
import { createClassifier, openClassifier } from './classifier.js';
import { init } from './engine.js';
import { MetaqdaError } from './errors.js';

/** @type {Map<number, any>} */
const classifiers = new Map();
let last = 0;

/** @param {any} classifier */
function handle(classifier) {
  classifiers.set(++last, classifier);
  return last;
}

/** What ends calls that go on. @type {Map<number, AbortController>} */
const running = new Map();
const TELL_EVERY = 50; // milliseconds

const tell = answer({
  init,
  create: async (options) => handle(await createClassifier(options)),
  open: async ([bytes, options]) => handle(await openClassifier(bytes, options)),
  async call([at, method, args, number]) {
    const classifier = classifiers.get(at);
    if (!classifier) throw new MetaqdaError('disposed', 'This classifier was disposed of: create another one.');
    if (method === 'dispose') classifiers.delete(at);
    if (method === 'classify' || method === 'suggest') return judged(classifier, method, args, number);
    const found = classifier[method];
    return typeof found === 'function' ? found.apply(classifier, args) : found;
  },
  stop: (number) => running.get(number)?.abort(),
}, { code: 'internal' });

/** @param {any} classifier @param {'classify' | 'suggest'} method @param {[any, object?]} args @param {number} number */
async function judged(classifier, method, [batch, options], number) {
  const controller = new AbortController();
  running.set(number, controller);
  let told = 0;
  try {
    return await classifier[method](batch, {
      ...options, signal: controller.signal,
      onProgress(/** @type {{done: number, total: number}} */ { done, total }) {
        if (done < total && performance.now() - told < TELL_EVERY) return;
        told = performance.now();
        tell('progress', { number, done, total });
      },
    });
  } finally {
    running.delete(number);
  }
}
