// @ts-check
// The quick way to a prediction: exported functions of the Go program that take and give numbers
// in its memory (wasm/direct). A call takes a microsecond, one through syscall/js ten.

/** @typedef {{ metaqda_place: (n: number) => number, metaqda_ask: () => number, metaqda_answer: () => number, metaqda_revision: () => number, mem: WebAssembly.Memory }} Exports */

/**
 * Returns a function that asks the program about an embedding. Its answer is a view of the program's
 * memory, good until the next call of the program, or null where the program has to be asked the
 * ordinary way.
 * @param {WebAssembly.Instance} instance of a program that runs
 * @returns {{ ask: (x: Float32Array) => Float64Array | null, revision: () => number }}
 */
export function direct(instance) {
  const program = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
  let place = 0;
  let length = -1; // of what there is room for; -1 for none
  /** @type {Float32Array} */ let room = new Float32Array(0);
  return {
    ask(x) {
      if (x.length !== length) {
        place = program.metaqda_place(x.length);
        length = place ? x.length : -1;
        if (!place) return null;
        room = new Float32Array(0);
      }
      if (room.length !== length) room = new Float32Array(program.mem.buffer, place, length); // new, or detached by growth
      room.set(x);
      const n = program.metaqda_ask();
      return n ? new Float64Array(program.mem.buffer, program.metaqda_answer(), n) : null;
    },
    revision: () => program.metaqda_revision(),
  };
}
