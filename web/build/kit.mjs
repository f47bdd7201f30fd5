// @ts-check
/** Bundles the modules of ui/kit that stand for npm packages, which browsers cannot name: -> build/kit, where site.mjs takes them from. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** @type {import('esbuild').BuildOptions & {entryPoints: string[]}} */
export const kitBundles = {
  entryPoints: ['ui/kit/contours.js', 'ui/kit/view.js', 'ui/kit/zip.js'],
  absWorkingDir: web,
  outbase: 'ui/kit',
  bundle: true,
  format: 'esm',
  minify: true,
  target: 'es2022',
  legalComments: 'eof',
  logLevel: 'warning',
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await build({ ...kitBundles, outdir: path.join(web, '../build/kit') });
