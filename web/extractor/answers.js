// @ts-check
/**
 * What an extractor's worker answers, asked by graph.js:
 *   load  args: ExtractorFiles     result: true
 *   embed args: {picture, views}   result: Float32Array (transferred)
 *         picture: Blob | ImageBitmap | ImageData; views: how many, all of them if undefined
 *   shapes args: nothing           result: number[][], of what each output answers
 */
import { answer } from '../base/remote.js';
import { createSession } from './session.js';

/** @param {import('./session.js').CreateRuntime} createRuntime */
export function answerWith(createRuntime) {
  /** @type {Awaited<ReturnType<typeof createSession>> | undefined} */
  let session;
  const loaded = () => {
    if (!session) throw new Error('The feature extractor was asked before it was loaded.');
    return session;
  };
  answer({
    async load(/** @type {import('./session.js').ExtractorFiles} */ files) {
      session = await createSession(createRuntime, files);
      return true;
    },
    async embed(/** @type {{picture: Blob|ImageBitmap|ImageData, views?: number}} */ { picture, views }) {
      try {
        return await loaded().embed(picture, views);
      } finally {
        if (picture instanceof ImageBitmap) picture.close(); // our copy: free its memory now
      }
    },
    shapes: () => loaded().shapes(),
  }, { code: 'extractor-failed', transfer: (result) => (result instanceof Float32Array ? [result.buffer] : []) });
}
