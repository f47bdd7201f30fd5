// @ts-check
/** A shared file in Firefox: written by the page there, opened from disk without a network. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { sample } from '../browser/harness.js';
import { nsfwjs, textDirection } from '../extractors/networks.js';
import { LONG } from '../long.js';
import { field, ready, recognise, teach, visit } from './firefox.js';

/**
 * Uses another extractor in the session that is open.
 *
 * @param {import('puppeteer-core').Page} page @param {string} extractor its folder
 */
async function bring(page, extractor) {
  await (await page.waitForSelector('#settings-button'))?.click();
  await (await page.waitForSelector('::-p-text(Use another extractor…)'))?.click();
  const files = await readdir(extractor);
  await (await field(page, '#extractors input[type="file"]:not([webkitdirectory])')).uploadFile(...files.map((file) => path.join(extractor, file)));
  await (await page.waitForSelector('#extractors ::-p-text(Use it in this session)'))?.click();
  await page.waitForFunction(() => /is in use\.$/.test(document.querySelector('#status')?.textContent ?? ''));
}

/** @type {[string, ((folder: string) => Promise<string>)|null][]} */
const extractors = [['the page’s own extractor', null], ['a TensorFlow.js graph that was brought', nsfwjs], ['an ONNX network that was brought', textDirection]];

for (const [name, make] of extractors) test(`a file shared from Firefox with ${name} answers there from disk as the page did, and learns`, { timeout: 120_000, ...make ? LONG : {} }, async () => {
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
      if (make) await bring(page, path.dirname(await make(path.join(folder, 'extractor'))));
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
      await (await page.waitForSelector(make ? '::-p-text(MB all the same)' : '::-p-text(Save the file)'))?.click();
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
      const keep = await page.waitForSelector('#keep:not([hidden]) #keep-session');
      await keep?.evaluate((button) => button.scrollIntoView({ block: 'center', behavior: 'instant' })); // from under what the page says
      await keep?.click();
      await saved('.safetensors');
      await page.evaluate(() => { window.onbeforeunload = null; });
    }, downloads);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
