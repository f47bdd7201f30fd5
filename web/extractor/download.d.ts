export type ExtractorRecord = {
    id: string;
    /**
     * over model.json, weights.bin and the text of the recipe, one after the other
     */
    sha256: string;
    dimension: number;
    inputSize: number;
    views: import('./preprocess.js').View[];
    /**
     * uncompressed size by file name
     */
    bytes: Record<string, number>;
    wasm: {
        simd: string;
        plain: string;
    };
};
export type OnProgress = (progress: {
    loaded: number;
    total: number;
}) => void;
/**
 * @typedef {object} ExtractorRecord contents of extractor.json
 * @property {string} id
 * @property {string} sha256 over model.json, weights.bin and the text of the recipe, one after the other
 * @property {number} dimension @property {number} inputSize @property {import('./preprocess.js').View[]} views
 * @property {Record<string, number>} bytes uncompressed size by file name
 * @property {{simd: string, plain: string}} wasm
 */
/** @typedef {(progress: {loaded: number, total: number}) => void} OnProgress bytes */
/** @param {URL} base folder of the extractor @returns {Promise<ExtractorRecord>} */
export declare function fetchRecord(base: URL): Promise<ExtractorRecord>;
/**
 * @param {(name: string) => URL} at @param {ExtractorRecord} record @param {OnProgress} [onProgress]
 * @returns {Promise<import('./session.js').ExtractorFiles>}
 */
export declare function fetchFiles(at: (name: string) => URL, record: ExtractorRecord, onProgress?: OnProgress): Promise<import('./session.js').ExtractorFiles>;
