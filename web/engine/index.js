// @ts-check
/**
 * Starts the engine: the Go program of wasm/, compiled to WebAssembly, for a window.
 * What it can do is described in contract.js.
 */
import { directly } from './direct.js';
import { loadSimd } from './kernels.js';
import { compile, loadRuntime, startProgram } from './program.js';

/** @typedef {import('./contract.js').Engine} Engine */
/** @typedef {import('./program.js').OnProgress} OnProgress */
/** @typedef {import('./program.js').Modules} Modules */

/**
 * How an engine's workers are started: what the first message tells, and the worker.
 *
 * @typedef {{modules: Modules, runtime: string, name: string, worker: () => Worker}} Thread
 */

/**
 * The engine of a window, with what its workers need of it.
 *
 * `memory` tells the bytes that the program holds.
 *
 * @typedef {Engine & {modules: Modules, thread: Thread, memory: () => Promise<number>, trainingInput: () => Promise<{session: string, marked: boolean, classifier: Uint8Array, prior: Uint8Array|null}>}} LoadedEngine
 */

/** Bytes to expect of the engine where the manifest does not say. */
const EXPECTED = 6.5e6;

/**
 * Loads and starts the engine of the page.
 *
 * @param {object} options
 * @param {OnProgress} [options.onProgress]
 * @param {string} [options.base] the folder of metaqda.wasm
 * @param {boolean} [options.simd] false, or `?simd=0` in the page's address, does without SIMD
 * @param {() => Worker} options.worker starts a worker that serves (worker.js)
 * @returns {Promise<LoadedEngine>}
 */
export async function loadEngine({ onProgress, base = document.baseURI, simd = simdWanted(), worker }) {
  const url = new URL('metaqda.wasm', base);
  const script = new URL('wasm_exec.js', base).href;
  const [engine, kernels, runtime] = await Promise.all([
    compile(url, { onProgress, total: sizeOf(url) }),
    loadSimd(new URL('metaqda-simd.wasm', base), simd),
    loadRuntime(script),
  ]);
  return startEngine(runtime, 'page', { modules: { engine, kernels }, runtime: script, name: 'metaqda', worker });
}

/**
 * @param {import('./program.js').Runtime} runtime
 * @param {'page'|'storage'} role with or without what the page alone has
 * @param {Thread} thread
 * @returns {Promise<LoadedEngine>}
 */
export async function startEngine(runtime, role, thread) {
  const { modules } = thread;
  const { methods, quick } = await startProgram(modules, runtime, role, thread.name);
  return /** @type {any} */ ({
    ...methods, modules, thread,
    recognise: directly(quick, methods.recognise, true),
    probabilities: directly(quick, methods.probabilities, false),
  });
}

/** Tells whether the page's address leaves SIMD on. */
function simdWanted() {
  return new URLSearchParams(globalThis.location?.search).get('simd') !== '0';
}

/**
 * The uncompressed size that the manifest tells.
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
