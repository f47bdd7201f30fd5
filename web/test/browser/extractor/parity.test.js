// @ts-check
/**
 * The extractor in a real Chromium under the page's content security policy:
 * the same numbers as scripts/embed, wherever it runs and whatever fails.
 */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import test, { before } from 'node:test';
import sharp from 'sharp';
import { decodePicture } from '../../../../scripts/embed/decode.mjs';
import { loadExtractor } from '../../../../scripts/embed/extractor.mjs';
import { LONG } from '../../long.js';
import { root, siteFolder, visit } from '../harness.js';
import { site } from '../engine/blank.js';

/** @import {Page} from 'playwright-core' */

const parity = path.join(root, 'testdata/parity');
const folder = path.join(siteFolder, 'extractor');

/** @type {Awaited<ReturnType<typeof loadExtractor>>} */
let native;
before(async () => {
  native = await loadExtractor(folder);
});

/** Runs a check in a blank page of the site, which has the parity pictures too. @param {(page: Page) => Promise<void>} check @param {RegExp[]} [expect] complaints */
function inPage(check, expect = [/favicon/]) {
  return visit({ site, open: false, expect }, async ({ page }) => {
    await page.route('**/parity/*.jpg', async (route) => route.fulfill({ path: path.join(parity, path.basename(route.request().url())) }));
    await page.goto(`${site.origin}/LICENSE.txt`);
    await check(page);
  });
}

/**
 * Loads the extractor in the page and embeds pictures by URL.
 * @param {Page} page @param {string[]} urls
 * @param {import('../../../extractor/index.js').LoadOptions} [options]
 * @returns {Promise<{place: string, started: string, id: string, sha256: string, dimension: number, embeddings: number[][],
 *   loadMs: number, eachMs: number, progress: {loaded: number, total: number}[]}>}
 */
function embedInPage(page, urls, options = {}) {
  return page.evaluate(
    async ({ urls, options }) => {
      const module = '/tests/modules.js';
      const { loadExtractor } = await import(module);
      /** @type {{loaded: number, total: number}[]} */
      const progress = [];
      const start = performance.now();
      const extractor = await loadExtractor({ ...options, onProgress: (/** @type {any} */ p) => progress.push(p) });
      const loaded = performance.now();
      const started = extractor.place;
      const blobs = await Promise.all(urls.map(async (url) => (await fetch(url)).blob()));
      const begin = performance.now();
      const embeddings = [];
      for (const blob of blobs) embeddings.push(Array.from(await extractor.embed(blob)));
      const eachMs = (performance.now() - begin) / urls.length;
      const { id, sha256, dimension, place } = extractor;
      extractor.close();
      return { id, sha256, dimension, place, started, embeddings, loadMs: loaded - start, eachMs, progress };
    },
    { urls, options },
  );
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function farthest(a, b) {
  assert.equal(a.length, b.length);
  let most = 0;
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i] - b[i]));
  return most;
}

const ant = '/parity/ant_image_0011.jpg';
const nativeAnt = async () => native.embed(await decodePicture(path.join(parity, 'ant_image_0011.jpg')));

test('the worker gives the numbers of scripts/embed, under the policy and without another request', async (t) => {
  await inPage(async (page) => {
    const names = (await readdir(parity)).filter((name) => name.endsWith('.jpg'));
    const result = await embedInPage(
      page,
      names.map((name) => `/parity/${name}`),
    );
    assert.deepEqual([result.place, result.id, result.sha256, result.dimension], ['worker', native.id, native.sha256, 1280]);
    let most = 0;
    for (const [i, name] of names.entries()) {
      const expected = await native.embed(await decodePicture(path.join(parity, name)));
      most = Math.max(most, farthest(result.embeddings[i], expected));
    }
    assert.ok(most <= 1e-4, `largest difference ${most}`);
    t.diagnostic(`largest difference ${most.toExponential(1)}; load ${result.loadMs.toFixed(0)} ms, a picture ${result.eachMs.toFixed(1)} ms`);
    const { progress } = result;
    const last = progress[progress.length - 1];
    assert.ok(last.total > 2e6 && last.loaded === last.total, JSON.stringify(last));
    assert.ok(progress.every(({ loaded }, i) => i === 0 || loaded >= progress[i - 1].loaded));
  });
});

test('a large transparent picture, turned by its EXIF, agrees too, in the worker and in the window', LONG, async () => {
  const [width, height] = [3100, 2300];
  const data = new Uint8Array(4 * width * height);
  let state = 1;
  for (let i = 0; i < data.length; i++) {
    state = (state * 48271) % 2147483647;
    // Coarse blocks, so that the picture survives reduction; fully opaque or not at all.
    data[i] = i % 4 === 3 ? ((i >> 14) % 5 ? 255 : 0) : ((i >> 12) * 37 + (state & 63)) & 255;
  }
  const png = await sharp(data, { raw: { width, height, channels: 4 } })
    .withMetadata({ orientation: 6 })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const expected = await native.embed(await decodePicture(png));
  for (const worker of [true, false]) {
    await inPage(async (page) => {
      await page.route('**/parity/large.png', (route) => route.fulfill({ body: png, contentType: 'image/png' }));
      const { embeddings, place } = await embedInPage(page, ['/parity/large.png'], { worker });
      assert.equal(place, worker ? 'worker' : 'window');
      const most = farthest(embeddings[0], expected);
      assert.ok(most <= 1e-4, `largest difference ${most} in the ${place}`);
    });
  }
});

test('a picture that is longer than any canvas agrees, whichever way it lies', LONG, async () => {
  for (const [width, height] of [
    [70_000, 24],
    [12, 70_000],
  ]) {
    const pixels = Uint8Array.from({ length: 3 * width * height }, (_, i) => {
      const at = Math.floor(i / 3);
      return (((at % width) >> (width > height ? 11 : 2)) * 40 + (Math.floor(at / width) >> (width > height ? 3 : 11)) * 70 + 25 * (i % 3)) & 255;
    });
    const png = await sharp(pixels, { raw: { width, height, channels: 3 } })
      .png({ compressionLevel: 1 })
      .toBuffer();
    const expected = await native.embed(await decodePicture(png));
    await inPage(async (page) => {
      await page.route('**/parity/long.png', (route) => route.fulfill({ body: png, contentType: 'image/png' }));
      const { embeddings } = await embedInPage(page, ['/parity/long.png']);
      const most = farthest(embeddings[0], expected);
      assert.ok(most <= 1e-4, `largest difference ${most} of ${width} x ${height}`);
    });
  }
});

test('ImageBitmap, ImageData and file give the same numbers and stay usable', async () => {
  await inPage(async (page) => {
    const [a, b, c, again, open] = await page.evaluate(async (url) => {
      const module = '/tests/modules.js';
      const { loadExtractor, decodePicture } = await import(module);
      const extractor = await loadExtractor();
      const blob = await (await fetch(url)).blob();
      const bitmap = await decodePicture(blob);
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d'));
      context.drawImage(bitmap, 0, 0);
      const image = context.getImageData(0, 0, bitmap.width, bitmap.height);
      const all = await Promise.all([blob, bitmap, image, bitmap].map((picture) => extractor.embed(picture)));
      return [...all.map((e) => Array.from(e)), bitmap.width > 0 && image.data.length > 0];
    }, ant);
    assert.equal(open, true);
    assert.deepEqual(b, a);
    assert.deepEqual(c, a);
    assert.deepEqual(again, a);
  });
});

test('asked for one view the page gives that of scripts/embed', async () => {
  const { views, inputSize } = JSON.parse(await readFile(path.join(folder, 'extractor.json'), 'utf8'));
  const first = await loadExtractor(folder, { recipe: { inputSize, views: views.slice(0, 1) } });
  const expected = await first.embed(await decodePicture(path.join(parity, 'ant_image_0011.jpg')));
  for (const worker of [true, false]) {
    await inPage(async (page) => {
      const [one, all] = await page.evaluate(
        async ({ url, worker }) => {
          const module = '/tests/modules.js';
          const { loadExtractor } = await import(module);
          const extractor = await loadExtractor({ worker });
          const blob = await (await fetch(url)).blob();
          return [Array.from(await extractor.embed(blob, 1)), Array.from(await extractor.embed(blob, extractor.views))];
        },
        { url: ant, worker },
      );
      assert.ok(farthest(one, expected) <= 1e-4);
      assert.ok(farthest(all, await nativeAnt()) <= 1e-4);
    });
  }
});

test('where WebAssembly has no SIMD that is said before anything is fetched', async () => {
  await inPage(async (page) => {
    /** @type {string[]} */
    const fetched = [];
    page.on('request', (request) => fetched.push(path.basename(request.url())));
    await page.evaluate(() => {
      WebAssembly.validate = () => false;
    });
    await assert.rejects(embedInPage(page, [ant]), /no SIMD in WebAssembly; use a current Chrome/);
    assert.deepEqual(
      fetched.filter((name) => /\.(wasm|bin)$/.test(name)),
      [],
    );
  });
});

const failures = {
  'is not there': { status: 404, body: '' },
  'throws at once': { body: 'throw new Error("no");' },
  'never answers': { body: 'onmessage = () => {};' },
  'falls silent after loading': { body: 'onmessage = ({data: {type, id}}) => { if (type === "load") postMessage({type, id, result: true}); };' },
};
for (const [name, answer] of Object.entries(failures)) {
  test(`when the worker ${name}, the window does its work`, async () => {
    await inPage(
      async (page) => {
        await page.route('**/extractor/worker.js', (route) => route.fulfill({ contentType: 'text/javascript', ...answer }));
        const result = await embedInPage(page, [ant, ant], { patience: 1000 });
        assert.equal(result.place, 'window');
        assert.equal(result.started, name.startsWith('falls') ? 'worker' : 'window');
        for (const embedding of result.embeddings) assert.ok(farthest(embedding, await nativeAnt()) <= 1e-4);
      },
      [/./],
    );
  });
}

/** @type {{what: string, code: string, sentence: RegExp, picture?: string, worker?: boolean, spoil?: [file: string, answer: Parameters<import('playwright-core').Route['fulfill']>[0] | null]}[]} */
const refusals = [
  { what: 'a file that is no picture', code: 'unreadable-picture', sentence: /'notes\.txt' is not a picture this browser can read; use/, picture: 'text' },
  { what: 'a bitmap closed too early', code: 'unreadable-picture', sentence: /closed already; add it once more/, picture: 'closed' },
  { what: 'a missing picture', code: 'unreadable-picture', sentence: /Give the extractor a picture/ },
  {
    what: 'a missing file',
    code: 'extractor-unreachable',
    sentence: /weights\.bin could not be fetched \(the server answered 404\); check the connection/,
    spoil: ['weights.bin', { status: 404 }],
  },
  {
    what: 'a page in place of the record, as of a network that wants a login',
    code: 'extractor-unreachable',
    sentence: /extractor\.json could not be fetched \(what arrived is cut short or another file\); check the connection/,
    spoil: ['extractor.json', { contentType: 'text/html', body: '<!doctype html><title>Login</title>' }],
  },
  {
    what: 'neither worker nor runtime',
    code: 'extractor-unreachable',
    sentence: /runtime\.js could not be fetched \(the connection failed\); check the connection/,
    spoil: ['{worker,runtime}.js', null],
  },
  {
    what: 'a lost connection',
    code: 'extractor-unreachable',
    sentence: /model\.json could not be fetched \(the connection failed\)/,
    spoil: ['model.json', null],
  },
  {
    what: 'a file of another build',
    code: 'extractor-mismatch',
    sentence: /do not belong together .*reload the page/,
    spoil: ['weights.bin', { body: Buffer.alloc(1000) }],
  },
  // The last ones, since the page keeps the runtime that the window loads.
  ...[true, false].map((worker) => ({
    what: `a bitmap whose pixels the page may not read, ${worker ? 'worker' : 'window'}`,
    code: 'unreadable-picture',
    sentence: /^The browser does not let this page read the picture: .* with crossOrigin 'anonymous'/,
    picture: 'kept',
    worker,
  })),
];
test('what cannot be read or fetched is said in a sentence', () =>
  inPage(
    async (page) => {
      for (const { what, code, sentence, picture = 'null', worker = true, spoil } of refusals) {
        const [file, answer] = spoil ?? ['none', null];
        await page.route(`**/extractor/${file}`, (route) => (answer ? route.fulfill(answer) : route.abort()));
        const error = await page.evaluate(
          async ([picture, worker]) => {
            const module = '/tests/modules.js';
            const { loadExtractor, decodePicture } = await import(module);
            const makers = /** @type {Record<string, () => any>} */ ({
              text: () => new File(['hello'], 'notes.txt', { type: 'text/plain' }),
              closed: async () => {
                const bitmap = await decodePicture(await (await fetch('/parity/ant_image_0011.jpg')).blob());
                bitmap.close();
                return bitmap;
              },
              kept: async () => {
                const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><foreignObject width="9" height="9"/></svg>';
                const image = Object.assign(new Image(), { src: URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' })) });
                await image.decode();
                return createImageBitmap(image);
              },
              null: () => null,
            });
            let extractor;
            try {
              extractor = await loadExtractor({ worker });
              await extractor.embed(await makers[picture]());
              return null;
            } catch (e) {
              return { code: /** @type {any} */ (e).code, message: /** @type {any} */ (e).message };
            } finally {
              extractor?.close();
            }
          },
          /** @type {const} */ ([picture, worker]),
        );
        await page.unroute(`**/extractor/${file}`);
        assert.equal(error?.code, code, `${what}: ${JSON.stringify(error)}`);
        assert.match(error.message, sentence, what);
      }
    },
    [/./],
  ));
