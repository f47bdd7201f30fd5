// @ts-check
// Times the core natively (scripts/bench) and in headless Chromium (scripts/bench/browser), with and without the SIMD
// kernels, and beside it @tensorflow-models/knn-classifier on the same embeddings in the same page:
//
//   CHROMIUM=... node web/test/bench/run.mjs [--quick] [--compile=OPTIONS]
//
// as `make bench` does, whose options of go build are those of the engine. It prints a table, writes build/bench.json,
// and fails where a probability in the browser differs from the native one by more than rounding.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const HERE = fileURLToPath(new URL('./', import.meta.url));
const ROOT = join(HERE, '../../..');
const {
  values: { quick, compile },
} = parseArgs({ options: { quick: { type: 'boolean', default: false }, compile: { type: 'string', default: '' } } });
const program = join(ROOT, 'build/bench/bench.wasm');
mkdirSync(dirname(program), { recursive: true });
const go = (/** @type {string[]} */ args, env = {}) =>
  execFileSync('go', args, { cwd: ROOT, encoding: 'utf8', env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
go(['build', '-trimpath', '-ldflags=-s -w', ...compile.split(' ').filter(Boolean), '-o', program, './scripts/bench/browser'], { GOOS: 'js', GOARCH: 'wasm' });
/** @type {{ go: string, cases: import('./page.js').Case[], rows: import('./page.js').Row[], probabilities: number[][] }} */
const native = JSON.parse(go(['run', './scripts/bench', ...(quick ? ['-quick'] : [])]));
const { cases } = native;

/** Bundles the comparison; everything else is served as it is. */
async function bundleKnn() {
  const { outputFiles } = await build({
    entryPoints: [join(HERE, 'knn.js')],
    bundle: true,
    format: 'esm',
    write: false,
    external: ['./page.js'],
    logLevel: 'error',
  });
  return outputFiles[0].contents;
}

/** @returns {Promise<Record<string, [type: string, body: Uint8Array]>>} */
async function files() {
  const root = go(['env', 'GOROOT']).trim();
  const tfjs = dirname(createRequire(import.meta.url).resolve('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm'));
  const script = 'text/javascript';
  const wasm = 'application/wasm';
  return {
    '/': ['text/html', Buffer.from('<!doctype html><title>benchmark</title>')],
    '/wasm_exec.js': [script, readFileSync(join(root, 'lib/wasm/wasm_exec.js'))],
    '/web/test/bench/knn.js': [script, await bundleKnn()],
    '/bench.wasm': [wasm, readFileSync(program)],
    '/metaqda-simd.wasm': [wasm, readFileSync(join(ROOT, 'build/site/metaqda-simd.wasm'))],
    ...Object.fromEntries(
      ['tfjs-backend-wasm.wasm', 'tfjs-backend-wasm-simd.wasm', 'tfjs-backend-wasm-threaded-simd.wasm'].map((name) => [
        `/tfjs/${name}`,
        /** @type {[string, Uint8Array]} */ ([wasm, readFileSync(join(tfjs, name))]),
      ]),
    ),
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
    const module = join(ROOT, url);
    const found = content[url] ?? (/^\/web\/.*\.js$/.test(url) && existsSync(module) && ['text/javascript', readFileSync(module)]);
    const [type, body] = found || ['text/plain', ''];
    response
      .writeHead(found ? 200 : 404, {
        'Content-Type': type,
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
      })
      .end(body);
  });
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  return server;
}

const server = await serve(await files());
const origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--enable-precise-memory-info', '--js-flags=--max-old-space-size=4096'],
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
const result = {
  machine: `${cpus()[0]?.model}, ${cpus().length} processors`,
  go: native.go,
  browser: `Chromium ${browser.version()}`,
  date: new Date().toISOString().slice(0, 10),
  rows: native.rows,
  largest_difference: 0,
  knn: [],
  memory: [],
  startup_ms: {}, // of fetch, compile and start of the program in the page
};
for (const simd of [true, false]) {
  const where = simd ? 'browser' : 'browser-nosimd';
  for (const size of cases) {
    console.error(`${where}: ${size.dimension} dimensions, ${size.classes} classes`);
    const { page, startup } = await open(simd);
    result.startup_ms[where] ??= startup;
    const measured = await page.evaluate(
      async ([s, w]) => (await import(/** @type {any} */ ('/web/test/bench/page.js'))).measure(s, w),
      /** @type {const} */ ([size, where]),
    );
    result.rows.push(...measured.rows);
    if (simd) {
      const want = native.probabilities[cases.indexOf(size)];
      if (measured.probabilities.length !== want.length) throw new Error(`${measured.probabilities.length} classes in the browser, not ${want.length}`);
      result.largest_difference = Math.max(result.largest_difference, ...want.map((p, i) => Math.abs(p - measured.probabilities[i])));
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
writeFileSync(join(ROOT, 'build/bench.json'), `${JSON.stringify(result, null, 1)}\n`);

/** What is printed of the rows of an operation in one case. @param {import('./page.js').Row[]} rows */
const line = (rows) => {
  const [{ name, dimension, classes, shots, median_ms: native }] = rows;
  /** @type {Record<string, string | number>} */
  const cells = { operation: name, d: dimension, classes, shots };
  for (const { where, median_ms: median, p95_ms: p95, bytes_per_op: bytes } of rows) {
    cells[where] = `${median.toPrecision(3)} (${p95.toPrecision(3)}), ${bytes.toFixed(0)}`;
    if (where.startsWith('browser')) cells[`${where} / native`] = (median / native).toFixed(2);
  }
  return cells;
};
console.log(`${result.machine}; ${result.go}; ${result.browser}. Milliseconds: median (95th percentile), bytes allocated per operation.`);
const kind = (/** @type {import('./page.js').Row} */ r) => `${r.name} ${r.dimension} ${r.classes}`;
console.table([...new Set(result.rows.map(kind))].map((k) => line(result.rows.filter((/** @type {import('./page.js').Row} */ r) => kind(r) === k))));
const change = (/** @type {number} */ end, /** @type {number} */ warm) => `${end < warm ? '' : '+'}${(100 * (end / warm - 1)).toFixed(1)} %`;
for (const { dimension, warm, end } of result.memory) {
  console.log(
    `memory, d = ${dimension}: after 10,000 predictions and 1,000 additions and removals heap ${change(end.heap, warm.heap)} and WebAssembly memory ${change(end.memory, warm.memory)} since as many before (${(end.heap / 1e6).toFixed(1)} MB, ${(end.memory / 1e6).toFixed(1)} MB)`,
  );
}
for (const { dimension, classes, shots, backend, held } of result.knn)
  console.log(`knn-classifier, d = ${dimension}, ${classes * shots} examples: ${backend} backend, ${(held / 1e6).toFixed(1)} MB of tensors`);
console.log(
  `probabilities in the browser and natively differ by ${result.largest_difference.toPrecision(1)} at most; the page's program starts in ${result.startup_ms.browser.toFixed(0)} ms`,
);
if (!(result.largest_difference <= 1e-9)) throw new Error('probabilities in the browser differ from the native ones by more than rounding');
