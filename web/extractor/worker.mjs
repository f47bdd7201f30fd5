// @ts-check
/**
 * The extractor's worker. Messages, both ways (the other side is client.js):
 *   {type, id, args} -> {type, id, result} | {type: 'error', id, error: {code, message}}
 *     load  args: ExtractorFiles                     result: true
 *     embed args: {picture, views}                   result: Float32Array (transferred)
 *           picture: Blob | ImageBitmap | ImageData; views: how many, all of them if undefined
 */
import { envelopeOf } from './errors.js';
// @ts-ignore: the bundle built from runtime.mjs stands beside the built worker
import { createRuntime } from './runtime.js';
import { createSession } from './session.js';

const scope = /** @type {any} */ (globalThis);
/** @type {Awaited<ReturnType<typeof createSession>> | undefined} */
let session;

/** @type {Record<string, (args: any) => Promise<unknown>>} */
const handlers = {
  async load(files) {
    session = await createSession(createRuntime, files);
    return true;
  },
  async embed({ picture, views }) {
    if (!session) throw new Error('The feature extractor was asked before it was loaded.');
    try {
      return await session.embed(picture, views);
    } finally {
      if (picture instanceof ImageBitmap) picture.close(); // our copy: free its memory now
    }
  },
};

scope.onmessage = async (/** @type {MessageEvent} */ { data: { type, id, args } }) => {
  try {
    const handler = handlers[type];
    if (!handler) throw new Error(`The extractor's worker knows no message '${type}'.`);
    const result = await handler(args);
    scope.postMessage({ type, id, result }, result instanceof Float32Array ? [result.buffer] : []);
  } catch (error) {
    scope.postMessage({ type: 'error', id, error: envelopeOf(error) });
  }
};
