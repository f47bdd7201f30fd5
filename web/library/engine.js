// @ts-check
/**
 * The other side of wasm/library: one program for all classifiers of this realm. WASI.md
 * describes its functions.
 */
import { simdSupported } from '../base/simd.js';
import { start } from '../engine/program.js';
import { MetaqdaError } from '../base/remote.js';
import { known, FUNCTION, TRUTH } from './classifier/options.js';
import { PROGRAM, programOf } from './files.js';
import { loadGo } from './written/go.js';
import { kernels } from './written/kernels.js';

/** @typedef {import('./files.js').ProgramSource} ProgramSource */
/** @typedef {{exports: any} & Pick<Awaited<ReturnType<typeof start>>, 'memory' | 'ended' | 'release'>} Program a running engine, and its functions */

const MOST_ROOM = 2 ** 24; // bytes that are kept for the next call

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Engine {
  /** @param {Program} program */
  constructor(program) {
    this.program = program;
    this.room = 0;
    this.size = 0;
    /** Views of the program's memory, made anew when it has grown. */
    this.bytes = new Uint8Array(program.memory.buffer);
    this.floats = new Float32Array(program.memory.buffer);
    this.doubles = new Float64Array(program.memory.buffer);
  }

  fresh() {
    if (this.bytes.buffer === this.program.memory.buffer) return;
    this.bytes = new Uint8Array(this.program.memory.buffer);
    this.floats = new Float32Array(this.program.memory.buffer);
    this.doubles = new Float64Array(this.program.memory.buffer);
  }

  /** Makes room for n bytes. @param {number} n */
  reserve(n) {
    if (n > this.size || (this.size > MOST_ROOM && n <= MOST_ROOM)) {
      this.size = 0; // the room is gone even if there is no memory for another one
      this.room = this.checked(Number(this.#run('mq_room', BigInt(n))));
      this.size = n;
    }
    this.fresh();
  }

  /** Calls a function, and throws what it replied if it failed. @param {string} name @param {...number} args @returns {number} */
  call(name, ...args) {
    return this.checked(this.#run(name, ...args));
  }

  /** Frees something. @param {string} name @param {number} what */
  free(name, what) {
    if (!this.program.ended()) this.program.exports[name](what);
  }

  /** @param {string} name @param {...(number | bigint)} args */
  #run(name, ...args) {
    try {
      if (!this.program.ended()) return this.program.exports[name](...args);
    } catch (error) {
      if (!this.program.ended()) throw error;
    }
    throw new MetaqdaError('internal', 'The engine has stopped, probably for want of memory: create the classifier anew, with fewer or shorter vectors.');
  }

  /** Where the numbers of the last answer begin, counted in numbers. */
  answer() {
    return this.program.exports.mq_answer() >>> 3;
  }

  /** Writes a vector and then texts, and answers their lengths. @param {ArrayLike<number> | null} vector @param {...string} texts */
  write(vector, ...texts) {
    const parts = texts.map((text) => encoder.encode(text));
    let at = 4 * (vector?.length ?? 0);
    this.reserve(parts.reduce((n, part) => n + part.length, at));
    if (vector) this.floats.set(vector, this.room / 4);
    for (const part of parts) {
      this.bytes.set(part, this.room + at);
      at += part.length;
    }
    return parts.map((part) => part.length);
  }

  /** Writes vectors of one length. @param {ArrayLike<number>[]} rows */
  writeRows(rows) {
    this.reserve(4 * rows.length * rows[0].length);
    rows.forEach((row, i) => this.floats.set(row, this.room / 4 + i * row.length));
  }

  /** Writes the lengths of texts and then the texts. @param {string[]} texts */
  writeTexts(texts) {
    const parts = texts.map((text) => encoder.encode(text));
    let at = 4 * texts.length;
    this.reserve(parts.reduce((n, part) => n + part.length, at));
    new Uint32Array(this.bytes.buffer, this.room, texts.length).set(parts.map((part) => part.length));
    for (const part of parts) {
      this.bytes.set(part, this.room + at);
      at += part.length;
    }
  }

  /** Writes bytes and then a text. @param {Uint8Array} bytes @param {string} text */
  writeBytes(bytes, text) {
    const part = encoder.encode(text);
    this.reserve(bytes.length + part.length);
    this.bytes.set(bytes, this.room);
    this.bytes.set(part, this.room + bytes.length);
    return [bytes.length, part.length];
  }

  /** Throws what a call replied if it failed. @param {number} n what the call returned */
  checked(n) {
    this.fresh();
    if (n >= 0) return n;
    const text = decoder.decode(this.reply(-n));
    const [code] = text.split('\n', 1);
    throw new MetaqdaError(code, text.slice(code.length + 1));
  }

  /** A copy of the reply of n bytes. @param {number} n */
  reply(n) {
    const at = this.program.exports.mq_reply() >>> 0;
    return this.bytes.slice(at, at + n);
  }
}

/** @type {ProgramSource | undefined} */
let source;
/** @type {() => ProgramSource} */
let own = () => new URL('./metaqda.wasm', import.meta.url);
let simd = true;
/** @type {Promise<WebAssembly.Module> | undefined} */
let module;
/** @type {Promise<Engine> | undefined} */
let engine;
let users = 0;

/**
 * @typedef {object} InitOptions
 * @property {ProgramSource} [wasm] where `metaqda.wasm` is, or what it holds; beside this module if left out
 * @property {boolean} [simd] false does without SIMD: slower, the same answers
 * @property {import('../engine/contract.js').OnProgress} [onProgress] bytes of the engine as they arrive
 */

/**
 * Fetches and compiles the engine ahead of the first classifier, and says where it is.
 * Not needed where `metaqda.wasm` lies beside this module.
 *
 * @param {InitOptions} [options]
 * @returns {Promise<void>}
 */
export async function init(options = {}) {
  known(options, { wasm: PROGRAM, simd: TRUTH, onProgress: FUNCTION });
  const before = source;
  if (options.wasm !== undefined) [source, module] = [options.wasm, undefined];
  await compiled(options.onProgress).catch((error) => {
    if (options.wasm !== undefined && source === options.wasm) source = before; // what failed is not tried again
    throw error;
  });
  if (options.simd !== undefined) simd = options.simd;
}

/** Says what the engine is where init does not. @param {() => ProgramSource} inside */
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

/** The engine, for one more user. @returns {Promise<Engine>} */
export async function acquire() {
  users++;
  try {
    const tried = (engine ??= begin());
    const found = await tried;
    if (!found.program.ended()) return found;
    if (engine === tried) engine = begin(); // what was taught before is lost, and nothing else
    return await engine;
  } catch (error) {
    release();
    throw error;
  }
}

/** One more user of an engine that is there. */
export function share() {
  users++;
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

/** The program needs nothing of the global scope but what Go's own glue takes from it. */
const scope = () => ({ Object, Array, String, Uint8Array, Date, crypto, performance, TextEncoder, TextDecoder });

async function begin() {
  const { instance, run, ...program } = await start({ engine: await compiled(), kernels: simd ? await compiledKernels() : null }, loadGo(scope()));
  void run(); // to where main waits
  return new Engine({ exports: instance.exports, ...program });
}

/** @type {Promise<WebAssembly.Module> | null | undefined} */
let simdModule;

/** The kernels, compiled once; null where they do not run. */
export function compiledKernels() {
  return (simdModule ??= simdSupported() ? WebAssembly.compile(/** @type {BufferSource} */ (kernels())) : null);
}
