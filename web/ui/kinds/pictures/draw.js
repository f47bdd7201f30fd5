// @ts-check
/** Draws and encodes pictures, such as the thumbnail of an example. It works in a window and in a worker. */

/** Draws the whole picture on white, at this size in pixels. @param {ImageBitmap} picture @param {{width: number, height: number}} size */
export function drawing(picture, { width, height }) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser refused to draw a thumbnail. Close other tabs and try again.');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, 0, 0, width, height);
  return canvas;
}

/** A drawing as JPEG. @param {OffscreenCanvas} canvas */
export async function encoded(canvas) {
  return new Uint8Array(await (await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.82 })).arrayBuffer());
}
