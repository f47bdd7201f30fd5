// @ts-check
/** @typedef {Blob | ImageBitmap | ImageData | HTMLImageElement | HTMLVideoElement | HTMLCanvasElement | OffscreenCanvas | VideoFrame} Picture */

/**
 * What the extractor takes as it is, or a bitmap of it.
 *
 * @param {Picture} picture
 * @returns {Promise<Blob | ImageBitmap | ImageData>}
 */
export async function pictureOf(picture) {
  if (picture instanceof Blob || picture instanceof ImageBitmap || picture instanceof ImageData) return picture;
  return createImageBitmap(picture, { colorSpaceConversion: 'none', premultiplyAlpha: 'none' });
}
