// Level 3: matrix products and triangular systems with many right-hand sides,
// in the manner of Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", ACM TOMS 34(3), 2008: panels of both factors are packed so
// that the innermost kernel reads them contiguously, and zero padding makes
// every tile a full one.
//
// Operands have a row step and a column step in numbers, so that one routine
// serves plain, transposed and (with negative steps) reversed matrices.
import { VECTOR, bytes, LANES, sum } from "./lanes";
import { gemvN } from "./level2";

/** Rows and columns of a register tile. */
const MR: i32 = 4, NR: i32 = 2 * LANES;
/** Block sizes: KC x NR panels stay in the first-level cache, MC x KC in the second. */
const MC: i32 = 64, KC: i32 = 256, NC: i32 = 256;

/** Which part of the result gemm touches. */
const LOWER: i32 = 1, UPPER: i32 = 2;

/** n rounded up to a multiple of step, a power of two. */
// @ts-ignore: decorator
@inline
function roundUp(n: i32, step: i32): i32 {
  return (n + step - 1) & -step;
}

/**
 * tile (MR x NR) = sum over p < k of the outer products of a's and b's p-th slices;
 * a holds MR, b NR numbers per slice. Eight vector accumulators stay in registers.
 */
function micro(k: i32, a: usize, b: usize, tile: usize): void {
  let s0 = f64x2.splat(0), s1 = s0, s2 = s0, s3 = s0;
  let t0 = s0, t1 = s0, t2 = s0, t3 = s0;
  const end = b + (k as usize) * (2 * VECTOR);
  while (b < end) {
    const b0 = v128.load(b), b1 = v128.load(b, 16);
    const a0 = v128.load_splat<f64>(a), a1 = v128.load_splat<f64>(a, 8);
    s0 = f64x2.add(s0, f64x2.mul(a0, b0));
    t0 = f64x2.add(t0, f64x2.mul(a0, b1));
    s1 = f64x2.add(s1, f64x2.mul(a1, b0));
    t1 = f64x2.add(t1, f64x2.mul(a1, b1));
    const a2 = v128.load_splat<f64>(a, 2 * 8), a3 = v128.load_splat<f64>(a, 3 * 8);
    s2 = f64x2.add(s2, f64x2.mul(a2, b0));
    t2 = f64x2.add(t2, f64x2.mul(a2, b1));
    s3 = f64x2.add(s3, f64x2.mul(a3, b0));
    t3 = f64x2.add(t3, f64x2.mul(a3, b1));
    a += MR * 8;
    b += 2 * VECTOR;
  }
  v128.store(tile, s0);
  v128.store(tile, t0, 16);
  v128.store(tile, s1, 32);
  v128.store(tile, t1, 48);
  v128.store(tile, s2, 64);
  v128.store(tile, t2, 80);
  v128.store(tile, s3, 96);
  v128.store(tile, t3, 112);
}

/**
 * Copies alpha times an n x k matrix into panels of `width` rows, each panel slice by slice
 * (k slices of `width` numbers); missing rows of the last panel become zero.
 */
function pack(width: i32, n: i32, k: i32, alpha: f64, a: usize, rowStep: i32, colStep: i32, dst: usize): void {
  const row = bytes(rowStep), col = bytes(colStep);
  const slice = bytes(width);
  for (let i = 0; i < n; i += width) {
    for (let r = 0; r < width; r++) {
      let to = dst + bytes(r), from = a + ((i + r) as usize) * row;
      const end = to + (k as usize) * slice;
      if (i + r < n) {
        for (; to < end; to += slice, from += col) store<f64>(to, (alpha * load<f64>(from)));
      } else {
        for (; to < end; to += slice) store<f64>(to, 0);
      }
    }
    dst += (k as usize) * slice;
  }
}

/** Adds a whole tile to c. */
function addTile(tile: usize, c: usize, ldc: i32): void {
  for (const end = tile + 8 * VECTOR; tile < end; tile += 2 * VECTOR) {
    v128.store(c, f64x2.add(v128.load(c), v128.load(tile)));
    v128.store(c, f64x2.add(v128.load(c, 16), v128.load(tile, 16)), 16);
    c += bytes(ldc);
  }
}

/** Adds the first m x n numbers of a tile to c, only where i + diagonal allows it under `part`. */
function addPart(tile: usize, m: i32, n: i32, c: usize, ldc: i32, part: i32, diagonal: i32): void {
  for (let i = 0; i < m; i++) {
    // Row i of the tile meets the diagonal of C at column i + diagonal.
    const from = part == UPPER ? max(0, i + diagonal) : 0;
    const to = part == LOWER ? min(n, i + diagonal + 1) : n;
    for (let j = from; j < to; j++) {
      const cij = c + bytes(i * ldc + j);
      store<f64>(cij, (load<f64>(cij) + load<f64>(tile + bytes(i * NR + j))));
    }
  }
}

/**
 * C += alpha A B with A m x k, B k x n; part 0 all of C, 1 its lower, 2 its upper triangle.
 * scratch holds min(KC, k) (roundUp(min(MC, m), 4) + roundUp(min(NC, n), NR)) + 4 NR numbers.
 */
export function gemm(
  part: i32, m: i32, n: i32, k: i32, alpha: f64,
  a: usize, aRow: i32, aCol: i32, b: usize, bRow: i32, bCol: i32, c: usize, ldc: i32, scratch: usize,
): void {
  const tile = scratch, packedA = tile + 8 * VECTOR;
  const packedB = packedA + bytes(roundUp(min(MC, m), MR) * min(KC, k));
  for (let j = 0; j < n; j += NC) {
    const nc = min(NC, n - j);
    for (let p = 0; p < k; p += KC) {
      const kc = min(KC, k - p);
      pack(NR, nc, kc, 1, b + bytes(p * bRow + j * bCol), bCol, bRow, packedB);
      for (let i = 0; i < m; i += MC) {
        const mc = min(MC, m - i);
        if (outside(part, i, mc, j, nc)) continue;
        pack(MR, mc, kc, alpha, a + bytes(i * aRow + p * aCol), aRow, aCol, packedA);
        block(part, i - j, mc, nc, kc, packedA, packedB, c + bytes(i * ldc + j), ldc, tile);
      }
    }
  }
}

/** Tells whether rows i..i+m, columns j..j+n lie wholly outside the wanted part of C. */
// @ts-ignore: decorator
@inline
function outside(part: i32, i: i32, m: i32, j: i32, n: i32): bool {
  return (part == LOWER && i + m <= j) || (part == UPPER && j + n <= i);
}

/** Multiplies one packed block: all tiles of an m x n part of C, whose (0, 0) has row - column = shift. */
function block(
  part: i32, shift: i32, m: i32, n: i32, k: i32, a: usize, b: usize, c: usize, ldc: i32, tile: usize,
): void {
  for (let j = 0; j < n; j += NR) {
    for (let i = 0; i < m; i += MR) {
      if (outside(part, i + shift, MR, j, NR)) continue;
      const cij = c + bytes(i * ldc + j);
      micro(k, a + bytes(i * k), b + bytes(j * k), tile);
      const diagonal = i + shift - j;
      const whole = part == 0 || (part == LOWER ? diagonal >= NR - 1 : diagonal <= 1 - MR);
      if (whole && m - i >= MR && n - j >= NR) addTile(tile, cij, ldc);
      else addPart(tile, min(MR, m - i), min(NR, n - j), cij, ldc, part, diagonal);
    }
  }
}

/**
 * Solves L X = B in place for one diagonal block: L m x m lower triangular, B m x n.
 * Upper triangles come in reversed, with negative steps. Each strip of NR columns is packed as gemm
 * packs B. Then one call of micro does the work left of a diagonal block of four rows.
 * scratch holds roundUp(m, 4) (roundUp(m, 4) + NR) + 4 NR numbers.
 */
export function trsmBlock(
  unit: bool, m: i32, n: i32, a: usize, aRow: i32, aCol: i32, b: usize, bRow: i32, bCol: i32, scratch: usize,
): void {
  const rows = roundUp(m, MR), row = bytes(bRow), col = bytes(bCol);
  const tile = scratch, strip = tile + 8 * VECTOR, packedA = strip + bytes(rows * NR);
  pack(MR, m, m, 1, a, aRow, aCol, packedA);
  for (let j = 0; j < n; j += NR) {
    const width = min(NR, n - j);
    const bj = b + (j as usize) * col;
    pack(NR, width, m, 1, bj, bCol, bRow, strip);
    for (let i = 0; i < m; i += MR) {
      const ai = packedA + bytes(i * m);
      micro(i, ai, strip, tile);
      substitute(unit, min(MR, m - i), ai + bytes(i * MR), tile, strip + bytes(i * NR));
    }
    for (let i = 0; i < m; i++) {
      for (let r = 0; r < width; r++) {
        store<f64>(bj + (i as usize) * row + (r as usize) * col, load<f64>(strip + bytes(i * NR + r)));
      }
    }
  }
}

/** x_r = (x_r - tile_r - sum_{s<r} l[r][s] x_s) / l[r][r] for the m <= 4 rows of a strip; l packed. */
function substitute(unit: bool, m: usize, l: usize, tile: usize, x: usize): void {
  for (let r: usize = 0; r < m; r++) {
    const xr = x + r * (2 * VECTOR), tr = tile + r * (2 * VECTOR), lr = l + r * 8;
    let v = f64x2.sub(v128.load(xr), v128.load(tr));
    let w = f64x2.sub(v128.load(xr, 16), v128.load(tr, 16));
    for (let s: usize = 0; s < r; s++) {
      const f = v128.load_splat<f64>(lr + s * MR * 8), xs = x + s * (2 * VECTOR);
      v = f64x2.sub(v, f64x2.mul(f, v128.load(xs)));
      w = f64x2.sub(w, f64x2.mul(f, v128.load(xs, 16)));
    }
    if (!unit) {
      const d = v128.load_splat<f64>(lr + r * MR * 8);
      v = f64x2.div(v, d);
      w = f64x2.div(w, d);
    }
    v128.store(xr, v);
    v128.store(xr, w, 16);
  }
}

/**
 * C += alpha A Bᵀ with A m x k and B n x k, both of contiguous rows and k a multiple of the lanes: inner
 * products of four rows of A with two of B at a time, as they lie. It saves the packing of gemm, which weighs
 * most where m or n is small.
 */
export function gemmNT(m: i32, n: i32, k: i32, alpha: f64, a: usize, lda: i32, b: usize, ldb: i32, c: usize, ldc: i32): void {
  const rowA = bytes(lda), rowB = bytes(ldb), rowC = bytes(ldc);
  for (; m >= 4; m -= 4) {
    let bj = b, cj = c;
    for (let j = 1; j < n; j += 2) {
      tileNT(k, alpha, a, rowA, bj, rowB, cj, rowC);
      bj += 2 * rowB;
      cj += 2 * 8;
    }
    if (n & 1) {
      for (let r: usize = 0; r < 4; r++) gemvN(1, k, alpha, bj, ldb, a + r * rowA, cj + r * rowC);
    }
    a += 4 * rowA;
    c += 4 * rowC;
  }
  for (; m > 0; m--) {
    gemvN(n, k, alpha, b, ldb, a, c);
    a += rowA;
    c += rowC;
  }
}

/** One 4 x 2 tile of gemmNT. */
function tileNT(k: i32, alpha: f64, a: usize, rowA: usize, b: usize, rowB: usize, c: usize, rowC: usize): void {
  let s0 = f64x2.splat(0), s1 = s0, s2 = s0, s3 = s0;
  let t0 = s0, t1 = s0, t2 = s0, t3 = s0;
  let a1 = a + rowA, a2 = a1 + rowA, a3 = a2 + rowA, b1 = b + rowB;
  const end = b + bytes(k);
  while (b < end) {
    const x = v128.load(b), y = v128.load(b1);
    const v0 = v128.load(a), v1 = v128.load(a1);
    s0 = f64x2.add(s0, f64x2.mul(v0, x));
    t0 = f64x2.add(t0, f64x2.mul(v0, y));
    s1 = f64x2.add(s1, f64x2.mul(v1, x));
    t1 = f64x2.add(t1, f64x2.mul(v1, y));
    const v2 = v128.load(a2), v3 = v128.load(a3);
    s2 = f64x2.add(s2, f64x2.mul(v2, x));
    t2 = f64x2.add(t2, f64x2.mul(v2, y));
    s3 = f64x2.add(s3, f64x2.mul(v3, x));
    t3 = f64x2.add(t3, f64x2.mul(v3, y));
    a += VECTOR;
    a1 += VECTOR;
    a2 += VECTOR;
    a3 += VECTOR;
    b += VECTOR;
    b1 += VECTOR;
  }
  addPair(c, alpha, s0, t0);
  addPair(c + rowC, alpha, s1, t1);
  addPair(c + 2 * rowC, alpha, s2, t2);
  addPair(c + 3 * rowC, alpha, s3, t3);
}

/** c[0] += alpha times the sum of s, c[1] += alpha times the sum of t. */
function addPair(c: usize, alpha: f64, s: v128, t: v128): void {
  store<f64>(c, (load<f64>(c) + alpha * sum(s)));
  store<f64>(c, (load<f64>(c, 8) + alpha * sum(t)), 8);
}
