// @ts-check
/**
 * Bundles the page's programs: the page itself, its workers and its audio thread, each into one file.
 * Without this a browser would fetch some 130 modules.
 */
import path from 'node:path';
import { build } from 'esbuild';

/** All go into web/ui, so each names its workers as it does in the tree: beside itself. */
const PROGRAMS = ['ui/app.js', 'ui/kinds/pictures/encoder-worker.js', 'ui/kinds/sounds/worklet.js', 'engine/thread.js'];

/** How they are bundled. Tests read it, too. @param {string} root @returns {import('esbuild').BuildOptions} */
export const pageBundles = (root) => ({
  entryPoints: PROGRAMS.map((name) => path.join(root, 'web', name)),
  entryNames: '[name]',
  absWorkingDir: root,
  outdir: 'web/ui',
  bundle: true,
  format: 'esm',
  minify: true,
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'eof',
  logLevel: 'warning',
  sourcemap: process.env.MAPS ? 'inline' : false,
  external: ['./storage/*'], // of the npm package alone
});

/** @param {string} root @returns {Promise<Map<string, Buffer>>} the programs by their names in the site */
export async function bundlePage(root) {
  const { outputFiles = [] } = await build({ ...pageBundles(root), write: false });
  return new Map(outputFiles.map((file) => [path.relative(root, file.path).split(path.sep).join('/'), Buffer.from(file.contents)]));
}
