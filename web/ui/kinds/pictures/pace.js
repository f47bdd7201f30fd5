// @ts-check
/**
 * How the live camera is looked at. Where an embedding of all views takes little
 * time, always by all of them. On slower devices by the first view alone, and by
 * all as soon as two frames in a row look nearly the same, until one does not: a
 * moving camera gets an answer early, one held still the same as a picture.
 */

/** Milliseconds within which all views are answered anyway. */
const QUICK = 150;
/** Cosine above which two frames look nearly the same. */
const SAME = 0.97;

export class Pace {
  /** Whether the next frame is to be looked at by all views. */
  all = true;
  #milliseconds = 0;
  /** @type {Float32Array|null} of the frame before, if by as many views */
  #last = null;

  /**
   * @param {number} milliseconds that all views took, or would have
   * @param {Float32Array} embedding of the frame, by as many views as `all` said
   */
  took(milliseconds, embedding) {
    // One frame that was held up does not count for more than half.
    this.#milliseconds = this.#milliseconds ? (this.#milliseconds + milliseconds) / 2 : milliseconds;
    // Where there is nothing to compare with, the next frame will tell.
    const still = this.#last ? cosine(this.#last, embedding) > SAME : this.all;
    const next = this.#milliseconds < QUICK || still;
    this.#last = next === this.all ? embedding : null;
    this.all = next;
  }
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
export function cosine(a, b) {
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / Math.sqrt(aa * bb);
}
