// @ts-check
/** Bundles the reader of data sets with what it uses of fflate: files/npz.mjs and unzip.mjs -> build/site/npz.js. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await build({
  entryPoints: [path.join(web, 'files/npz.mjs')],
  outfile: path.resolve(process.argv[2] ?? path.join(web, '../build/site/npz.js')),
  bundle: true, format: 'esm', minify: true, target: 'es2022', legalComments: 'eof', logLevel: 'warning',
});
