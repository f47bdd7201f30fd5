// @ts-check
/** The program of the npm package: one for all classifiers of this realm. */
import { simdSupported } from '../base/simd.js';
import { Exports } from '../engine/exports.js';
import { start } from '../engine/program.js';
import { known, FUNCTION, TRUTH } from './classifier/options.js';
import { packaged, PROGRAM, programOf } from './files.js';
import { loadGo } from './written/go.js';
import { kernels } from './written/kernels.js';

/** @typedef {import('./files.js').ProgramSource} ProgramSource */

/** @type {ProgramSource | undefined} */
let source;
/** @type {() => ProgramSource} */
let own = () => packaged(() => new URL('./metaqda.wasm', import.meta.url));
let simd = true;
/** @type {Promise<WebAssembly.Module> | undefined} */
let module;
/** @type {Promise<Shared> | undefined} */
let engine;
let users = 0;

/**
 * @typedef {object} InitOptions
 * @property {ProgramSource | undefined} [wasm] `metaqda.wasm` or its address; if left out, the file beside this module
 * @property {boolean | undefined} [simd] false does without SIMD: slower, with the same answers
 * @property {import('../engine/contract.js').OnProgress | undefined} [onProgress] bytes of the engine as they arrive
 */

/**
 * Sets the address of the engine, and loads it before the first classifier needs it. A program whose `metaqda.wasm` lies
 * beside this module need not call it.
 *
 * @param {InitOptions} [options]
 * @returns {Promise<void>}
 */
export async function init(options = {}) {
  known(options, { wasm: PROGRAM, simd: TRUTH, onProgress: FUNCTION });
  const before = /** @type {const} */ ([source, module]);
  if (options.wasm !== undefined) [source, module] = [options.wasm, undefined];
  await compiled(options.onProgress).catch((error) => {
    if (options.wasm !== undefined && source === options.wasm) [source, module] = before; // what failed is not tried again
    throw error;
  });
  if (options.simd !== undefined) simd = options.simd;
}

/** Sets the engine to use if `init` names none. @param {() => ProgramSource} inside */
export function carry(inside) {
  own = inside;
}

/** @param {import('../engine/contract.js').OnProgress} [onProgress] */
function compiled(onProgress) {
  const tried = (module ??= programOf(source ?? own(), onProgress));
  tried.catch(() => {
    if (module === tried) module = undefined;
  }); // the next call tries again
  return tried;
}

/** The engine, for one more user. @returns {Promise<Exports>} */
export async function acquire() {
  users++;
  try {
    const tried = engine ?? begun();
    const found = await tried;
    if (!found.program.ended()) return found;
    if (engine === tried) engine = undefined; // only the examples taught before are lost
    return await (engine ?? begun());
  } catch (error) {
    release();
    throw error;
  }
}

/** One user less: after the last the engine's memory is free. */
export function release() {
  if (--users > 0) return;
  engine?.then(
    ({ program }) => program.release(),
    () => {},
  );
  engine = undefined;
}

/** The only globals that wasm_exec.js uses for this program. */
const scope = () => ({ Object, Array, String, Uint8Array, Date, crypto, performance, TextEncoder, TextDecoder });

/** The functions of a program, which ends with its last user. */
class Shared extends Exports {
  share() {
    users++;
  }

  release() {
    release();
  }
}

/** Begins an engine. One that does not start is forgotten: the next call starts another. */
function begun() {
  const tried = (engine = begin());
  tried.catch(() => {
    if (engine === tried) engine = undefined;
  });
  return tried;
}

async function begin() {
  const found = await Promise.all([compiled(), simd ? compiledKernels() : null]);
  const { instance, run, ...program } = await start({ engine: found[0], kernels: found[1] }, loadGo(scope()));
  void run(); // until main waits
  return new Shared({ exports: instance.exports, ...program });
}

/** @type {Promise<WebAssembly.Module> | null | undefined} */
let simdModule;

/** The kernels, compiled once; null where they do not run. */
export function compiledKernels() {
  return (simdModule ??= simdSupported() ? WebAssembly.compile(/** @type {BufferSource} */ (kernels())) : null);
}
