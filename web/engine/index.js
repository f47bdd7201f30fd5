// @ts-check
/**
 * Starts the engine: the Go program of wasm/, compiled to WebAssembly, in its role
 * `page`. What it can do is described in contract.js.
 */
import { failure } from '../base/remote.js';
import { directly } from './direct.js';
import { loadSimd } from './kernels.js';
import { loadRuntime, startProgram } from './program.js';

/** @typedef {import('./contract.js').Engine} Engine */
/** @typedef {(progress: {loaded: number, total: number}) => void} OnProgress bytes */

/**
 * The engine of a page, with what its trainer needs of it.
 *
 * `memory` tells the bytes that the program holds.
 *
 * @typedef {Engine & {modules: import('./program.js').Modules, memory: () => Promise<number>, trainingInput: () => Promise<{session: string, marked: boolean, classifier: Uint8Array, prior: Uint8Array|null}>}} LoadedEngine
 */

/** Bytes to expect of the engine where the manifest does not say. */
const EXPECTED = 6.5e6;

/**
 * Loads and starts the engine.
 *
 * @param {{onProgress?: OnProgress, base?: string, simd?: boolean}} [options] `base` is the folder of
 *   metaqda.wasm; `simd: false`, or `?simd=0` in the page's address, does without SIMD
 * @returns {Promise<LoadedEngine>}
 */
export async function loadEngine({ onProgress = () => {}, base = document.baseURI, simd = simdWanted() } = {}) {
  if (typeof WebAssembly !== 'object') throw failure('unsupported', 'This browser cannot run WebAssembly: use a current version of Firefox, Chrome, Edge or Safari.');
  const [engine, kernels] = await Promise.all([
    compile(new URL('metaqda.wasm', base), onProgress),
    loadSimd(new URL('metaqda-simd.wasm', base), simd),
    loadRuntime(new URL('wasm_exec.js', base)),
  ]);
  const modules = { engine, kernels };
  const { methods, quick } = await startProgram(modules, 'page');
  return /** @type {any} */ ({
    ...methods, modules,
    recognise: directly(quick, methods.recognise, true),
    probabilities: directly(quick, methods.probabilities, false),
  });
}

/** Tells whether the page's address leaves SIMD on. */
function simdWanted() {
  return new URLSearchParams(globalThis.location?.search).get('simd') !== '0';
}

/**
 * Fetches and compiles the program while it arrives.
 *
 * @param {URL} url
 * @param {OnProgress} onProgress
 */
async function compile(url, onProgress) {
  const size = sizeOf(url);
  const response = await fetch(url).catch(() => null);
  if (!response?.ok) throw failure('fetch', `The engine could not be fetched (${response ? `status ${response.status}` : 'no answer'}): check the connection and reload the page.`);
  const counted = response.clone();
  void size.then((total) => count(counted, total, onProgress)).catch(() => {}); // compiling reports what goes wrong
  try {
    return await (WebAssembly.compileStreaming?.(response) ?? response.arrayBuffer().then((bytes) => WebAssembly.compile(bytes)));
  } catch (error) {
    throw failure('fetch', `The engine arrived damaged (${/** @type {Error} */ (error).message}): reload the page.`);
  }
}

/**
 * The uncompressed size that the manifest tells: Content-Length is that of the
 * compressed file.
 *
 * @param {URL} url
 * @returns {Promise<number>}
 */
async function sizeOf(url) {
  try {
    const { files } = await (await fetch(new URL('manifest.json', url))).json();
    return files.find((/** @type {{path: string}} */ { path }) => url.pathname.endsWith(`/${path}`)).bytes;
  } catch {
    return EXPECTED;
  }
}

/**
 * Reports the bytes of a body as they arrive.
 *
 * @param {Response} response
 * @param {number} total
 * @param {OnProgress} onProgress
 */
async function count(response, total, onProgress) {
  let loaded = 0;
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    loaded += part.value.byteLength;
    onProgress({ loaded, total: Math.max(total, loaded) });
  }
  onProgress({ loaded, total: loaded });
}
