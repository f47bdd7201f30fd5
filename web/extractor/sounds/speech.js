// @ts-check
/**
 * Tells speech from other sounds by the speech embedding alone, for sites without YAMNet:
 *     speech if sum_i weights_i p_i + offset > 0
 * The weights are those of a logistic regression. web/extractor/README.md has the recordings and the accuracy.
 */
const weights = [
  -72, -3, 4, 58, -27, -20, -58, 65, 86, 1, 62, 15, -34, -32, 47, 53, -4, -48, -15, 36, -4, -20, -42, 59, -26, -46, 13, 43, 41, -47, -1, -42, 19, -50, 36, 13,
  -110, 10, 33, -53, -10, 21, 71, -22, 25, 65, 31, 56, 4, -4, -17, -12, -21, -40, 79, -6, -39, 16, 28, 20, -12, 28, -68, 117, -42, 3, -117, 90, 27, 11, -10, 29,
  -68, 49, 56, -55, -56, -22, 52, 12, 35, 49, 23, 30, -13, 51, -47, 65, -64, -103, -76, -32, -41, 20, 10, -75,
];
/** 91 gives even odds. It is 30 more, since refusing a word is worse than accepting another sound. */
const offset = 121;

/** @param {Float32Array} embedding p, of length one */
export const isSpeech = (embedding) => embedding.reduce((sum, value, i) => sum + weights[i] * value, offset) > 0;
