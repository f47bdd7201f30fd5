// @ts-check
/**
 * Encodes pictures as JPEG, asked by encoder.js:
 *   encode args: {picture, width, height, quality}   result: Uint8Array (transferred)
 *         picture: ImageBitmap, closed afterwards
 */
import { answer } from '../../../base/remote.js';
import { drawTo } from './draw.js';

answer({
  async encode(/** @type {{picture: ImageBitmap, width: number, height: number, quality: number}} */ { picture, width, height, quality }) {
    const canvas = new OffscreenCanvas(width, height);
    drawTo(canvas, picture);
    picture.close();
    return new Uint8Array(await (await canvas.convertToBlob({ type: 'image/jpeg', quality })).arrayBuffer());
  },
}, { code: 'encoder-failed', transfer: (result) => (result instanceof Uint8Array ? [result.buffer] : []) });
