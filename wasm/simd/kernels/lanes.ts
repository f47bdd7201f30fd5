// Helpers shared by all kernels, of numbers of 64 bits.

/** Numbers in one vector of 128 bits, and its bytes. */
export const LANES: i32 = 2;
export const VECTOR: usize = 16;

/** Bytes taken by n numbers; n may be negative. */
// @ts-ignore: decorator
@inline
export function bytes(n: i32): usize {
  return (n as usize) * 8;
}

/** Sum of the lanes. */
// @ts-ignore: decorator
@inline
export function sum(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}
