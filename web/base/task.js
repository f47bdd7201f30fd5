// @ts-check
/** Yields to the event loop, waits, and orders asynchronous work. */

/** @type {(() => void)[]} */
const waiting = [];
/** @type {MessageChannel|undefined} */
let channel;

/** Lets the page paint and take input. Unlike a timer, it is not slowed down in a background tab. @returns {Promise<void>} */
export function nextTask() {
  // In Node.js messages would come before timers, and would not keep the process alive.
  if ('setImmediate' in globalThis)
    return new Promise((resolve) => {
      setImmediate(resolve);
    });
  if (!channel) {
    channel = new MessageChannel();
    channel.port1.onmessage = () => waiting.shift()?.();
  }
  const { port2 } = channel;
  return new Promise((resolve) => {
    waiting.push(resolve);
    port2.postMessage(null);
  });
}

/** Waits. @param {number} milliseconds @returns {Promise<void>} */
export const sleep = (milliseconds) =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** The result of a promise, or a plain value. An abort before it rejects with the signal's reason. @template T @param {T | Promise<T>} result @param {AbortSignal} [signal] @returns {Promise<T>} */
export async function unlessAborted(result, signal) {
  if (!signal) return result;
  let stop = () => {};
  const aborted = new Promise((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([result, /** @type {Promise<never>} */ (aborted)]);
  } finally {
    signal.removeEventListener('abort', stop);
    signal.throwIfAborted();
  }
}

/**
 * Returns a function that does one piece of work after the other, in the order of the calls, even if earlier ones fail.
 *
 * @returns {<T>(work: () => Promise<T>) => Promise<T>}
 */
export function queue() {
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {}); // the caller gets the error
    return next;
  };
}

/** Milliseconds between two reports of progress. */
const TELL_EVERY = 50;

/** Reports progress now and then, and the end. @param {(progress: {done: number, total: number}) => void} tell */
export function paced(tell) {
  let told = 0;
  return (/** @type {{done: number, total: number}} */ { done, total }) => {
    if (done < total && performance.now() - told < TELL_EVERY) return;
    told = performance.now();
    tell({ done, total });
  };
}

/** How long the thread may be busy at a time, in milliseconds. */
const SLICE = 8;

/** Returns a function that yields after SLICE milliseconds of work, and throws once the signal has aborted. @param {AbortSignal} [signal] */
export function rests(signal) {
  let began = performance.now();
  return async () => {
    signal?.throwIfAborted();
    if (performance.now() - began < SLICE) return;
    await nextTask();
    signal?.throwIfAborted();
    began = performance.now();
  };
}
