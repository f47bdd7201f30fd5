// @ts-check
/** A shared file in Firefox: written by the page there, opened from disk without a network. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { ready, sample, status, teach, visit } from '../browser/harness.js';
import { answer, assertNear, bring } from '../browser/share/shared.js';
import { nsfwjs, textDirection } from '../extractors/networks.js';
import { LONG } from '../long.js';
import { temporaryFolder } from '../temporary.js';

/** What a folder of downloads gets: this Firefox tells nobody of them. @param {string} folder @param {string} ending */
async function saved(folder, ending) {
  for (;;) {
    const all = await readdir(folder);
    const found = all.find((name) => name.endsWith(ending));
    if (found && !all.some((name) => name.endsWith('.part'))) return path.join(folder, found);
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  }
}

/** @type {[string, ((folder: string) => Promise<string>)|null][]} */
const extractors = [
  ['the page’s own extractor', null],
  ['a TensorFlow.js graph that was brought', nsfwjs],
  ['an ONNX network that was brought', textDirection],
];

for (const [name, make] of extractors)
  test(`a file shared from Firefox with ${name} answers there from disk as the page did, and learns`, { timeout: 120_000, ...(make ? LONG : {}) }, async () => {
    const downloads = temporaryFolder('downloads');
    const extractor = make && (await make(path.join(temporaryFolder('extractor'), 'extractor')));
    await visit({ downloads }, async ({ page, site }) => {
      if (extractor) await bring(page, extractor);
      for (const one of ['Banana', 'Umbrella']) await teach(page, one, ['noto', 'twemoji', 'openmoji']);
      const asked = [sample('emojione', 'banana'), sample('fxemoji', 'rocket')];
      const before = [await answer(page, asked[0]), await answer(page, asked[1])];
      await page.locator('#session-button').click();
      await page.getByRole('button', { name: 'Share…' }).click();
      await page.getByLabel('Others may teach it more').check();
      await page.getByText(/^The file has/).waitFor();
      await page.getByRole('button', { name: 'Save the file' }).click();
      const file = await saved(downloads, '.html');
      await site.stop();
      await page.goto(pathToFileURL(file).href);
      await ready(page);
      assert.equal(await page.locator('body').getAttribute('data-place'), 'worker');
      for (const [i, picture] of asked.entries()) {
        const { numbers, words } = await answer(page, picture);
        assertNear(numbers, before[i].numbers);
        assert.equal(words, before[i].words);
      }
      assert.equal(await page.evaluate(() => window.isSecureContext), true, 'a camera may be asked for');
      await page.getByRole('group', { name: 'It is:' }).getByRole('button', { name: 'Umbrella' }).click();
      await status(page, 'Taught as “Umbrella”.');
      await page.getByRole('button', { name: 'Save as a session for metaqda' }).click();
      await saved(downloads, '.safetensors');
      await page.evaluate(() => {
        window.onbeforeunload = null;
      });
    });
  });
