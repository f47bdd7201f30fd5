// @ts-check
/** Calls to a worker: both halves over a worker that is only pretended. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../../extractor/load.js';
import { answer, RemoteClient } from '../../base/remote.js';

/**
 * A worker whose messages are cloned as a browser's are, and arrive later.
 *
 * @param {import('../../base/remote.js').Handlers|null} handlers null: it never answers
 * @param {{transfer?: (result: any) => Transferable[]}} [options]
 */
function pretended(handlers, { transfer } = {}) {
  /** @type {any[]} */
  const listeners = [];
  const worker = {
    /** @type {((event: any) => void)|null} */ onmessage: null,
    /** @type {((event: any) => void)|null} */ onmessageerror: null,
    /** @type {((event: any) => void)|null} */ onerror: null,
    terminated: 0,
    /** @type {any[]} messages that went to the worker */ sent: [],
    /** @param {any} message @param {Transferable[]} [list] */
    postMessage(message, list) {
      const data = structuredClone(message, { transfer: list });
      worker.sent.push(data);
      queueMicrotask(() => listeners.forEach((listener) => listener({ data })));
    },
    terminate() {
      worker.terminated++;
    },
  };
  const scope = {
    addEventListener: (/** @type {string} */ _, /** @type {unknown} */ listener) => listeners.push(listener),
    /** @param {any} message @param {Transferable[]} [list] */
    postMessage(message, list) {
      const data = structuredClone(message, { transfer: list });
      queueMicrotask(() => {
        if (!worker.terminated) worker.onmessage?.({ data });
      });
    },
  };
  const tell = handlers ? answer(handlers, { code: 'other', transfer, scope }) : () => {};
  return { worker, tell };
}

/** @param {ReturnType<typeof pretended>['worker']} worker @param {Partial<import('../../base/remote.js').ClientOptions>} [options] */
function clientOf(worker, options) {
  return new RemoteClient(/** @type {any} */ (worker), { code: 'gone', died: (why) => `It ended: ${why}.`, ...options });
}

test('each call gets its own answer, in whatever order they come', async () => {
  /** @type {((value: string) => void)[]} */
  const held = [];
  const { worker } = pretended({
    hold: () =>
      new Promise((resolve) => {
        held.push(resolve);
      }),
    double: (n) => 2 * n,
  });
  const client = clientOf(worker);
  const first = client.ask('hold');
  const second = client.ask('hold');
  assert.equal(await client.ask('double', 21), 42);
  held[1]('second');
  assert.equal(await second, 'second');
  held[0]('first');
  assert.equal(await first, 'first');
  assert.equal(new Set(worker.sent.map(({ id }) => id)).size, 3);
});

test('an error keeps its code and sentence; what has none gets the worker’s', async () => {
  const { worker } = pretended({
    known: () => {
      throw Object.assign(new Error('Choose another.'), { code: 'format' });
    },
    bare: () => {
      throw new Error('Oh.');
    },
    text: () => {
      // biome-ignore lint/style/useThrowOnlyError: what anybody may throw
      throw 'only words';
    },
  });
  const client = clientOf(worker);
  await assert.rejects(client.ask('known'), { code: 'format', message: 'Choose another.' });
  await assert.rejects(client.ask('bare'), { code: 'other', message: 'Oh.' });
  await assert.rejects(client.ask('text'), { code: 'other', message: 'only words' });
  await assert.rejects(client.ask('nothing of the kind'), { code: 'other', message: /knows no message 'nothing of the kind'/ });
  await assert.rejects(client.ask('toString'), { code: 'other', message: /knows no message/ });
  assert.equal(client.dead, null);
});

test('errors are made as the caller wants them', async () => {
  class Mine extends Error {
    /** @param {string} code @param {string} message */
    constructor(code, message) {
      super(message);
      this.code = code;
    }
  }
  const { worker } = pretended({
    fail: () => {
      throw new Error('Oh.');
    },
  });
  const client = clientOf(worker, { error: (code, message) => new Mine(code, message) });
  await assert.rejects(client.ask('fail'), Mine);
  client.close('Closed.');
  await assert.rejects(client.ask('fail'), (error) => error instanceof Mine && error.code === 'gone');
});

test('what is on a transfer list is handed over, both ways, and the rest cloned', async () => {
  /** @type {any} */
  let made;
  const { worker } = pretended({ plus: (/** @type {Float32Array} */ x) => (made = x.map((v) => v + 1)) }, { transfer: (result) => [result.buffer] });
  const client = clientOf(worker);
  const [given, kept] = [Float32Array.of(1, 2), Float32Array.of(3)];
  assert.deepEqual(await client.ask('plus', given, [given.buffer]), Float32Array.of(2, 3));
  assert.equal(given.length, 0);
  assert.equal(made.length, 0);
  assert.deepEqual(await client.ask('plus', kept), Float32Array.of(4));
  assert.equal(kept.length, 1);
});

test('what cannot be sent rejects that call alone', async () => {
  const { worker } = pretended({ echo: (x) => x });
  const client = clientOf(worker);
  await assert.rejects(
    client.ask('echo', () => {}),
    { name: 'DataCloneError' },
  );
  assert.equal(await client.ask('echo', 1), 1);
});

test('a worker that dies rejects every call, under way and later, and is ended', async () => {
  const { worker } = pretended(null);
  const client = clientOf(worker);
  const waiting = [client.ask('a'), client.ask('b')];
  let prevented = false;
  worker.onerror?.({
    message: 'out of memory',
    preventDefault: () => {
      prevented = true;
    },
  });
  for (const call of [...waiting, client.ask('c')]) await assert.rejects(call, { code: 'gone', message: 'It ended: out of memory.' });
  assert.ok(prevented && worker.terminated > 0);
  assert.equal(worker.sent.length, 2);
});

test('a worker that ends by itself, or is not loaded, has codes of its own', async () => {
  for (const [message, code] of [
    ['out of memory', 'broken'],
    ['', 'missing'],
  ]) {
    const { worker } = pretended(null);
    const client = clientOf(worker, { failed: 'broken', unloaded: 'missing' });
    const waiting = client.ask('a');
    worker.onerror?.({ message, preventDefault() {} });
    await assert.rejects(waiting, { code });
    await assert.rejects(client.ask('b'), { code });
  }
});

test('closing rejects who waits, and the first reason stays', async () => {
  const { worker } = pretended(null);
  const client = clientOf(worker);
  const waiting = client.ask('a');
  client.close('Closed.');
  client.close('Closed again.');
  worker.onerror?.({ message: '', preventDefault() {} });
  await assert.rejects(waiting, { code: 'gone', message: 'Closed.' });
  await assert.rejects(client.ask('b'), { message: 'Closed.' });
});

test('a worker that answers nothing counts as dead after the patience, one that works things off does not', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  /** @type {(() => void)[]} */
  const held = [];
  const { worker } = pretended({
    hold: () =>
      new Promise((resolve) => {
        held.push(() => resolve(true));
      }),
  });
  const client = clientOf(worker, { patience: 100 });
  const [first, second] = [client.ask('hold'), client.ask('hold')];
  second.catch(() => {});
  await settled();
  t.mock.timers.tick(90);
  held[0]();
  assert.equal(await first, true);
  t.mock.timers.tick(90); // 180 since the second was asked, 90 since the last answer
  assert.equal(client.dead, null);
  t.mock.timers.tick(10);
  await assert.rejects(second, { code: 'gone', message: 'It ended: it did not answer in time.' });
  assert.equal(worker.terminated, 1);
});

test('a worker that was frozen with its tab has its patience once more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const { worker } = pretended(null);
  const client = clientOf(worker, { patience: 100 });
  const call = client.ask('a');
  call.catch(() => {});
  now = 60_000; // when the tab goes on, the alarm comes before any answer can
  t.mock.timers.tick(100);
  assert.equal(client.dead, null);
  now += 100;
  t.mock.timers.tick(100);
  await assert.rejects(call, { code: 'gone' });
});

test('without patience a call may take for ever', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { worker } = pretended(null);
  const client = clientOf(worker);
  client.ask('a').catch(() => {});
  t.mock.timers.tick(1e9);
  assert.equal(client.dead, null);
});

test('news come without being asked for, between answers', async () => {
  /** @type {unknown[]} */
  const seen = [];
  const { worker, tell } = pretended({
    work: () => {
      tell('progress', { step: 1 });
      return 'done';
    },
  });
  const client = clientOf(worker, { onNews: (type, news) => seen.push([type, news]) });
  assert.equal(await client.ask('work'), 'done');
  assert.deepEqual(seen, [['progress', { step: 1 }]]);
});

/** Lets what is queued happen. */
async function settled() {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

test('an extractor that is closed while it moves from a dead worker to the window is closed there too', async () => {
  const { worker } = pretended({ load: () => true, embed: () => new Promise(() => {}) });
  let closed = 0;
  let moved = (/** @type {any} */ _) => {};
  const session = new Promise((resolve) => {
    moved = resolve;
  });
  const extractor = await load(
    /** @type {any} */ ({ record: { id: 'x', sha256: '', dimension: 1 }, files: async () => [], worker: () => worker, window: () => session }),
  );
  const asked = extractor.embed(null);
  worker.onerror?.({ message: 'out of memory', preventDefault() {} });
  await settled();
  extractor.close();
  moved({ embed: () => new Float32Array(1), close: () => closed++ });
  await assert.rejects(asked, { code: 'extractor-closed' });
  assert.equal(closed, 1);
});

test('what a closed extractor had not answered is refused like what comes later', async () => {
  const { worker } = pretended({ load: () => true, embed: () => new Promise(() => {}) });
  const extractor = await load(/** @type {any} */ ({ record: { id: 'x', sha256: '', dimension: 1 }, files: async () => [], worker: () => worker }));
  const asked = extractor.embed(null);
  await settled();
  extractor.close();
  await assert.rejects(asked, { code: 'extractor-closed' });
  await assert.rejects(extractor.embed(null), { code: 'extractor-closed' });
});
