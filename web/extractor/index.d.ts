export { ExtractorError } from './errors.js';
export { decodePicture } from './pixels.js';
export type Picture = Blob | ImageBitmap | ImageData;
export type Extractor = {
    /**
     * names network, version and views; priors and sessions are bound to it
     */
    id: string;
    /**
     * of the network's files and of how pictures are laid before it
     */
    sha256: string;
    /**
     * length of an embedding
     */
    dimension: number;
    /**
     * where it runs
     */
    place: 'worker' | 'window';
    /**
     * how many views of a picture an embedding is the mean of
     */
    views: number;
    /**
     *   of all views, or sooner and more coarsely of the first so many;
     *   answers `dimension` finite numbers, the same for the same picture; leaves the
     *   picture usable; rejects with an ExtractorError (code, sentence)
     */
    embed: (picture: Picture, views?: number) => Promise<Float32Array>;
    close: () => void;
};
export type LoadOptions = {
    /**
     * which extractor; the default one if left out
     */
    id?: string;
    /**
     * bytes loaded of bytes in all
     */
    onProgress?: import('./download.js').OnProgress;
    /**
     * folder of the built files; `extractor/` beside the page if left out
     */
    base?: URL | string;
    /**
     * false runs it in the window at once
     */
    worker?: boolean;
    /**
     * milliseconds after which a silent worker counts as hung
     */
    patience?: number;
};
export type Loader = (options: LoadOptions) => Promise<Extractor>;
/** @typedef {Blob | ImageBitmap | ImageData} Picture */
/**
 * @typedef {object} Extractor
 * @property {string} id names network, version and views; priors and sessions are bound to it
 * @property {string} sha256 of the network's files and of how pictures are laid before it
 * @property {number} dimension length of an embedding
 * @property {'worker' | 'window'} place where it runs
 * @property {number} views how many views of a picture an embedding is the mean of
 * @property {(picture: Picture, views?: number) => Promise<Float32Array>} embed
 *   of all views, or sooner and more coarsely of the first so many;
 *   answers `dimension` finite numbers, the same for the same picture; leaves the
 *   picture usable; rejects with an ExtractorError (code, sentence)
 * @property {() => void} close
 */
/**
 * @typedef {object} LoadOptions
 * @property {string} [id] which extractor; the default one if left out
 * @property {import('./download.js').OnProgress} [onProgress] bytes loaded of bytes in all
 * @property {URL | string} [base] folder of the built files; `extractor/` beside the page if left out
 * @property {boolean} [worker] false runs it in the window at once
 * @property {number} [patience] milliseconds after which a silent worker counts as hung
 */
/** @typedef {(options: LoadOptions) => Promise<Extractor>} Loader */
export declare const defaultExtractor = "centernet-mobilenetv3-224-2@3.3.6";
/** @param {string} id @param {Loader} load */
export declare function registerExtractor(id: string, load: Loader): void;
/** @param {LoadOptions} [options] @returns {Promise<Extractor>} */
export declare function loadExtractor(options?: LoadOptions): Promise<Extractor>;
