// @ts-check
/**
 * The worker of an extractor of another kind than pictures. It answers `load`, args: Fetched, and from then on what the
 * kind's session answers; `embed` is among that.
 */
import { answer } from '../../base/remote.js';
// @ts-ignore: the bundle built from the kind's start.mjs stands beside the built worker
import { start } from './start.js';

/** @type {import('../../base/remote.js').Handlers} */
const handlers = {
  async load(/** @type {import('../networks.js').Fetched} */ fetched) {
    for (const [type, work] of Object.entries(/** @type {import('../../base/remote.js').Handlers} */ (await start(fetched)))) {
      handlers[type] = async (args) => {
        try {
          return await work(args);
        } finally {
          args?.close?.(); // of a picture, our copy
        }
      };
    }
    return true;
  },
};
answer(handlers, { code: 'extractor-failed', transfer: (result) => (result instanceof Float32Array ? [result.buffer] : []) });
