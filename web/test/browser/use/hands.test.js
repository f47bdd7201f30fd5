// @ts-check
/** "Use it" of a session of hands: a web page and blocks for Scratch, with the network of hands. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../temporary.js';
import { handOf } from '../../extractors/hands.js';
import { LONG } from '../../long.js';
import { addClass, card, eventually, meters, sample, status, visit } from '../harness.js';
import { call, frame, hold, loaded, machine, scratchSite } from './scratch.js';
import { assertRounded, listed, ran, saved, unpacked } from './used.js';

const folder = temporaryFolder('use-hands');
const SIGNS = { Stop: 'raised-hand', Peace: 'victory-hand' };

/** @param {string} style @param {string} id */
const file = async (style, id) => ({ name: `${style}-${id}.png`, mimeType: 'image/png', buffer: await frame(await handOf(style, id)) });

for (const handedness of [false, true]) {
  test(
    `a web page and the blocks for Scratch recognise hands as the page does, ${handedness ? 'left and right told apart' : 'left and right alike'}`,
    LONG,
    async () => {
      const asked = await Promise.all(Object.values(SIGNS).map((id) => file('emojione', id)));
      /** @type {Record<string, number>[]} */
      const before = [];
      let zip = '';
      let extension = '';
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
        extension = await saved(page, 'Scratch');
      });
      await ran(unpacked(zip), async (page) => {
        await page.getByText('It knows Stop, Peace.').waitFor();
        for (const [i, one] of asked.entries()) {
          await page.getByLabel('A picture').setInputFiles(one);
          await eventually(async () => assertRounded(await listed(page), before[i]));
        }
        await page.getByLabel('A picture').setInputFiles(sample('noto', 'rocket'));
        await page.getByText(/no hand/i).waitFor();
        assert.deepEqual(await listed(page), {});
      });
      if (!existsSync(machine)) return; // scratch-vm is not installed
      await ran(scratchSite(path.join(folder, `site-${handedness}`), extension), async (page) => {
        await loaded(page);
        await hold(page, asked[0].buffer);
        await call(page, 'camera', { STATE: 'on' });
        for (const [i, { buffer }] of asked.entries()) {
          await hold(page, buffer);
          await eventually(async () => {
            for (const [name, want] of Object.entries(before[i])) {
              const p = (await call(page, 'probability', { LABEL: name })) / 100;
              assert.ok(Math.abs(p - want) < 1e-6, `${name} ${p}, on the page ${want}`);
            }
          });
          assert.equal(await call(page, 'see'), Object.keys(SIGNS)[i]);
        }
        await hold(page, await frame(sample('noto', 'rocket')));
        await eventually(async () => assert.equal(await call(page, 'see'), 'None of these'));
        assert.equal(await call(page, 'sure'), 0, 'no hand is no answer');
        await hold(page, asked[1].buffer);
        await call(page, 'teach', { LABEL: 'Again' });
        assert.ok((await page.evaluate(() => /** @type {any} */ (globalThis).extension.labels())).includes('Again'));
        await call(page, 'camera', { STATE: 'off' });
      });
    },
  );
}
