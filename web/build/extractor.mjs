// @ts-check
/**
 * Builds the feature extractor into build/site/extractor:
 *   model.json, weights.bin   the pruned graph, float16 weights as published
 *   runtime.js                tfjs core + converter + wasm backend, only what the graph needs
 *   worker.js                 the worker that speaks the message envelope
 *   tfjs*.wasm                the backend's two single-threaded binaries
 *   extractor.json            id, sha256 over model.json + weights.bin + recipe, dimension, recipe, sizes
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile, copyFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { recipeText } from '../extractor/preprocess.js';
import { pruneGraph } from './prune.mjs';
import { slimTfjs } from './slim-tfjs.mjs';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

export const extractorID = 'centernet-mobilenetv3-224-2@3.3.6';
/**
 * Over ten sets of pictures these two views gave more than one centred square,
 * most where things do not fill the picture or lie beside its middle.
 * @type {import('../extractor/preprocess.js').Recipe}
 */
export const recipe = { inputSize: 224, views: [{ name: 'whole' }, { name: 'middle', share: 0.7 }] };
const outputNames = [
  'tower_0/MobilenetV3/expanded_conv_10/squeeze_excite/Mean',
  'tower_0/MobilenetV3/expanded_conv_13/squeeze_excite/Mean',
];
const wasmFiles = { simd: 'tfjs-backend-wasm-simd.wasm', plain: 'tfjs-backend-wasm.wasm' };

/** @param {string} out folder to fill */
export async function buildExtractor(out) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const facts = await writeGraph(out);
  await bundle(out);
  const bytes = { ...facts.bytes, ...(await copyBackend(out)) };
  const { sha256, dimension } = facts;
  const record = { id: extractorID, sha256, dimension, ...recipe, bytes, wasm: wasmFiles };
  await writeFile(path.join(out, 'extractor.json'), JSON.stringify(record) + '\n');
  return record;
}

/** Prunes the published graph and writes it. @param {string} out */
async function writeGraph(out) {
  const models = path.join(web, 'node_modules/@vladmandic/human/models');
  const graph = JSON.parse(await readFile(path.join(models, 'centernet.json'), 'utf8'));
  const packed = await readFile(path.join(models, 'centernet.bin'));
  const { model, weights, dimension } = pruneGraph(graph, packed, outputNames);
  const json = Buffer.from(JSON.stringify(model));
  await writeFile(path.join(out, 'model.json'), json);
  await writeFile(path.join(out, 'weights.bin'), weights);
  const sha256 = createHash('sha256').update(json).update(weights).update(recipeText(recipe)).digest('hex');
  return { sha256, dimension, bytes: { 'model.json': json.length, 'weights.bin': weights.length } };
}

/** @param {string} out */
async function bundle(out) {
  const common = /** @type {const} */ ({
    bundle: true, format: 'esm', minify: true, target: 'es2022', legalComments: 'eof', logLevel: 'warning',
  });
  await build({
    ...common,
    entryPoints: [path.join(web, 'extractor/runtime.mjs')],
    outfile: path.join(out, 'runtime.js'),
    // The bundle must not know where it runs: no Node branch, no require().
    define: { process: 'undefined', __filename: 'undefined', __dirname: 'undefined' },
    plugins: [slimTfjs()],
  });
  await build({
    ...common,
    entryPoints: [path.join(web, 'extractor/worker.mjs')],
    outfile: path.join(out, 'worker.js'),
    external: ['./runtime.js'],
  });
}

/** @param {string} out @returns {Promise<Record<string, number>>} sizes by name */
async function copyBackend(out) {
  const dist = path.join(web, 'node_modules/@tensorflow/tfjs-backend-wasm/dist');
  /** @type {Record<string, number>} */
  const bytes = {};
  for (const name of Object.values(wasmFiles)) {
    await copyFile(path.join(dist, name), path.join(out, name));
    bytes[name] = (await readFile(path.join(out, name))).length;
  }
  bytes['runtime.js'] = (await readFile(path.join(out, 'runtime.js'))).length;
  return bytes;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const out = path.resolve(process.argv[2] ?? path.join(web, '../build/site/extractor'));
  const record = await buildExtractor(out);
  console.log(`${record.id}: ${record.dimension} numbers, ${JSON.stringify(record.bytes)}`);
}
