// @ts-check
/**
 * What a picture is taken for: the decision of core/qda/decide.go, which has the reasons,
 * for answers that come as numbers.
 */

/** The probability of none of these from which on that is the answer. */
export const NONE_FROM = 0.335;

/**
 * @param {ArrayLike<number>} classes their probabilities
 * @param {number} none
 * @returns {number} the index of a class, -1 for none of these
 */
export function decide(classes, none) {
  let best = -1;
  if (none >= NONE_FROM) return best;
  for (let j = 0; j < classes.length; j++) if (best < 0 || classes[j] > classes[best]) best = j;
  return best;
}
