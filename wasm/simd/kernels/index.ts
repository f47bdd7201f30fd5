// The kernels that Go imports from module "simd". They read and write Go's linear memory and
// nothing else: no heap, no data segment, no state. Arguments are trusted; the Go side checks.
import { gemvN, gemvT } from "./level2";

export { axpy as daxpy, dot as ddot, scal as dscal } from "./level1";
export { trsv as dtrsv } from "./level2";
export { gemm as dgemm, gemmNT as dgemmNT, trsmBlock as dtrsm } from "./level3";

export function dgemv(trans: bool, m: i32, n: i32, alpha: f64, a: usize, lda: i32, x: usize, y: usize): void {
  if (trans) gemvT(m, n, alpha, a, lda, x, y);
  else gemvN(m, n, alpha, a, lda, x, y);
}
