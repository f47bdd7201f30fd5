// @ts-check
/**
 * How long calls of the npm package take in Node.js with many classes, and how long they block the thread at most:
 *     make bench-blocks, or node web/test/bench/blocks.mjs [classes] [examples a class] [numbers]
 */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

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

/** Milliseconds that the processor spent on this thread: other programs, and threads in which V8 compiles, do not count. */
function processor() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage(); // not Linux: all threads
    return (user + system) / 1000;
  }
}

/**
 * Prints how long a call takes, and its longest block of the thread, by the clock and by the processor.
 *
 * @param {string} name @param {() => Promise<unknown>} call
 */
async function timed(name, call) {
  const time = () => [performance.now(), processor()];
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
await setTimeout(500); // V8 collects what making the vectors has left, which the package has no part in
await timed('addExamples', () => classifier.addExamples(rows, labels));
await timed('the first predict', () => classifier.predict(example(3)));
for (const j of [0, 1, 2]) {
  await timed('one example more', () => classifier.addExample(example(j), `class ${j}`));
  await timed('predict', () => classifier.predict(example(3)));
}
const batch = Array.from({ length: 500 }, (_, i) => example(i));
await timed('classify 500', () => classifier.classify(batch));
await timed('suggest 5 of 500', () => classifier.suggest(batch, { count: 5 }));
await timed('the first predictSet', () => classifier.predictSet(example(3)));
const again = Array.from({ length: 60 }, (_, i) => /** @type {string} */ (labels.at((i - 30) % labels.length))); // of the first and the last classes
await timed('60 examples more', () => classifier.addExamples(batch.slice(0, 60), again));
await timed('predict', () => classifier.predict(example(3)));
await timed('leaveOneOut', () => classifier.leaveOneOut());
