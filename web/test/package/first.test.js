// @ts-check
/** How soon the package answers in Chromium. */
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { serveSite, visit } from '../browser/harness.js';
import { project } from './project.js';

const HTML = (/** @type {string} */ src) => `<!doctype html><meta charset="utf-8"><title>metaqda</title><link rel="icon" href="data:,"><script type="module" src="${src}"></script>`;

test('the first prediction comes within 150 ms of the import, warm', { skip: process.env.METAQDA_SOAK ? false : 'times: make soak-scale' }, async () => {
  const { folder: out, package: from } = project();
  cpSync(from, path.join(out, 'metaqda'), { recursive: true });
  writeFileSync(path.join(out, 'index.html'), HTML('./main.js'));
  writeFileSync(path.join(out, 'main.js'), `
    const began = performance.now();
    const { createClassifier } = await import('./metaqda/index.js');
    const c = await createClassifier();
    const vector = (k) => Float32Array.from({ length: 1280 }, (_, j) => Math.abs(Math.sin((k + 1) * (j + 1))));
    for (let k = 0; k < 5; k++) c.addExampleSync(vector(k), 'class ' + k);
    c.predictSync(vector(7));
    const first = performance.now() - began;
    for (let k = 0; k < 5; k++) for (let i = 0; i < 4; i++) c.addExampleSync(vector(5 + k + 5 * i), 'class ' + k);
    const dst = new Float64Array(5), query = vector(50);
    const times = [];
    for (let round = 0; round < 200; round++) {
      const from = performance.now();
      for (let i = 0; i < 50; i++) c.predictInto(dst, query);
      times.push((performance.now() - from) / 50);
    }
    times.sort((a, b) => a - b);
    document.body.dataset.result = JSON.stringify({ first, prediction: times[100] });`);
  const site = await serveSite(out);
  /** @type {{first: number, prediction: number}[]} */
  const results = [];
  try {
    await visit({ site, open: false }, async ({ page }) => {
      for (let i = 0; i < 6; i++) {
        await page.goto(`${site.origin}/?${i}`);
        await page.locator('body[data-result]').waitFor({ state: 'attached' });
        results.push(JSON.parse(await page.locator('body').getAttribute('data-result') ?? ''));
      }
    });
  } finally {
    await site.stop();
  }
  const first = Math.min(...results.slice(1).map((r) => r.first));
  console.log(`first prediction ${results[0].first.toFixed(0)} ms after the import cold, ${results.slice(1).map((r) => r.first.toFixed(0)).join(', ')} ms warm; a prediction at 5 classes of 5, d = 1280: ${(1000 * Math.min(...results.map((r) => r.prediction))).toFixed(0)} us`);
  assert.ok(first <= 150, `${first} ms`);
});
