// @ts-check
/** "Use it" of a session of hands: a web page and a sketch, with the network of hands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handOf } from '../../extractors/hands.js';
import { addClass, card, eventually, meters, sample, status, visit } from '../harness.js';
import { assertRounded, listed, ran, saved, unpacked } from './used.js';

const SIGNS = { Stop: 'raised-hand', Peace: 'victory-hand' };

/** @param {string} style @param {string} id */
const file = async (style, id) => ({ name: `${style}-${id}.png`, mimeType: 'image/png', buffer: await handOf(style, id) });

for (const handedness of [false, true]) {
  test(`a web page recognises hands as the page does, ${handedness ? 'left and right told apart' : 'left and right alike'}`, async () => {
    const asked = await Promise.all(Object.values(SIGNS).map((id) => file('emojione', id)));
    /** @type {Record<string, number>[]} */
    const before = [];
    let zip = '';
    await visit({}, async ({ page }) => {
      await page.getByRole('button', { name: 'Hands', exact: true }).click();
      await status(page, 'This session is for hands.');
      if (handedness) {
        await page.getByRole('button', { name: 'Settings' }).click();
        await page.getByLabel(/left and right/i).check();
        await status(page, /^Hands: /);
        await page.keyboard.press('Escape');
      }
      for (const [name, id] of Object.entries(SIGNS)) {
        await addClass(page, name);
        await page.getByLabel(`Add hands to ${name}`, { exact: true }).setInputFiles([await file('noto', id), await file('twemoji', id)]);
        await card(page, name).locator('.thumb').nth(1).waitFor();
      }
      for (const one of asked) {
        await page.getByLabel('Choose a photo of a hand', { exact: true }).setInputFiles(one);
        await status(page, `Recognised “${one.name}”.`);
        before.push(await meters(page));
      }
      zip = await saved(page, 'My own web page');
      await page.getByRole('button', { name: 'Use it…' }).click();
      await page.getByRole('button', { name: 'Scratch' }).click();
      await page.getByText('The blocks for Scratch do not read hands yet').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Save the file' }).count(), 0);
    });
    await ran(unpacked(zip), async (page) => {
      await page.getByText('It knows Stop, Peace.').waitFor();
      for (const [i, one] of asked.entries()) {
        await page.getByLabel('A picture').setInputFiles(one);
        await eventually(async () => assertRounded(await listed(page), before[i]));
      }
      await page.getByLabel('A picture').setInputFiles(sample('noto', 'rocket'));
      await page.getByText(/no hand/i).waitFor();
    });
  });
}
