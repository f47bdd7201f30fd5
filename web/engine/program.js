// @ts-check
/**
 * Runs a Go program: that of wasm/, which hands over an object of methods, or that of
 * wasm/library, which exports functions.
 */
import { MetaqdaError } from '../base/remote.js';
import { simdImports } from './kernels.js';
import { marks } from './marks.js';
import { reader } from './reading.js';

/** @import {Direct, Exports, GoProgram, Methods, Modules, OnProgress, Prediction, Runtime} from './contract.js' */

/**
 * Compiles a program, while it arrives where that is possible.
 *
 * @param {Response | BufferSource} found
 * @param {{onProgress?: OnProgress, total?: Promise<number>}} [options] `total` is the uncompressed size, which no header tells
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compile(found, { onProgress, total } = {}) {
  try {
    if (!(found instanceof Response)) return await WebAssembly.compile(found);
    if (onProgress) {
      const counted = found.clone();
      void sizeOf(found, total).then((size) => count(counted, size, onProgress)).catch(() => {}); // compiling reports what goes wrong
    }
    const streams = 'compileStreaming' in WebAssembly && /^application\/wasm\b/.test(found.headers.get('content-type') ?? '');
    return await (streams ? WebAssembly.compileStreaming(found) : found.arrayBuffer().then((bytes) => WebAssembly.compile(bytes)));
  } catch (error) {
    throw new MetaqdaError('wasm', `The engine arrived damaged, or is not that of this version (${/** @type {Error} */ (error).message}): load it again.`);
  }
}

/** @param {URL} url @returns {Promise<Response>} */
export async function fetched(url) {
  if (typeof WebAssembly !== 'object') throw new MetaqdaError('unsupported', 'WebAssembly is missing here: use a current version of Firefox, Chrome, Edge or Safari, or Node.js 20 or newer.');
  const response = await fetch(url).catch((/** @type {Error} */ error) => ({ ok: false, status: error.message }));
  if (!(response instanceof Response) || !response.ok) throw new MetaqdaError('fetch', `${url.href} could not be fetched (${response.status}): check the connection and the address, and load again.`);
  return response;
}

/** What there is to load, 0 if nothing tells. @param {Response} response @param {Promise<number>} [known] */
async function sizeOf({ headers }, known) {
  return await known || (headers.get('content-encoding') ? 0 : Number(headers.get('content-length') ?? 0));
}

/** Reports the bytes of a body as they arrive. @param {Response} response @param {number} total @param {OnProgress} onProgress */
async function count(response, total, onProgress) {
  let loaded = 0;
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    loaded += part.value.byteLength;
    onProgress({ loaded, total: total && Math.max(total, loaded) });
  }
  onProgress({ loaded, total: loaded });
}

/** Runs the toolchain's wasm_exec.js, which defines the global Go. @param {URL | string} url @returns {Promise<Runtime>} */
export async function loadRuntime(url) {
  const scope = /** @type {any} */ (globalThis);
  if (!scope.Go) await import(/* webpackIgnore: true */ /* @vite-ignore */ String(url)).catch(() => { throw new MetaqdaError('fetch', 'The engine could not be fetched: check the connection and reload the page.'); });
  return { Go: scope.Go, scope };
}

/**
 * Starts a program and does not wait for its end, which does not come while all is well.
 *
 * @param {Modules} modules
 * @param {new () => GoProgram} Go
 * @param {string[]} [argv]
 */
export async function start({ engine, kernels }, Go, argv = []) {
  const simd = simdImports(kernels);
  const go = new Go();
  Object.assign(go.importObject, simd.imports);
  go.argv = ['metaqda', ...argv];
  go.env = { GOMEMLIMIT: '3GiB' }; // from there on garbage is collected before memory grows; see wasm/memory
  const instance = await WebAssembly.instantiate(engine, go.importObject);
  simd.attach(instance);
  return {
    instance,
    memory: /** @type {WebAssembly.Memory} */ (instance.exports.mem),
    run: () => go.run(instance),
    /** Whether it has stopped. */
    ended: () => go.exited,
    /** Drops what it waits for; it must not be called afterwards. */
    release() {
      for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer);
      go._scheduledTimeouts.clear();
    },
  };
}

let started = 0;

/**
 * Starts the program of wasm/ in a role and waits until it hands over its methods, each of which returns a promise:
 * it takes the role, the name of a function in its scope, which it calls once, and that of a database.
 *
 * @param {Modules} modules
 * @param {Runtime} runtime
 * @param {'page'|'storage'|'batch'} role
 * @param {string} name of the database
 * @param {() => Worker} [worker] reads where there is much to read
 * @returns {Promise<{methods: Methods, quick: Direct}>}
 */
export async function startProgram(modules, { Go, scope }, role, name, worker) {
  const handover = `metaqda${++started}`;
  const program = await start(modules, Go, [role, handover, name]);
  const methods = await new Promise((resolve, reject) => {
    scope[handover] = Object.assign((/** @type {any} */ api) => resolve(api), { reader: reader(name, worker), marks: marks(name) });
    const ended = () => reject(new MetaqdaError('internal', 'The engine ended while starting: reload the page.'));
    program.run().then(ended, ended);
  });
  delete scope[handover];
  const { ask, revision } = direct(program.instance);
  return {
    methods: guarded({ ...methods, memory: () => program.memory.buffer.byteLength }, program.ended),
    quick: { ask: (x, showing) => (program.ended() ? null : ask(x, showing)), revision: () => (program.ended() ? NaN : revision()) },
  };
}

/**
 * Makes methods reject with errors of our own, and once the program has ended rather than throw.
 *
 * @param {Record<string, any>} methods
 * @param {() => boolean} ended
 * @returns {Methods}
 */
function guarded(methods, ended) {
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, typeof method !== 'function' ? method : async (/** @type {unknown[]} */ ...args) => {
    if (ended()) throw new MetaqdaError('internal', 'The engine has stopped: reload the page. What was taught is kept.');
    try {
      return await method(...args);
    } catch (error) {
      const { code, message } = /** @type {any} */ (error);
      throw code ? new MetaqdaError(code, message) : error;
    }
  }]));
}

// The way to a prediction: exported functions of the program that take and give numbers in its memory
// (wasm/direct). A call takes a microsecond, one through syscall/js ten.

/** @param {WebAssembly.Instance} instance of a program that runs @returns {Direct} */
export function direct(instance) {
  const program = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
  let place = 0;
  let length = -1; // of what there is room for; -1 for none
  /** @type {Float32Array} */ let room = new Float32Array(0);
  return {
    ask(x, showing) {
      if (x.length !== length) {
        place = program.metaqda_place(x.length);
        length = place ? x.length : -1;
        if (!place) return null;
        room = new Float32Array(0);
      }
      if (room.length !== length) room = new Float32Array(program.mem.buffer, place, length); // new, or detached by growth
      room.set(x);
      const n = program.metaqda_ask(showing);
      if (n <= 0) return n < 0 ? null : { p: NONE, taken: -1, doubtful: true, headline: '' };
      const p = new Float64Array(program.mem.buffer, program.metaqda_answer(), n - 4);
      const [taken, doubtful, address, bytes] = new Float64Array(program.mem.buffer, p.byteOffset + p.byteLength, 4);
      return { p, taken, doubtful: doubtful === 1, headline: decoder.decode(new Uint8Array(program.mem.buffer, address, bytes)) };
    },
    revision: () => program.metaqda_revision(),
  };
}

const decoder = new TextDecoder();
const NONE = new Float64Array(0);

/**
 * A method that answers about an embedding directly, by the names of the last ordinary answer while the classes are
 * those. What is no embedding, or cannot be answered, goes the ordinary way, which says why.
 *
 * @param {Direct} quick
 * @param {(x: Float32Array) => Promise<Prediction|null>} ordinary
 * @param {0|1|2} showing 0 does not show the answer, 1 shows it by itself, 2 as the next of a live view
 * @returns {(x: Float32Array) => Promise<Prediction|null>}
 */
export function directly(quick, ordinary, showing) {
  let revision = -1;
  /** @type {{id: string, name: string}[]} */ let classes = [];
  return async (x) => {
    const quickly = x instanceof Float32Array && quick.revision() === revision ? quick.ask(x, showing) : null;
    if (quickly) {
      const { p, taken, doubtful, headline } = quickly;
      if (p.length === 0) return null;
      return { classes: classes.map(({ id, name }, i) => ({ id, name, probability: p[i + 1] })), none: p[0], decision: { class: classes[taken]?.id ?? '', doubtful, headline } };
    }
    const now = quick.revision();
    const answer = await ordinary(x);
    if (answer) {
      revision = now;
      classes = answer.classes.map(({ id, name }) => ({ id, name }));
    }
    return answer;
  };
}
