// Level 2: row-major matrix times vector, and triangular systems.
// a is the address of a[0][0]; lda is the distance between rows in numbers.
import { VECTOR, bytes, lanes, sum } from "./lanes";
import { dot, axpy } from "./level1";

/** Products of two vectors at a with x0 and x1, added: one chain of additions per row instead of two. */
// @ts-ignore: decorator
@inline
function products<T>(a: usize, x0: v128, x1: v128): v128 {
  return v128.add<T>(v128.mul<T>(v128.load(a), x0), v128.mul<T>(v128.load(a, 16), x1));
}

/** y[i] += alpha sum_j a[i][j] x[j], i < m, j < n. Four rows share each load of x. */
export function gemvN<T>(m: i32, n: i32, alpha: T, a: usize, lda: i32, x: usize, y: usize): void {
  const row = bytes<T>(lda);
  for (; m >= 4; m -= 4) {
    let s0 = v128.splat<T>(0 as T), s1 = s0, s2 = s0, s3 = s0;
    let a0 = a, a1 = a + row, a2 = a1 + row, a3 = a2 + row, xj = x;
    const body = x + bytes<T>(n & -(2 * lanes<T>()));
    const end = x + bytes<T>(n);
    while (xj < body) {
      const x0 = v128.load(xj), x1 = v128.load(xj, 16);
      s0 = v128.add<T>(s0, products<T>(a0, x0, x1));
      s1 = v128.add<T>(s1, products<T>(a1, x0, x1));
      s2 = v128.add<T>(s2, products<T>(a2, x0, x1));
      s3 = v128.add<T>(s3, products<T>(a3, x0, x1));
      xj += 2 * VECTOR;
      a0 += 2 * VECTOR;
      a1 += 2 * VECTOR;
      a2 += 2 * VECTOR;
      a3 += 2 * VECTOR;
    }
    let r0 = sum<T>(s0), r1 = sum<T>(s1), r2 = sum<T>(s2), r3 = sum<T>(s3);
    while (xj < end) {
      const v = load<T>(xj);
      r0 = (r0 + load<T>(a0) * v) as T;
      r1 = (r1 + load<T>(a1) * v) as T;
      r2 = (r2 + load<T>(a2) * v) as T;
      r3 = (r3 + load<T>(a3) * v) as T;
      xj += sizeof<T>();
      a0 += sizeof<T>();
      a1 += sizeof<T>();
      a2 += sizeof<T>();
      a3 += sizeof<T>();
    }
    store<T>(y, (load<T>(y) + alpha * r0) as T);
    store<T>(y, (load<T>(y, sizeof<T>()) + alpha * r1) as T, sizeof<T>());
    store<T>(y, (load<T>(y, 2 * sizeof<T>()) + alpha * r2) as T, 2 * sizeof<T>());
    store<T>(y, (load<T>(y, 3 * sizeof<T>()) + alpha * r3) as T, 3 * sizeof<T>());
    a += 4 * row;
    y += 4 * sizeof<T>();
  }
  for (; m > 0; m--) {
    store<T>(y, (load<T>(y) + alpha * dot<T>(n, a, x)) as T);
    a += row;
    y += sizeof<T>();
  }
}

/** y[j] += alpha sum_i a[i][j] x[i], i < m, j < n. Four rows share each load and store of y. */
export function gemvT<T>(m: i32, n: i32, alpha: T, a: usize, lda: i32, x: usize, y: usize): void {
  const row = bytes<T>(lda);
  for (; m >= 4; m -= 4) {
    const c0 = (alpha * load<T>(x)) as T, c1 = (alpha * load<T>(x, sizeof<T>())) as T;
    const c2 = (alpha * load<T>(x, 2 * sizeof<T>())) as T, c3 = (alpha * load<T>(x, 3 * sizeof<T>())) as T;
    const v0 = v128.splat<T>(c0), v1 = v128.splat<T>(c1), v2 = v128.splat<T>(c2), v3 = v128.splat<T>(c3);
    let a0 = a, a1 = a + row, a2 = a1 + row, a3 = a2 + row, yj = y;
    const body = y + bytes<T>(n & -lanes<T>());
    const end = y + bytes<T>(n);
    while (yj < body) {
      const p = v128.add<T>(v128.mul<T>(v0, v128.load(a0)), v128.mul<T>(v1, v128.load(a1)));
      const q = v128.add<T>(v128.mul<T>(v2, v128.load(a2)), v128.mul<T>(v3, v128.load(a3)));
      v128.store(yj, v128.add<T>(v128.load(yj), v128.add<T>(p, q)));
      yj += VECTOR;
      a0 += VECTOR;
      a1 += VECTOR;
      a2 += VECTOR;
      a3 += VECTOR;
    }
    while (yj < end) {
      const p = c0 * load<T>(a0) + c1 * load<T>(a1);
      const q = c2 * load<T>(a2) + c3 * load<T>(a3);
      store<T>(yj, (load<T>(yj) + (p + q)) as T);
      yj += sizeof<T>();
      a0 += sizeof<T>();
      a1 += sizeof<T>();
      a2 += sizeof<T>();
      a3 += sizeof<T>();
    }
    a += 4 * row;
    x += 4 * sizeof<T>();
  }
  for (; m > 0; m--) {
    axpy<T>(n, (alpha * load<T>(x)) as T, a, y);
    a += row;
    x += sizeof<T>();
  }
}

/**
 * Solves op(A) x = b in place (b comes in x), A n x n triangular, op(A) = A or its transpose.
 * Works on diagonal blocks of four rows: what a block owes to (or gives to) the rest of x is one
 * matrix-vector product over contiguous rows, so almost all of A streams through gemvN or gemvT.
 * Blocks start at 0 for a lower and end at n for an upper triangle: full blocks then face
 * off-diagonal panels whose length is a multiple of four.
 */
export function trsv<T>(lower: bool, trans: bool, unit: bool, n: i32, a: usize, lda: i32, x: usize): void {
  const forward = lower != trans;
  const short = n & 3;
  for (let done = 0; done < n;) {
    // The short block is the last of a lower triangle and the first of an upper one.
    const atShort = lower == forward ? done + short == n : done == 0;
    const size = atShort && short != 0 ? short : 4;
    const i = forward ? done : n - done - size;
    const panel = lower ? 0 : i + size;
    const width = lower ? i : n - panel;
    const off = a + bytes<T>(i * lda + panel);
    const xi = x + bytes<T>(i), xp = x + bytes<T>(panel);
    if (!trans) gemvN<T>(size, width, -1 as T, off, lda, xp, xi);
    solveBlock<T>(forward, trans, unit, size, a + bytes<T>(i * lda + i), lda, xi);
    if (trans) gemvT<T>(size, width, -1 as T, off, lda, xi, xp);
    done += size;
  }
}

/** Substitution in one diagonal block of at most four rows. */
function solveBlock<T>(forward: bool, trans: bool, unit: bool, n: i32, a: usize, lda: i32, x: usize): void {
  const rowStep = bytes<T>(trans ? 1 : lda), colStep = bytes<T>(trans ? lda : 1);
  for (let s = 0; s < n; s++) {
    const i = forward ? s : n - 1 - s;
    let v = load<T>(x + bytes<T>(i));
    for (let t = 0; t < s; t++) {
      const j = forward ? t : n - 1 - t;
      v = (v - load<T>(a + (i as usize) * rowStep + (j as usize) * colStep) * load<T>(x + bytes<T>(j))) as T;
    }
    if (!unit) v = (v / load<T>(a + (i as usize) * (rowStep + colStep))) as T;
    store<T>(x + bytes<T>(i), v);
  }
}
