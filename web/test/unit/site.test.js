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
const COPIED = ['index.html', 'wasm_exec.js', 'web/icons/icon.png', 'web/manifest.webmanifest', 'web/ui/style.css', 'web/ui/then/then.css'];
const PROGRAMS = ['web/ui/app.js', 'web/ui/encoder-worker.js', 'web/ui/thread.js', 'web/ui/worklet.js'];
/** What these are bundled from. */
const SOURCES = {
  'web/ui/app.js': "import { words } from '../base/words.js'; document.title = words;",
  'web/base/words.js': `export const words = 'a word of base, ${long}';`,
  'web/ui/kinds/pictures/encoder-worker.js': `postMessage('encoded: ${long}');`,
  'web/ui/kinds/sounds/worklet.js': `postMessage('heard: ${long}');`,
  'web/engine/thread.js': "import { words } from '../base/words.js'; postMessage(words);",
};
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
  'web/README.md',
  'web/types.d.ts',
  'web/test/unit/app.js',
  'web/test/icons/icon.png',
  'web/build/helper.js',
  'web/node_modules/x/style.css',
  'web/library/index.js',
  'web/share/page/page.css',
  'web/share/use/p5/sketch.js',
  'web/screenshot.webp',
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
  for (const name of [...COPIED, ...LEFT_OUT, 'LICENSE', 'THIRD_PARTY.md']) put(name, name + long);
  for (const [name, text] of Object.entries(SOURCES)) put(name, text);
  for (const name of PARTS) put(`build/site/${name}`, name + long);
  await work({ root, out, put, build: () => buildSite(root, out, path.join(root, 'wasm_exec.js')) });
}

test('the manifest lists every file of the site, and variants have their bytes', () =>
  inTree(async ({ root, out, build }) => {
    const { version, files } = await build();
    assert.deepEqual(
      files.map((file) => file.path),
      [...COPIED, ...PROGRAMS, ...PARTS, 'LICENSE.txt', 'THIRD_PARTY.md'].sort(),
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

test('the program of the page keeps to its size', () => {
  const { size } = statSync(new URL('../../../build/site/metaqda.wasm.br', import.meta.url));
  assert.ok(size <= 1.3e6, `${size} bytes under brotli`);
});

test('the version changes with any file and only then, and what did not change is kept', () =>
  inTree(async ({ out, put, build }) => {
    const seen = new Set([(await build()).version]);
    const { mtimeMs } = statSync(path.join(out, 'web/ui/style.css'));
    writeFileSync(path.join(out, 'web/ui/style.css.br'), 'kept');
    for (const name of ['web/base/words.js', 'web/offline/sw.js', 'index.html', 'wasm_exec.js', 'build/site/metaqda.wasm']) {
      put(name, name.includes('base') ? "export const words = 'others'" : `changed ${name}`);
      const { version } = await build();
      assert.ok(!seen.has(version), name);
      assert.equal((await build()).version, version);
      seen.add(version);
    }
    assert.equal(statSync(path.join(out, 'web/ui/style.css')).mtimeMs, mtimeMs);
    assert.equal(readFileSync(path.join(out, 'web/ui/style.css.br'), 'utf8'), 'kept');
  }));

test('what the tree no longer has goes, and a part that is missing is named', () =>
  inTree(async ({ root, out, put, build }) => {
    await build();
    rmSync(path.join(root, 'web/ui/then/then.css'));
    rmSync(path.join(out, 'samples/a.svg'));
    put('build/site/web/ui/kit/dom.js', long); // a former build had its modules one by one
    const { files } = await build();
    for (const name of ['web/ui/then/then.css', 'web/ui/kit/dom.js']) {
      assert.ok(!files.some((file) => file.path === name));
      for (const suffix of ['', '.br', '.gz']) assert.ok(!existsSync(path.join(out, name + suffix)), name + suffix);
    }
    assert.ok(!existsSync(path.join(out, 'samples/a.svg.br')));
    rmSync(path.join(out, 'networks'), { recursive: true });
    await assert.rejects(build(), /networks is missing/);
  }));

test('each program of the page is one file, with the modules that it imports', () =>
  inTree(async ({ out, build }) => {
    await build();
    for (const [name, words] of Object.entries({ app: 'a word of base', thread: 'a word of base', worklet: 'heard', 'encoder-worker': 'encoded' })) {
      const text = readFileSync(path.join(out, `web/ui/${name}.js`), 'utf8');
      assert.match(text, new RegExp(words));
      assert.doesNotMatch(text, /\b(import|from)\b/);
    }
  }));
