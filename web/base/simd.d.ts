/** Whether WebAssembly has 128-bit SIMD here: the engine and the extractor each ship a binary with it and do without. */
/** Tells whether this browser, or Node, runs 128-bit SIMD. */
export declare function simdSupported(): boolean;
