// @ts-check
/** Files that the page shares, in tests: written by it, opened from disk without a network. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { temporaryFolder } from '../../temporary.js';
import { downloaded, recognise, sample, status, visit } from '../harness.js';

/** @import {Page} from 'playwright-core' */

export const folder = temporaryFolder('share');

export const styles = ['noto', 'twemoji', 'openmoji'];

/** The command line's way to the same file. */
export const command = fileURLToPath(new URL('../../../../scripts/share.mjs', import.meta.url));

/** Uses another extractor in the session that is open. @param {Page} page @param {string} manifest its file, beside the others */
export async function bring(page, manifest) {
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Use another extractor…' }).click();
  const files = (await readdir(path.dirname(manifest))).map((file) => path.join(path.dirname(manifest), file));
  await page.locator('#extractors input[type="file"]:not([webkitdirectory])').setInputFiles(files);
  await page.getByRole('button', { name: 'Use it in this session' }).click();
  await status(page, /^The extractor “.*” is in use\.$/);
}

/**
 * Saves the file that the share dialog makes.
 *
 * @param {Page} page @param {{learn?: boolean, pictures?: boolean}} [options]
 */
export async function share(page, { learn = false, pictures = false } = {}) {
  await page.getByRole('button', { name: /^Session:/ }).click();
  await page.getByRole('dialog', { name: 'Sessions' }).getByRole('button', { name: 'Share…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Share' });
  await dialog.getByText(/^The file has/).waitFor();
  if (learn) await dialog.getByLabel('Others may teach it more').check();
  if (pictures) await dialog.getByLabel(/^With the /).check();
  const file = await kept(page, /^Save the file$/);
  await dialog.waitFor({ state: 'hidden' });
  await page.keyboard.press('Escape');
  return file;
}

/** Presses a button that saves a file, and answers where it is. @param {Page} page @param {string|RegExp} button */
export async function kept(page, button) {
  const download = await downloaded(page, button);
  const file = path.join(await mkdtemp(path.join(folder, 'file-')), download.suggestedFilename());
  await download.saveAs(file);
  return file;
}

/**
 * Opens a file from disk, with no network, in a browser that has never been on the site.
 *
 * @param {string} file
 * @param {(page: Page) => Promise<void>} check
 * @param {import('../harness.js').VisitOptions} [options]
 */
export function opened(file, check, options = {}) {
  return visit({ ...options, open: false }, async ({ page, context }) => {
    await context.setOffline(true);
    /** @type {string[]} */
    const asked = [];
    context.on('request', (request) => {
      if (!/^(blob|data):/.test(request.url())) asked.push(request.url());
    });
    await page.goto(pathToFileURL(file).href);
    await page.locator('body[data-ready], #trouble:not([hidden])').first().waitFor({ state: 'attached' });
    assert.equal(await page.locator('#trouble').textContent(), '', 'the file opened');
    await check(page);
    assert.deepEqual(asked, [pathToFileURL(file).href], 'nothing but the file was asked for');
  });
}

/** The answer in words and numbers. @param {Page} page @param {string} file */
export async function answer(page, file) {
  const numbers = await recognise(page, file);
  return { numbers, words: await page.locator('#verdict').textContent() };
}

/** @param {Record<string, number>} got @param {Record<string, number>} want */
export function assertNear(got, want) {
  assert.deepEqual(Object.keys(got).sort(), Object.keys(want).sort());
  for (const [name, p] of Object.entries(want)) assert.ok(Math.abs(got[name] - p) < 1e-6, `${name} ${got[name]}, on the page ${p}`);
}

export const outOfSet = fileURLToPath(new URL('../../../../testdata/parity/anchor_image_0001.jpg', import.meta.url));
export const asked = [
  ...[
    ['emojione', 'cat'],
    ['fxemoji', 'rocket'],
    ['emojione', 'banana'],
  ].map(([style, name]) => sample(style, name)),
  outOfSet,
];
