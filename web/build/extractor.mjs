// @ts-check
/**
 * Builds the feature extractor into build/site/extractor:
 *   model.json, weights.bin   the pruned graph, float16 weights as published
 *   runtime.js                tfjs core + converter + wasm backend, only what the graph needs
 *   worker.js                 the worker that speaks the message envelope
 *   tfjs*.wasm                the backend's two single-threaded binaries
 *   extractor.json            its manifest (web/extractor/README.md), with its identity and the tfjs binaries
 */
import { copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { decodeManifest, format, identityOf, sha256 } from '../extractor/manifest.js';
import { pruneGraph } from './prune.mjs';
import { slimTfjs } from './slim-tfjs.mjs';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

export const extractorID = 'centernet-mobilenetv3-224-2@3.3.6';
/**
 * Over ten sets of pictures these two views gave more than one centred square,
 * most where things do not fill the picture or lie beside its middle.
 */
const recipe = { inputSize: 224, views: [{ name: 'whole' }, { name: 'middle', share: 0.7 }] };
const licence = 'The package that it is from, @vladmandic/human, is under the MIT licence; its origin states none that could be found: see THIRD_PARTY.md.';
const outputNames = [
  'tower_0/MobilenetV3/expanded_conv_10/squeeze_excite/Mean',
  'tower_0/MobilenetV3/expanded_conv_13/squeeze_excite/Mean',
];
const wasmFiles = ['tfjs-backend-wasm-simd.wasm', 'tfjs-backend-wasm.wasm'];

/** @param {string} out folder to fill */
export async function buildExtractor(out) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const { files, dimension } = await writeGraph(out);
  await bundle(out);
  const manifest = decodeManifest({ format, id: extractorID, runtime: 'tfjs-graph', files: await Promise.all(files.map(listed)), dimension, ...recipe, licence });
  /** @type {import('../extractor/download.js').ExtractorRecord} */
  const record = { ...manifest, sha256: await identityOf(manifest, files.map(({ content }) => content)), runtimes: await copyBackend(out) };
  await writeFile(path.join(out, 'extractor.json'), JSON.stringify(record, null, 1) + '\n');
  return record;
}

/** As a manifest lists a file. @param {{name: string, content: Uint8Array<ArrayBuffer>}} file */
async function listed({ name, content }) {
  return { name, bytes: content.length, sha256: await sha256(content) };
}

/** Prunes the published graph and writes it. @param {string} out */
async function writeGraph(out) {
  const models = path.join(web, 'node_modules/@vladmandic/human/models');
  const graph = JSON.parse(await readFile(path.join(models, 'centernet.json'), 'utf8'));
  const packed = await readFile(path.join(models, 'centernet.bin'));
  const { model, weights, dimension } = pruneGraph(graph, packed, outputNames);
  const files = [{ name: 'model.json', content: new TextEncoder().encode(JSON.stringify(model)) }, { name: 'weights.bin', content: new Uint8Array(weights) }];
  for (const { name, content } of files) await writeFile(path.join(out, name), content);
  return { files, dimension };
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

/** @param {string} out @returns {Promise<import('../extractor/download.js').RuntimeFiles>} */
async function copyBackend(out) {
  const dist = path.join(web, 'node_modules/@tensorflow/tfjs-backend-wasm/dist');
  const [simd, plain] = await Promise.all(wasmFiles.map(async (name) => {
    await copyFile(path.join(dist, name), path.join(out, name));
    return { name, bytes: (await stat(path.join(out, name))).size };
  }));
  return { simd, plain };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const out = path.resolve(process.argv[2] ?? path.join(web, '../build/site/extractor'));
  const record = await buildExtractor(out);
  console.log(`${record.id}: ${record.dimension} numbers, ${record.files.map(({ name, bytes }) => `${name} ${bytes} bytes`).join(', ')}`);
}
