// @ts-check
/**
 * Builds the feature extractor into build/site/extractor, from the network in
 * web/extractor/efficientnet-lite0 or in a folder that scripts/networks wrote:
 *   model.json, weights.bin   the network, as it is there
 *   runtime.js                tfjs core + converter + wasm backend, only what the graph needs
 *   worker.js                 the worker that speaks the message envelope
 *   tfjs-backend-wasm-simd.wasm   the backend's program, single-threaded
 *   extractor.json            its manifest (web/extractor/README.md), with its identity and the size of the program
 */
import { copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { checkFiles, decodeManifest } from '../extractor/manifest.js';
import { slimTfjs } from './slim-tfjs.mjs';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** The network that is built in, by the name of its folder: what the npm package calls it. */
export const builtIn = 'efficientnet-lite0';
/** TensorFlow.js, with SIMD. */
const PROGRAM = 'tfjs-backend-wasm-simd.wasm';

/** @param {string} out folder to fill @param {string} [network] folder of the manifest and its files */
export async function buildExtractor(out, network = path.join(web, 'extractor', builtIn)) {
  const read = async (/** @type {string} */ name) => new Uint8Array(await readFile(path.join(network, name)));
  const manifest = decodeManifest(await readFile(path.join(network, 'manifest.json'), 'utf8'));
  const { sha256, contents } = await checkFiles(manifest, read);
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  for (const [name, content] of contents) await writeFile(path.join(out, name), new Uint8Array(content));
  await bundle(out);
  /** @type {import('../extractor/download.js').ExtractorRecord} */
  const record = { ...manifest, sha256, program: await copyBackend(out) };
  await writeFile(path.join(out, 'extractor.json'), JSON.stringify(record, null, 1) + '\n');
  return record;
}

/** @param {string} out */
async function bundle(out) {
  const common = /** @type {const} */ ({
    bundle: true,
    format: 'esm',
    minify: true,
    target: 'es2022',
    legalComments: 'eof',
    logLevel: 'warning',
  });
  await build({
    ...common,
    entryPoints: [path.join(web, 'extractor/runtime.mjs')],
    outfile: path.join(out, 'runtime.js'),
    // The bundle must not know where it runs: no Node branch, no require(), no Buffer that bundlers would bring along.
    define: { process: 'undefined', Buffer: 'undefined', __filename: 'undefined', __dirname: 'undefined' },
    plugins: [slimTfjs()],
  });
  await build({
    ...common,
    entryPoints: [path.join(web, 'extractor/worker.mjs')],
    outfile: path.join(out, 'worker.js'),
    external: ['./runtime.js'],
  });
}

/** @param {string} out @returns {Promise<import('../extractor/download.js').SizedFile>} */
async function copyBackend(out) {
  const to = path.join(out, PROGRAM);
  await copyFile(path.join(web, 'node_modules/@tensorflow/tfjs-backend-wasm/dist', PROGRAM), to);
  return { name: PROGRAM, bytes: (await stat(to)).size };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [out = path.join(web, '../build/site/extractor'), network] = process.argv.slice(2).map((name) => path.resolve(name));
  const record = await buildExtractor(out, network);
  console.log(`${record.id}: ${record.dimension} numbers, ${record.files.map(({ name, bytes }) => `${name} ${bytes} bytes`).join(', ')}`);
}
