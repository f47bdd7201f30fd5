// @ts-check
/**
 * The extractor's worker, asked by graph.js:
 *   load  args: ExtractorFiles     result: true
 *   embed args: {picture, views}   result: Float32Array (transferred)
 *         picture: Blob | ImageBitmap | ImageData; views: how many, all of them if undefined
 *   leaveOut args: {picture, grid} result: {embedding, without}
 *         picture: ImageBitmap; see index.js
 */
import { answer } from '../base/remote.js';
// @ts-ignore: the bundle built from runtime.mjs stands beside the built worker
import { createRuntime } from './runtime.js';
import { createSession } from './session.js';

/** @type {Awaited<ReturnType<typeof createSession>> | undefined} */
let session;

answer({
  async load(/** @type {import('./session.js').ExtractorFiles} */ files) {
    session = await createSession(createRuntime, files);
    return true;
  },
  async embed(/** @type {{picture: Blob|ImageBitmap|ImageData, views?: number}} */ { picture, views }) {
    if (!session) throw new Error('The feature extractor was asked before it was loaded.');
    try {
      return await session.embed(picture, views);
    } finally {
      if (picture instanceof ImageBitmap) picture.close(); // our copy: free its memory now
    }
  },
  async leaveOut(/** @type {{picture: ImageBitmap, grid: number}} */ { picture, grid }) {
    if (!session) throw new Error('The feature extractor was asked before it was loaded.');
    try {
      return await session.leaveOut(picture, grid);
    } finally {
      picture.close();
    }
  },
}, { code: 'extractor-failed', transfer: (result) => (result instanceof Float32Array ? [result.buffer] : []) });
