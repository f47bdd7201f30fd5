// @ts-check
/**
 * Chooses the views of a live frame. A fast device always uses all views. A slower one uses the
 * first view alone, and all views while successive frames look nearly the same. So a moving camera
 * gets answers early, and a still camera gets the same answer as a file.
 */

/** A device that needs at most these milliseconds for all views is fast. */
const QUICK = 150;
/** Cosine above which two frames look nearly the same. */
const SAME = 0.97;

export class Pace {
  /** Whether the next frame uses all views. */
  all = true;
  #milliseconds = 0;
  /** @type {Float32Array|null} of the frame before, if by as many views */
  #last = null;

  /**
   * @param {number} milliseconds that all views took, or would have
   * @param {Float32Array} embedding of the frame, by as many views as `all` said
   */
  took(milliseconds, embedding) {
    // A single slow frame counts at most half.
    this.#milliseconds = this.#milliseconds ? (this.#milliseconds + milliseconds) / 2 : milliseconds;
    // Without a frame to compare with, the next one decides.
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
