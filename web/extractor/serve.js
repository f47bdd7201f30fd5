// @ts-check
/** Runs an extractor of any kind in a worker. */
import { answer } from '../base/remote.js';

/**
 * Answers the messages of the window. `load` makes a session from the files in its args. From then on the worker
 * answers each message that the session has a method for, such as `embed`.
 *
 * @param {(files: any) => Promise<object>} start makes the session: an object with a method for each type of message
 */
export function serve(start) {
  /** @type {import('../base/remote.js').Handlers} */
  const handlers = {
    async load(files) {
      for (const [type, work] of Object.entries(await start(files))) {
        handlers[type] = async (args) => {
          try {
            return await work(args);
          } finally {
            for (const picture of [args, args?.picture]) picture?.close?.(); // our copy
          }
        };
      }
      return true;
    },
  };
  answer(handlers, {
    code: 'extractor-failed',
    transfer: (result) => [result, result?.embedding, result?.values].flatMap((one) => (one instanceof Float32Array ? [one.buffer] : [])),
  });
}
