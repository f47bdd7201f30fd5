// @ts-check
/**
 * Starts the engine: the Go program of wasm/, compiled to WebAssembly, for a window.
 * contract.js describes its methods.
 */
import { MetaqdaError } from '../base/remote.js';
import { Exports } from './exports.js';
import { loadSimd } from './kernels.js';
import { compile, fetched, loadRuntime, startProgram } from './program.js';

/** @import {LoadedEngine, OnProgress, Runtime, Thread} from './contract.js' */

/**
 * Loads and starts the engine of the page.
 *
 * @param {object} [options]
 * @param {OnProgress} [options.onProgress]
 * @param {Promise<number>} [options.total] uncompressed bytes to load; no header has them
 * @param {string} [options.base] the folder of metaqda.wasm
 * @param {boolean} [options.simd] false, or `?simd=0` in the page's address, does without SIMD
 * @returns {Promise<LoadedEngine>}
 */
export async function loadEngine({ onProgress, total, base = document.baseURI, simd = simdWanted() } = {}) {
  const url = new URL('metaqda.wasm', base);
  const script = new URL('wasm_exec.js', base).href;
  const program = fetched(url).then((response) => compile(response, { onProgress, total }));
  const [engine, kernels, runtime] = await Promise.all([
    program,
    loadSimd(new URL('metaqda-simd.wasm', base), simd),
    loadRuntime(script).catch(async (error) => {
      await program; // its error names the address, so it counts if both fail
      throw error;
    }),
  ]);
  return startEngine(runtime, 'page', {
    modules: { engine, kernels },
    runtime: script,
    name: 'metaqda',
    worker: () => new Worker(new URL('./thread.js', import.meta.url), { type: 'module' }),
  });
}

/**
 * @param {Runtime} runtime
 * @param {'page'|'storage'} role storage has no view
 * @param {Thread} thread
 * @returns {Promise<LoadedEngine>}
 */
export async function startEngine(runtime, role, thread) {
  const { modules } = thread;
  /** @type {Exports | undefined} */
  let exports;
  /** @type {(() => void)[]} */
  let listeners = [];
  const { methods, program } = await startProgram(modules, runtime, role, thread.name, () => {
    if (exports) exports.version++;
    for (const listener of listeners) queueMicrotask(listener); // the program may be locked; one that throws does not stop the others
  });
  exports = new Exports(program, 'reload the page. Your examples are kept');
  return /** @type {any} */ ({
    ...methods,
    modules,
    thread,
    exports,
    async on(/** @type {unknown} */ event, /** @type {() => void} */ listener) {
      checkListener(event, listener);
      listeners.push(listener);
    },
    async off(/** @type {unknown} */ event, /** @type {() => void} */ listener) {
      checkListener(event, listener);
      listeners = listeners.filter((one) => one !== listener);
    },
  });
}

/** @param {unknown} event @param {unknown} listener */
function checkListener(event, listener) {
  if (event !== 'change') throw new MetaqdaError('argument', `There is no event “${event}”: listen for change.`);
  if (typeof listener !== 'function') throw new MetaqdaError('argument', 'The listener must be a function: correct the call.');
}

/** Whether the page's address leaves SIMD on. */
function simdWanted() {
  return new URLSearchParams(globalThis.location?.search).get('simd') !== '0';
}
