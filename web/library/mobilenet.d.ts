export type Picture = import('./pictures.js').Picture;
export type MobileNet = {
    id: string;
    sha256: string;
    dimension: number;
    embed: (picture: Picture) => Promise<Float32Array>;
    /**
     * ends its worker and frees the network
     */
    close: () => void;
};
/** @typedef {import('./pictures.js').Picture} Picture */
/**
 * @typedef {object} MobileNet what `createClassifier` takes as its extractor
 * @property {string} id
 * @property {string} sha256
 * @property {number} dimension
 * @property {(picture: Picture) => Promise<Float32Array>} embed
 * @property {() => void} close ends its worker and frees the network
 */
/**
 * Loads the extractor. It runs in a worker, or in the window where that does not start.
 *
 * @param {{onProgress?: (progress: {loaded: number, total: number}) => void, worker?: boolean}} [options]
 * @returns {Promise<MobileNet>}
 */
export declare function loadMobileNet(options?: {
    onProgress?: (progress: {
        loaded: number;
        total: number;
    }) => void;
    worker?: boolean;
}): Promise<MobileNet>;
/** Where the prior for it is: the option `prior` of `createClassifier`. @returns {URL} */
export declare const prior: () => URL;
