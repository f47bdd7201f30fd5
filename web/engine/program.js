// @ts-check
/**
 * Runs the Go program of wasm/ in this window or worker. The program takes a role and
 * the name of a global function, and calls that function once with the object of its
 * methods. Every method returns a promise.
 */
import { failure } from '../base/remote.js';
import { direct } from './direct.js';
import { simdImports } from './kernels.js';

/** @typedef {{engine: WebAssembly.Module, kernels: WebAssembly.Module|null}} Modules compiled once, for a window and its workers */
/** @typedef {Record<string, (...args: any[]) => Promise<any>>} Methods */
/** @typedef {{argv: string[], importObject: Record<string, any>, run: (instance: WebAssembly.Instance) => Promise<void>, exited: boolean}} GoProgram */

/**
 * Runs the toolchain's wasm_exec.js, which defines the global Go.
 *
 * @param {URL} url
 */
export async function loadRuntime(url) {
  if (!('Go' in globalThis)) await import(url.href).catch(() => { throw failure('fetch', 'The engine could not be fetched: check the connection and reload the page.'); });
}

let started = 0;

/**
 * Starts the program in a role and waits until it hands over its methods.
 *
 * @param {Modules} modules
 * @param {'page'|'trainer'|'judge'} role
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
