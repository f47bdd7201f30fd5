// @ts-check
/** The JavaScript of README.md as it stands, and that of web/library/README.md as far as Node.js runs it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { project, root } from './project.js';

const installed = project().package;

/** The blocks of JavaScript of a document. @param {string} document */
const blocks = (document) => [...readFileSync(path.join(root, document), 'utf8').matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code);

/** Runs a program beside the package and returns the lines that it prints. @param {string} code */
const printed = (code) =>
  execFileSync(process.execPath, ['readme.js'], { cwd: project({ 'readme.js': code }).folder, encoding: 'utf8', timeout: 60_000 })
    .trim()
    .split('\n');

/** What the comments of a program say that it prints. @param {string} code */
const wantedOf = (code) => [...code.matchAll(/^console\.log\(.*\/\/ (.*)$/gm)].map(([, comment]) => comment);

test('the ten lines of the README run and print what their comments say', () => {
  const [code] = blocks('README.md');
  const wanted = wantedOf(code);
  assert.equal(wanted.length, 3);
  assert.equal(code.trim().split('\n').length, 10);
  assert.deepEqual(printed(code), wanted);
});

/** What the package's README takes for granted. */
const GIVEN = `
  const vectorOf = (k) => Float32Array.from({ length: 8 }, (_, j) => 1 + Math.sin((k + 1) * (j + 1)));
  const [vector, x, batch, thumbnail, revision] = [vectorOf(0), vectorOf(1), [2, 3, 4, 5, 6].map(vectorOf), new Uint8Array(9), 0];
  const extractor = { cells: async () => ({ embedding: vector, values: vector, views: [{ x: 0, y: 0, width: 1, height: 1, rows: 1, columns: 1 }], width: 1, height: 1 }) };
  const [picture, goodOnes] = [{}, [1, 2, 3]];
  const [onProgress, show, { signal }] = [() => {}, () => {}, new AbortController()];`;
const C =
  "import { createClassifier as create } from 'metaqda'; const c = await create(); await c.addExample([1, 2, 3, 4, 5, 6, 7, 8], 'cup'); await c.addExample([8, 1, 1, 7, 2, 1, 1, 3], 'pen'); let asked = ''; const ask = (text) => { asked = text; };";

test("the package's README runs in Node.js and prints the answers that it gives, but for what needs a browser or a bundler", () => {
  const [all, skipped] = [blocks('web/library/README.md'), /metaqda\/(extractors|worker|inline)|\.wasm'|'vue'/];
  const run = all.filter((code) => !skipped.test(code));
  assert.deepEqual([all.length, run.length], [15, 10]);
  for (const code of run) {
    const own = code.includes('const vector ');
    const before = own ? '' : `${code.includes('const c ') ? '' : C}${GIVEN}`;
    const answers = own ? [...code.matchAll(/^\/\/ (.*)$/gm)].map(([, answer]) => answer) : wantedOf(code);
    assert.ok(!own || answers.length);
    assert.deepEqual(printed(`${before}\n${code}\nconsole.log('done');`), [...answers, 'done'], code);
  }
});

test("the package's README says what onProgress gets", () => {
  const readme = readFileSync(path.join(root, 'web/library/README.md'), 'utf8');
  const code = `
    import { readFileSync } from 'node:fs';
    import { createClassifier, init } from 'metaqda';
    const keys = [], onProgress = (progress) => void keys.push(Object.keys(progress).join(', '));
    const engine = readFileSync('node_modules/metaqda/metaqda.wasm');
    await init({ wasm: new Response(engine, { headers: { 'content-type': 'application/wasm' } }), onProgress });
    const c = await createClassifier();
    await c.addExamples([[1, 2], [2, 1]], ['cup', 'pen']);
    await c.classify([[1, 2]], { onProgress });
    console.log([...new Set(keys)].join('\\n'));`;
  const kinds = printed(code);
  assert.equal(kinds.length, 2);
  for (const kind of kinds) assert.match(readme, new RegExp(`onProgress.*gets .{ ${kind} }`));
});

test('the program for file:// can be bundled as a plain script, as the README says, and predicts', () => {
  const [code] = blocks('web/library/README.md').filter((one) => one.includes('metaqda/inline'));
  const { folder } = project({ 'main.js': code });
  const [command] = /esbuild main\.js --bundle --outfile=out\.js/.exec(readFileSync(path.join(root, 'web/library/README.md'), 'utf8')) ?? [];
  execFileSync(path.join(root, 'web/node_modules/.bin/esbuild'), `${command}`.split(' ').slice(1), { cwd: folder, stdio: 'pipe' });
  writeFileSync(path.join(folder, 'page.cjs'), `document = { body: { append: console.log } };\n${readFileSync(path.join(folder, 'out.js'), 'utf8')}`);
  assert.equal(execFileSync(process.execPath, ['page.cjs'], { cwd: folder, encoding: 'utf8', timeout: 60_000 }), 'cup\n');
});

test("every code of an error is in the package's README", () => {
  const readme = readFileSync(path.join(root, 'web/library/README.md'), 'utf8');
  const named = new Set([...readme.slice(readme.indexOf('## Errors')).matchAll(/`([a-z-]+)`/g)].map(([, code]) => code));
  const found = new Set();
  for (const folder of ['web/base', 'web/engine', 'web/extractor', 'web/library', 'core', 'wasm']) {
    for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.(js|go)$/.test(name) || /_test\.go$/.test(name) || /^lab\//.test(name)) continue;
      const code = readFileSync(path.join(root, folder, name), 'utf8');
      for (const [, one] of code.matchAll(/(?:(?:Metaqda|Extractor)Error\(\s*'|Error\{Code: "|\bfail\(")([a-z-]+)['"]/g)) found.add(one);
      if (folder === 'core' && name === 'file.go') for (const [, one] of code.matchAll(/^\t+return "([a-z]+)"$/gm)) found.add(one);
      for (const [, one] of code.matchAll(/'(extractor-[a-z]+)'/g)) found.add(one);
    }
  }
  assert.ok(found.size > 30, `${[...found]}`);
  assert.deepEqual([...found].filter((one) => !named.has(one)).sort(), []);
});

test('the changelog goes along, and begins with the version of the package', () => {
  const { version } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'));
  assert.equal(/^## (.*)$/m.exec(readFileSync(path.join(installed, 'CHANGELOG.md'), 'utf8'))?.[1], version);
});
