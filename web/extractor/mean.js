// @ts-check
/**
 * A picture's embedding is the mean of what the network answers to its views.
 * The page and Node share it.
 * @param {(pixels: Float32Array, size: number) => Float32Array} run
 * @param {Float32Array[]} inputs one for each view @param {number} size their edge
 * @returns {Float32Array}
 */
export function meanOf(run, inputs, size) {
  const [first, ...others] = inputs.map((input) => run(input, size));
  return first.map((value, i) => others.reduce((sum, other) => sum + other[i], value) / inputs.length);
}
