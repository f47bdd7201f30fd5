// @ts-check
/**
 * Starts the engine: the Go program of wasm/library, as many as wanted, with nothing
 * left in the global scope. Nothing happens at import.
 */
import { MetaqdaError } from './errors.js';
import { loadGo } from './go.js';
import { kernels } from './kernels.js';
import { simdSupported } from '../base/simd.js';
import { simdImports } from '../engine/kernels.js';

/** @typedef {URL | string | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module} Source where a program is, or the program */
/** @typedef {(progress: {loaded: number, total: number}) => void} OnProgress bytes; total is 0 while it is not known */

/**
 * @typedef {object} Program a running engine
 * @property {any} exports functions of the program
 * @property {WebAssembly.Memory} memory
 * @property {() => boolean} ended whether it has stopped
 * @property {() => void} release drops what it waits for; it must not be called afterwards
 */

/**
 * Compiles a program, while it arrives where that is possible.
 *
 * @param {Source} source
 * @param {OnProgress} [onProgress]
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compile(source, onProgress) {
  if (typeof WebAssembly !== 'object') throw new MetaqdaError('unsupported', 'WebAssembly is missing here: use a current browser, or Node.js 20 or newer.');
  if (source instanceof WebAssembly.Module) return source;
  try {
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return await WebAssembly.compile(/** @type {BufferSource} */ (source));
    const answer = source instanceof Response ? source : await open(source);
    if (!(answer instanceof Response)) return await WebAssembly.compile(/** @type {BufferSource} */ (answer));
    if (!onProgress && WebAssembly.compileStreaming && /^application\/wasm\b/.test(answer.headers.get('content-type') ?? '')) return await WebAssembly.compileStreaming(answer);
    return await WebAssembly.compile(/** @type {BufferSource} */ (await body(answer, onProgress)));
  } catch (error) {
    if (error instanceof MetaqdaError) throw error;
    throw new MetaqdaError('wasm', `The engine could not be compiled (${/** @type {Error} */ (error).message}): is what the option wasm names metaqda.wasm of this version?`);
  }
}

/**
 * The bytes of what a URL names, a Response holds, or a caller has at hand.
 *
 * @param {URL | string | Response | ArrayBuffer | ArrayBufferView} source
 * @param {OnProgress} [onProgress]
 * @returns {Promise<Uint8Array>}
 */
export async function bytesOf(source, onProgress) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  const answer = source instanceof Response ? source : await open(source);
  return answer instanceof Response ? body(answer, onProgress) : answer;
}

/**
 * Fetches, or reads a file where it is one and this is Node.js.
 *
 * @param {URL | string} source
 * @returns {Promise<Response | Uint8Array>}
 */
async function open(source) {
  const url = new URL(source, globalThis.document?.baseURI ?? globalThis.location?.href);
  if (url.protocol === 'file:' && globalThis.process?.versions?.node) {
    const name = 'node:fs/promises'; // a variable, so that bundlers leave it alone
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ name);
    return readFile(url).catch((/** @type {Error} */ error) => { throw new MetaqdaError('fetch', `${url.href} could not be read (${error.message}).`); });
  }
  const response = await fetch(url).catch((/** @type {Error} */ error) => { throw unreachable(url, error.message); });
  if (!response.ok) throw unreachable(url, `status ${response.status}`);
  return response;
}

/** @param {URL} url @param {string} why */
function unreachable(url, why) {
  return new MetaqdaError('fetch', `${url.href} could not be fetched (${why}): check the address and the connection.`);
}

/**
 * @param {Response} response
 * @param {OnProgress} [onProgress]
 */
async function body(response, onProgress) {
  if (!onProgress || !response.body) return new Uint8Array(await response.arrayBuffer());
  // Under compression the length told is that of other bytes than those counted.
  const total = response.headers.get('content-encoding') ? 0 : Number(response.headers.get('content-length') ?? 0);
  /** @type {Uint8Array[]} */
  const parts = [];
  let loaded = 0;
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    loaded += part.value.byteLength;
    onProgress({ loaded, total });
  }
  return new Uint8Array(await new Blob(/** @type {BlobPart[]} */ (parts)).arrayBuffer());
}

/** @type {WebAssembly.Module | null | undefined} */
let compiledKernels;

/**
 * Starts a program.
 *
 * @param {WebAssembly.Module} module
 * @param {{simd?: boolean}} [options] `simd: false` does without SIMD, slower but with the same answers
 * @returns {Promise<Program>}
 */
export async function start(module, { simd = true } = {}) {
  if (compiledKernels === undefined) compiledKernels = simdSupported() ? await WebAssembly.compile(/** @type {BufferSource} */ (kernels())) : null;
  const imports = simdImports(simd ? compiledKernels : null);
  const go = new (loadGo())();
  Object.assign(go.importObject, imports.imports);
  const instance = await WebAssembly.instantiate(module, go.importObject);
  imports.attach(instance);
  void go.run(instance); // to where main waits; its promise is for the end, which does not come
  return {
    exports: instance.exports,
    memory: /** @type {WebAssembly.Memory} */ (instance.exports.mem),
    ended: () => go.exited,
    release() {
      for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer);
      go._scheduledTimeouts.clear();
    },
  };
}
