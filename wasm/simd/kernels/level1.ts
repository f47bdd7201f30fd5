// Level 1: vectors of unit stride. x and y are addresses in Go's memory.
import { VECTOR, bytes, LANES, sum } from "./lanes";

/** Returns sum_i x[i] y[i]. Four accumulators hide the latency of the addition. */
export function dot(n: i32, x: usize, y: usize): f64 {
  let s0 = f64x2.splat(0), s1 = s0, s2 = s0, s3 = s0;
  const end = x + bytes(n);
  const body = x + bytes(n & -(4 * LANES));
  while (x < body) {
    s0 = f64x2.add(s0, f64x2.mul(v128.load(x), v128.load(y)));
    s1 = f64x2.add(s1, f64x2.mul(v128.load(x, 16), v128.load(y, 16)));
    s2 = f64x2.add(s2, f64x2.mul(v128.load(x, 32), v128.load(y, 32)));
    s3 = f64x2.add(s3, f64x2.mul(v128.load(x, 48), v128.load(y, 48)));
    x += 4 * VECTOR;
    y += 4 * VECTOR;
  }
  let s = sum(f64x2.add(f64x2.add(s0, s1), f64x2.add(s2, s3)));
  while (x < end) {
    s = (s + load<f64>(x) * load<f64>(y));
    x += 8;
    y += 8;
  }
  return s;
}

/** y[i] += alpha x[i]. Element by element the same two roundings as gonum. */
export function axpy(n: i32, alpha: f64, x: usize, y: usize): void {
  const a = f64x2.splat(alpha);
  const end = x + bytes(n);
  const body = x + bytes(n & -(2 * LANES));
  while (x < body) {
    v128.store(y, f64x2.add(v128.load(y), f64x2.mul(a, v128.load(x))));
    v128.store(y, f64x2.add(v128.load(y, 16), f64x2.mul(a, v128.load(x, 16))), 16);
    x += 2 * VECTOR;
    y += 2 * VECTOR;
  }
  while (x < end) {
    store<f64>(y, (load<f64>(y) + alpha * load<f64>(x)));
    x += 8;
    y += 8;
  }
}

/** x[i] *= alpha. */
export function scal(n: i32, alpha: f64, x: usize): void {
  const a = f64x2.splat(alpha);
  const end = x + bytes(n);
  const body = x + bytes(n & -LANES);
  for (; x < body; x += VECTOR) v128.store(x, f64x2.mul(a, v128.load(x)));
  for (; x < end; x += 8) store<f64>(x, (alpha * load<f64>(x)));
}
