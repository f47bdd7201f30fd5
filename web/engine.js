// @ts-check
/**
 * Starts the engine: the Go program of wasm/, compiled to WebAssembly, in its role
 * `page`. What it can do is described in types.js.
 *
 * The program takes a role and the name of a global function, and calls that function
 * once with the object of its methods. Every method returns a promise.
 */
import { direct, directly } from './direct.js';
import { loadSimd, simdImports } from './simd.js';

/** @typedef {import('./types.js').Engine} Engine */
/** @typedef {import('./types.js').OnProgress} OnProgress */
/** @typedef {{engine: WebAssembly.Module, kernels: WebAssembly.Module|null}} Modules compiled once, for this window and its workers */
/** @typedef {Record<string, (...args: any[]) => Promise<any>>} Methods */
/** @typedef {{argv: string[], importObject: Record<string, any>, run: (instance: WebAssembly.Instance) => Promise<void>, exited: boolean}} GoProgram */

/**
 * The engine of a page, with what its trainer needs of it.
 *
 * `memory` tells the bytes that the program holds.
 *
 * @typedef {Engine & {modules: Modules, memory: () => Promise<number>, trainingInput: () => Promise<{session: string, classifier: Uint8Array, prior: Uint8Array|null}>}} LoadedEngine
 */

/** Bytes to expect of the engine where the manifest does not say. */
const EXPECTED = 6.5e6;

/**
 * An error with a code for programs and a sentence for people.
 *
 * @param {string} code
 * @param {string} message
 */
function failure(code, message) {
  return Object.assign(new Error(message), { code });
}

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
 * Runs the toolchain's wasm_exec.js, which defines the global Go.
 *
 * @param {URL} url
 */
export async function loadRuntime(url) {
  if (!('Go' in globalThis)) await import(url.href).catch(() => { throw failure('fetch', 'The engine could not be fetched: check the connection and reload the page.'); });
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

let started = 0;

/**
 * Starts the program in a role and waits until it hands over its methods.
 *
 * @param {Modules} modules
 * @param {'page'|'trainer'} role
 * @returns {Promise<{methods: Methods, quick: import('./direct.js').Direct}>}
 */
export async function startProgram({ engine, kernels }, role) {
  const go = /** @type {GoProgram} */ (new /** @type {any} */ (globalThis).Go());
  const simd = simdImports(kernels);
  Object.assign(go.importObject, simd.imports);
  const instance = await WebAssembly.instantiate(engine, go.importObject);
  simd.attach(instance);
  const handover = `metaqda${++started}`;
  go.argv = ['metaqda', role, handover];
  const scope = /** @type {Record<string, unknown>} */ (globalThis);
  const methods = await new Promise((resolve, reject) => {
    scope[handover] = resolve;
    const ended = () => reject(failure('internal', 'The engine ended while starting: reload the page.'));
    go.run(instance).then(ended, ended);
  });
  delete scope[handover];
  const memory = /** @type {WebAssembly.Memory} */ (instance.exports.mem);
  const { ask, revision } = direct(instance);
  return {
    methods: guarded({ ...methods, memory: () => memory.buffer.byteLength }, go),
    quick: { ask: (x, show) => (go.exited ? null : ask(x, show)), revision: () => (go.exited ? NaN : revision()) },
  };
}

/**
 * Makes methods reject, rather than throw, once the program has ended.
 *
 * @param {Record<string, any>} methods
 * @param {GoProgram} go
 * @returns {Methods}
 */
function guarded(methods, go) {
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, typeof method !== 'function' ? method : async (/** @type {unknown[]} */ ...args) => {
    if (go.exited) throw failure('internal', 'The engine has stopped: reload the page. What was taught is kept.');
    return method(...args);
  }]));
}
