// @ts-check
// The way to a prediction, for the page, a library and the benchmark: exported functions of the Go
// program that take and give numbers in its memory (wasm/direct). A call takes a microsecond, one
// through syscall/js ten.

/** @typedef {import('./contract.js').Prediction} Prediction */
/** @typedef {{ metaqda_place: (n: number) => number, metaqda_ask: (show: number) => number, metaqda_answer: () => number, metaqda_revision: () => number, mem: WebAssembly.Memory }} Exports */
/**
 * `ask` asks the program about an embedding and has it show the answer, if so wished. The answer is a view of
 * the program's memory, good until the next call of the program: the probability of none of these and those of
 * the classes. It is empty where there is nothing to compare with, and null where the program has to be asked the
 * ordinary way. `revision` is another number whenever the classes are others.
 *
 * @typedef {{ ask: (x: Float32Array, show?: boolean) => Float64Array | null, revision: () => number }} Direct
 */

/**
 * @param {WebAssembly.Instance} instance of a program that runs
 * @returns {Direct}
 */
export function direct(instance) {
  const program = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
  let place = 0;
  let length = -1; // of what there is room for; -1 for none
  /** @type {Float32Array} */ let room = new Float32Array(0);
  return {
    ask(x, show = false) {
      if (x.length !== length) {
        place = program.metaqda_place(x.length);
        length = place ? x.length : -1;
        if (!place) return null;
        room = new Float32Array(0);
      }
      if (room.length !== length) room = new Float32Array(program.mem.buffer, place, length); // new, or detached by growth
      room.set(x);
      const n = program.metaqda_ask(show ? 1 : 0);
      return n < 0 ? null : new Float64Array(program.mem.buffer, n ? program.metaqda_answer() : 0, n);
    },
    revision: () => program.metaqda_revision(),
  };
}

/**
 * A method that answers about an embedding directly, by the names of the last ordinary answer while the classes are
 * those. What is no embedding, or cannot be answered, goes the ordinary way, which says why.
 *
 * @param {Direct} quick
 * @param {(x: Float32Array) => Promise<Prediction|null>} ordinary
 * @param {boolean} show whether to show the answer too
 * @returns {(x: Float32Array) => Promise<Prediction|null>}
 */
export function directly(quick, ordinary, show) {
  let revision = -1;
  /** @type {{id: string, name: string}[]} */ let classes = [];
  return async (x) => {
    const p = x instanceof Float32Array && quick.revision() === revision ? quick.ask(x, show) : null;
    if (p) return p.length ? { classes: classes.map(({ id, name }, i) => ({ id, name, probability: p[i + 1] })), none: p[0] } : null;
    const now = quick.revision();
    const answer = await ordinary(x);
    if (answer) {
      revision = now;
      classes = answer.classes.map(({ id, name }) => ({ id, name }));
    }
    return answer;
  };
}
