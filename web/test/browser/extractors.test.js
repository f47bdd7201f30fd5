// @ts-check
/** Another extractor in the page: brought, checked, kept, used in its sessions, and removed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { promisify } from 'node:util';
import { nsfwjs, speech, textDirection } from '../extractors/networks.js';
import {
  addClass, assertProbabilities, card, faults, most, offlineReady, open, recognise, root, sample, serveSite, status, teach, visit,
} from './harness.js';

/** @typedef {import('playwright-core').Page} Page */

/** @type {string} */
let temporary;
/** @type {Record<'onnx' | 'graph', string>} */
const folders = { onnx: '', graph: '' };
const onnxName = 'ppocr-direction-192@2.0';
const graphName = 'nsfwjs-mobilenetv2-224@4.4.0';

before(async () => {
  temporary = await mkdtemp(path.join(tmpdir(), 'extractors-'));
  folders.onnx = path.dirname(await textDirection(path.join(temporary, 'onnx')));
  folders.graph = path.dirname(await nsfwjs(path.join(temporary, 'graph')));
});
after(() => rm(temporary, { recursive: true, force: true }));

/** @param {Page} page */
const dialog = (page) => page.getByRole('dialog', { name: 'Use another extractor' });

/** @param {Page} page */
async function openDialog(page) {
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Use another extractor…' }).click();
  await dialog(page).getByRole('heading', { name: 'Use another extractor' }).waitFor();
}

/** Gives a folder to the dialog. @param {Page} page @param {string} folder */
async function bring(page, folder) {
  await openDialog(page);
  await dialog(page).getByLabel('Folder of the extractor').setInputFiles(folder);
}

/** @param {Page} page */
const inUse = (page) => dialog(page).getByRole('listitem').filter({ hasText: 'In use' });

/** @param {Page} page */
async function closeDialogs(page) {
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').first().waitFor({ state: 'hidden' });
}

/** @param {Page} page */
const cached = (page) => page.evaluate(async () => {
  const found = [];
  for (const name of await caches.keys()) for (const { url } of await (await caches.open(name)).keys()) found.push(new URL(url).pathname);
  return found;
});

test('an ONNX network reads a session’s pictures anew, is kept, and works offline', { timeout: 240_000 }, async () => {
  const site = await serveSite();
  const profile = await mkdtemp(path.join(tmpdir(), 'profile-'));
  try {
    await visit({ site, profile }, async ({ page, requested }) => {
      await offlineReady(page);
      assert.deepEqual(requested.filter((name) => name.startsWith('/networks/')), [], 'nothing of it in the first load');
      assert.deepEqual((await cached(page)).filter((name) => name.startsWith('/networks/')), [], 'nor in what is kept for offline use');
      const first = await page.locator('#session-name').textContent();
      await teach(page, 'Cat', ['noto', 'twemoji', 'openmoji']);
      await teach(page, 'Rocket', ['noto', 'twemoji']);
      await bring(page, folders.onnx);
      await dialog(page).getByRole('heading', { name: onnxName }).waitFor();
      const found = dialog(page);
      await found.getByText('200 numbers for each picture. Licence: Apache-2.0').waitFor();
      await found.getByText('No background knowledge was learned for this extractor.').waitFor();
      await found.getByText(/go run \.\/scripts\/metaqda train --data ppocr-direction-192-2\.0\.npz/).waitFor();
      assert.deepEqual(await faults(page), [], 'the dialog');
      await found.getByRole('button', { name: 'Read the 5 pictures of this session anew' }).click();
      await status(page, '5 pictures read anew, in a session of their own.');
      await page.locator('#session-name').filter({ hasText: `read by ${onnxName}` }).waitFor();
      await card(page, 'Cat').getByText('3 pictures').waitFor();
      await card(page, 'Rocket').getByText('2 pictures').waitFor();
      assertProbabilities(await recognise(page, sample('emojione', 'cat')));
      await page.getByRole('button', { name: 'Where did it look?' }).click();
      await page.getByRole('img', { name: /^What spoke for/ }).waitFor();
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.getByText(/^Plain, not learned: 200 numbers per picture/).waitFor();
      await page.keyboard.press('Escape');
      assert.ok((await cached(page)).filter((name) => name.startsWith('/networks/')).length >= 3, 'what ran it is kept from now on');

      // Each session keeps its own: going there and back changes extractors.
      await page.getByRole('button', { name: /^Session:/ }).click();
      await page.getByRole('button', { name: `Open ${first}`, exact: true }).click();
      await card(page, 'Cat').getByText('3 pictures').waitFor();
      await page.getByText(/were read by another feature extractor/).waitFor({ state: 'detached' });
      const before = await recognise(page, sample('emojione', 'cat'));
      assert.equal(most(before), 'Cat');
      await page.getByRole('button', { name: /^Session:/ }).click();
      await page.getByRole('button', { name: `Open ${first} read by ${onnxName}`.slice(0, 85), exact: true }).click();
      await status(page, `The extractor “${onnxName}” is in use.`);
    });
    await visit({ site, profile }, async ({ page, context }) => {
      await site.stop();
      await context.setOffline(true);
      await page.reload();
      await page.locator('body[data-ready]').waitFor({ state: 'attached' });
      await status(page, `The extractor “${onnxName}” is in use.`);
      await card(page, 'Cat').getByText('3 pictures').waitFor();
      assertProbabilities(await recognise(page, sample('emojione', 'rocket')));
    });
  } finally {
    await site.stop();
    await rm(profile, { recursive: true, force: true });
  }
});
