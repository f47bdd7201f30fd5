// Level 1: vectors of unit stride. x and y are addresses in Go's memory.
import { VECTOR, bytes, lanes, sum } from "./lanes";

/** Returns sum_i x[i] y[i]. Four accumulators hide the latency of the addition. */
export function dot<T>(n: i32, x: usize, y: usize): T {
  let s0 = v128.splat<T>(0 as T), s1 = s0, s2 = s0, s3 = s0;
  const end = x + bytes<T>(n);
  const body = x + bytes<T>(n & -(4 * lanes<T>()));
  while (x < body) {
    s0 = v128.add<T>(s0, v128.mul<T>(v128.load(x), v128.load(y)));
    s1 = v128.add<T>(s1, v128.mul<T>(v128.load(x, 16), v128.load(y, 16)));
    s2 = v128.add<T>(s2, v128.mul<T>(v128.load(x, 32), v128.load(y, 32)));
    s3 = v128.add<T>(s3, v128.mul<T>(v128.load(x, 48), v128.load(y, 48)));
    x += 4 * VECTOR;
    y += 4 * VECTOR;
  }
  let s = sum<T>(v128.add<T>(v128.add<T>(s0, s1), v128.add<T>(s2, s3)));
  while (x < end) {
    s = (s + load<T>(x) * load<T>(y)) as T;
    x += sizeof<T>();
    y += sizeof<T>();
  }
  return s;
}

/** y[i] += alpha x[i]. Element by element the same two roundings as gonum. */
export function axpy<T>(n: i32, alpha: T, x: usize, y: usize): void {
  const a = v128.splat<T>(alpha);
  const end = x + bytes<T>(n);
  const body = x + bytes<T>(n & -(2 * lanes<T>()));
  while (x < body) {
    v128.store(y, v128.add<T>(v128.load(y), v128.mul<T>(a, v128.load(x))));
    v128.store(y, v128.add<T>(v128.load(y, 16), v128.mul<T>(a, v128.load(x, 16))), 16);
    x += 2 * VECTOR;
    y += 2 * VECTOR;
  }
  while (x < end) {
    store<T>(y, (load<T>(y) + alpha * load<T>(x)) as T);
    x += sizeof<T>();
    y += sizeof<T>();
  }
}

/** x[i] *= alpha. */
export function scal<T>(n: i32, alpha: T, x: usize): void {
  const a = v128.splat<T>(alpha);
  const end = x + bytes<T>(n);
  const body = x + bytes<T>(n & -lanes<T>());
  for (; x < body; x += VECTOR) v128.store(x, v128.mul<T>(a, v128.load(x)));
  for (; x < end; x += sizeof<T>()) store<T>(x, (alpha * load<T>(x)) as T);
}
