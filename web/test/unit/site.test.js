// @ts-check
/** The folder that is served, put together from a small tree. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { buildSite } from '../../build/site.mjs';
import { temporaryFolder } from '../temporary.js';

const long = 'all of it stays on this device. '.repeat(100);
const SHIPPED = [
  'index.html',
  'wasm_exec.js',
  'web/app.js',
  'web/extractor/index.js',
  'web/icons/icon.png',
  'web/library/storage.js',
  'web/manifest.webmanifest',
  'web/style.css',
];
const PARTS = [
  'extractor/weights.bin',
  'metaqda-simd.wasm',
  'metaqda.wasm',
  'kinds/sounds/start.js',
  'networks/n.js',
  'prior.safetensors',
  'samples/a.svg',
  'share/page.html',
  'use/use.json',
];
const LEFT_OUT = [
  'web/package.json',
  'web/types.d.ts',
  'web/app.test.js',
  'web/test/unit/app.js',
  'web/build/helper.js',
  'web/node_modules/x/index.js',
  'web/extractor/node_modules/y/z.js',
  'web/library/index.js',
  'web/share/page/main.js',
  'web/share/use/p5/sketch.js',
  'web/share/scratch/main.js',
  'web/examples/a.js',
  'web/offline/sw.js',
];

/** @param {(tree: {root: string, out: string, put: (name: string, text: string) => void, build: () => ReturnType<typeof buildSite>}) => Promise<void>} work */
async function inTree(work) {
  const root = temporaryFolder('tree');
  const out = path.join(root, 'build/site');
  const put = (/** @type {string} */ name, /** @type {string} */ text) => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  };
  for (const name of [...SHIPPED, ...LEFT_OUT, 'LICENSE', 'THIRD_PARTY.md']) put(name, name + long);
  for (const name of PARTS) put(`build/site/${name}`, name + long);
  await work({ root, out, put, build: () => buildSite(root, out, path.join(root, 'wasm_exec.js')) });
}

test('the manifest lists every file of the site, and variants have their bytes', () =>
  inTree(async ({ root, out, build }) => {
    const { version, files } = await build();
    assert.deepEqual(
      files.map((file) => file.path),
      [...SHIPPED, ...PARTS, 'LICENSE.txt', 'THIRD_PARTY.md'].sort(),
    );
    assert.deepEqual(JSON.parse(readFileSync(path.join(out, 'manifest.json'), 'utf8')), { version, files });
    assert.equal(readFileSync(path.join(out, 'sw.js'), 'utf8'), `const VERSION = "${version}";\n${readFileSync(path.join(root, 'web/offline/sw.js'), 'utf8')}`);
    for (const { path: name, bytes, sha256 } of files) {
      const content = readFileSync(path.join(out, name));
      assert.equal(content.length, bytes);
      assert.equal(createHash('sha256').update(content).digest('hex'), sha256);
      assert.equal(existsSync(path.join(out, `${name}.br`)), !name.endsWith('.png'));
      if (name.endsWith('.png')) continue;
      assert.deepEqual(brotliDecompressSync(readFileSync(path.join(out, `${name}.br`))), content);
      assert.deepEqual(gunzipSync(readFileSync(path.join(out, `${name}.gz`))), content);
    }
  }));

test('the version changes with any file and only then, and what did not change is kept', () =>
  inTree(async ({ out, put, build }) => {
    const seen = new Set([(await build()).version]);
    const { mtimeMs } = statSync(path.join(out, 'web/style.css'));
    writeFileSync(path.join(out, 'web/style.css.br'), 'kept');
    for (const name of ['web/app.js', 'web/offline/sw.js', 'index.html', 'wasm_exec.js', 'build/site/metaqda.wasm']) {
      put(name, `changed ${name}`);
      const { version } = await build();
      assert.ok(!seen.has(version), name);
      assert.equal((await build()).version, version);
      seen.add(version);
    }
    assert.equal(statSync(path.join(out, 'web/style.css')).mtimeMs, mtimeMs);
    assert.equal(readFileSync(path.join(out, 'web/style.css.br'), 'utf8'), 'kept');
  }));

test('what the tree no longer has goes, and a part that is missing is named', () =>
  inTree(async ({ root, out, build }) => {
    await build();
    rmSync(path.join(root, 'web/app.js'));
    rmSync(path.join(out, 'samples/a.svg'));
    const { files } = await build();
    assert.ok(!files.some((file) => file.path === 'web/app.js'));
    for (const name of ['web/app.js', 'web/app.js.br', 'web/app.js.gz', 'samples/a.svg.br']) assert.ok(!existsSync(path.join(out, name)), name);
    rmSync(path.join(out, 'networks'), { recursive: true });
    await assert.rejects(build(), /networks is missing/);
  }));

test('the page has those modules fetched ahead that its script imports', () =>
  inTree(async ({ out, put, build }) => {
    const script = '<script type="module" src="web/app.js"></script>';
    put('index.html', script);
    put('web/app.js', "import { loadExtractor } from './extractor/index.js';\n");
    await build();
    assert.equal(readFileSync(path.join(out, 'index.html'), 'utf8'), `<link rel="modulepreload" href="web/extractor/index.js">\n  ${script}`);
  }));
