// @ts-check
/**
 * Predictions a second of the npm package in Node.js, beside the plainest classifier that one would write in JavaScript:
 * the nearest mean of the examples, with a softmax.
 *     make bench-rate, or node web/test/bench/rate.mjs [numbers]
 */
const { createClassifier } = await import(String(new URL('../../../build/package/index.js', import.meta.url)));
const [length = 1280] = process.argv.slice(2).map(Number);
const EACH = 5;
const ROUNDS = 9;

let state = 1;
/** A number of a fixed sequence, from -.5 to .5. */
const number = () => {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
  return state / 0x7fffffff - 0.5;
};

/** @param {Float32Array[]} means @returns {(dst: Float64Array, x: Float32Array) => void} */
function plain(means) {
  return (dst, x) => {
    let least = Infinity;
    for (let j = 0; j < means.length; j++) {
      const mean = means[j];
      let sum = 0;
      for (let i = 0; i < x.length; i++) sum += (x[i] - mean[i]) ** 2;
      dst[j] = sum;
      least = Math.min(least, sum);
    }
    let total = 0;
    for (let j = 0; j < dst.length; j++) total += dst[j] = Math.exp(least - dst[j]);
    for (let j = 0; j < dst.length; j++) dst[j] /= total;
  };
}

/** @param {(x: Float32Array) => void} ask @param {Float32Array[]} queries @returns {number} calls a second of processor time */
function rate(ask, queries) {
  const began = process.cpuUsage();
  for (let calls = 0; ; calls += queries.length) {
    const { user, system } = process.cpuUsage(began);
    if (user + system > 200_000) return (calls / (user + system)) * 1e6;
    queries.forEach(ask);
  }
}

/** @param {number[]} of */
const median = (of) => of.sort((a, b) => a - b)[of.length >> 1];

console.log(`${EACH} examples a class, ${length} numbers, ${process.version}; predictions a second of processor time, medians of ${ROUNDS} rounds`);
console.log('| classes | predictInto | predictSync | nearest mean in JavaScript | predictInto beside it |\n|---|---|---|---|---|');
for (const classes of [5, 100, 1000]) {
  const centres = Array.from({ length: classes }, () => Float32Array.from({ length }, number));
  const examples = centres.flatMap((centre) => Array.from({ length: EACH }, () => centre.map((value) => value + 1.2 * number())));
  const classifier = await createClassifier();
  await classifier.addExamples(
    examples,
    examples.map((_, i) => `class ${Math.floor(i / EACH)}`),
  );
  const queries = Array.from({ length: 20 }, (_, i) => centres[i % classes].map((value) => value + 1.2 * number()));
  const probabilities = new Float64Array(classes);
  const nearest = plain(
    centres.map((_, j) => Float32Array.from({ length }, (__, i) => examples.slice(j * EACH, (j + 1) * EACH).reduce((sum, x) => sum + x[i] / EACH, 0))),
  );
  const ways = [
    (/** @type {Float32Array} */ x) => classifier.predictInto(probabilities, x),
    (/** @type {Float32Array} */ x) => classifier.predictSync(x),
    (/** @type {Float32Array} */ x) => nearest(probabilities, x),
  ];
  for (let i = 0; i < 4 * classes; i++) ways[0](queries[i % queries.length]); // until nothing more is computed for later
  const rates = ways.map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round < ROUNDS; round++) ways.forEach((way, i) => rates[i].push(rate(way, queries)));
  const [into, sync, mean] = rates.map(median);
  console.log(
    `| ${classes.toLocaleString('en')} | ${[into, sync, mean].map((n) => Math.round(n).toLocaleString('en')).join(' | ')} | ${(into / mean).toFixed(2)} times |`,
  );
  classifier.dispose();
}
