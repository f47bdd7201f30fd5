// Written by web/build/package.mjs from the toolchain's wasm_exec.js: its class Go, for a global scope of one's own.
export function loadGo(scope: Record<string, any>): new () => import('../../engine/contract.js').GoProgram;
