// @ts-check
/**
 * Runs a Go program. All programs export the functions of wasm/exports. The program of wasm/ also passes an object
 * of methods.
 */
import { isAttached } from '../base/attached.js';
import { MetaqdaError } from '../base/remote.js';
import { simdImports } from './kernels.js';
import { marks } from './marks.js';

/** @import {GoProgram, Methods, Modules, OnProgress, Runtime} from './contract.js' */

/**
 * Compiles a program, if possible while it downloads.
 *
 * @param {Response | BufferSource} found
 * @param {{onProgress?: OnProgress, total?: Promise<number>}} [options] `total` is the uncompressed size; no header has it
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compile(found, { onProgress, total } = {}) {
  try {
    if (!(found instanceof Response)) return await WebAssembly.compile(found);
    if (onProgress) {
      const counted = found.clone();
      void sizeOf(found, total)
        .then((size) => count(counted, size, onProgress))
        .catch(() => {}); // compiling reports the error
    }
    const streams = 'compileStreaming' in WebAssembly && /^application\/wasm\b/.test(found.headers.get('content-type') ?? '');
    return await (streams ? WebAssembly.compileStreaming(found) : found.arrayBuffer().then((bytes) => WebAssembly.compile(bytes)));
  } catch (error) {
    throw new MetaqdaError('wasm', refusalOf(/** @type {Error} */ (error).message, found));
  }
}

/** Why a program cannot be compiled, with the remedy. @param {string} reason @param {Response | BufferSource} found */
function refusalOf(reason, found) {
  if (/Content.Security.Policy|unsafe-eval/i.test(reason))
    return "The page's Content-Security-Policy forbids WebAssembly: allow 'wasm-unsafe-eval' in its script-src.";
  if (found instanceof Response && found.headers.get('content-type')?.includes('text/html'))
    return `The server answered ${found.url} with a page in place of the engine: put the engine's file there, or give its address to init.`;
  return `The engine arrived damaged, or is not that of this version (${reason}): load it again.`;
}

/** @param {URL} url @returns {Promise<Response>} */
export async function fetched(url) {
  if (typeof WebAssembly !== 'object')
    throw new MetaqdaError('unsupported', 'WebAssembly is missing here: use a current version of Firefox, Chrome, Edge or Safari, or Node.js 20 or newer.');
  const response = await fetch(url).catch((/** @type {Error} */ error) => ({ ok: false, status: error.message }));
  if (!(response instanceof Response) || !response.ok)
    throw new MetaqdaError('fetch', `The file ${url.href} could not be fetched (${response.status}): check the connection and the address, and load again.`);
  return response;
}

/** Bytes to load, 0 if not known. @param {Response} response @param {Promise<number>} [known] */
async function sizeOf({ headers }, known) {
  return (await known) || (headers.get('content-encoding') ? 0 : Number(headers.get('content-length') ?? 0));
}

/** Reports the bytes of a body as they arrive. @param {Response} response @param {number} total @param {OnProgress} onProgress */
async function count(response, total, onProgress) {
  let loaded = 0;
  const body = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  for (let part = await body.read(); !part.done; part = await body.read()) {
    loaded += part.value.byteLength;
    onProgress({ loaded, total: total && Math.max(total, loaded) });
  }
  onProgress({ loaded, total: loaded });
}

/** Runs the toolchain's wasm_exec.js, which defines the global Go. @param {URL | string} url @returns {Promise<Runtime>} */
export async function loadRuntime(url) {
  const scope = /** @type {any} */ (globalThis);
  if (!scope.Go)
    await import(/* webpackIgnore: true */ /* @vite-ignore */ String(url)).catch(() => {
      throw new MetaqdaError('fetch', 'The engine could not be fetched: check the connection and reload the page.');
    });
  return { Go: scope.Go, scope };
}

/**
 * Instantiates a program. Its `run` runs it, until it is released or fails.
 *
 * @param {Modules} modules
 * @param {new () => GoProgram} Go
 * @param {string[]} [argv]
 * @param {() => void} [onEnd] is called when the program ends, within the call that ends it
 */
export async function start({ engine, kernels }, Go, argv = [], onEnd = () => {}) {
  const simd = simdImports(kernels);
  const go = new Go();
  Object.assign(go.importObject, simd.imports);
  const { exit } = go;
  go.exit = (code) => {
    onEnd();
    exit(code);
  };
  go.argv = ['metaqda', ...argv];
  go.env = { GOMEMLIMIT: '3GiB' }; // above it Go collects garbage before memory grows; see wasm/memory
  const instance = await WebAssembly.instantiate(engine, go.importObject);
  simd.attach(instance);
  return {
    instance,
    memory: /** @type {WebAssembly.Memory} */ (instance.exports.mem),
    run: () => go.run(instance),
    /** Whether it has stopped. */
    ended: () => go.exited,
    /** Cancels its timers. Nothing may be called afterwards. */
    release() {
      for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer);
      go._scheduledTimeouts.clear();
    },
  };
}

let started = 0;

/**
 * Starts the program of wasm/ in a role and waits for its methods, each of which returns a promise. The program gets the
 * role, the name of a function in its scope, and the name of a database. It calls the function once, with its methods. The
 * function has two properties for the program, `marks` and `changed`.
 *
 * @param {Modules} modules
 * @param {Runtime} runtime
 * @param {'page'|'storage'|'batch'} role
 * @param {string} name of the database
 * @param {() => void} [changed] is called after each change of the session, within the program
 * @returns {Promise<{methods: Methods, program: import('./exports.js').Program}>}
 */
export async function startProgram(modules, { Go, scope }, role, name, changed = () => {}) {
  const handover = `metaqda${++started}`;
  /** Functions that reject the calls in progress. @type {Set<(error: Error) => void>} */
  const waiting = new Set();
  const program = await start(modules, Go, [role, handover, name], () => {
    for (const reject of waiting) reject(stopped());
  });
  const methods = await new Promise((resolve, reject) => {
    scope[handover] = Object.assign((/** @type {any} */ api) => resolve(api), { marks: marks(name), changed });
    const ended = () => reject(new MetaqdaError('internal', 'The engine ended while starting: reload the page.'));
    program.run().then(ended, ended);
  });
  delete scope[handover];
  return {
    methods: guarded({ ...methods, memory: () => program.memory.buffer.byteLength }, program.ended, waiting),
    program: { ...program, exports: program.instance.exports },
  };
}

const stopped = () => new MetaqdaError('internal', 'The engine has stopped: reload the page. Your examples are kept.');

/**
 * Makes methods reject with errors of our own, also once the program has ended.
 *
 * @param {Record<string, any>} methods
 * @param {() => boolean} ended
 * @param {Set<(error: Error) => void>} waiting gets a function that rejects a call, as long as the call
 * is in progress
 * @returns {Methods}
 */
function guarded(methods, ended, waiting) {
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name,
      typeof method !== 'function'
        ? method
        : async (/** @type {unknown[]} */ ...args) => {
            if (ended()) throw stopped();
            if (!args.every(isAttached))
              // copying them would end the program
              throw new MetaqdaError('argument', 'The bytes were transferred to another thread, or their buffer was made smaller: hand over a copy of them.');
            let stop = (/** @type {Error} */ _) => {};
            const over = new Promise((_, reject) => {
              waiting.add((stop = reject));
            });
            try {
              return await Promise.race([over, (async () => method(...args))()]); // also if the call throws because it ends the program
            } catch (error) {
              const { code, message } = /** @type {any} */ (error);
              throw code ? new MetaqdaError(code, message) : error;
            } finally {
              waiting.delete(stop);
            }
          },
    ]),
  );
}
