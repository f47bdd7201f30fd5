// @ts-check
/**
 * Builds the runtimes for extractors other than the page's own into build/site/networks. The page
 * fetches them only when such an extractor is needed:
 *   worker.js, graphs.js, onnx.js   the worker, and a runtime for each kind of network
 *   ort-*.wasm                      ONNX Runtime's program; that of TensorFlow.js is in extractor/
 *   networks.json                   {onnx: {name, bytes}}
 */
import { copyFile, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { quietTfjs } from './slim-tfjs.mjs';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const program = 'ort-wasm-simd-threaded.wasm';

/** The sources of the bundles, for the test that reads their licences. @type {import('esbuild').BuildOptions} */
export const networkBundles = {
  entryPoints: [
    { in: path.join(web, 'extractor/own/graphs.mjs'), out: 'graphs' },
    { in: path.join(web, 'extractor/own/onnx.mjs'), out: 'onnx' },
    { in: path.join(web, 'extractor/own/worker.mjs'), out: 'worker' },
  ],
  bundle: true,
  format: 'esm',
  minify: true,
  target: 'es2022',
  legalComments: 'eof',
  logLevel: 'warning',
  define: { process: 'undefined', __filename: 'undefined', __dirname: 'undefined' },
  external: ['./graphs.js', './onnx.js'],
  plugins: [quietTfjs()],
};

/** @param {string} out folder to fill */
async function buildNetworks(out) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await build({ ...networkBundles, outdir: out });
  await copyFile(path.join(web, 'node_modules/onnxruntime-web/dist', program), path.join(out, program));
  const record = { onnx: { name: program, bytes: (await stat(path.join(out, program))).size } };
  await writeFile(path.join(out, 'networks.json'), JSON.stringify(record) + '\n');
  return record;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const out = path.resolve(process.argv[2] ?? path.join(web, '../build/site/networks'));
  const { onnx } = await buildNetworks(out);
  console.log(`other networks: ${onnx.name} ${onnx.bytes} bytes`);
}
