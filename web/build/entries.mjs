// @ts-check
/** Bundles entries of the npm package: for the package itself, and for the folders that "Use it" in the page saves. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { written } from './written.mjs';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/**
 * @param {Record<string, string>} entries their names, and where they are in web/ @param {string} out folder
 * @param {() => Promise<string>} record the module library/written/record.js
 * @param {import('esbuild').BuildOptions} [more]
 */
export const bundleEntries = (entries, out, record, more = {}) =>
  build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, path.join(web, file)])),
    outdir: out,
    chunkNames: 'shared-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    logLevel: 'warning',
    legalComments: 'inline',
    external: ['./efficientnet-lite0/*', './kinds/*'],
    plugins: [written({ record })],
    ...more,
  });

/**
 * The module library/written/record.js: the records that the entries of extractors need.
 *
 * @param {object} pictures the record of the extractor of pictures @param {string} priorSum sha256 of its prior
 * @param {Record<string, object>} kinds records of the other kinds
 */
export const recordModule = (pictures, priorSum, kinds) =>
  `export const record = ${JSON.stringify(pictures)};\nexport const priorSum = '${priorSum}';\nexport const kinds = ${JSON.stringify(kinds)};`;
