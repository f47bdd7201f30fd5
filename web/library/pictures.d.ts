/** @typedef {Blob | ImageBitmap | ImageData | HTMLImageElement | HTMLVideoElement | HTMLCanvasElement | OffscreenCanvas | VideoFrame} Picture */
export type Picture = Blob | ImageBitmap | ImageData | HTMLImageElement | HTMLVideoElement | HTMLCanvasElement | OffscreenCanvas | VideoFrame;
/**
 * What the extractor takes as it is, or a bitmap of it.
 *
 * @param {Picture} picture
 * @returns {Promise<Blob | ImageBitmap | ImageData>}
 */
export declare function pictureOf(picture: Picture): Promise<Blob | ImageBitmap | ImageData>;
