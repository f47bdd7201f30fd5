// Written by web/build/package.mjs: the engine of wasm/library, compressed.
export function engine(): Response;
