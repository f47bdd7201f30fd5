// @ts-check
/** The package in the hands of bundlers, and of none: each builds the programs of all entries, which then run in Chromium without a network. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { LONG } from '../../long.js';
import { project } from '../project.js';
import { documented, environment, every, pages, served, shell, told } from './environment.js';
import { PROGRAMS } from './programs.js';

const HTML = Object.keys(PROGRAMS)
  .map((name) => `${name}.html`)
  .join(' ');
const JS = Object.keys(PROGRAMS)
  .map((name) => `${name}.js`)
  .join(' ');

environment('Vite', {
  always: true,
  tools: ['vite'],
  out: 'dist',
  command: 'vite build',
  recipe: ["worker: { format: 'es' }"],
  files: {
    'vite.config.js': `export default { logLevel: 'error', base: './', build: { rolldownOptions: { input: '${HTML}'.split(' ') } }, worker: { format: 'es' } };`,
  },
});

environment('webpack', {
  tools: ['webpack', 'webpack-cli'],
  out: 'dist',
  command: 'webpack --mode production\ncp *.html dist',
  files: {
    'webpack.config.js': `export default { performance: { hints: false }, entry: ${JSON.stringify(Object.fromEntries(Object.keys(PROGRAMS).map((name) => [name, `./${name}.js`])))} };`,
    ...Object.fromEntries(
      Object.keys(PROGRAMS).map((name) => [
        `${name}.html`,
        `<!doctype html><html lang="en"><meta charset="utf-8"><title>metaqda</title><link rel="icon" href="data:,"><body><script defer src="${name}.js"></script>`,
      ]),
    ),
  },
});

const COPY = 'mkdir dist && cp -R node_modules/metaqda/. dist';
environment('esbuild', {
  always: true,
  tools: ['esbuild'],
  out: 'dist',
  recipe: [COPY, 'esbuild main.js --bundle --format=esm --outdir=dist --allow-overwrite'],
  command: `${COPY}\nesbuild ${JS} --bundle --format=esm --outdir=dist --allow-overwrite\ncp *.html dist`,
});
environment('Rollup', {
  tools: ['rollup'],
  linked: ['@rollup/plugin-node-resolve'],
  out: 'dist',
  recipe: [COPY, 'rollup -i main.js -d dist -p node-resolve'],
  command: `${COPY}\nrollup ${JS.split(' ')
    .map((name) => `-i ${name}`)
    .join(' ')} -d dist -p node-resolve\ncp *.html dist`,
});
environment('Parcel', { tools: ['parcel'], out: 'dist', command: `parcel build ${HTML} --no-cache` });

// The map stands in the page, so the policy names its hash.
const MAP = JSON.stringify({
  imports: {
    metaqda: './metaqda/index.js',
    'metaqda/knn-classifier': './metaqda/knn-classifier.js',
    'metaqda/worker': './metaqda/worker.js',
    'metaqda/storage': './metaqda/storage.js',
    'metaqda/extractors/': './metaqda/extractors/',
    'metaqda/extractors/efficientnet-lite0': './metaqda/extractors/efficientnet-lite0.js',
  },
});
environment('import map, strict policy', {
  always: true,
  out: '.',
  recipe: ['cp -R node_modules/metaqda metaqda', '"metaqda/worker": "./metaqda/worker.js"'],
  command: 'cp -R node_modules/metaqda metaqda',
  files: pages(PROGRAMS, `<script type="importmap">${MAP}</script>`),
  policy: `default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-${createHash('sha256').update(MAP).digest('base64')}'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'`,
});

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });

test('Vite, while developing', LONG, async () => {
  documented(["optimizeDeps: { exclude: ['metaqda'] }"]);
  const { folder } = project(pages());
  // @ts-ignore: of this folder's own packages
  const vite = await import('vite');
  const port = await freePort();
  const server = await vite.createServer({
    root: folder,
    logLevel: 'error',
    server: { host: '127.0.0.1', port, strictPort: true },
    optimizeDeps: { exclude: ['metaqda'] },
  });
  await server.listen();
  try {
    await every('Vite, while developing', "vite   # with optimizeDeps: { exclude: ['metaqda'] }", (entry) =>
      told({ origin: `http://127.0.0.1:${port}`, folder, stop: async () => {} }, `${entry}.html`),
    );
  } finally {
    await server.close();
  }
});

test('esbuild without any setting, by the module with the engine inside', async () => {
  const { folder } = project(
    pages({
      inline: `
    import { createClassifier } from 'metaqda/inline';
    const c = await createClassifier();
    c.addExampleSync([1, 0, 0.1], 'a');
    c.addExampleSync([0, 1, 0.1], 'b');
    document.body.dataset.result = JSON.stringify(c.predictSync([0.9, 0.1, 0]).label);
  `,
    }),
  );
  shell('esbuild inline.js --bundle --format=esm --outdir=dist\ncp inline.html dist', folder);
  assert.deepEqual(readdirSync(path.join(folder, 'dist')), ['inline.html', 'inline.js']);
  const site = await served(path.join(folder, 'dist'));
  try {
    assert.equal(await told(site, 'inline.html'), 'a');
  } finally {
    await site.stop();
  }
});
