// @ts-check
// The page of the benchmark: times the operations of scripts/bench/browser in this browser. One
// page measures with or without the SIMD kernels; run.mjs opens it and calls measure.
import { loadSimd, simdImports } from '../../engine/kernels.js';
import { knnRows } from './knn.js';

/** @typedef {{ name: string, where: string, dimension: number, classes: number, shots: number, median_ms: number, p95_ms: number, bytes_per_op: number }} Row */
/** @typedef {{ dimension: number, classes: number, shots: number }} Case */

/** As in scripts/bench/measure: how often and how long (ms) to repeat; what takes longer than slow is done once. */
const BOUNDS = { least: 3, most: 2000, budget: 700, slow: 2000 };

/** @type {any} */
let bench;
/** @type {WebAssembly.Memory} */
let memory;

/** Starts the program; returns how long that took in milliseconds. @param {boolean} simd */
export async function start(simd) {
  const began = performance.now();
  const go = new /** @type {any} */ (globalThis).Go();
  const kernels = simdImports(await loadSimd('/metaqda-simd.wasm', simd));
  Object.assign(go.importObject, kernels.imports);
  const { instance } = await WebAssembly.instantiateStreaming(fetch('/bench.wasm'), go.importObject);
  kernels.attach(instance);
  go.run(instance);
  bench = /** @type {any} */ (globalThis).metaqdaBench;
  memory = /** @type {WebAssembly.Memory} */ (instance.exports.mem);
  if (bench.simd !== simd) throw new Error(`kernels wanted ${simd}, installed ${bench.simd}`);
  return performance.now() - began;
}

/**
 * Measures every operation of one case.
 * @param {Case} size
 * @param {string} where
 * @returns {Promise<{ rows: Row[], probabilities: number[] }>}
 */
export async function measure(size, where) {
  bench.setup(size.dimension, size.classes, size.shots);
  const x = bytesOf(bench.query());
  const times = {
    predict: await repeatNamed('predict'),
    ...(size.classes === 5 && { 'predict-full': await repeatNamed('predict-full') }),
    ...pairs(x),
    ...(size.classes === 5 && { train_episode: await repeatNamed('train_episode') }),
    load: await repeatNamed('load'),
  };
  const rows = Object.entries(times).map(([name, samples]) => {
    bench.prepare(name);
    const bytes = bench.bytes(name === 'load' || name === 'train_episode' ? 1 : 50);
    bench.prepare('');
    return row(size, name, where, samples, bytes);
  });
  return { rows, probabilities: bench.probabilities() };
}

/** @param {ArrayBufferView} array */
const bytesOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Measures knn-classifier on the embeddings of the case set up last. @param {Case} size */
export const measureKnn = (size) => knnRows(size, bench.examples(), bench.query(), repeatAsync);

/** Times adding an example and removing it, in turn. @param {Uint8Array} x */
function pairs(x) {
  /** @type {number[]} */ const enrol = [];
  /** @type {number[]} */ const remove = [];
  repeat(() => {
    const began = performance.now();
    bench.enrol(x);
    const between = performance.now();
    bench.remove();
    enrol.push(between - began);
    remove.push(performance.now() - between);
  });
  return { enrol: enrol.slice(1), remove: remove.slice(1) };
}

/** @param {string} name */
const repeatNamed = (name) => prepared(name, async () => repeat(() => bench.run()));

/** @param {string} name what the program is to prepare @param {() => Promise<number[]>} repeated */
async function prepared(name, repeated) {
  bench.prepare(name);
  const times = await repeated();
  bench.prepare('');
  return times;
}

/**
 * Repeats an operation and returns how long each repetition took in milliseconds, after one that does not count.
 * @param {() => void} operation
 */
function repeat(operation) {
  const once = () => {
    const began = performance.now();
    operation();
    return performance.now() - began;
  };
  const first = once();
  if (first > BOUNDS.slow) return [first];
  /** @type {number[]} */ const times = [];
  for (const end = performance.now() + BOUNDS.budget; goesOn(times, end); ) times.push(once());
  return times;
}

/** @param {() => Promise<unknown>} operation */
async function repeatAsync(operation) {
  /** @type {number[]} */ const times = [];
  await operation();
  for (const end = performance.now() + BOUNDS.budget; goesOn(times, end); ) {
    const began = performance.now();
    await operation();
    times.push(performance.now() - began);
  }
  return times;
}

/** @param {number[]} times @param {number} end */
const goesOn = (times, end) => times.length < BOUNDS.least || (times.length < BOUNDS.most && performance.now() < end);

/**
 * @param {Case} size
 * @param {string} name
 * @param {string} where
 * @param {number[]} times
 * @param {number} bytes
 * @returns {Row}
 */
export function row(size, name, where, times, bytes) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return { name, where, ...size, median_ms: at(0.5), p95_ms: at(0.95), bytes_per_op: bytes };
}

/**
 * Predicts 10,000 times and adds and removes 1,000 examples, twice over, and tells what memory that took: Go's
 * heap after a collection and the size of the WebAssembly memory, after the first round (warm) and the second.
 * @param {Case} size
 */
export async function memoryFlatness(size) {
  bench.setup(size.dimension, size.classes, size.shots);
  const x = bytesOf(bench.query());
  const round = async () => {
    bench.prepare('predict');
    for (let i = 0; i < 10_000; i++) bench.run();
    bench.prepare('');
    for (let i = 0; i < 1_000; i++) {
      bench.enrol(x);
      bench.remove();
    }
    return { heap: bench.heap(), memory: memory.buffer.byteLength };
  };
  return { ...size, warm: await round(), end: await round() };
}
