// @ts-check
/**
 * Fetches the extractor's files with progress in bytes. The totals are the
 * uncompressed sizes written down at build time: Content-Length is wrong
 * whenever the server compresses.
 */
import { simdSupported } from '../base/simd.js';
import { ExtractorError } from './errors.js';

/**
 * The content of extractor.json, written by the build: the manifest of the page's extractor, its
 * identity, and the program that runs it.
 * @typedef {import('./manifest.js').Manifest & {sha256: string, program: SizedFile}} ExtractorRecord program: what runs the network
 */

/** @typedef {{name: string, bytes: number}} SizedFile uncompressed */

/** @typedef {(progress: {loaded: number, total: number}) => void} OnProgress bytes */

/** @param {URL} base folder of the extractor @param {string} [name] @returns {Promise<any>} an ExtractorRecord, or another list of files */
export async function fetchRecord(base, name = 'extractor.json') {
  const url = new URL(name, base);
  const response = await get(url);
  return response.json().catch(() => {
    throw unreachable(url, 'what arrived is cut short or another file');
  });
}

/** @param {URL} url of a module that the build made */
export const imported = (url) =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ url.href).catch(() => {
    throw unreachable(url);
  });

/**
 * Fetches files, all at once.
 *
 * @param {(name: string) => URL} at @param {SizedFile[]} files @param {OnProgress} [onProgress] of all together
 * @returns {Promise<ArrayBuffer[]>}
 */
export async function fetchAll(at, files, onProgress) {
  if (typeof WebAssembly !== 'object') {
    throw new ExtractorError('no-webassembly', 'This browser has no WebAssembly; use a current Chrome, Edge, Firefox or Safari.');
  }
  if (!simdSupported()) throw new ExtractorError('no-simd', 'This browser has no SIMD in WebAssembly; use a current Chrome, Edge, Firefox or Safari.');
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const loaded = files.map(() => 0);
  return Promise.all(
    files.map(({ name, bytes }, i) =>
      download(at(name), (n) => {
        loaded[i] = Math.min(n, bytes);
        onProgress?.({ loaded: loaded.reduce((a, b) => a + b, 0), total });
      }),
    ),
  );
}

/** @param {URL} url @param {(loaded: number) => void} report @returns {Promise<ArrayBuffer>} */
async function download(url, report) {
  const response = await get(url);
  let loaded = 0;
  const counted = response.body?.pipeThrough(
    new TransformStream({
      transform(part, on) {
        report((loaded += part.length));
        on.enqueue(part);
      },
    }),
  );
  return new Response(counted).arrayBuffer().catch(() => {
    throw unreachable(url);
  });
}

/** @param {URL} url */
async function get(url) {
  const response = await fetch(url).catch(() => {
    throw unreachable(url);
  });
  if (!response.ok) throw unreachable(url, `the server answered ${response.status}`);
  return response;
}

/** @param {URL} url @param {string} [why] */
function unreachable(url, why = 'the connection failed') {
  const name = url.pathname.split('/').pop();
  return new ExtractorError(
    'extractor-unreachable',
    `The feature extractor's file ${name} could not be fetched (${why}); check the connection, and try again or reload the page.`,
  );
}
