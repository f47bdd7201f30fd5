// @ts-check
/** The worker's half of an extractor, of whatever kind. */
import { answer } from '../base/remote.js';

/**
 * Answers `load`, args: the files, and from then on what the session answers; `embed` is among that.
 *
 * @param {(files: any) => Promise<object>} start makes the session, a method for each type of message
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
