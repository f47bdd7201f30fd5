// @ts-check
/** Sessions: kept over restarts of the browser, several side by side. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { addClass, assertSame, card, open, recognise, sample, serveSite, status, teach, visit } from './harness.js';

test('what one tab was taught is there after a restart of the browser', async () => {
  const site = await serveSite();
  const profile = await mkdtemp(path.join(tmpdir(), 'profile-'));
  /** @type {Record<string, number>} */
  let before = {};
  try {
    await visit({ site, profile }, async ({ page }) => {
      await teach(page, 'Cat', ['noto', 'twemoji']);
      await teach(page, 'Rocket', ['noto', 'twemoji']);
      before = await recognise(page, sample('emojione', 'rocket'));
    });
    await visit({ site, profile }, async ({ page }) => {
      await card(page, 'Cat').getByText('2 pictures').waitFor();
      await card(page, 'Rocket').getByRole('img', { name: 'Picture 2 of Rocket' }).waitFor();
      assertSame(await recognise(page, sample('emojione', 'rocket')), before);
    });
  } finally {
    await site.stop();
    await rm(profile, { recursive: true, force: true });
  }
});

test('sessions are made, switched, renamed and deleted', () => visit({}, async ({ page }) => {
  await addClass(page, 'Cat');
  const dialog = page.getByRole('dialog', { name: 'Sessions' });
  const button = page.getByRole('button', { name: /^Session:/ });
  const first = (await page.locator('#session-name').textContent()) ?? '';

  await button.click();
  await dialog.getByRole('textbox', { name: 'Name of a new session' }).fill('Garden');
  await dialog.getByRole('button', { name: 'New session' }).click();
  await status(page, 'The new session “Garden” is open.');
  await card(page, 'Cat').waitFor({ state: 'detached' });
  await addClass(page, 'Finch');

  await button.click();
  const name = dialog.getByRole('textbox', { name: 'Name of the session Garden' });
  await name.fill('Birds');
  await name.press('Enter');
  await page.locator('#session-name').filter({ hasText: 'Birds' }).waitFor();
  await dialog.getByRole('button', { name: `Open ${first}` }).click();
  await card(page, 'Cat').waitFor();
  await card(page, 'Finch').waitFor({ state: 'detached' });

  await button.click();
  await dialog.getByRole('button', { name: 'Delete Birds' }).click();
  await dialog.getByText('Delete “Birds” with 0 pictures for good?').waitFor();
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByRole('textbox', { name: 'Name of the session Birds' }).waitFor({ state: 'detached' });
  await card(page, 'Cat').waitFor();
}));

test('what one tab changes is seen in another', () => visit({}, async ({ page, context, site }) => {
  await teach(page, 'Cat', ['noto']);
  const other = await context.newPage();
  await open(other, site);
  await card(other, 'Cat').getByText('1 picture').waitFor();
  await teach(other, 'Rocket', ['noto', 'twemoji']);
  await card(page, 'Rocket').getByText('2 pictures').waitFor();
}));

test('where nothing can be kept the page says so and works all the same', () => visit({ open: false }, async ({ page, site }) => {
  await page.addInitScript(() => {
    const refuse = () => { throw new DOMException('refused', 'SecurityError'); };
    Object.defineProperty(window, 'indexedDB', { value: { open: refuse } });
  });
  await open(page, site);
  await page.getByRole('region', { name: 'Notices' }).getByRole('status').filter({ hasText: /\.$/ }).waitFor();
  await teach(page, 'Cat', ['noto', 'twemoji']);
  await teach(page, 'Rocket', ['noto', 'twemoji']);
  await recognise(page, sample('emojione', 'cat'));
}));
