// @ts-check
/**
 * Feature extractors behind one interface. An extractor turns a picture into an embedding.
 */
export { ExtractorError } from './errors.js';
export { loadExtractor } from './load.js';
export { decodePicture } from './pixels.js';

/** @typedef {Blob | ImageBitmap | ImageData} Picture */

/**
 * @typedef {object} Extractor
 * @property {string} id names network, version and views; priors and sessions are bound to it
 * @property {string} sha256 of the network's files and of how pictures are prepared
 * @property {number} dimension length of an embedding
 * @property {'worker' | 'window'} place where it runs
 * @property {number} views number of views of a picture; an embedding is the mean of theirs
 * @property {string[]} networks of an extractor with its own recipe, by their names in the recipe
 * @property {(picture: Picture, views?: number) => Promise<Float32Array>} embed
 *   of all views, or of the first `views` of them: sooner, less exact. Resolves with
 *   `dimension` finite numbers, the same for the same picture; the picture stays
 *   usable. Rejects with an ExtractorError (code, sentence)
 * @property {(picture: Picture, views?: number) => Promise<import('./session.js').Cells | null>} cells
 *   the embedding with its cells, whose mean it is; null for a network without cells
 * @property {(type: string, args?: any) => Promise<any>} ask sends another message to its session
 * @property {() => void} close
 */

/**
 * @typedef {object} LoadOptions
 * @property {import('./download.js').OnProgress} [onProgress] bytes loaded of bytes in all
 * @property {URL | string} [base] folder of the built files; `extractor/` beside the page if left out
 * @property {boolean} [worker] false runs it in the window at once
 * @property {number} [patience] milliseconds after which a silent worker counts as hung
 */
