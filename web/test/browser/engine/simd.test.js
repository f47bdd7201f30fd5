// @ts-check
// Runs the Go tests of wasm/simd, compiled to WebAssembly, inside headless Chromium.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { compile } from '../../../build/simd.mjs';
import { LONG } from '../../long.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'simd-'));

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('node:http').Server} */
let server;

before(async () => {
  const binary = join(folder, 'simd.test.wasm');
  execFileSync('go', ['test', '-c', '-o', binary, './wasm/simd'], { cwd: ROOT, env: { ...process.env, GOOS: 'js', GOARCH: 'wasm' } });
  const root = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim();
  server = await serve({
    '/': ['text/html', '<!doctype html><title>tests</title>'],
    '/web/base/simd.js': ['text/javascript', readFileSync(join(ROOT, 'web/base/simd.js'))],
    '/web/engine/kernels.js': ['text/javascript', readFileSync(join(ROOT, 'web/engine/kernels.js'))],
    '/wasm_exec.js': ['text/javascript', readFileSync(join(root, 'lib/wasm/wasm_exec.js'))],
    '/kernels.wasm': ['application/wasm', await compile()],
    '/test.wasm': ['application/wasm', readFileSync(binary)],
  });
  const executablePath = process.env.CHROMIUM || execFileSync('scripts/browser.sh', ['chromium'], { cwd: ROOT, encoding: 'utf8' }).trim();
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
});

after(async () => {
  await browser?.close();
  server?.close();
  rmSync(folder, { recursive: true });
});

/**
 * Serves a few files from memory.
 * @param {Record<string, [type: string, body: string | Uint8Array]>} files
 * @returns {Promise<import('node:http').Server>}
 */
function serve(files) {
  const handler = createServer((request, response) => {
    const [type, body] = files[request.url ?? ''] ?? ['text/plain', ''];
    response.writeHead(files[request.url ?? ''] ? 200 : 404, { 'Content-Type': type }).end(body);
  });
  return new Promise((resolve) => handler.listen(0, '127.0.0.1', () => resolve(handler)));
}

/**
 * Runs the test program in a fresh page.
 * @param {boolean} enabled whether with kernels
 * @returns {Promise<{ code: number, output: string }>}
 */
async function runTests(enabled) {
  const page = await browser.newPage();
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.addScriptTag({ url: '/wasm_exec.js' });
  const result = await page.evaluate(inPage, enabled);
  await page.close();
  return result;
}

/**
 * Loads and runs the program; executed in the page.
 * @param {boolean} enabled
 */
async function inPage(enabled) {
  const scope = /** @type {any} */ (globalThis);
  const { loadSimd, simdImports } = await import(/** @type {any} */ ('/web/engine/kernels.js'));
  const decoder = new TextDecoder();
  let output = '';
  scope.fs.writeSync = (/** @type {number} */ _, /** @type {Uint8Array} */ bytes) => {
    output += decoder.decode(bytes, { stream: true });
    return bytes.length;
  };
  const go = new scope.Go();
  go.argv = ['simd.test', '-test.v'];
  go.env = enabled ? {} : { METAQDA_SIMD: '0' };
  let code = -1;
  go.exit = (/** @type {number} */ status) => (code = status);
  const simd = simdImports(await loadSimd('/kernels.wasm', enabled));
  Object.assign(go.importObject, simd.imports);
  const { instance } = await WebAssembly.instantiateStreaming(fetch('/test.wasm'), go.importObject);
  simd.attach(instance);
  await go.run(instance);
  return { code, output };
}

test('the kernels agree with gonum in Chromium', { timeout: 180_000, ...LONG }, async () => {
  const { code, output } = await runTests(true);
  assert.equal(code, 0, output);
  for (const name of ['TestGemv', 'TestTrsv', 'TestGemm', 'TestSyrk', 'TestTrsm', 'TestKernelsFollowMemoryGrowth']) {
    assert.match(output, new RegExp(`^--- PASS: ${name} `, 'm'));
  }
});

test('without kernels the program runs on gonum in Chromium', { timeout: 60_000 }, async () => {
  const { code, output } = await runTests(false);
  assert.equal(code, 0, output);
  assert.match(output, /^--- SKIP: TestGemm /m);
  assert.match(output, /^--- PASS: TestInstallFollowsAvailability /m);
});
