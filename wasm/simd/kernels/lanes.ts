// Helpers shared by all kernels: how many numbers of type T one 128-bit
// vector holds, and the sum of its lanes. T is f64 or f32 everywhere.

/** Bytes of one vector. */
export const VECTOR: usize = 16;

/** Numbers of type T in one vector: 2 for f64, 4 for f32. */
// @ts-ignore: decorator
@inline
export function lanes<T>(): i32 {
  return 16 / sizeof<T>();
}

/** Bytes taken by n numbers of type T; n may be negative. */
// @ts-ignore: decorator
@inline
export function bytes<T>(n: i32): usize {
  return (n as usize) * sizeof<T>();
}

/** Sum of the lanes, pairwise. */
// @ts-ignore: decorator
@inline
export function sum<T>(v: v128): T {
  if (sizeof<T>() == 8) {
    return (v128.extract_lane<T>(v, 0) + v128.extract_lane<T>(v, 1)) as T;
  }
  return ((v128.extract_lane<T>(v, 0) + v128.extract_lane<T>(v, 1)) +
    (v128.extract_lane<T>(v, 2) + v128.extract_lane<T>(v, 3))) as T;
}
