// @ts-check
// The SIMD kernels under gonum (source: wasm/simd/kernels). Go's program imports functions from module
// "simd". The kernels import the memory that the Go instance exports. Trampolines break this circle: call
// `attach` before the program runs. Without kernels `available` returns 0, and Go keeps gonum's own routines.
// A compiled module can be posted to a worker, which makes its own imports from it. The kernels hold the
// Memory object, not its buffer, so they survive its growth.
import { simdSupported } from '../base/simd.js';

/**
 * Fetches and compiles the kernels. Returns null if SIMD is missing or switched off, or if the file cannot be fetched.
 * The engine then runs without them: slower, with the same answers.
 * @param {string | URL} url
 * @param {boolean} [enabled] false for ?simd=0
 * @returns {Promise<WebAssembly.Module | null>}
 */
export async function loadSimd(url, enabled = true) {
  if (!enabled || !simdSupported()) return null;
  try {
    const response = await fetch(url);
    return response.ok ? await WebAssembly.compile(await response.arrayBuffer()) : null;
  } catch {
    return null;
  }
}

/** @typedef {Record<string, (...args: number[]) => number>} Kernels */

/**
 * Makes the import object's part for Go.
 * @param {WebAssembly.Module | null} module the compiled kernels, or null to run without
 * @returns {{ imports: { simd: Kernels }, attach: (instance: WebAssembly.Instance) => void }}
 */
export function simdImports(module) {
  /** @type {Kernels} */
  let k = {};
  // Written out: looking up a name and passing rest parameters would cost more than the call.
  /** @type {Kernels} */
  const simd = {
    available: () => (module ? 1 : 0),
    ddot: (n, x, y) => k.ddot(n, x, y),
    daxpy: (n, alpha, x, y) => k.daxpy(n, alpha, x, y),
    dscal: (n, alpha, x) => k.dscal(n, alpha, x),
    dgemv: (trans, m, n, alpha, a, lda, x, y) => k.dgemv(trans, m, n, alpha, a, lda, x, y),
    dtrsv: (lower, trans, unit, n, a, lda, x) => k.dtrsv(lower, trans, unit, n, a, lda, x),
    dgemm: (part, m, n, p, alpha, a, ar, ac, b, br, bc, c, ldc, s) => k.dgemm(part, m, n, p, alpha, a, ar, ac, b, br, bc, c, ldc, s),
    dgemmNT: (m, n, p, alpha, a, lda, b, ldb, c, ldc) => k.dgemmNT(m, n, p, alpha, a, lda, b, ldb, c, ldc),
    dtrsm: (unit, m, n, a, ar, ac, b, br, bc, s) => k.dtrsm(unit, m, n, a, ar, ac, b, br, bc, s),
  };
  return {
    imports: { simd },
    attach(instance) {
      if (!module) return;
      const { exports } = new WebAssembly.Instance(module, { env: { memory: instance.exports.mem } });
      k = { .../** @type {any} */ (exports) }; // A plain object: its properties are found faster.
    },
  };
}
