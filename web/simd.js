// @ts-check
// The SIMD kernels under gonum (source: wasm/simd/kernels), for whoever runs the Go engine.
//
// Go's program imports functions from module "simd"; the kernels import the memory that the Go
// instance exports. Trampolines break the circle:
//
//   const kernels = await loadSimd(new URL('metaqda-simd.wasm', base), enabled);  // null: no SIMD
//   const simd = simdImports(kernels);
//   const go = new Go();
//   Object.assign(go.importObject, simd.imports);
//   const instance = await WebAssembly.instantiate(goModule, go.importObject);
//   simd.attach(instance);                                                        // before run
//   go.run(instance);
//
// Without kernels the imports exist all the same, `available` answers 0 and Go keeps gonum's own
// routines. A compiled module can be posted to a worker, which makes its own imports from it. The
// kernels hold the Memory object, not its buffer, so they survive its growth.

/** A function that makes one vector: valid only where 128-bit SIMD is. */
const PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, // magic, version
  1, 5, 1, 96, 0, 1, 123, // type 0: () -> v128
  3, 2, 1, 0, // function 0 has type 0
  10, 8, 1, 6, 0, 65, 0, 253, 15, 11, // i32.const 0; i8x16.splat; end
]);

/** Tells whether this browser runs 128-bit SIMD. */
export function simdSupported() {
  return WebAssembly.validate(PROBE);
}

/**
 * Fetches and compiles the kernels; null where SIMD is missing or not wanted, or the file cannot be had: the
 * engine then runs without them, slower but with the same answers.
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
  const imports = { simd: { available: () => (module ? 1 : 0), ...trampolines(() => k) } };
  return {
    imports,
    attach(instance) {
      if (module) k = /** @type {any} */ (new WebAssembly.Instance(module, { env: { memory: instance.exports.mem } }).exports);
    },
  };
}

/**
 * One function per kernel, with its arguments written out: rest parameters would cost an array per call.
 * @param {() => Kernels} get
 * @returns {Kernels}
 */
function trampolines(get) {
  /** @type {Kernels} */
  const all = {};
  for (const p of ['d', 's']) {
    const [dot, axpy, scal, gemv, trsv, gemm, trsm] = ['dot', 'axpy', 'scal', 'gemv', 'trsv', 'gemm', 'trsm'].map((name) => p + name);
    all[dot] = (n, x, y) => get()[dot](n, x, y);
    all[axpy] = (n, alpha, x, y) => get()[axpy](n, alpha, x, y);
    all[scal] = (n, alpha, x) => get()[scal](n, alpha, x);
    all[gemv] = (t, m, n, alpha, a, lda, x, y) => get()[gemv](t, m, n, alpha, a, lda, x, y);
    all[trsv] = (l, t, u, n, a, lda, x) => get()[trsv](l, t, u, n, a, lda, x);
    all[gemm] = (part, m, n, k, alpha, a, ar, ac, b, br, bc, c, ldc, s) => get()[gemm](part, m, n, k, alpha, a, ar, ac, b, br, bc, c, ldc, s);
    all[trsm] = (u, m, n, a, ar, ac, b, br, bc, s) => get()[trsm](u, m, n, a, ar, ac, b, br, bc, s);
  }
  return all;
}
