// Written by build.mjs: the SIMD kernels of wasm/simd.
export function kernels(): Uint8Array;
