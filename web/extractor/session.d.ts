export type ExtractorFiles = {
    /**
     * edge of the square the graph is fed
     */
    inputSize: number;
    /**
     * what it is fed of each picture
     */
    views: import('./preprocess.js').View[];
    /**
     * length of an embedding
     */
    dimension: number;
    model: any;
    weights: ArrayBuffer;
    wasm: ArrayBuffer;
};
export type CreateRuntime = (files: {
    model: any;
    weights: ArrayBuffer;
    wasm: ArrayBuffer;
}) => Promise<{
    run: (pixels: Float32Array, size: number) => Float32Array;
    close: () => void;
}>;
/**
 * @typedef {object} ExtractorFiles
 * @property {number} inputSize edge of the square the graph is fed
 * @property {import('./preprocess.js').View[]} views what it is fed of each picture
 * @property {number} dimension length of an embedding
 * @property {any} model @property {ArrayBuffer} weights @property {ArrayBuffer} wasm
 */
/** @typedef {(files: {model: any, weights: ArrayBuffer, wasm: ArrayBuffer}) =>
 *   Promise<{run: (pixels: Float32Array, size: number) => Float32Array, close: () => void}>} CreateRuntime */
/**
 * @param {CreateRuntime} createRuntime
 * @param {ExtractorFiles} files
 * @param {() => Promise<void>} [pause]
 */
export declare function createSession(createRuntime: CreateRuntime, files: ExtractorFiles, pause?: () => Promise<void>): Promise<{
    /**
     * @param {Blob | ImageBitmap | ImageData} source @param {number} [count] of views, the first ones
     * @returns {Promise<Float32Array>}
     */
    embed(source: Blob | ImageBitmap | ImageData, count?: number): Promise<Float32Array>;
    close: () => void;
}>;
/**
 * A picture's embedding is the mean of what the network answers to its views.
 * The page and Node share it.
 * @param {(pixels: Float32Array, size: number) => Float32Array} run
 * @param {Float32Array[]} inputs one for each view @param {number} size their edge
 * @returns {Float32Array}
 */
export declare function meanOf(run: (pixels: Float32Array, size: number) => Float32Array, inputs: Float32Array[], size: number): Float32Array;
