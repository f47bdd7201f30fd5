// @ts-check
/** A shared file in Firefox: written by the page there, opened from disk without a network. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { sample } from '../browser/harness.js';
import { field, ready, recognise, teach, visit } from './firefox.js';

test('a file shared from Firefox answers there from disk as the page did, and learns', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'share-'));
  const downloads = { 'browser.download.folderList': 2, 'browser.download.dir': folder, 'browser.helperApps.neverAsk.saveToDisk': 'application/octet-stream,text/html' };
  const saved = async (/** @type {string} */ ending) => {
    for (;;) {
      const found = (await readdir(folder)).filter((name) => name.endsWith(ending));
      if (found.length && !(await readdir(folder)).some((name) => name.endsWith('.part'))) return path.join(folder, found[0]);
      await new Promise((resolve) => { setTimeout(resolve, 200); });
    }
  };
  try {
    await visit(async ({ page, site }) => {
      for (const name of ['Banana', 'Umbrella']) await teach(page, name, ['noto', 'twemoji', 'openmoji']);
      const asked = [sample('emojione', 'banana'), sample('fxemoji', 'rocket')];
      /** @type {Record<string, number>[]} */
      const before = [];
      /** @type {(string|null)[]} */
      const words = [];
      for (const file of asked) {
        before.push(await recognise(page, file));
        words.push(await page.$eval('#verdict', (element) => element.textContent));
      }
      await (await field(page, '#session-button')).click();
      await (await page.waitForSelector('#sessions ::-p-text(Share…)'))?.click();
      await (await page.waitForSelector('::-p-text(People may teach it more)'))?.click();
      await page.waitForFunction(() => /^The file has/.test(document.querySelector('[aria-labelledby="share-title"] [role="status"]')?.textContent ?? ''));
      await (await page.waitForSelector('::-p-text(Save the file)'))?.click();
      const file = await saved('.html');
      await site.stop();
      await page.goto(pathToFileURL(file).href);
      await ready(page);
      assert.equal(await page.$eval('body', (body) => body.dataset.place), 'worker');
      for (const [i, picture] of asked.entries()) {
        const got = await recognise(page, picture);
        assert.deepEqual(Object.keys(got).sort(), Object.keys(before[i]).sort());
        for (const [name, p] of Object.entries(before[i])) assert.ok(Math.abs(got[name] - p) < 1e-6, `${name}: ${got[name]}, on the page ${p}`);
        assert.equal(await page.$eval('#verdict', (element) => element.textContent), words[i]);
      }
      assert.equal(await page.evaluate(() => window.isSecureContext), true, 'a camera may be asked for');
      await (await page.waitForSelector('.correct ::-p-text(Umbrella)'))?.click();
      await (await page.waitForSelector('#keep:not([hidden]) #keep-session'))?.click();
      await saved('.safetensors');
      await page.evaluate(() => { window.onbeforeunload = null; });
    }, downloads);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
