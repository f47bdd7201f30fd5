// @ts-check
// The comparison: @tensorflow-models/knn-classifier on the same embeddings in the same page. Its wasm
// backend aborts with 5,000 examples of 1,280 numbers, and is lost then. So it is asked sizes up to
// LARGEST, and the cpu backend takes the rest.
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-cpu';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as knn from '@tensorflow-models/knn-classifier';
import { row } from './page.js';

/** @import {Case} from './page.js' */

/** Numbers of the training matrix up to which the wasm backend works. */
const LARGEST = 1_000_000;

setWasmPaths('/tfjs/');

/**
 * Teaches the classifier and times its prediction, from the embedding as a Float32Array to confidences.
 * @param {Case} size
 * @param {Float32Array} examples
 * @param {Float32Array} query
 * @param {(operation: () => Promise<void>) => Promise<number[]>} repeat
 */
export async function knnRows(size, examples, query, repeat) {
  const { dimension, classes, shots } = size;
  const backend = examples.length <= LARGEST ? 'wasm' : 'cpu';
  await tf.setBackend(backend);
  await tf.ready();
  const empty = tf.memory().numBytes;
  const classifier = knn.create();
  for (let i = 0; i < classes * shots; i++) {
    const x = tf.tensor1d(examples.subarray(i * dimension, (i + 1) * dimension));
    classifier.addExample(x, Math.floor(i / shots));
    x.dispose();
  }
  const predict = async () => {
    const x = tf.tensor1d(query);
    await classifier.predictClass(x);
    x.dispose();
  };
  const times = await repeat(predict);
  const bytes = await allocated(predict, 20);
  const held = tf.memory().numBytes - empty;
  classifier.dispose();
  return { rows: [row(size, 'predict', 'knn-classifier', times, bytes)], backend, held };
}

/**
 * Mean growth of the page's heap by one operation, collections aside. NaN where the browser does not tell.
 * @param {() => Promise<void>} operation
 * @param {number} n
 */
async function allocated(operation, n) {
  const heap = () => /** @type {any} */ (performance).memory?.usedJSHeapSize ?? NaN;
  let total = 0;
  let counted = 0;
  for (let i = 0; i < n; i++) {
    const before = heap();
    await operation();
    const grown = heap() - before;
    if (grown < 0) continue; // a collection came between
    total += grown;
    counted++;
  }
  return total / counted;
}
