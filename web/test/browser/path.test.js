// @ts-check
/** The whole path: teach with pictures, recognise another, reload offline, take things back. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { LONG } from '../long.js';
import {
  addPictures,
  assertMeters,
  assertProbabilities,
  assertSame,
  card,
  downloaded,
  eventually,
  meters,
  most,
  offlineReady,
  open,
  priorText,
  ready,
  recognise,
  sample,
  serveSlowly,
  serveSite,
  status,
  teach,
  touchPrior,
  visit,
  sessionsOf,
} from './harness.js';

const names = ['Cat', 'Banana', 'Rocket', 'Umbrella', 'Bicycle'];
const taught = ['noto', 'twemoji', 'openmoji'];

test('five classes of three styles recognise a fourth style, and offline after a reload with the same numbers', async () => {
  const site = await serveSite();
  try {
    await visit({ site, offline: true }, async ({ page, context }) => {
      for (const name of names) await teach(page, name, taught);
      let right = 0;
      /** @type {Record<string, Record<string, number>>} */
      const before = {};
      for (const name of names) {
        const probabilities = (before[name] = await recognise(page, sample('emojione', name.toLowerCase())));
        assert.deepEqual(Object.keys(probabilities).sort(), [...names, 'None of these'].sort());
        assertProbabilities(probabilities);
        if (most(probabilities) === name) right++;
      }
      assert.ok(right >= 4, `${right} of 5 recognised: ${JSON.stringify(before)}`);

      await offlineReady(page);
      await context.setOffline(true);
      await site.stop();
      await page.reload();
      await ready(page);
      for (const name of names) {
        await card(page, name).getByText('3 pictures').waitFor();
        assertSame(await recognise(page, sample('emojione', name.toLowerCase())), before[name], `${name} offline`);
      }
    });
  } finally {
    await site.stop();
  }
});

test('while the page loads it says how much is there, and never more than all', async () => {
  const site = await serveSlowly(2.4e6);
  await visit({ site, open: false }, async ({ page }) => {
    await page.goto(site.origin, { waitUntil: 'commit' });
    await ready(page);
    const said = await page.evaluate(() => /** @type {{said: string[]}} */ (/** @type {unknown} */ (globalThis)).said.filter(Boolean));
    assert.equal(said.pop(), 'Ready.');
    const shares = said.map((text) => Number(/^Loading, (\d+)\s%$/.exec(text)?.[1] ?? assert.fail(text)));
    assert.ok(shares.length > 5 && new Set(shares).size < 12, `a screen reader reads aloud ${said.join(' ')}`);
    assert.ok(
      shares.every((share, i) => share <= 100 && share >= (shares[i - 1] ?? 0)),
      said.join(' '),
    );
    assert.equal(shares.at(-1), 100);
  }).finally(site.stop);
});

test('a removed picture changes the probabilities, and undoing brings exactly the old ones back', () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', taught);
    await teach(page, 'Rocket', taught);
    await teach(page, 'Banana', ['noto']); // one class by itself would be compared part by part, without probabilities of classes
    const before = await recognise(page, sample('emojione', 'cat'));

    await page.getByRole('button', { name: 'Remove picture 2 of Cat' }).dblclick(); // removes one
    await card(page, 'Cat').getByText('2 pictures').waitFor();
    await eventually(async () => assert.notDeepEqual(await meters(page), before));
    assertProbabilities(await meters(page));

    await page.getByRole('button', { name: 'Undo' }).click();
    await card(page, 'Cat').getByText('3 pictures').waitFor();
    await assertMeters(page, before);

    await page.getByRole('button', { name: 'Delete Rocket' }).click();
    await card(page, 'Rocket').waitFor({ state: 'detached' });
    await eventually(async () => assert.deepEqual(Object.keys(await meters(page)).sort(), ['Banana', 'Cat', 'None of these']));
    await page.keyboard.press('Control+z');
    await card(page, 'Rocket').getByText('3 pictures').waitFor();
    await assertMeters(page, before);
  }));

test('settings change the prediction at once and survive a reload', LONG, () =>
  visit({}, async ({ page, site }) => {
    await teach(page, 'Cat', taught);
    await teach(page, 'Rocket', taught);
    const before = await recognise(page, sample('emojione', 'cat'));
    const dialog = page.getByRole('dialog', { name: 'Settings' });

    await page.getByRole('button', { name: 'Settings' }).click();
    const beforehand = await dialog.getByRole('slider').inputValue();
    await dialog.getByRole('slider').fill('0.45');
    await page.waitForFunction((old) => document.querySelector('[role=meter][aria-label=Cat]')?.getAttribute('aria-valuenow') !== String(old), before.Cat);
    assertProbabilities(await meters(page));
    await dialog.getByRole('slider').fill(beforehand);
    await page.waitForFunction((old) => document.querySelector('[role=meter][aria-label=Cat]')?.getAttribute('aria-valuenow') === String(old), before.Cat);
    assertSame(await meters(page), before);

    await dialog.getByRole('slider').fill('0');
    await page.waitForFunction(() => Number(document.querySelector('[role=meter][aria-label="None of these"]')?.getAttribute('aria-valuenow')) === 0);
    await dialog.getByRole('radio', { name: 'As taught' }).check();
    await page.locator('#settings:not([aria-busy])').waitFor();
    await open(page, site);
    await page.getByRole('button', { name: 'Settings' }).click();
    assert.ok(await dialog.getByRole('radio', { name: 'As taught' }).isChecked());
    assert.equal(await dialog.getByRole('slider').inputValue(), '0');
  }),
);

test('a classifier saved to a file gives the same probabilities where it is loaded, and tells when it was saved', () =>
  visit({}, async ({ page, site }) => {
    await teach(page, 'Cat', taught);
    await teach(page, 'Rocket', taught);
    const before = await recognise(page, sample('emojione', 'rocket'));
    const dialog = await sessionsOf(page);
    const rows = dialog.getByRole('listitem');
    await dialog.getByText('never saved to a file').waitFor(); // said once
    const file = await (await downloaded(page, 'Save this session')).path();
    await page.getByLabel('Open a saved session').setInputFiles(file);
    await status(page, 'The session was opened.');
    await rows.getByRole('textbox', { name: 'Name of the session My classes (2)' }).waitFor();
    await rows.getByText('saved to a file today').waitFor();
    await dialog.getByText('Last saved to a file: ').waitFor(); // what came out of a file is in one
    assert.equal(await dialog.getByText('It was changed since').count(), 0);
    await visit({ site }, async ({ page: fresh }) => {
      await sessionsOf(fresh);
      await fresh.getByLabel('Open a saved session').setInputFiles(file);
      await status(fresh, 'The session was opened.');
      await fresh.keyboard.press('Escape');
      assertSame(await recognise(fresh, sample('emojione', 'rocket')), before);
      await addPictures(fresh, 'Rocket', [sample('fxemoji', 'rocket')]);
      await sessionsOf(fresh);
      await fresh.getByText('It was changed since: save it again.').waitFor();
      await fresh.getByLabel('Open a saved session').setInputFiles(sample('noto', 'cat'));
      await fresh.getByRole('dialog').getByRole('alert').filter({ hasText: /\w/ }).waitFor();
    });
  }));

test('a prior is exported, another imported, and the built-in one brought back', LONG, () =>
  visit({}, async ({ page, site }) => {
    const dialog = page.getByRole('dialog', { name: 'Settings' });
    const before = await priorText(page);
    const back = dialog.getByRole('button', { name: 'Use the built-in one' });
    await back.waitFor({ state: 'hidden' });
    const file = await readFile(await (await downloaded(page, 'Save background knowledge')).path());
    const other = { name: 'other.safetensors', mimeType: 'application/octet-stream', buffer: touchPrior(file) };
    await dialog.getByLabel('Open background knowledge').setInputFiles(other);
    await status(page, 'The background knowledge was opened.');
    await back.waitFor();
    assert.notEqual(await priorText(page), before);
    await page.keyboard.press('Escape');
    await sessionsOf(page);
    const session = await (await downloaded(page, 'Save this session')).path();
    await page.keyboard.press('Escape');
    await visit({ site }, async ({ page: fresh }) => {
      await sessionsOf(fresh);
      await fresh.getByLabel('Open a saved session').setInputFiles(session);
      const notice = fresh.locator('.toast').filter({ hasText: 'that is not on this device' });
      await notice.waitFor();
      await fresh.keyboard.press('Escape');
      assert.equal(await priorText(fresh), before);
      await fresh.getByLabel('Open background knowledge').setInputFiles(other);
      await status(fresh, 'The background knowledge was opened.');
      assert.notEqual(await priorText(fresh), before);
      await notice.waitFor({ state: 'detached' });
    });
    await priorText(page);
    await back.click();
    await status(page, 'The built-in background knowledge is used.');
    await back.waitFor({ state: 'hidden' });
    assert.equal(await priorText(page), before);
    await dialog
      .getByLabel('Open background knowledge')
      .setInputFiles({ name: 'torn.safetensors', mimeType: 'application/octet-stream', buffer: file.subarray(0, 1000) });
    await dialog.getByRole('alert').filter({ hasText: /\w/ }).waitFor();
    assert.equal(await priorText(page), before);
  }),
);
