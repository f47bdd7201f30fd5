export type Place = {
    name: 'worker' | 'window';
    embed: import('./index.js').Extractor['embed'];
    close: () => void;
};
export type Source = {
    record: import('./download.js').ExtractorRecord;
    at: (name: string) => URL;
    /**
     * starts worker.js
     */
    worker: () => Worker;
    /**
     * imports runtime.js
     */
    runtime: () => Promise<any>;
};
/** @typedef {{name: 'worker' | 'window', embed: import('./index.js').Extractor['embed'], close: () => void}} Place */
/**
 * @typedef {object} Source where an extractor's files are
 * @property {import('./download.js').ExtractorRecord} record
 * @property {(name: string) => URL} at
 * @property {() => Worker} worker starts worker.js
 * @property {() => Promise<any>} runtime imports runtime.js
 */
/** @type {import('./index.js').Loader} */
export declare function loadGraphExtractor({ base, ...options }: import("./index.js").LoadOptions): Promise<import("./index.js").Extractor>;
/**
 * @param {Source} source @param {Omit<import('./index.js').LoadOptions, 'id' | 'base'>} options
 * @returns {Promise<import('./index.js').Extractor>}
 */
export declare function loadGraphFrom(source: Source, { onProgress, worker, patience }: Omit<import('./index.js').LoadOptions, 'id' | 'base'>): Promise<import('./index.js').Extractor>;
