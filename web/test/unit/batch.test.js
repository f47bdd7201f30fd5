// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { answer } from '../../base/remote.js';
import { Batch } from '../../library/batch.js';
import { startProgram } from '../../engine/program.js';
import { without } from '../../engine/worker.js';
import { Line, runBatch, summary } from '../../ui/kit/batch.js';

test('a batch works on one item at a time, goes on after one that fails and tells how far it is; cancelled, it finishes the item it is at and starts no other', async () => {
  let running = 0;
  const run = async (/** @type {number} */ last) => {
    const stop = new AbortController();
    const [seen, progress] = [/** @type {number[]} */ ([]), /** @type {string[]} */ ([])];
    const { done, errors, cancelled } = await runBatch(
      [1, 2, 3],
      async (n) => {
        assert.equal(++running, 1);
        seen.push(n);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        running--;
        if (n === last) stop.abort();
        if (n === 2) throw new Error('two');
      },
      { signal: stop.signal, onProgress: (n, total) => progress.push(`${n}/${total}`) },
    );
    return [seen.length, progress.join(' '), done, errors.map(String).join(), cancelled];
  };
  assert.deepEqual(await run(0), [3, '0/3 1/3 2/3 3/3', 2, 'Error: two', false]);
  assert.deepEqual(await run(2), [2, '0/3 1/3 3/3', 1, 'Error: two', true]);
  assert.deepEqual((await run(3)).slice(2), [2, 'Error: two', false], 'an abort during the last item is no cancellation');
});

test('the first three errors are told in full, the rest counted', () => {
  assert.equal(summary([]), '');
  assert.equal(summary(['a.', 'b.', 'c.']), 'a. b. c.');
  assert.equal(summary(['a.', 'b.', 'c.', 'd.', 'e.']), 'a. b. c. And 2 more.');
  assert.equal(summary(['a.', 'b.', 'a.', 'c.', 'd.', 'd.']), 'a. (2 times) b. c. And 2 more.');
  assert.equal(summary(['a.', 'b.', 'c.', '“d.jpg” is empty.', '“e.jpg” is empty.']), 'a. b. c. And 2 more: “d.jpg”, “e.jpg”.');
});

test('batches wait for those before them, and one that is cancelled meanwhile is over at once', async () => {
  const line = new Line();
  /** @type {string[]} */
  const seen = [];
  /** @type {() => void} */
  let go = () => {};
  const held = new Promise((/** @type {(value: void) => void} */ resolve) => {
    go = resolve;
  });
  const work = async (/** @type {string} */ one) => {
    seen.push(one);
    await held;
    if (one === 'a2') throw new Error(one);
  };
  const stop = new AbortController();
  const first = line.run(['a1', 'a2'], work, { signal: new AbortController().signal });
  const second = line.run(['b1'], work, { signal: stop.signal });
  const third = line.run(['c1'], work, { signal: new AbortController().signal });
  stop.abort();
  assert.deepEqual(await second, { done: 0, errors: [], cancelled: true });
  assert.deepEqual(seen, ['a1']);
  go();
  assert.equal((await first).errors.length, 1);
  assert.equal((await third).done, 1);
  assert.deepEqual(seen, ['a1', 'a2', 'c1']);
});

test('what fails does not hold up the line', async () => {
  const line = new Line();
  const failing = line.wait(async () => {
    throw new Error('no');
  });
  assert.equal(await line.wait(async () => 1), 1);
  await assert.rejects(failing, /no/);
});

test('what is stopped before its worker has begun begins none', async () => {
  let go = (/** @type {any} */ _) => {};
  const input = new Promise((resolve) => {
    go = resolve;
  });
  const worker = () => assert.fail('a worker was started');
  const batch = new Batch(
    /** @type {any} */ ({ state: async () => ({ classes: [] }), sharedSession: () => input, learnedPrior: async () => null, thread: { worker } }),
  );
  const asked = batch.classify([new Float32Array(2)]);
  batch.close();
  go(new Uint8Array(1));
  await assert.rejects(asked, { code: 'cancelled' });
});

/** A batch over workers that are pretended. @param {() => import('../../base/remote.js').Handlers} handlers of a new worker */
const batchOver = (handlers) =>
  new Batch(
    /** @type {any} */ ({
      state: async () => ({ classes: [] }),
      sharedSession: async () => new Uint8Array(1),
      learnedPrior: async () => null,
      thread: {
        worker() {
          const worker = {
            onmessage: (/** @type {any} */ _) => {},
            postMessage: (/** @type {any} */ data) => setImmediate(() => take({ data })),
            terminate() {},
          };
          const postMessage = (/** @type {any} */ data) => worker.onmessage({ data });
          let take = (/** @type {any} */ _) => {};
          answer(handlers(), {
            code: 'internal',
            scope: { postMessage, addEventListener: (/** @type {string} */ _, /** @type {typeof take} */ f) => (take = f) },
          });
          return worker;
        },
      },
    }),
  );

test('each of the calls at once is about its own pictures', async () => {
  const batch = batchOver(() => {
    let rows = new Float32Array();
    return {
      start() {},
      open([, , next]) {
        rows = next;
      },
      classify: () => ({ probabilities: rows }),
      suggest: (count) => ({ places: [...rows].slice(0, count), like: [] }),
      alike: () => [[[rows.length]]],
    };
  });
  const reused = Float32Array.of(1);
  const first = batch.classify([reused]);
  reused[0] = 2;
  const answers = await Promise.all([first, batch.suggest(1), batch.classify([reused, reused]), batch.alike([[0, 1]])]);
  assert.deepEqual(
    answers.map((/** @type {any} */ { probabilities, places, ...groups }) => [...(probabilities ?? places ?? groups[0][0])]),
    [[1], [1], [2, 2], [2]],
  );
});

test('a batch whose worker ends, or is not loaded, was not cancelled', async () => {
  for (const [message, code] of [
    ['out of memory', 'internal'],
    ['', 'fetch'],
  ]) {
    const worker = {
      onerror: (/** @type {any} */ _) => {},
      postMessage: () => setImmediate(() => worker.onerror({ message, preventDefault() {} })),
      terminate() {},
    };
    const engine = { state: async () => ({ classes: [] }), sharedSession: async () => new Uint8Array(1), learnedPrior: async () => null };
    const batch = new Batch(/** @type {any} */ ({ ...engine, thread: { worker: () => worker } }));
    await assert.rejects(batch.classify([new Float32Array(2)]), { code, message: /could not be judged together/ });
  }
});

test('a batch of nothing, of different lengths or with no count is refused before a worker is started', async () => {
  const batch = /** @type {any} */ (new Batch(/** @type {any} */ ({ thread: { worker: () => assert.fail('a worker was started') } })));
  for (const none of [[], null, undefined]) await assert.rejects(batch.classify(none), { code: 'argument', message: /at least one vector/ });
  for (const [a, b] of [
    [2, 3],
    [3, 2],
  ]) {
    const message = `Vector 1 of the batch has length ${b}, the first one length ${a}: use one extractor for all of them.`;
    await assert.rejects(batch.classify([new Float32Array(a), new Float32Array(b)]), { code: 'dimension', message });
  }
  for (const [code, wrong] of /** @type {const} */ ([
    ['value', [[1, null]]],
    ['argument', ['x']],
    ['argument', new Float32Array(2)],
  ]))
    await assert.rejects(batch.classify(wrong), { code }, `${wrong}`);
  for (const count of [[new Float32Array(2)], undefined, 1.5, -1]) await assert.rejects(async () => batch.suggest(count), { code: 'argument' }, `${count}`);
});

test('after the program of a worker has ended the next call starts another worker', async () => {
  let started = 0;
  const batch = batchOver(() => {
    const ends = ++started === 1;
    return {
      start() {},
      open() {
        if (ends) throw new Error('The engine has stopped.');
      },
      classify: () => ({ probabilities: null }),
    };
  });
  await assert.rejects(batch.classify([new Float32Array(1)]), { code: 'internal' });
  assert.equal((await batch.classify([new Float32Array(1)])).probabilities, null);
  assert.equal(started, 2);
});

for (const [how, dies] of /** @type {[string, () => unknown][]} */ ([
  ['and answers nothing', () => undefined],
  [
    'and throws',
    () => {
      throw new TypeError('of the glue');
    },
  ],
]))
  test(`a call that ends the Go program ${how} is rejected, and so are those under way and later ones`, async () => {
    /** @type {Record<string, any>} */
    const scope = {};
    class Go {
      importObject = {};
      exited = false;
      argv = ['', '', ''];
      exit() {}
      async run() {
        const ends = () => {
          this.exited = true;
          this.exit();
          return dies();
        };
        scope[this.argv[2]]({ waits: () => new Promise(() => {}), ends, answers: async () => 1 });
        return new Promise(() => {}); // as where a function of wasm/exports ends the program
      }
    }
    const memory = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 0, 1, 7, 7, 1, 3, 109, 101, 109, 2, 0]); // (module (memory (export "mem") 1))
    const { methods } = await startProgram({ engine: await WebAssembly.compile(memory), kernels: null }, /** @type {any} */ ({ Go, scope }), 'storage', 'x');
    const { waits, ends, answers } = /** @type {any} */ (methods);
    assert.equal(await answers(), 1);
    const stopped = { code: 'internal', message: /has stopped: reload the page/ };
    await Promise.all([waits(), ends(), answers()].map((call) => assert.rejects(call, stopped)));
    await assert.rejects(waits(), stopped);
  });

test('without the classes that a person excluded the others keep their ratios and sum to one, and all is none if nothing is left', () => {
  assert.deepEqual(without([0.25, 0.5, 0.25], []), [0.25, 0.5, 0.25]);
  assert.deepEqual(without([0.25, 0.5, 0.25], [0]), [0.5, 0, 0.5]);
  assert.deepEqual(without([0.25, 0.5, 0.25], [0, 1]), [1, 0, 0]);
  assert.deepEqual(without([0, 1, 0], [0]), [1, 0, 0]);
});
