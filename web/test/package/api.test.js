// @ts-check
/** The package under Node.js: a classifier. What it computes is shown in Go; here, that each call hands it over. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createClassifier, DIMENSION, metaqda, installed, openClassifier, prior, refusal, taught } from './installed.js';
import { vector } from './project.js';

const { Classifier } = metaqda;

/** @type {Promise<typeof import('../../library/storage.js')>} */
const storages = import(pathToFileURL(path.join(installed.package, 'storage.js')).href);

test('what needs a browser says so in Node.js, and what serves in its place', async () => {
  const { ClassifierWorker } = await import(pathToFileURL(path.join(installed.package, 'worker.js')).href);
  assert.throws(() => new ClassifierWorker(), refusal('unsupported'));
  for (const name of ['efficientnet-lite0', 'sounds', 'hands']) {
    const { loadExtractor } = await import(pathToFileURL(path.join(installed.package, `${name}.js`)).href);
    await assert.rejects(loadExtractor(), refusal('unsupported'), name);
    await assert.rejects(loadExtractor({ onprogress() {} }), refusal('argument'), name);
  }
  const { Batch, openStorage } = await storages;
  const s = await openStorage();
  await Promise.all([s.classifier.addExample([1, 2], 'a'), s.classifier.addExample([3, -2], 'b')]);
  assert.deepEqual(
    (
      await s.classifier.classify([
        [1, 2],
        [3, -2],
      ])
    ).map(({ label }) => label),
    ['a', 'b'],
  );
  assert.equal(
    (
      await s.classifier.suggest(
        [
          [1, 2],
          [3, -2],
        ],
        { count: 1 },
      )
    ).length,
    1,
  );
  await assert.rejects(new Batch(s).classify([new Float32Array(2)]), refusal('unsupported'));
});

test('ids, labels and counts are those of what was added', async () => {
  const { c, ids } = await taught(['cup', 'pen']);
  assert.deepEqual(c.labels, ['cup', 'pen']);
  assert.deepEqual({ ...c.counts }, { cup: 3, pen: 3 });
  assert.deepEqual(c.examples('pen'), ids[1]);
  assert.equal(new Set(ids.flat()).size, 6);
  c.addClass('empty');
  c.renameClass('cup', '__proto__');
  assert.deepEqual(c.labels, ['__proto__', 'pen', 'empty']);
  assert.equal(c.predictSync(vector(0, 5)).label, '__proto__');
  assert.equal(c.predictSync(vector(0, 5)).probabilities.empty, 0);
  c.dispose();
});

test('what is removed was never there, and undo brings it back to the bit', async () => {
  const { c, ids } = await taught(['cup', 'pen', 'key']);
  const query = vector(1, 7);
  const states = [c.predictSync(query)];
  const steps = [
    () => c.removeExample(ids[1][1]),
    () => c.addExampleSync(vector(1, 4), 'pen'),
    () => c.removeClass('cup'),
    () => c.renameClass('pen', 'pencil'),
    () => c.addExampleSync(vector(3, 0), 'new', { group: 'g' }),
    () => c.addExampleSync(vector(3, 1), 'new', { group: 'g' }),
    () => c.addClass('empty'),
    () => c.removeExample(c.examples('new')[0]),
    () => c.removeExample(c.examples('new')[0]),
  ];
  for (const step of steps) {
    step();
    states.push(c.predictSync(query));
  }
  const { c: never } = await taught(['cup', 'pen', 'key']);
  never.removeExample(never.examples('pen')[1]);
  assert.deepEqual(never.predictSync(query), states[1]);
  for (const state of states.slice(0, -1).reverse()) {
    assert.ok(c.undo());
    assert.deepEqual(c.predictSync(query), state);
  }
  assert.ok(c.undo()); // the last example added
  assert.equal(c.counts.key, 2);
  c.dispose();
  never.dispose();
});

test('undo ends where there is nothing to take back', async () => {
  const c = await createClassifier();
  assert.equal(c.undo(), '');
  c.addExampleSync([1, 2], 'a');
  assert.notEqual(c.undo(), '');
  assert.equal(c.undo(), '');
  assert.deepEqual(c.labels, []);
  c.addExampleSync([1, 2, 3], 'a'); // no example is left that would settle the dimension
  assert.equal(c.dimension, 3);
  c.dispose();
});

test('frames of a group count as one example, in files too, and are left out together', async () => {
  const { c: one } = await taught(['a', 'b']);
  const { c: many } = await taught(['a', 'b']);
  for (let i = 0; i < 5; i++) many.addExampleSync(vector(2, 0), 'c', { group: 'burst' });
  one.addExampleSync(vector(2, 0), 'c');
  assert.equal(many.counts.c, 5);
  const again = await openClassifier(many.save());
  for (const c of [many, again]) assert.ok(Math.abs(one.predictSync(vector(2, 6)).probabilities.c - c.predictSync(vector(2, 6)).probabilities.c) < 1e-9);
  const all = await again.leaveOneOut();
  assert.deepEqual(
    all.map(({ id, label }) => [id, label]),
    ['a', 'b', 'c'].flatMap((label) => again.examples(label).map((id) => [id, label])),
  );
  assert.equal(
    all.filter((x) => x.label === 'c').every((x) => x.prediction?.probabilities.c === 0),
    true,
  );
  again.removeExample(all[1].id);
  assert.ok(Math.abs((all[1].prediction?.none ?? 0) - again.predictSync(vector(0, 1)).none) < 1e-9, 'it is that of a classifier that never had it');
  for (const x of [one, many, again]) x.dispose();
});

test('files come back, with a prior named and not held', async () => {
  const { c } = await taught(['a', 'b'], { prior }, DIMENSION);
  const query = vector(1, 5, DIMENSION);
  const bytes = c.save();
  const again = await openClassifier(bytes);
  assert.deepEqual(again.predictSync(query), c.predictSync(query));
  assert.deepEqual(again.save(), bytes);
  const { c: other } = await taught(['a']); // the engine stays
  c.dispose();
  (await openClassifier(bytes)).dispose();
  again.dispose();
  await assert.rejects(openClassifier(bytes), refusal('prior'));
  other.dispose();
  const third = await openClassifier(bytes, { prior });
  assert.deepEqual(third.save(), bytes);
  third.dispose();
  await assert.rejects(openClassifier(new Uint8Array([1, 2, 3])), refusal('format'));
});

test('merged classifiers are one that was taught both, and leave both as they were', async () => {
  const { c: a } = await taught(['a', 'b']);
  const { c: whole } = await taught(['a', 'b']);
  const b = await createClassifier();
  for (const x of [b, whole])
    for (const [k, i, label] of /** @type {[number, number, string][]} */ ([
      [1, 3, 'b'],
      [2, 0, 'c'],
    ]))
      x.addExampleSync(vector(k, i), label);
  const both = a.merge(b);
  assert.deepEqual(a.labels, ['a', 'b']);
  for (const x of [a, b]) x.dispose();
  assert.deepEqual(both.predictSync(vector(2, 4)), whole.predictSync(vector(2, 4)));
  for (const x of [both, whole]) x.dispose();
  const later = await createClassifier(); // the engine ended with the last of the others
  assert.throws(() => later.merge(a), refusal('disposed'));
  assert.throws(() => a.merge(later), refusal('disposed'));
  later.dispose();
});

test('columns of a table are standardised where that is asked for, in files too', async () => {
  const c = await createClassifier({ scale: 'standardise' }),
    plain = await createClassifier();
  for (const [label, row] of /** @type {[string, number[]][]} */ ([
    ['low', [1, 1000]],
    ['low', [1.2, 1100]],
    ['high', [3, 1050]],
    ['high', [3.2, 980]],
  ]))
    for (const x of [c, plain]) await x.addExample(row, label);
  const again = await openClassifier(c.save());
  assert.deepEqual(again.settings, { nonePrior: 0.2, scale: 'standardise' });
  const [sure, same, asItIs] = [c, again, plain].map((x) => x.predictSync([3.1, 1020]).probabilities.high);
  assert.equal(same, sure);
  assert.ok(sure > asItIs + 0.1, `${sure} standardised, ${asItIs} as it is`);
  await assert.rejects(createClassifier(/** @type {any} */ ({ scale: 'whiten' })), refusal('argument'));
  await assert.rejects(createClassifier({ scale: 'standardise', prior }), refusal('value'));
  for (const x of [c, again, plain]) x.dispose();
});

test('settings change what is answered, and are in the file', async () => {
  const { c } = await taught(['a', 'b']);
  c.configure({ nonePrior: 0 });
  assert.equal(c.predictSync(vector(30, 0)).none, 0);
  c.configure({ nonePrior: 0.5 });
  const again = await openClassifier(c.save());
  assert.deepEqual(again.settings, { nonePrior: 0.5 });
  assert.throws(() => c.configure({ nonePrior: 1 }), refusal('value'));
  for (const x of [c, again]) x.dispose();
  const named = await createClassifier({ name: 'Kitchen' });
  assert.match(new TextDecoder().decode(named.save()), /"name":"Kitchen"/);
  named.dispose();
});

/** A tensor by its looks. @param {number} n @param {number[]} shape */
const tensor = (n, shape) => ({ shape, dataSync: () => new Float32Array(n).fill(1) });

/** A vector whose buffer was made smaller. */
function shrunk() {
  const buffer = new /** @type {any} */ (ArrayBuffer)(256, { maxByteLength: 512 });
  const x = new Float32Array(buffer, 0, 64).fill(1);
  buffer.resize(8);
  return x;
}

/** A vector, or other bytes, whose buffer is another thread's. @param {Float32Array | Uint8Array} [x] */
function transferred(x = vector(0, 0, 64)) {
  structuredClone(x.buffer, { transfer: [x.buffer] });
  return x;
}

test('what is of a wrong kind is refused by every call', async () => {
  const { c } = await taught(['a', 'b'], {}, 64);
  const { openStorage } = await storages;
  const s = await openStorage();
  for (let i = 0; i < 2; i++) await s.classifier.addExample(vector(i, 0, 64), ['a', 'b'][i]);
  const x = vector(0, 1, 64);
  /** By what is wrong: the code, the call and its arguments. @type {Record<string, any[][]>} */
  const cases = {
    entries: [null, undefined, true, '7', [3], 1n, {}].flatMap((wrong) =>
      [0, 5].map((at) => ['value', 'predict', Array.from(x, (v, i) => (i === at ? wrong : v))]),
    ),
    counts: [Infinity, NaN, -1, 1.5, '3', null, {}, Object.create(null), Symbol('3')].map((count) => ['argument', 'nearest', x, count]),
    vectors: [
      ['argument', 'predict', transferred()],
      ['argument', 'predictInto', [], transferred()],
      ['argument', 'addExample', transferred(), 'a'],
      ['argument', 'addExamples', [x, transferred()], ['a', 'b']],
      ['argument', 'classify', [x, transferred()]],
      ['argument', 'nearest', transferred()],
      ['argument', 'addExamples', transferred(), ['a', 'b']],
      ['argument', 'predict', shrunk()],
      ['argument', 'classify', [x, shrunk()]],
      ['value', 'predict', new BigInt64Array(64)],
      ['argument', 'predict', tensor(64, [2, 32])],
      ['argument', 'predict', tensor(64, [3])],
      ...[Promise.resolve(x), null, '64', { length: 64 }].map((answer) => ['argument', 'predict', { shape: [64], dataSync: () => answer }]),
      ['argument', 'addExamples', tensor(128, [2, 64]), ['a', 'b']],
    ],
    lists: [
      ['argument', 'addExamples', [x, x], 'ab'],
      ['argument', 'addExamples', 5, ['a']],
      ['argument', 'addExamples', [x], [7]],
      ['argument', 'addExamples', [x], new Int32Array([7])],
      ['argument', 'classify', x],
      ['argument', 'predictMany', 'ab'],
      ['argument', 'suggest', null],
    ],
    options: [null, 5, [], 'x', { signl: 1 }, { signal: 'x' }].flatMap((options) => [
      ['argument', 'predict', x, options],
      ['argument', 'predictMany', [x], options],
      ['argument', 'addExample', x, 'a', options],
      ['argument', 'embed', x, options],
      ['argument', 'classify', [x], options],
      ['argument', 'suggest', [x], options],
    ]),
    'others of them': [
      ['argument', 'classify', [x], { onProgress: 1 }],
      ['argument', 'classify', [x], { onprogress() {} }],
      ['argument', 'suggest', [x], { count: 1.5 }],
      ['argument', 'addExample', x, 'a', { group: 7 }],
      ['argument', 'addExample', x, 'a', { thumbnail: transferred(new Uint8Array(4)) }],
    ],
    settings: [
      ['argument', 'configure', null],
      ['argument', 'configure', { nonePrior: '0.2' }],
      ['value', 'configure', { nonePrior: 1 }],
      ['argument', 'configure', { nonePrior: NaN }],
    ],
    into: [[], new Float64Array(1), new Uint8Array(2), null, Object.freeze([0, 0])].map((dst) => ['argument', 'predictInto', dst, x]),
  };
  for (const [what, all] of Object.entries(cases)) {
    for (const [code, call, ...args] of all) {
      for (const one of /** @type {any[]} */ ([c, s.classifier]))
        await assert.rejects(
          async () => one[call](...args),
          refusal(code),
          `${what}: ${call} ${JSON.stringify(args.slice(call === 'predict' ? 1 : 0), (_, v) => (typeof v === 'bigint' ? `${v}n` : v))?.slice(0, 200)}`,
        );
    }
  }
  for (const ask of [s.frame, s.show]) await assert.rejects(ask(/** @type {any} */ ([4, null])), refusal('value'));
  const view = new DataView(new ArrayBuffer(4));
  transferred(new Uint8Array(view.buffer));
  await assert.rejects(openClassifier(view), refusal('argument'));
  for (const bytes of [new Uint8Array(4), new Float32Array(4)].map((one) => transferred(one)))
    for (const one of /** @type {any[]} */ ([bytes, bytes.buffer]))
      for (const read of [s.importSession, s.importPrior]) await assert.rejects(read(one), refusal('argument'));
  const buffer = new /** @type {any} */ (ArrayBuffer)(24, { maxByteLength: 48 });
  const bytes = new Uint8Array(buffer, 20, 4);
  buffer.resize(16);
  await assert.rejects(s.importSession(bytes), refusal('argument'));
  for (const perHour of [0, -1, NaN, Object.create(null), Symbol('1')])
    await assert.rejects(s.frame(x, /** @type {any} */ (perHour)), refusal('argument'), typeof perHour);
  for (const change of [undefined, null, {}, 'undo']) await assert.rejects(s.stored(/** @type {any} */ (change)), refusal('argument'), `${change}`);
  assert.throws(() => s.taught.watch(), refusal('argument'));
  assert.throws(() => s.taught.watch(), /frame of the storage/);
  for (const [label, message] of /** @type {[any, string][]} */ ([
    [7, "The label is 7: it must be a string, such as '7'."],
    [undefined, 'The label is undefined: it must be a string.'],
    [{}, 'The label is an object: it must be a string.'],
  ])) {
    assert.throws(() => c.addExampleSync(x, label), { message });
    if (label === 7) await assert.rejects(c.addExamples([x], [label]), { message });
  }
  // @ts-expect-error what is only like an array is no vector
  assert.throws(() => c.predictSync({ length: 0 }), refusal('argument'));
  assert.throws(() => c.predictSync(/** @type {any} */ (new Blob())), {
    code: 'argument',
    message: /^There is an object in place of the vector: .* the result of the method embed/,
  });
  assert.equal((await s.frame(tensor(64, [1, 64]))).answer?.label, (await s.classifier.predict(tensor(64, [64]))).label);
  // @ts-expect-error a text is no object of options
  await assert.rejects(s.sharedSession('pictures'), refusal('argument'));
  for (const one of [c, s.classifier]) assert.deepEqual([...(await one.labels), (await one.settings).nonePrior], ['a', 'b', 0.2]);
  assert.equal((await c.predict(tensor(64, [1, 64]))).label, c.predictSync(new Float32Array(64).fill(1)).label);
  const made = /** @type {(options: any) => Promise<any>} */ (createClassifier);
  for (const options of [
    null,
    5,
    [],
    { nonePrior: '0.2' },
    { extractor: 5 },
    { extractor: {} },
    { prior: 7 },
    { name: 7 },
    ...[{ id: 7 }, { id: 'a', sha256: null }].map((of) => ({ extractor: { ...of, embed: () => [1] } })),
  ])
    await assert.rejects(made(options), refusal('argument'), JSON.stringify(options));
  for (const file of [undefined, null, {}, '/a/path']) await assert.rejects(openClassifier(/** @type {any} */ (file)), refusal('argument'), `${file}`);
  for (const options of [{ wams: 1 }, { simd: 1 }, { name: 7 }, { worker: {} }, null])
    await assert.rejects(openStorage(/** @type {any} */ (options)), refusal('argument'), JSON.stringify(options));
  assert.deepEqual((await openClassifier(new Blob([c.save()]))).labels, ['a', 'b']);
  const sent = c.save();
  structuredClone(sent, { transfer: [sent.buffer] });
  for (const gone of [sent, sent.buffer]) await assert.rejects(openClassifier(gone), refusal('argument'));
  const read = new Response(c.save());
  assert.deepEqual((await openClassifier(read)).labels, ['a', 'b']);
  for (const answer of [read, new Response(c.save(), { status: 404 })]) await assert.rejects(openClassifier(answer), refusal('fetch'));
  c.dispose();
});

test('changes of a storage that are asked for at once are all made, in their order', async () => {
  const { openStorage } = await storages;
  const { classifier: c } = await openStorage();
  const ids = await Promise.all([
    ...Array.from({ length: 30 }, (_, i) => c.addExample([1, i], `new ${i % 3}`)),
    c.addExamples(
      [
        [1, 2],
        [2, 1],
      ],
      ['x', 'y'],
    ),
    c.addExamples(
      [
        [1, 2],
        [2, 1],
      ],
      ['y', 'z'],
    ),
  ]);
  assert.equal(new Set(ids.flat()).size, 34);
  assert.deepEqual({ ...(await c.counts) }, { 'new 0': 10, 'new 1': 10, 'new 2': 10, x: 1, y: 2, z: 1 });
  const [bad] = await Promise.allSettled([
    c.addExamples(
      [
        [1, 2],
        [1, 2, 3],
      ],
      ['x', 'more'],
    ),
    c.addExample([1, 2], 'x'),
  ]);
  assert.equal(bad.status, 'rejected');
  await Promise.all([c.renameClass('x', 'first'), c.renameClass('first', 'second'), c.addExample([1, 2], 'gone'), c.undo(), c.mergeClasses('second', 'z')]);
  assert.deepEqual({ ...(await c.counts) }, { 'new 0': 10, 'new 1': 10, 'new 2': 10, y: 2, z: 3 });
  const into = new Float64Array(6);
  const [none] = await Promise.all([c.predictInto(into, [1, 2]), c.addExample([3, 1], 'later'), c.renameClass('y', 'renamed')]);
  assert.ok(Math.abs(into.reduce((sum, p) => sum + p, none) - 1) < 1e-9, `${none}, ${into}`);
});

test('what was changed before a change failed is stored, and is no step of the next one', async () => {
  const { openStorage } = await storages;
  const s = await openStorage();
  await s.classifier.addExample([1, 2], 'a');
  const failing = s.stored((all) => {
    all.addExampleSync([2, 1], 'b');
    throw new Error('enough');
  });
  await assert.rejects(failing, /enough/);
  assert.deepEqual(await s.stored((all) => all.counts.b), { result: 1, undo: '' });
});

test('many examples that are stored at once are a step with an id', async () => {
  const { openStorage } = await storages;
  const s = await openStorage();
  const rows = Array.from({ length: 600 }, (_, i) => [i, 1]);
  const { undo } = await s.stored((all) =>
    all.addExamplesSync(
      rows,
      rows.map(() => 'a'),
    ),
  );
  await s.classifier.addExample([1, 2], 'b');
  await s.classifier.undo(undo);
  assert.deepEqual({ ...(await s.classifier.counts) }, { b: 1 });
});

test('a storage frees its copy where the one to merge with cannot be copied', async (t) => {
  const { openStorage } = await storages;
  const [one, other] = await Promise.all([openStorage(), openStorage()]);
  const { mock } = t.mock.method(Classifier.prototype, 'dispose');
  other.sharedSession = () => Promise.reject(new Error('no copy'));
  await assert.rejects(one.classifier.merge(other.classifier), /no copy/);
  assert.equal(mock.callCount(), 1);
});

test('an abort ends a call whose extractor never answers', async () => {
  const c = await createClassifier({ extractor: () => new Promise(() => {}) });
  for (const ask of [
    (/** @type {any} */ o) => c.predict('x', o),
    (/** @type {any} */ o) => c.addExample('x', 'a', o),
    (/** @type {any} */ o) => c.classify(['x'], o),
  ]) {
    const controller = new AbortController();
    const asked = ask({ signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')));
    await assert.rejects(asked, /^Error: enough$/);
  }
  c.dispose();
});

test('an aborted call does nothing', async () => {
  const { c } = await taught(['a', 'b']);
  const x = vector(0, 1);
  const options = { signal: AbortSignal.abort(new Error('enough')) };
  for (const call of [
    () => c.embed(x, options),
    () => c.addExample(x, 'a', options),
    () => c.addExamples([x], ['a'], options),
    () => c.addExamples([], [], options),
    () => c.predict(x, options),
    () => c.predictSet(x, options),
    () => c.predictMany([], options),
    () => c.classify([], options),
    () => c.suggest([], options),
    () => c.leaveOneOut(options),
    () => c.influence(options),
    () => c.needs(options),
  ])
    await assert.rejects(call, /enough/, `${call}`);
  assert.deepEqual({ ...c.counts }, { a: 3, b: 3 });
  c.dispose();
});

test('a vector is read at the call, so that one array serves for all frames', async () => {
  const { c } = await taught(['a', 'b']);
  const x = vector(0, 7);
  const asked = [c.predict(x), c.predictSet(x), c.addExample(x, 'a')];
  x.set(vector(1, 7));
  const [alone, set, id] = /** @type {[any, any, any]} */ (await Promise.all(asked));
  assert.deepEqual([alone.label, set.prediction.label, (await c.predict(x)).label], ['a', 'a', 'b']);
  assert.deepEqual([c.nearest(vector(0, 7), 1)[0].id, c.nearest(vector(0, 7), 2 ** 32 + 1).length], [id, 7]);
  c.dispose();
});

test('an option that there is not is refused by its name', async () => {
  const { c } = await taught(['a', 'b']);
  const names = (/** @type {RegExp} */ sentence) => (/** @type {any} */ error) => error.code === 'argument' && sentence.test(error.message);
  const options = (/** @type {object} */ x) => /** @type {any} */ (x);
  await assert.rejects(openClassifier(c.save(), options({ pooled: true })), names(/There is no option 'pooled'/));
  await assert.rejects(createClassifier(options({ nonprior: 0 })), names(/no option 'nonprior': choose among .*nonePrior/));
  assert.throws(() => c.configure(options({ prior: 'x' })), names(/no option 'prior'/));
  assert.throws(() => c.configure(options({ nonePrior: 0, pooled: false })), names(/'pooled'/));
  assert.deepEqual(c.settings, { nonePrior: 0.2 });
  c.dispose();
});

test('an extractor reads what is no vector', async () => {
  const c = await createClassifier({
    extractor: async (/** @type {string} */ s) => Array.from({ length: 26 }, (_, i) => s.split(String.fromCharCode(97 + i)).length - 1),
  });
  for (const word of ['banana', 'bandana', 'ananas']) await c.addExample(word, 'fruit');
  for (const word of ['hub', 'bug', 'tub']) await c.addExample(word, 'thing');
  assert.equal((await c.predict('nanna')).label, 'fruit');
  const points = await createClassifier({ extractor: (/** @type {{x: number, y: number}[]} */ all) => all.flatMap(({ x, y }) => [x, y]) });
  await points.addExample([{ x: 1, y: 2 }], 'a'); // an array, but not of numbers
  assert.equal(points.dimension, 2);
  points.dispose();
  const named = await createClassifier({ extractor: { id: 'letters', embed: () => [1, 2] } });
  await named.addExample('x', 'a');
  await assert.rejects(openClassifier(named.save(), { extractor: { id: 'others', embed: () => [1, 2] } }), refusal('extractor'));
  const broken = await createClassifier({ extractor: () => /** @type {any} */ ('no vector') });
  await assert.rejects(broken.addExample('x', 'a'), refusal('extractor'));
  for (const x of [c, named, broken]) x.dispose();
});

test('what cannot be is refused with a code', async () => {
  const { c } = await taught(['a', 'b']);
  const before = c.predictSync(vector(0, 1));
  assert.throws(() => c.addExampleSync([1, 2], 'a'), refusal('dimension'));
  assert.throws(() => c.addExampleSync(vector(0, 0).fill(NaN), 'new'), refusal('value'));
  assert.throws(() => c.addExampleSync(vector(0, 0).fill(Infinity), 'a'), refusal('value'));
  for (const large of [[0, 1e39], new Float64Array([0, 1e39])])
    assert.throws(() => c.predictSync(large), /^MetaqdaError: Entry 1 of the vector is 1e\+39, which 32 bits/);
  const batch = /** @type {any} */ ([vector(0, 0), [1, null]]); // it names the vector of a batch, too
  for (const call of [c.addExamples(batch, ['a', 'b']), c.classify(batch), c.suggest(batch), c.predictMany(batch)])
    await assert.rejects(call, /^MetaqdaError: Entry 1 of vector 1 of the batch is null, not a number/);
  assert.throws(() => c.addExampleSync(vector(0, 0), ' '), refusal('label'));
  assert.throws(() => c.addExampleSync(vector(0, 0), /** @type {any} */ (7)), refusal('argument'));
  assert.throws(() => c.addExampleSync(/** @type {any} */ ('x'), 'a'), refusal('argument'));
  assert.throws(() => c.predictSync(new Float32Array(0)), refusal('dimension'));
  assert.throws(() => c.predictSync(vector(0, 0).fill(NaN)), refusal('value'));
  assert.throws(() => c.renameClass('a', 'b'), refusal('label'));
  assert.throws(() => c.removeClass('z'), refusal('label'));
  for (const none of ['', ' ', 'z']) assert.throws(() => c.setActions(none, 'say it'), refusal('label'));
  assert.throws(() => c.removeExample('12345'), refusal('example'));
  assert.throws(() => c.removeExample('12345'), /"12345"/);
  await assert.rejects(c.predict({}), refusal('extractor'));
  await assert.rejects(createClassifier({ prior: new Uint8Array(100) }), refusal('format'));
  // A prior that says nothing of sessions, and has no checksum.
  const bare = Buffer.from(prior.toString('latin1').replace('"session":', '"sessiom":').replace('"sha256":"', '"fact.s":"'), 'latin1');
  await assert.rejects(createClassifier({ prior: bare }), refusal('older'));
  await assert.rejects(createClassifier({ nonePrior: 2 }), refusal('value'));
  const cut = new Response(new ReadableStream({ start: (body) => body.error(new TypeError('terminated')) }));
  await assert.rejects(createClassifier({ prior: cut }), refusal('fetch'));
  await assert.rejects(createClassifier({ prior: pathToFileURL(path.join(installed.folder, 'missing')) }), refusal('fetch'));
  const empty = await createClassifier();
  assert.throws(() => empty.predictSync([1]), refusal('empty'));
  assert.throws(() => empty.addExampleSync([], 'a'), refusal('dimension'));
  assert.throws(() => empty.addExampleSync(new Float32Array(9000), 'a'), refusal('dimension'));
  assert.deepEqual(empty.labels, []);
  assert.deepEqual(c.labels, ['a', 'b']);
  assert.deepEqual(c.predictSync(vector(0, 1)), before);
  c.dispose();
  c.dispose();
  assert.throws(() => c.predictSync(vector(0, 1)), refusal('disposed'));
  assert.throws(() => c.labels, refusal('disposed'));
  empty.dispose();
});

test('predictions leave nothing behind', async () => {
  const { c } = await taught(['a', 'b', 'c']);
  const dst = new Float64Array(3);
  const query = vector(1, 6);
  const p = c.predictSync(query);
  assert.equal(c.predictInto(dst, query), p.none);
  assert.deepEqual([...dst], Object.values(p.probabilities));
  const ask = (/** @type {number} */ n) => {
    for (let i = 0; i < n; i++) c.predictInto(dst, query);
  };
  ask(20_000);
  const held = () => {
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    return process.memoryUsage().heapUsed;
  };
  const before = held();
  ask(20_000);
  const more = held() - before;
  assert.ok(more < 2e5, `${more} bytes`);
  c.dispose();
});

test('calls of a storage are answered by the session that is open at their turn', async () => {
  const { openStorage } = await storages;
  const s = await openStorage();
  const { classifier: c } = s;
  const of = async () => (await s.state()).sessionId;
  const kitchen = await of();
  await c.addExamples([vector(0, 0), vector(1, 0)], ['cup', 'spoon']);
  const desk = (await s.newSession('Desk')).id;
  await c.addExamples([vector(0, 0), vector(2, 0)], ['pen', 'key']);

  const [pen, , spoon, refused, , counts, , key] = await Promise.all([
    c.predict(vector(0, 3)),
    s.openSession(kitchen),
    c.predict(vector(1, 3)),
    s.openSession('gone').catch(({ code }) => code),
    c.addExample(vector(1, 1), 'spoon'),
    c.counts,
    s.openSession(desk),
    c.predict(vector(2, 3)),
  ]);
  assert.deepEqual([pen.label, spoon.label, refused, { ...counts }, key.label, await of()], ['pen', 'spoon', 'session', { cup: 1, spoon: 2 }, 'key', desk]);
});
