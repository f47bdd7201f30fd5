// @ts-check
/**
 * Feature extractors behind one interface. An extractor turns a picture into an
 * embedding; the rest of the page knows no more of it than this file's types.
 */
export { ExtractorError } from './errors.js';
export { loadExtractor } from './load.js';
export { decodePicture } from './pixels.js';

/** @typedef {Blob | ImageBitmap | ImageData} Picture */

/**
 * @typedef {object} Extractor
 * @property {string} id names network, version and views; priors and sessions are bound to it
 * @property {string} sha256 of the network's files and of how pictures are laid before it
 * @property {number} dimension length of an embedding
 * @property {'worker' | 'window'} place where it runs
 * @property {number} views how many views of a picture an embedding is the mean of
 * @property {string[]} networks of one with a recipe of its own, by their names in it
 * @property {(picture: Picture, views?: number) => Promise<Float32Array>} embed
 *   of all views, or sooner and more coarsely of the first so many;
 *   answers `dimension` finite numbers, the same for the same picture; leaves the
 *   picture usable; rejects with an ExtractorError (code, sentence)
 * @property {(picture: Picture, views?: number) => Promise<import('./session.js').Cells | null>} cells
 *   the embedding, with the places that it is the mean of; null for a network that has none
 * @property {(type: string, args?: any) => Promise<any>} ask what else its session answers
 * @property {() => void} close
 */

/**
 * @typedef {object} LoadOptions
 * @property {import('./download.js').OnProgress} [onProgress] bytes loaded of bytes in all
 * @property {URL | string} [base] folder of the built files; `extractor/` beside the page if left out
 * @property {boolean} [worker] false runs it in the window at once
 * @property {number} [patience] milliseconds after which a silent worker counts as hung
 */
