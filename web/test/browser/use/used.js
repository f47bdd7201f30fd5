// @ts-check
/** Files that "Use it" saves, in tests: taught in the page, unpacked, and served by a server that knows nothing of metaqda. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { unzipSync } from 'fflate';
import { temporaryFolder } from '../../temporary.js';
import { root, teach, visit } from '../harness.js';
import { kept, styles } from '../share/shared.js';

/** @import {Page} from 'playwright-core' */

const folder = temporaryFolder('use');
const TYPES = /** @type {Record<string, string>} */ ({
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
});

/** Teaches three classes. @param {Page} page */
export async function teachThree(page) {
  for (const name of ['Cat', 'Rocket', 'Banana']) await teach(page, name, styles);
}

/** Opens a choice of the dialog and waits until its size is told. @param {Page} page @param {string} name */
export async function choose(page, name) {
  await page.getByRole('button', { name: 'Use it…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Use it' });
  await dialog.getByRole('button', { name }).click();
  await dialog.getByText(/ has (\d+\.\d MB|\d+ KB)\.$/).waitFor();
  return dialog;
}

/** Saves the file of a choice, in five presses at most. @param {Page} page @param {string} name @returns {Promise<string>} */
export async function saved(page, name) {
  const dialog = await choose(page, name);
  const file = await kept(page, 'Save the file');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  return file;
}

/** Unpacks a zip with one folder inside. @param {string} zip @returns {string} that folder */
export function unpacked(zip) {
  const to = mkdtempSync(path.join(folder, 'zip-'));
  const files = unzipSync(new Uint8Array(readFileSync(zip)));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.join(to, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(to, name), content);
  }
  const tops = [...new Set(Object.keys(files).map((name) => name.split('/')[0]))];
  assert.equal(tops.length, 1, `one folder: ${tops}`);
  assert.equal(`${tops[0]}.zip`, path.basename(zip));
  return path.join(to, tops[0]);
}

/** A static server as any host has one. @param {string} root @returns {Promise<import('../harness.js').Site>} */
export async function served(root) {
  const server = createServer((request, response) => {
    const name = path.join(root, decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname).replace(/\/$/, '/index.html'));
    try {
      const content = readFileSync(name);
      response.writeHead(200, { 'Content-Type': TYPES[path.extname(name)] ?? 'application/octet-stream' }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    folder: root,
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * Opens a folder in a browser that has never seen the site, with nothing but the folder's server to ask.
 *
 * @param {string} root @param {(page: Page) => Promise<void>} check
 * @param {import('../harness.js').VisitOptions} [options]
 */
export async function ran(root, check, options = {}) {
  const site = await served(root);
  try {
    await visit({ flags: [], ...options, site, open: false }, async ({ page }) => {
      await page.goto(`${site.origin}/`);
      await check(page);
    });
  } finally {
    await site.stop();
  }
}

/** The percentages that a list shows, as the probabilities they are. @param {Page} page @returns {Promise<Record<string, number>>} */
export const listed = async (page) =>
  Object.fromEntries(
    (await page.locator('#all li').allTextContents()).map((line) => {
      const [, name, percent] = /** @type {RegExpExecArray} */ (/^(.*): ([\d.]+) %$/.exec(line));
      return [name, Number(percent) / 100];
    }),
  );

/** @param {Record<string, number>} got rounded to tenths of a percent @param {Record<string, number>} want @param {number} [half] half of what it is rounded to */
export function assertRounded(got, want, half = 5.01e-4) {
  assert.deepEqual(Object.keys(got).sort(), Object.keys(want).sort());
  for (const [name, p] of Object.entries(want)) assert.ok(Math.abs(got[name] - p) < half, `${name} ${got[name]}, on the page ${p}`);
}

/** What web/share/README.md says of the size of a choice's file, with three classes, is true to a tenth of a megabyte. @param {string} name of the choice @param {string} file */
export function assertSize(name, file) {
  const readme = readFileSync(path.join(root, 'web/share/README.md'), 'utf8');
  const megabytes = Number(new RegExp(`^\\| ${name} \\| \\w+, ([\\d.]+) MB \\|`, 'm').exec(readme)?.[1]);
  const { size } = statSync(file);
  console.log(`# ${name}: ${size} bytes`);
  assert.ok(Math.abs(size / 1e6 - megabytes) <= 0.1, `${name} has ${(size / 1e6).toFixed(2)} MB, web/share/README.md says ${megabytes}`);
}
