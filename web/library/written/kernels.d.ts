// Written by web/build/package.mjs: the SIMD kernels of wasm/simd.
export function kernels(): Uint8Array;
