// @ts-check
/**
 * The package in Next.js: used by what is rendered on a server, in a production build with
 * its static pages, then run in Chromium without a network.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { visit } from '../browser/harness.js';
import { LONG } from '../long.js';
import { project, root } from './project.js';

const tools = path.join(root, 'web/test/package/node_modules');

const { folder } = project({
  'package.json': JSON.stringify({ type: 'module', private: true, dependencies: { metaqda: '*', next: '*', react: '*', 'react-dom': '*' } }),
  'next.config.mjs': `export default { output: 'export', serverExternalPackages: ['metaqda'], outputFileTracingRoot: import.meta.dirname, turbopack: { root: import.meta.dirname } };`,
  'app/layout.jsx': `export const metadata = { title: 'metaqda', icons: 'data:,' };
    export default ({ children }) => <html lang="en"><body>{children}</body></html>;`,
  // Rendered on the server, and there the engine runs too.
  'app/page.jsx': `
    import { createClassifier } from 'metaqda';
    import Live from './live.jsx';
    export default async function Page() {
      const c = await createClassifier();
      c.addExampleSync([1, 0, 0.1], 'a');
      c.addExampleSync([0, 1, 0.1], 'b');
      const { label } = c.predictSync([0.9, 0.1, 0]);
      c.dispose();
      return <main><p id="server">{label}</p><Live /></main>;
    }`,
  'app/live.jsx': `'use client';
    import { createClassifier } from 'metaqda';
    import { create } from 'metaqda/knn-classifier';
    import { openStorage } from 'metaqda/storage';
    import { loadExtractor } from 'metaqda/extractors/efficientnet-lite0';
    import { ClassifierWorker } from 'metaqda/worker';
    import { useEffect, useState } from 'react';
    export default function Live() {
      const [text, setText] = useState('');
      useEffect(() => { (async () => {
        const c = await createClassifier();
        c.addExampleSync([1, 0, 0.1], 'a');
        c.addExampleSync([0, 1, 0.1], 'b');
        const { label } = await c.predict([0.1, 0.9, 0]);
        const there = [typeof create, typeof openStorage, typeof loadExtractor, typeof ClassifierWorker].join();
        setText(JSON.stringify({ label, there, global: 'Go' in globalThis }));
      })().catch((error) => setText(String(error))); }, []);
      return <p id="browser">{text}</p>;
    }`,
});

test('Next.js builds it, renders with it, and it runs in the page', LONG, async () => {
  for (const name of ['next', 'react', 'react-dom']) symlinkSync(path.join(tools, name), path.join(folder, 'node_modules', name));
  execFileSync(process.execPath, [path.join(tools, 'next/dist/bin/next'), 'build', '--webpack'], {
    cwd: folder, encoding: 'utf8', stdio: 'pipe', timeout: 280_000, env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', CI: '1', NODE_ENV: 'production' },
  });
  const out = path.join(folder, 'out');
  assert.match(readFileSync(path.join(out, 'index.html'), 'utf8'), /<p id="server">a<\/p>/);
  // Its pages hold scripts, which the policy of our own server refuses.
  const types = /** @type {Record<string, string>} */ ({ html: 'text/html', js: 'text/javascript', wasm: 'application/wasm' });
  const server = createServer(({ url = '/' }, response) => {
    const name = decodeURIComponent(url.replace(/\?.*/, '').replace(/\/$/, '/index.html'));
    try {
      response.writeHead(200, { 'content-type': types[path.extname(name).slice(1)] ?? 'text/plain' }).end(readFileSync(path.join(out, name)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(undefined)); });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  try {
    await visit({ site: { origin: `http://127.0.0.1:${port}`, folder: out, stop: async () => {} }, open: false }, async ({ page }) => {
      await page.goto(`http://127.0.0.1:${port}/`);
      await page.locator('#browser:not(:empty)').waitFor();
      assert.deepEqual(JSON.parse(await page.locator('#browser').textContent() ?? ''), { label: 'b', there: 'function,function,function,function', global: false });
    });
  } finally {
    server.close();
  }
});
