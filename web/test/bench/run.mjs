// @ts-check
// Runs the browser half of the benchmark in headless Chromium:
//
//   CHROMIUM=... node web/test/bench/run.mjs PROGRAM.wasm KERNELS.wasm CASES.json OUT.json
//
// Prints progress to standard error. scripts/bench calls it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const HERE = fileURLToPath(new URL('./', import.meta.url));
const [program, kernels, casesFile, out] = process.argv.slice(2);
/** @type {import('./page.js').Case[]} */
const cases = JSON.parse(readFileSync(casesFile, 'utf8'));

/** Bundles the comparison; everything else is served as it is. */
async function bundleKnn() {
  const { outputFiles } = await build({
    entryPoints: [join(HERE, 'knn.js')], bundle: true, format: 'esm', write: false, external: ['./page.js'], logLevel: 'error',
  });
  return outputFiles[0].contents;
}

/** @returns {Promise<Record<string, [type: string, body: Uint8Array]>>} */
async function files() {
  const root = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim();
  const tfjs = dirname(createRequire(import.meta.url).resolve('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm'));
  const script = 'text/javascript';
  const wasm = 'application/wasm';
  return {
    '/': ['text/html', Buffer.from('<!doctype html><title>benchmark</title>')],
    '/wasm_exec.js': [script, readFileSync(join(root, 'lib/wasm/wasm_exec.js'))],
    '/web/test/bench/knn.js': [script, await bundleKnn()],
    '/bench.wasm': [wasm, readFileSync(program)],
    '/metaqda-simd.wasm': [wasm, readFileSync(kernels)],
    ...Object.fromEntries(['tfjs-backend-wasm.wasm', 'tfjs-backend-wasm-simd.wasm', 'tfjs-backend-wasm-threaded-simd.wasm'].map((name) => [
      `/tfjs/${name}`, /** @type {[string, Uint8Array]} */ ([wasm, readFileSync(join(tfjs, name))]),
    ])),
  };
}

/**
 * Serves the files, and the modules below web/ as they stand in the tree, which is what the site holds. The two headers
 * isolate the page, which gives it a clock of 5 microseconds.
 * @param {Record<string, [type: string, body: Uint8Array]>} content
 */
async function serve(content) {
  const server = createServer((request, response) => {
    const url = normalize(request.url ?? '');
    const module = join(HERE, '../../..', url);
    const found = content[url] ?? (/^\/web\/.*\.js$/.test(url) && existsSync(module) && ['text/javascript', readFileSync(module)]);
    const [type, body] = found || ['text/plain', ''];
    response.writeHead(found ? 200 : 404, {
      'Content-Type': type, 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp',
    }).end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  return server;
}

const server = await serve(await files());
const origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--enable-precise-memory-info', '--js-flags=--max-old-space-size=4096'],
});

/** Opens a fresh page with the program running. @param {boolean} simd */
async function open(simd) {
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  page.on('pageerror', (error) => console.error(`page: ${error.message}`));
  await page.goto(origin);
  await page.addScriptTag({ url: '/wasm_exec.js' });
  const startup = await page.evaluate(async (wanted) => (await import(/** @type {any} */ ('/web/test/bench/page.js'))).start(wanted), simd);
  return { page, startup };
}

/** @type {any} */
const result = { browser: browser.version(), rows: [], probabilities: [], knn: [], memory: [], startup_ms: {} };
for (const simd of [true, false]) {
  const where = simd ? 'browser' : 'browser-nosimd';
  for (const size of cases) {
    console.error(`${where}: ${size.dimension} dimensions, ${size.classes} classes`);
    const { page, startup } = await open(simd);
    result.startup_ms[where] ??= startup;
    const measured = await page.evaluate(async ([s, w]) => (await import(/** @type {any} */ ('/web/test/bench/page.js'))).measure(s, w), /** @type {const} */ ([size, where]));
    result.rows.push(...measured.rows);
    if (simd) {
      result.probabilities.push(measured.probabilities);
      const { rows, ...knn } = await page.evaluate(async (s) => (await import(/** @type {any} */ ('/web/test/bench/page.js'))).measureKnn(s), size);
      result.rows.push(...rows);
      result.knn.push({ ...size, ...knn });
    }
    await page.close();
  }
}
const flat = cases.filter((size) => size.classes === 5);
for (const size of flat) {
  const { page } = await open(true);
  result.memory.push(await page.evaluate(async (s) => (await import(/** @type {any} */ ('/web/test/bench/page.js'))).memoryFlatness(s), size));
  await page.close();
}
await browser.close();
server.close();
writeFileSync(out, JSON.stringify(result));
