// @ts-check
/**
 * Fetches the extractor's files with progress in bytes. The totals are the
 * uncompressed sizes written down at build time: Content-Length is wrong
 * whenever the server compresses.
 */
import { simdSupported } from '../base/simd.js';
import { ExtractorError } from './errors.js';
import { decodeManifest, identityOf } from './manifest.js';

/**
 * What the build writes to extractor.json: the manifest of the page's extractor, its
 * identity, and what else is to be fetched to run it.
 * @typedef {import('./manifest.js').Manifest & {sha256: string, runtimes: RuntimeFiles}} ExtractorRecord
 */

/** @typedef {{simd: SizedFile, plain: SizedFile}} RuntimeFiles the programs for machines with and without SIMD */
/** @typedef {{name: string, bytes: number}} SizedFile uncompressed */

/** @typedef {(progress: {loaded: number, total: number}) => void} OnProgress bytes */

/** @param {URL} base folder of the extractor @returns {Promise<ExtractorRecord>} */
export async function fetchRecord(base) {
  const response = await get(new URL('extractor.json', base));
  return response.json();
}

/**
 * @param {(name: string) => URL} at @param {ExtractorRecord} record @param {OnProgress} [onProgress]
 * @returns {Promise<import('./session.js').ExtractorFiles>}
 */
export async function fetchFiles(at, record, onProgress) {
  if (typeof WebAssembly !== 'object') {
    throw new ExtractorError('no-webassembly', 'This browser has no WebAssembly; use a current Chrome, Edge, Firefox or Safari.');
  }
  const { runtimes, ...given } = record;
  const manifest = decodeManifest(given);
  const wanted = [...manifest.files, simdSupported() ? runtimes.simd : runtimes.plain];
  const meter = new Meter(wanted.map(({ bytes }) => bytes), onProgress);
  const found = await Promise.all(wanted.map(({ name }, i) => download(at(name), (n) => meter.set(i, n))));
  await verify(record, found.slice(0, -1));
  return {
    manifest, wasm: buffer(found[found.length - 1]),
    contents: new Map(manifest.files.map(({ name }, i) => [name, buffer(found[i])])),
  };
}

/** Sums the bytes of several downloads. */
export class Meter {
  /** @param {number[]} totals @param {OnProgress} [onProgress] */
  constructor(totals, onProgress) {
    this.totals = totals;
    this.loaded = totals.map(() => 0);
    this.onProgress = onProgress;
  }

  /** @param {number} i @param {number} bytes */
  set(i, bytes) {
    this.loaded[i] = Math.min(bytes, this.totals[i]);
    this.onProgress?.({ loaded: sum(this.loaded), total: sum(this.totals) });
  }
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** @param {Uint8Array} bytes a whole buffer's view */
const buffer = (bytes) => /** @type {ArrayBuffer} */ (bytes.buffer);

/** @param {URL} url @param {(loaded: number) => void} report @returns {Promise<Uint8Array>} */
export async function download(url, report) {
  const response = await get(url);
  if (!response.body) return new Uint8Array(await response.arrayBuffer());
  const reader = response.body.getReader();
  /** @type {Uint8Array[]} */
  const parts = [];
  let loaded = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => { throw unreachable(url); });
    if (done) break;
    parts.push(value);
    loaded += value.length;
    report(loaded);
  }
  const whole = new Uint8Array(loaded);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** @param {URL} url */
async function get(url) {
  const response = await fetch(url).catch(() => { throw unreachable(url); });
  if (!response.ok) throw unreachable(url, response.status);
  return response;
}

/** @param {URL} url @param {number} [status] */
function unreachable(url, status) {
  const name = url.pathname.split('/').pop();
  const why = status ? `the server answered ${status}` : 'the connection failed';
  return new ExtractorError('extractor-unreachable',
    `The feature extractor's file ${name} could not be fetched (${why}); check the connection and reload the page.`);
}

/**
 * Another graph, or other views, would give embeddings that do not fit the stored ones.
 * Only secure contexts can compute the hash; elsewhere it is skipped.
 * @param {ExtractorRecord} record @param {Uint8Array[]} found
 */
async function verify(record, found) {
  if (!globalThis.crypto?.subtle) return;
  const hex = await identityOf(record, /** @type {BlobPart[]} */ (found));
  if (hex !== record.sha256) {
    throw new ExtractorError('extractor-mismatch',
      `The feature extractor's files do not belong together (sha256 ${hex.slice(0, 12)}, expected ${record.sha256.slice(0, 12)}); reload the page.`);
  }
}
