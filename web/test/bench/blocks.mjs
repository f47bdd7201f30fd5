// @ts-check
/**
 * How long calls of the npm package take in Node.js with many classes, and how long they block the thread at most:
 *     make bench-blocks, or node web/test/bench/blocks.mjs [classes] [examples a class] [numbers]
 */
const { createClassifier } = await import(String(new URL('../../../build/package/index.js', import.meta.url)));
const [classes = 1000, each = 5, length = 1280] = process.argv.slice(2).map(Number);

let state = 1;
/** A number of a fixed sequence, from -.5 to .5. */
const number = () => {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
  return state / 0x7fffffff - 0.5;
};
const centres = Array.from({ length: classes }, () => Float32Array.from({ length }, number));
/** @param {number} j */
const example = (j) => centres[j % classes].map((value) => value + 1.2 * number());

/**
 * Prints how long a call takes, and its longest block of the thread, by the clock and by the processor. The latter is what
 * counts where other programs run: it also has what V8 does in threads of its own.
 *
 * @param {string} name @param {() => Promise<unknown>} call
 */
async function timed(name, call) {
  const time = () => {
    const { user, system } = process.cpuUsage();
    return [performance.now(), (user + system) / 1000];
  };
  const began = time();
  let last = began;
  let longest = [0, 0];
  let running = true;
  const look = () => {
    const now = time();
    longest = longest.map((most, i) => Math.max(most, now[i] - last[i]));
    last = now;
    if (running) setImmediate(look);
  };
  setImmediate(look);
  await call();
  running = false;
  look();
  const shown = (/** @type {number[]} */ [clock, processor], /** @type {number} */ width) =>
    `${clock.toFixed(0).padStart(width)} ms (${processor.toFixed(0).padStart(width)})`;
  console.log(
    `${name.padEnd(20)} ${shown(
      last.map((now, i) => now - began[i]),
      6,
    )}, longest block ${shown(longest, 4)}`,
  );
}

const labels = centres.flatMap((_, j) => Array(each).fill(`class ${j}`));
const rows = labels.map((_, i) => example(Math.floor(i / each)));
const classifier = await createClassifier();
console.log(`${classes} classes of ${each}, ${length} numbers, ${process.version}; by the clock, and in brackets by the processor`);
await timed('addExamples', () => classifier.addExamples(rows, labels));
await timed('the first predict', () => classifier.predict(example(3)));
for (const j of [0, 1, 2]) {
  await timed('one example more', () => classifier.addExample(example(j), `class ${j}`));
  await timed('predict', () => classifier.predict(example(3)));
}
const batch = Array.from({ length: 500 }, (_, i) => example(i));
await timed('classify 500', () => classifier.classify(batch));
await timed('suggest 5 of 500', () => classifier.suggest(batch, { count: 5 }));
await timed('leaveOneOut', () => classifier.leaveOneOut());
