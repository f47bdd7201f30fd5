/**
 * Fetches and compiles the kernels; null where SIMD is missing or not wanted, or the file cannot be had: the
 * engine then runs without them, slower but with the same answers.
 * @param {string | URL} url
 * @param {boolean} [enabled] false for ?simd=0
 * @returns {Promise<WebAssembly.Module | null>}
 */
export declare function loadSimd(url: string | URL, enabled?: boolean): Promise<WebAssembly.Module | null>;
export type Kernels = Record<string, (...args: number[]) => number>;
/** @typedef {Record<string, (...args: number[]) => number>} Kernels */
/**
 * Makes the import object's part for Go.
 * @param {WebAssembly.Module | null} module the compiled kernels, or null to run without
 * @returns {{ imports: { simd: Kernels }, attach: (instance: WebAssembly.Instance) => void }}
 */
export declare function simdImports(module: WebAssembly.Module | null): {
    imports: {
        simd: Kernels;
    };
    attach: (instance: WebAssembly.Instance) => void;
};
