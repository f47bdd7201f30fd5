// @ts-check
/**
 * Encodes pictures as JPEG, asked by encoder.js:
 *   encode args: {picture, size: {width, height}}   result: Uint8Array (transferred)
 *         picture: ImageBitmap, closed afterwards
 */
import { answer } from '../../../base/remote.js';
import { drawing, encoded } from './draw.js';

answer(
  {
    encode(/** @type {{picture: ImageBitmap, size: {width: number, height: number}}} */ { picture, size }) {
      const canvas = drawing(picture, size);
      picture.close();
      return encoded(canvas);
    },
  },
  { code: 'encoder-failed', transfer: (result) => (result instanceof Uint8Array ? [result.buffer] : []) },
);
