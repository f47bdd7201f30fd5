// @ts-check
/** A picture on a canvas, in a window and in a worker. */

/**
 * Draws the whole picture over all of the canvas, on white.
 *
 * @param {OffscreenCanvas|HTMLCanvasElement} canvas
 * @param {ImageBitmap} picture
 */
export function drawTo(canvas, picture) {
  const context = /** @type {OffscreenCanvasRenderingContext2D|CanvasRenderingContext2D|null} */ (canvas.getContext('2d'));
  if (!context) throw new Error('This browser refused to draw a thumbnail. Close other tabs and try again.');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
}
