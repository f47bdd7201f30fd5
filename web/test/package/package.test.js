// @ts-check
/** The package under Node.js: what importing does, where the engine is, types, sizes, and what goes out to others. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { createClassifier, DIMENSION, installed, openClassifier, prior, refusal, taught } from './installed.js';
import { project, root, run, vector } from './project.js';

test('importing does nothing, and nothing global stays', () => {
  const { folder } = project({
    'server.mjs': `
      const before = new Set(Object.getOwnPropertyNames(globalThis));
      const calls = [];
      globalThis.fetch = (...args) => { calls.push(String(args[0])); throw new Error('no network'); };
      for (const name of ['compile', 'instantiate']) { const f = WebAssembly[name]; WebAssembly[name] = (...args) => { calls.push(name); return f(...args); }; }
      const { createClassifier } = await import('metaqda');
      await import('metaqda/knn-classifier');
      await import('metaqda/worker');
      await import('metaqda/extractors/efficientnet-lite0');
      await import('metaqda/extractors');
      await import('metaqda/storage');
      const atImport = [...calls];
      const c = await createClassifier();
      c.addExampleSync([1, 2], 'a');
      const { label } = c.predictSync([1, 2]);
      c.dispose();
      console.log(JSON.stringify({ atImport, label, global: Object.getOwnPropertyNames(globalThis).filter((n) => !before.has(n)), fetched: calls.filter((n) => n.includes('/')) }));
    `,
  });
  assert.deepEqual(run(folder, 'server.mjs'), { atImport: [], label: 'a', global: [], fetched: [] });
});

test('the engine is where init says: a URL, an answer, bytes or a module', () => {
  const { folder } = project({
    'init.mjs': `
      import { readFile } from 'node:fs/promises';
      import { createClassifier, init } from 'metaqda';
      const url = import.meta.resolve('metaqda/metaqda.wasm');
      const bytes = await readFile(new URL(url));
      const answers = [];
      for (const wasm of [url, new URL(url), bytes, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), await WebAssembly.compile(bytes), new Response(bytes, { headers: { 'content-type': 'application/wasm' } })]) {
        await init({ wasm });
        const c = await createClassifier();
        c.addExampleSync([1, 2], 'a');
        answers.push(c.predictSync([1, 2]).none);
        c.dispose();
      }
      await init({ wasm: new Uint8Array(8) }).catch(() => {});
      (await createClassifier()).dispose(); // by the engine of the Response, which cannot be read again
      await init({ wasm: url, simd: false });
      const c = await createClassifier();
      c.addExampleSync([1, 2], 'a');
      answers.push(c.predictSync([1, 2]).none);
      const codes = [];
      for (const wasm of [new Uint8Array(8), new URL('missing.wasm', url), 'nope']) codes.push(await init({ wasm }).then(() => '', (error) => error.code));
      const said = [await init({ wasm: new Response('<!doctype html>', { headers: { 'content-type': 'text/html; charset=utf-8' } }) }).catch((error) => error.message)];
      const { compile } = WebAssembly; // as Chromium refuses it
      WebAssembly.compile = () => Promise.reject(new WebAssembly.CompileError("WebAssembly.compile(): Compiling or instantiating WebAssembly module violates the following Content Security policy directive"));
      said.push(await init({ wasm: bytes }).catch((error) => error.message));
      WebAssembly.compile = compile;
      for (const options of [{}, { wams: url }]) codes.push(await init(options).then(() => '', (error) => error.code)); // what failed is not tried again
      console.log(JSON.stringify({ same: answers.every((a) => Math.abs(a - answers[0]) < 1e-12), n: answers.length, codes, said }));
    `,
  });
  const { said, ...rest } = run(folder, 'init.mjs');
  assert.deepEqual(rest, { same: true, n: 7, codes: ['wasm', 'fetch', 'argument', '', 'argument'] });
  assert.match(said[0], /with a page in place of the engine/);
  assert.match(said[1], /allow 'wasm-unsafe-eval'/);
});

test('the type of codes has those of the README', () => {
  const readme = readFileSync(path.join(root, 'web/library/README.md'), 'utf8');
  const [, errors] = readme.split('\n## Errors\n');
  const rows = [...errors.split('\n## ')[0].matchAll(/^\| (`[^|]*) \|/gm)].map(([, codes]) => codes);
  const listed = `${rows} ${errors.match(/Its codes: .*/)}`.matchAll(/`([a-z-]+)`/g);
  const type = readFileSync(path.join(root, 'web/base/remote.js'), 'utf8').match(/@typedef \{([^}]*)\} ErrorCode/)?.[1] ?? '';
  assert.deepEqual([...type.matchAll(/'([a-z-]+)'/g)].map(([, code]) => code).sort(), [...listed].map(([, code]) => code).sort());
});

for (const [where, own] of Object.entries({
  browsers: { lib: ['es2023', 'dom'], types: [] },
  'Node.js, without lib dom': { lib: ['es2023'], types: ['node'], typeRoots: [path.join(root, 'web/node_modules/@types')] },
}))
  test(`the types hold in a strict project for ${where}`, () => {
    const { folder } = project({
      'tsconfig.json': JSON.stringify({
        compilerOptions: { strict: true, noEmit: true, target: 'es2022', module: 'nodenext', skipLibCheck: false, exactOptionalPropertyTypes: true, ...own },
        include: ['*.ts'],
      }),
      'use.ts': `
      import { createClassifier, openClassifier, init, MetaqdaError, type Classifier, type ErrorCode, type Options, type Prediction } from 'metaqda';
      import { create, type Rows } from 'metaqda/knn-classifier';
      import { ClassifierWorker } from 'metaqda/worker';
      import 'metaqda/element';
      import { loadExtractor, prior } from 'metaqda/extractors/efficientnet-lite0';
      import { openStorage, type SessionInfo } from 'metaqda/storage';
      const options: Options<string> = { extractor: (s) => [s.length, 1], nonePrior: 0.1 };
      const c: Classifier<string> = await createClassifier(options);
      const id: string = await c.addExample('word', 'label', { group: 'g' });
      const p: Prediction = c.predictSync(new Float32Array(2));
      const share: number | undefined = p.probabilities['label'];
      // @ts-expect-error: a number is no input of this classifier
      await c.predict(7);
      // @ts-expect-error: labels are strings
      await c.addExample('word', 7);
      await init({ wasm: new URL('https://example.com/metaqda.wasm') });
      const again = await openClassifier<string>(c.save(), { extractor: (s) => [s.length] });
      const net = await loadExtractor({ onProgress: ({ loaded }) => loaded });
      const pictures = await createClassifier({ extractor: net, prior: prior() });
      await pictures.addExample(new Blob(), 'x');
      const rows: Rows | undefined = create().getClassifierDataset()['x'];
      const remote = await new ClassifierWorker().createClassifier({ nonePrior: 0.1 });
      const left = await remote.leaveOneOut();
      const next: number[] = await remote.suggest([[1, 2]], { count: 1, onProgress: ({ done, total }) => done / total });
      const storage = await openStorage({ name: 'mine' });
      const sessions: SessionInfo[] = await storage.sessions();
      const element = document.querySelector('metaqda-classifier');
      element?.addEventListener('answer', ({ detail }) => detail.probabilities['label']);
      element?.addEventListener('example', ({ detail: { label, ids } }) => [label.trim(), ids.length]);
      element?.addEventListener('failed', ({ detail }) => detail.message);
      element?.addEventListener('click', (event) => event.clientX);
      const answered = ({ detail }: CustomEvent<Prediction>) => detail.headline;
      element?.addEventListener('answer', answered);
      element?.removeEventListener('answer', answered);
      element?.addEventListener('ready', ({ detail }) => { const nothing: null = detail; });
      const code: ErrorCode = new MetaqdaError('label', 'Taken.').code;
      // @ts-expect-error: no error has this code
      if (code === 'labels') throw new Error();
      const handedOn = async (signal?: AbortSignal, some?: number, text?: string) => { // an option may be undefined
        await c.predictSet('word', { coverage: some, signal });
        await c.addExample('word', 'label', { group: text, signal });
        await c.suggest(['word'], { count: some, onProgress: undefined, signal });
        c.configure({ nonePrior: some });
        c.watch({ falseEventsPerHour: some });
        await new ClassifierWorker({ worker: undefined }).createClassifier({ nonePrior: some, name: text, prior: text });
        await openStorage({ name: text });
      };
      export { id, share, again, rows, left, code, handedOn, next, sessions };
    `,
    });
    try {
      execFileSync(process.execPath, [path.join(root, 'web/node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8', stdio: 'pipe' });
    } catch (error) {
      assert.fail(/** @type {any} */ (error).stdout);
    }
  });

test('what is exported answers in the few lines of the README, under every kind of settings', async () => {
  const readme = readFileSync(path.join(root, 'web/share/README.md'), 'utf8');
  const { load, predict } = new Function(`${/```js\n([\s\S]*?)```/.exec(readme)?.[1]}; return { load, predict };`)();
  for (const options of [{}, { prior }, { nonePrior: 0 }]) {
    const { c } = await taught(['cup', '__proto__', 'ü "pen"'], options, DIMENSION);
    c.addClass('empty');
    const plain = await load(c.export().buffer);
    assert.deepEqual(plain.classes, ['cup', '__proto__', 'ü "pen"']);
    for (const x of [vector(0, 7, DIMENSION), vector(1, 8, DIMENSION), vector(9, 0, DIMENSION)]) {
      const got = predict(plain, x);
      const want = c.predictSync(x);
      assert.ok(Math.abs(got.none - want.none) < 1e-9, `none ${got.none}, want ${want.none}`);
      for (const label of plain.classes)
        assert.ok(
          Math.abs(got.probabilities[label] - want.probabilities[label]) < 1e-9,
          `${label} ${got.probabilities[label]}, want ${want.probabilities[label]}`,
        );
    }
    c.dispose();
  }
  const nothing = await createClassifier();
  assert.throws(() => nothing.export(), refusal('empty'));
  nothing.dispose();
});

test('one file answers with the engine inside, and asks for nothing', () => {
  const { folder } = project({
    'alone.mjs': `
      globalThis.fetch = () => { throw new Error('no network'); };
      const { createClassifier } = await import('./only/inline.js');
      const c = await createClassifier();
      const x = [[1, 0, 0.1], [0, 1, 0.1], [0.9, 0.2, 0]];
      c.addExampleSync(x[0], 'a');
      c.addExampleSync(x[1], 'b');
      console.log(JSON.stringify(c.predictSync(x[2])));
    `,
    'package.mjs': `
      const { createClassifier } = await import('metaqda');
      const c = await createClassifier();
      c.addExampleSync([1, 0, 0.1], 'a');
      c.addExampleSync([0, 1, 0.1], 'b');
      console.log(JSON.stringify(c.predictSync([0.9, 0.2, 0])));
    `,
  });
  mkdirSync(path.join(folder, 'only'));
  copyFileSync(path.join(folder, 'node_modules/metaqda/inline.js'), path.join(folder, 'only/inline.js'));
  assert.deepEqual(run(folder, 'alone.mjs'), run(folder, 'package.mjs'));
  const { size } = statSync(path.join(folder, 'only/inline.js'));
  assert.ok(size <= 1.86e6, `${size} bytes`);
});

test('where the package lives is said, or still to be filled in', (t) => {
  const of = (/** @type {string} */ file) => JSON.parse(readFileSync(file, 'utf8'));
  const source = of(path.join(root, 'web/package.json'));
  const packed = of(path.join(installed.package, 'package.json'));
  const empty = ['repository', 'homepage', 'bugs'].filter((field) => !source[field]);
  if (empty.length > 0) t.diagnostic(`fill in before a release, in web/package.json: ${empty.join(', ')}`);
  for (const field of ['repository', 'homepage', 'bugs']) assert.deepEqual(packed[field], source[field] || undefined, field);
});

test('the engine keeps to its size', () => {
  const engine = readFileSync(path.join(installed.package, 'metaqda.wasm'));
  const small = brotliCompressSync(engine, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: engine.length } }).length;
  console.log(`engine: ${engine.length} bytes, ${small} under brotli`);
  assert.ok(engine.length <= 5.26e6 && small <= 0.985e6);
});

test('a function with a manifest is an extractor of its own identity', async () => {
  const { functionExtractor } = await import(pathToFileURL(path.join(installed.package, 'function.js')).href);
  const manifest = {
    format: 'metaqda-extractor-1',
    id: 'letters@1',
    runtime: 'function',
    takes: 'file',
    dimension: 26,
    licence: 'Apache-2.0',
    files: [{ name: 'letters.mjs', bytes: 3, sha256: '0'.repeat(64) }],
  };
  const count = (/** @type {string} */ text) => Float32Array.from({ length: 26 }, (_, i) => text.split(String.fromCharCode(97 + i)).length - 0.9);
  const extractor = await functionExtractor(manifest, { 'letters.mjs': Uint8Array.from([1, 2, 3]) }, count);
  assert.match(extractor.sha256, /^[0-9a-f]{64}$/);
  const c = await createClassifier({ extractor });
  for (const [text, label] of [
    ['banana', 'fruit'],
    ['hello', 'greeting'],
  ])
    await c.addExample(text, label);
  assert.equal((await c.predict('bananas')).label, 'fruit');
  await assert.rejects(openClassifier(c.save(), { extractor: { ...extractor, id: 'letters@2' } }), refusal('extractor'));
  const wrong = await functionExtractor({ ...manifest, sha256: '0'.repeat(64) }, null, () => [1, 2]);
  await assert.rejects(
    wrong.embed('x'),
    (/** @type {any} */ error) => error.code === 'bad-embedding' && /answered a vector of length 2, and the manifest says 26/.test(error.message),
  );
  await assert.rejects(functionExtractor({ ...manifest, runtime: 'onnx' }, null, count), (/** @type {any} */ error) => error.field === 'takes');
  await assert.rejects(functionExtractor(manifest, { 'leters.mjs': Uint8Array.of(1) }, count), { code: 'extractor-files', message: /“letters.mjs”/ });
  const gaps = await functionExtractor(manifest, { 'letters.mjs': Uint8Array.of(1) }, () => Array(26).fill(null));
  await assert.rejects(gaps.embed('x'), { code: 'bad-embedding', message: /not finite/ });
});
