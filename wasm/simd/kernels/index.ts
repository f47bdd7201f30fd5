// The kernels that Go imports from module "simd", for float64. They read and write Go's
// linear memory and nothing else: no heap, no data segment, no state. Arguments are
// trusted; the Go side checks.
import { axpy, dot, scal } from "./level1";
import { gemvN, gemvT, trsv } from "./level2";
import { gemm, gemmNT, trsmBlock } from "./level3";

export function ddot(n: i32, x: usize, y: usize): f64 {
  return dot<f64>(n, x, y);
}
export function daxpy(n: i32, alpha: f64, x: usize, y: usize): void {
  axpy<f64>(n, alpha, x, y);
}
export function dscal(n: i32, alpha: f64, x: usize): void {
  scal<f64>(n, alpha, x);
}
export function dgemv(trans: bool, m: i32, n: i32, alpha: f64, a: usize, lda: i32, x: usize, y: usize): void {
  if (trans) gemvT<f64>(m, n, alpha, a, lda, x, y);
  else gemvN<f64>(m, n, alpha, a, lda, x, y);
}
export function dtrsv(lower: bool, trans: bool, unit: bool, n: i32, a: usize, lda: i32, x: usize): void {
  trsv<f64>(lower, trans, unit, n, a, lda, x);
}
export function dgemm(
  part: i32, m: i32, n: i32, k: i32, alpha: f64,
  a: usize, aRow: i32, aCol: i32, b: usize, bRow: i32, bCol: i32, c: usize, ldc: i32, scratch: usize,
): void {
  gemm<f64>(part, m, n, k, alpha, a, aRow, aCol, b, bRow, bCol, c, ldc, scratch);
}
export function dtrsm(
  unit: bool, m: i32, n: i32, a: usize, aRow: i32, aCol: i32, b: usize, bRow: i32, bCol: i32, scratch: usize,
): void {
  trsmBlock<f64>(unit, m, n, a, aRow, aCol, b, bRow, bCol, scratch);
}
export function dgemmNT(m: i32, n: i32, k: i32, alpha: f64, a: usize, lda: i32, b: usize, ldb: i32, c: usize, ldc: i32): void {
  gemmNT<f64>(m, n, k, alpha, a, lda, b, ldb, c, ldc);
}
