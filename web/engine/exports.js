// @ts-check
/**
 * Calls the functions of wasm/exports, which take and return numbers. library/WASI.md describes them.
 */
import { MetaqdaError } from '../base/remote.js';

/** @typedef {{exports: any} & Pick<Awaited<ReturnType<typeof import('./program.js').start>>, 'memory' | 'ended' | 'release'>} Program a running engine, and its functions */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Exports {
  /** Rises with each change of the open session: cached values of a classifier are then out of date. */
  version = 0;
  /** Bytes of room that are kept for the next call. */
  most = 2 ** 24;

  /** @param {Program} program @param {string} [stopped] remedy that a call names once the program has ended */
  constructor(program, stopped = 'create the classifier anew, with fewer or shorter vectors') {
    this.program = program;
    this.stopped = stopped;
    this.room = 0;
    this.size = 0;
    /** Views of the program's memory, made anew when it has grown. */
    this.bytes = new Uint8Array(program.memory.buffer);
    this.floats = new Float32Array(program.memory.buffer);
    this.doubles = new Float64Array(program.memory.buffer);
  }

  /** One more user of the program, which ends after its last user. */
  share() {}

  /** One user less. */
  release() {}

  fresh() {
    if (this.bytes.buffer === this.program.memory.buffer) return;
    this.bytes = new Uint8Array(this.program.memory.buffer);
    this.floats = new Float32Array(this.program.memory.buffer);
    this.doubles = new Float64Array(this.program.memory.buffer);
  }

  /** Makes room for n bytes. @param {number} n */
  reserve(n) {
    if (n > this.size || (this.size > this.most && n <= this.most)) {
      this.size = 0; // the room is gone even if there is no memory for another one
      this.room = this.checked(Number(this.#run('mq_room', BigInt(n))));
      this.size = n;
    }
    this.fresh();
  }

  /** Calls a function. If the call failed, it throws the reply as an error. @param {string} name @param {...number} args @returns {number} */
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
    throw new MetaqdaError('internal', `The engine has stopped, probably for want of memory: ${this.stopped}.`);
  }

  /** Where the numbers of the last answer begin, counted in numbers. */
  answer() {
    return this.program.exports.mq_answer() >>> 3;
  }

  /** Writes a vector and then texts, and returns the lengths of the texts in bytes. @param {ArrayLike<number> | null} vector @param {...(string | Uint8Array)} texts */
  write(vector, ...texts) {
    const parts = texts.map((text) => (typeof text === 'string' ? encoder.encode(text) : text));
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
    this.write(null, new Uint8Array(Uint32Array.from(parts, ({ length }) => length).buffer), ...parts);
  }

  /** If a call failed, throws its reply as an error. @param {number} n what the call returned */
  checked(n) {
    this.fresh();
    if (n >= 0) return n;
    const text = this.text(-n);
    const [code] = text.split('\n', 1);
    throw new MetaqdaError(code, text.slice(code.length + 1));
  }

  /** A copy of the reply of n bytes. @param {number} n */
  reply(n) {
    const at = this.program.exports.mq_reply() >>> 0;
    return this.bytes.slice(at, at + n);
  }

  /** The reply of n bytes of text. @param {number} n */
  text(n) {
    return decoder.decode(this.reply(n));
  }

  /** Reads a prior file, and returns its sha256. @param {Uint8Array} file */
  prior(file) {
    this.write(null, file);
    return this.text(this.call('mq_prior', file.length));
  }

  /** Opens a classifier file and returns the handle. @param {Uint8Array} file @param {string} sum of the prior to use; '' for the one that the file names */
  open(file, sum) {
    const [n, m] = this.write(null, file, sum);
    return this.call('mq_open', n, m);
  }
}
