// Level 2: row-major matrix times vector, and triangular systems.
// a is the address of a[0][0]; lda is the distance between rows in numbers.
import { VECTOR, bytes, LANES, sum } from "./lanes";
import { dot, axpy } from "./level1";

/** Products of two vectors at a with x0 and x1, added: one chain of additions per row instead of two. */
// @ts-ignore: decorator
@inline
function products(a: usize, x0: v128, x1: v128): v128 {
  return f64x2.add(f64x2.mul(v128.load(a), x0), f64x2.mul(v128.load(a, 16), x1));
}

/** y[i] += alpha sum_j a[i][j] x[j], i < m, j < n. Four rows share each load of x. */
export function gemvN(m: i32, n: i32, alpha: f64, a: usize, lda: i32, x: usize, y: usize): void {
  const row = bytes(lda);
  for (; m >= 4; m -= 4) {
    let s0 = f64x2.splat(0), s1 = s0, s2 = s0, s3 = s0;
    let a0 = a, a1 = a + row, a2 = a1 + row, a3 = a2 + row, xj = x;
    const body = x + bytes(n & -(2 * LANES));
    const end = x + bytes(n);
    while (xj < body) {
      const x0 = v128.load(xj), x1 = v128.load(xj, 16);
      s0 = f64x2.add(s0, products(a0, x0, x1));
      s1 = f64x2.add(s1, products(a1, x0, x1));
      s2 = f64x2.add(s2, products(a2, x0, x1));
      s3 = f64x2.add(s3, products(a3, x0, x1));
      xj += 2 * VECTOR;
      a0 += 2 * VECTOR;
      a1 += 2 * VECTOR;
      a2 += 2 * VECTOR;
      a3 += 2 * VECTOR;
    }
    let r0 = sum(s0), r1 = sum(s1), r2 = sum(s2), r3 = sum(s3);
    while (xj < end) {
      const v = load<f64>(xj);
      r0 = (r0 + load<f64>(a0) * v);
      r1 = (r1 + load<f64>(a1) * v);
      r2 = (r2 + load<f64>(a2) * v);
      r3 = (r3 + load<f64>(a3) * v);
      xj += 8;
      a0 += 8;
      a1 += 8;
      a2 += 8;
      a3 += 8;
    }
    store<f64>(y, (load<f64>(y) + alpha * r0));
    store<f64>(y, (load<f64>(y, 8) + alpha * r1), 8);
    store<f64>(y, (load<f64>(y, 2 * 8) + alpha * r2), 2 * 8);
    store<f64>(y, (load<f64>(y, 3 * 8) + alpha * r3), 3 * 8);
    a += 4 * row;
    y += 4 * 8;
  }
  for (; m > 0; m--) {
    store<f64>(y, (load<f64>(y) + alpha * dot(n, a, x)));
    a += row;
    y += 8;
  }
}

/** y[j] += alpha sum_i a[i][j] x[i], i < m, j < n. Four rows share each load and store of y. */
export function gemvT(m: i32, n: i32, alpha: f64, a: usize, lda: i32, x: usize, y: usize): void {
  const row = bytes(lda);
  for (; m >= 4; m -= 4) {
    const c0 = (alpha * load<f64>(x)), c1 = (alpha * load<f64>(x, 8));
    const c2 = (alpha * load<f64>(x, 2 * 8)), c3 = (alpha * load<f64>(x, 3 * 8));
    const v0 = f64x2.splat(c0), v1 = f64x2.splat(c1), v2 = f64x2.splat(c2), v3 = f64x2.splat(c3);
    let a0 = a, a1 = a + row, a2 = a1 + row, a3 = a2 + row, yj = y;
    const body = y + bytes(n & -LANES);
    const end = y + bytes(n);
    while (yj < body) {
      const p = f64x2.add(f64x2.mul(v0, v128.load(a0)), f64x2.mul(v1, v128.load(a1)));
      const q = f64x2.add(f64x2.mul(v2, v128.load(a2)), f64x2.mul(v3, v128.load(a3)));
      v128.store(yj, f64x2.add(v128.load(yj), f64x2.add(p, q)));
      yj += VECTOR;
      a0 += VECTOR;
      a1 += VECTOR;
      a2 += VECTOR;
      a3 += VECTOR;
    }
    while (yj < end) {
      const p = c0 * load<f64>(a0) + c1 * load<f64>(a1);
      const q = c2 * load<f64>(a2) + c3 * load<f64>(a3);
      store<f64>(yj, (load<f64>(yj) + (p + q)));
      yj += 8;
      a0 += 8;
      a1 += 8;
      a2 += 8;
      a3 += 8;
    }
    a += 4 * row;
    x += 4 * 8;
  }
  for (; m > 0; m--) {
    axpy(n, (alpha * load<f64>(x)), a, y);
    a += row;
    x += 8;
  }
}

/**
 * Solves op(A) x = b in place (b comes in x), A n x n triangular, op(A) = A or its transpose.
 * It works on diagonal blocks of four rows. One matrix-vector product combines each block with the
 * rest of x. It reads contiguous rows, so gemvN or gemvT does almost all of the work.
 * Blocks start at 0 for a lower triangle, and end at n for an upper one. So the off-diagonal panels
 * beside full blocks have a length that is a multiple of four.
 */
export function trsv(lower: bool, trans: bool, unit: bool, n: i32, a: usize, lda: i32, x: usize): void {
  const forward = lower != trans;
  const short = n & 3;
  for (let done = 0; done < n;) {
    // The short block is the last of a lower triangle and the first of an upper one.
    const atShort = lower == forward ? done + short == n : done == 0;
    const size = atShort && short != 0 ? short : 4;
    const i = forward ? done : n - done - size;
    const panel = lower ? 0 : i + size;
    const width = lower ? i : n - panel;
    const off = a + bytes(i * lda + panel);
    const xi = x + bytes(i), xp = x + bytes(panel);
    if (!trans) gemvN(size, width, -1, off, lda, xp, xi);
    solveBlock(forward, trans, unit, size, a + bytes(i * lda + i), lda, xi);
    if (trans) gemvT(size, width, -1, off, lda, xi, xp);
    done += size;
  }
}

/** Substitution in one diagonal block of at most four rows. */
function solveBlock(forward: bool, trans: bool, unit: bool, n: i32, a: usize, lda: i32, x: usize): void {
  const rowStep = bytes(trans ? 1 : lda), colStep = bytes(trans ? lda : 1);
  for (let s = 0; s < n; s++) {
    const i = forward ? s : n - 1 - s;
    let v = load<f64>(x + bytes(i));
    for (let t = 0; t < s; t++) {
      const j = forward ? t : n - 1 - t;
      v = (v - load<f64>(a + (i as usize) * rowStep + (j as usize) * colStep) * load<f64>(x + bytes(j)));
    }
    if (!unit) v = (v / load<f64>(a + (i as usize) * (rowStep + colStep)));
    store<f64>(x + bytes(i), v);
  }
}
