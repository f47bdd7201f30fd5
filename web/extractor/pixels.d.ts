/**
 * Decodes a picture file the way the extractor wants it.
 * @param {Blob} blob
 * @returns {Promise<ImageBitmap>} rejects with code 'unreadable-picture'
 */
export declare function decodePicture(blob: Blob): Promise<ImageBitmap>;
/**
 * @param {Blob | ImageBitmap | ImageData} source
 * @param {number} size edge of the extractor's input
 * @param {import('./preprocess.js').View[]} views
 * @param {() => Promise<void>} [pause] called between bands, so that a window stays responsive
 * @returns {Promise<Float32Array[]>} for each view size*size*3
 */
export declare function pixelsOf(source: Blob | ImageBitmap | ImageData, size: number, views: import('./preprocess.js').View[], pause?: () => Promise<void>): Promise<Float32Array[]>;
