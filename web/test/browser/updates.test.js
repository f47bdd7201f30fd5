// @ts-check
/** New versions of the site, and the prior that is fetched once. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { changeFile, copySite, offlineReady, open, priorText, ready, serveSite, touchPrior, visit } from './harness.js';

/** @param {(site: import('./harness.js').Site) => Promise<void>} check */
async function onCopy(check) {
  const { folder, remove } = await copySite();
  const site = await serveSite(folder);
  try {
    await check(site);
  } finally {
    await site.stop();
    await remove();
  }
}

test('a new version is announced and comes with one press', () => onCopy((site) => visit({ site }, async ({ page }) => {
  await offlineReady(page);
  const first = await caches(page);
  assert.equal(first.length, 1);
  const version = await changeFile(site.folder, 'web/style.css', (css) => Buffer.from(`${css}\n:root { --changed: 1; }\n`));
  await page.reload();
  await page.getByText('A new version is ready.').waitFor();
  const changed = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--changed').trim());
  assert.equal(await changed(), '', 'the old version stays until the person agrees');
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Reload' }).click()]);
  await ready(page);
  assert.equal(await changed(), '1');
  await page.waitForFunction(async (name) => String(await window.caches.keys()) === name, `metaqda-${version}`);
})));

test('a tab that did not ask for the new version is told when another has', () => onCopy((site) => visit({ site }, async ({ page, context }) => {
  await offlineReady(page);
  const other = await context.newPage();
  await open(other, site);
  await changeFile(site.folder, 'web/style.css', (css) => Buffer.from(`${css}\n:root { --changed: 1; }\n`));
  await page.reload();
  await page.getByText('A new version is ready.').waitFor();
  await page.getByRole('button', { name: 'Reload' }).click();
  await other.getByText('Another tab has started a new version.').waitFor();
})));

/** @param {import('playwright-core').Page} page */
function caches(page) {
  return page.evaluate(() => window.caches.keys());
}

test('the prior is fetched once over reloads, and again only when its hash changes', () => onCopy((site) => visit({
  site, context: { serviceWorkers: 'block' },
}, async ({ page, requested }) => {
  const fetches = () => requested.filter((path) => path.endsWith('/prior.safetensors')).length;
  assert.equal(fetches(), 1);
  await open(page, site);
  await open(page, site);
  assert.equal(fetches(), 1, 'after two reloads');
  const before = await priorText(page);
  await changeFile(site.folder, 'prior.safetensors', touchPrior);
  await open(page, site);
  assert.equal(fetches(), 2, 'after its hash changed');
  assert.notEqual(await priorText(page), before);
  await open(page, site);
  assert.equal(fetches(), 2, 'and not again');
})));
