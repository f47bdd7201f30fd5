// @ts-check
/** Whether WebAssembly has 128-bit SIMD here: extractors need it, the engine is faster with it. */

/** (module (func (result v128) i32.const 0 i8x16.splat)): valid only where SIMD is. */
// biome-ignore format: a line for each section
const PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, // magic, version
  1, 5, 1, 96, 0, 1, 123, // type 0: () -> v128
  3, 2, 1, 0, // function 0 has type 0
  10, 8, 1, 6, 0, 65, 0, 253, 15, 11, // i32.const 0; i8x16.splat; end
);

/** Tells whether this browser, or Node, runs 128-bit SIMD. */
export function simdSupported() {
  return WebAssembly.validate(PROBE);
}
