export type Source = import('./wasm.js').Source;
export type Program = import('./wasm.js').Program;
export declare class Engine {
    program: import("./wasm.js").Program;
    room: number;
    size: number;
    /** Views of the program's memory, made anew when it has grown. */
    bytes: Uint8Array<ArrayBuffer>;
    floats: Float32Array<ArrayBuffer>;
    doubles: Float64Array<ArrayBuffer>;
    /** @param {Program} program */
    constructor(program: Program);
    fresh(): void;
    /** Makes room for n bytes. @param {number} n */
    reserve(n: number): void;
    /** Writes a vector and then texts, and answers their lengths. @param {ArrayLike<number> | null} vector @param {...string} texts */
    write(vector: ArrayLike<number> | null, ...texts: string[]): number[];
    /** Writes bytes and then a text. @param {Uint8Array} bytes @param {string} text */
    writeBytes(bytes: Uint8Array, text: string): number[];
    /** Throws what a call replied if it failed. @param {number} n what the call returned */
    checked(n: number): number;
    /** A copy of the reply of n bytes. @param {number} n */
    reply(n: number): Uint8Array<ArrayBuffer>;
}
export type InitOptions = {
    /**
     * where `metaqda.wasm` is, or what it holds; beside this module if left out
     */
    wasm?: Source;
    /**
     * false does without SIMD: slower, the same answers
     */
    simd?: boolean;
    /**
     * bytes of the engine as they arrive
     */
    onProgress?: import('./wasm.js').OnProgress;
};
/**
 * @typedef {object} InitOptions
 * @property {Source} [wasm] where `metaqda.wasm` is, or what it holds; beside this module if left out
 * @property {boolean} [simd] false does without SIMD: slower, the same answers
 * @property {import('./wasm.js').OnProgress} [onProgress] bytes of the engine as they arrive
 */
/**
 * Fetches and compiles the engine ahead of the first classifier, and says where it is.
 * Not needed where `metaqda.wasm` lies beside this module.
 *
 * @param {InitOptions} [options]
 * @returns {Promise<void>}
 */
export declare function init(options?: InitOptions): Promise<void>;
/** The engine, for one more user. @returns {Promise<Engine>} */
export declare function acquire(): Promise<Engine>;
/** One more user of an engine that is there. */
export declare function share(): void;
/** One user less: after the last the engine's memory is free. */
export declare function release(): void;
