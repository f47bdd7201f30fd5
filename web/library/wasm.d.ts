export type Source = URL | string | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module;
export type OnProgress = (progress: {
    loaded: number;
    total: number;
}) => void;
export type Program = {
    /**
     * functions of the program
     */
    exports: any;
    memory: WebAssembly.Memory;
    /**
     * whether it has stopped
     */
    ended: () => boolean;
    /**
     * drops what it waits for; it must not be called afterwards
     */
    release: () => void;
};
/** @typedef {URL | string | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module} Source where a program is, or the program */
/** @typedef {(progress: {loaded: number, total: number}) => void} OnProgress bytes; total is 0 while it is not known */
/**
 * @typedef {object} Program a running engine
 * @property {any} exports functions of the program
 * @property {WebAssembly.Memory} memory
 * @property {() => boolean} ended whether it has stopped
 * @property {() => void} release drops what it waits for; it must not be called afterwards
 */
/**
 * Compiles a program, while it arrives where that is possible.
 *
 * @param {Source} source
 * @param {OnProgress} [onProgress]
 * @returns {Promise<WebAssembly.Module>}
 */
export declare function compile(source: Source, onProgress?: OnProgress): Promise<WebAssembly.Module>;
/**
 * The bytes of what a URL names, a Response holds, or a caller has at hand.
 *
 * @param {URL | string | Response | ArrayBuffer | ArrayBufferView} source
 * @param {OnProgress} [onProgress]
 * @returns {Promise<Uint8Array>}
 */
export declare function bytesOf(source: URL | string | Response | ArrayBuffer | ArrayBufferView, onProgress?: OnProgress): Promise<Uint8Array>;
/**
 * Starts a program.
 *
 * @param {WebAssembly.Module} module
 * @param {{simd?: boolean}} [options] `simd: false` does without SIMD, slower but with the same answers
 * @returns {Promise<Program>}
 */
export declare function start(module: WebAssembly.Module, { simd }?: {
    simd?: boolean;
}): Promise<Program>;
