// @ts-check
/**
 * The thread of worker.js. Messages, both ways:
 *   {type, id, args} -> {type, id, result} | {type: 'error', id, error: {code, message}}
 *     init   args: [InitOptions without onProgress]   result: undefined
 *     create args: [options]                          result: a handle
 *     open   args: [bytes, options]                   result: a handle
 *     call   args: [handle, method, ...]              result: that of the method
 */
import { createClassifier, openClassifier } from './classifier.js';
import { init } from './engine.js';

/** @type {Map<number, any>} */
const classifiers = new Map();
let last = 0;

/** @param {any} classifier */
function handle(classifier) {
  classifiers.set(++last, classifier);
  return last;
}

/** @type {Record<string, (...args: any[]) => unknown>} */
const handlers = {
  init,
  create: async (options) => handle(await createClassifier(options)),
  open: async (bytes, options) => handle(await openClassifier(bytes, options)),
  call(number, method, ...args) {
    const classifier = classifiers.get(number);
    if (method === 'dispose') classifiers.delete(number);
    const found = classifier[method];
    return typeof found === 'function' ? found.apply(classifier, args) : found;
  },
};

const scope = /** @type {any} */ (globalThis);
scope.onmessage = async (/** @type {MessageEvent} */ { data: { type, id, args } }) => {
  try {
    scope.postMessage({ type, id, result: await handlers[type](...args) });
  } catch (error) {
    const { code = 'internal', message } = /** @type {any} */ (error);
    scope.postMessage({ type: 'error', id, error: { code, message } });
  }
};
