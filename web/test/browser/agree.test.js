// @ts-check
/** What a picture is taken for is said alike by its tile, its dialog, the table, the folders and the headline. */
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { drawings, savedTable, sortState } from './many.js';
import { status, teach, teachNew, visit } from './harness.js';
import { temporaryFolder } from '../temporary.js';

/** @import {Page} from 'playwright-core' */

const folder = temporaryFolder('agree');

/** Of each picture, by its path, the shelf it is on and the number that its tile and its dialog show. @param {Page} page */
const shelves = (page) =>
  page.evaluate(() => {
    const found = /** @type {Record<string, {shelf: string, tile: string, dialog: string, second: boolean, why: boolean}>} */ ({});
    const text = (/** @type {Element} */ root, /** @type {string} */ selector) => (root.querySelector(selector)?.textContent ?? '').trim();
    const viewer = /** @type {HTMLDialogElement} */ (document.querySelector('#viewer'));
    const all = [...document.querySelectorAll('.shelf')].flatMap((shelf) =>
      [...shelf.querySelectorAll('.shot')].map((shot) => ({ shelf: text(shelf, 'h3'), shot })),
    );
    for (const { shelf, shot } of all) {
      /** @type {HTMLElement} */ (shot).click(); // the dialog is drawn at once
      found[text(viewer, '.viewer-name')] = {
        shelf,
        tile: text(shot, '.shot-value'),
        dialog: [...viewer.querySelectorAll('.viewer-taken span')]
          .map((part) => part.textContent)
          .join(' ')
          .trim(),
        second: !viewer.querySelector('.viewer-answer li:first-child.viewer-taken'),
        why: text(viewer, 'p.small.muted').startsWith('It is among “None of these”'),
      };
    }
    viewer.close();
    return found;
  });

/** The folder of each copy, by the path of the picture. @param {Page} page @returns {Promise<Record<string, string>>} */
async function folders(page) {
  await page.evaluate(() => {
    Object.assign(globalThis, { showDirectoryPicker: () => navigator.storage.getDirectory() });
  });
  await page.getByRole('button', { name: 'Copy into folders' }).click();
  await status(page, /^\d+ pictures copied into/);
  return page.evaluate(async () => {
    const found = /** @type {Record<string, string>} */ ({});
    const top = /** @type {any} */ (await navigator.storage.getDirectory());
    for await (const [name, entry] of top.entries()) for await (const [file] of entry.entries()) found[file] = name;
    return found;
  });
}

/** The whole percents of a number of the table, as the page shows them. @param {string} p */
const percent = (p) => (Number(p) >= 0.995 && Number(p) < 1 ? '> 99 %' : Number(p) > 0 && Number(p) < 0.005 ? '< 1 %' : `${Math.round(100 * Number(p))} %`);

/** The rows of the table, once all agree with tiles, dialogs and the heading. @param {Page} page */
async function agreed(page) {
  const [shown, { head, rows }] = [await shelves(page), await savedTable(page)];
  assert.equal(Object.keys(shown).length, 36);
  const bound = Number(/less than (\d+)\u00a0% sure/.exec((await page.locator('.sort-state').textContent()) ?? '')?.[1]);
  for (const row of rows) {
    const { shelf, tile, dialog, second, why } = shown[row.file];
    const rounded = [-0.00005, 0.00005].map((half) => percent(String(Number(row.probability) + half))); // the table has four digits
    const said = rounded.includes(tile) ? tile : percent(row.probability);
    const answer = row.answer === 'none of these' ? 'None of these' : row.answer;
    const taught = row['taught as'] && row['taught as'] !== 'none of these'; // which teaches nothing
    assert.deepEqual([shelf, tile, dialog], taught ? [answer, 'taught', `Taught as ${answer}`] : [answer, said, `${answer} ${said}`], row.file);
    assert.equal(why, second, `${row.file}: why it is none of these, where a class is more probable`);
    if (answer !== 'None of these') assert.ok(!second, row.file);
    assert.equal(row.probability, row[row.answer], row.file);
    assert.equal(
      row.doubtful === 'yes',
      Math.round(100 * Number(row.probability)) < bound,
      `${row.file}, ${row.probability}: doubtful is less than ${bound} %`,
    );
    if (answer !== 'None of these')
      assert.equal(Number(row.probability), Math.max(...head.slice(5, -1).map((name) => Number(row[name]))), `${row.file} is of the most probable class`);
  }
  return rows;
}

test('of mixed pictures, after several presses, tile, dialog, table, folder and headline agree about each', { timeout: 240_000 }, () =>
  visit({}, async ({ page }) => {
    for (const name of ['Cat', 'Rocket']) await teach(page, name, ['noto']);
    const files = [];
    for (const file of await drawings(folder, 3)) {
      const concept = path.basename(path.dirname(file));
      files.push(path.join(folder, `${concept}-${path.basename(file)}`));
      await cp(file, files[files.length - 1]);
    }
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(files);
    await sortState(page, /^Judged together/);

    // Some of what is none of these becomes a class, and what else is of it follows; one is said to be none of the classes.
    const none = page.getByRole('region', { name: 'None of these' });
    const penguins = none.getByRole('checkbox', { name: /^Select / });
    const names = await none.locator('.shot-name').evaluateAll((all) => all.map((one) => one.getAttribute('title') ?? ''));
    const picked = names.flatMap((name, i) => (name.startsWith('penguin-') ? [i] : [])).slice(0, 1);
    assert.equal(picked.length, 1, `penguins among ${names}`);
    for (const i of picked) await penguins.nth(i).check();
    await teachNew(page, page.getByRole('region', { name: 'Selected pictures' }), 'Penguin');
    await status(page, /^36 pictures: .*\d Penguin/);
    await sortState(page, /^Judged together/);
    const [, said] = await page
      .locator('.shelf')
      .filter({ hasText: 'Penguin' })
      .locator('.shot-card:not(.taught) .shot-name')
      .evaluateAll((all) => all.map((one) => one.getAttribute('title') ?? ''));
    const { rows: before } = await savedTable(page);
    await page
      .locator('.shot')
      .filter({ has: page.locator(`[title="${said}"]`) })
      .click();
    const viewer = page.getByRole('dialog', { name: 'Picture' });
    await viewer.getByRole('button', { name: 'None of these' }).click();
    await status(page, '1 picture marked as none of these.');
    await page.keyboard.press('Escape');
    await viewer.waitFor({ state: 'hidden' });

    const rows = await agreed(page);
    for (const row of rows) {
      if (row.file === said) assert.deepEqual([row.answer, row.probability], ['none of these', '1.0000']);
      else
        assert.deepEqual(
          row,
          before.find(({ file }) => file === row.file),
          'others stay as they were',
        );
    }
    const followed = rows.filter((row) => names.includes(row.file) && !row['taught as'] && row.answer === 'Penguin');
    assert.ok(
      followed.some(({ probability }) => Number(probability) < 0.9),
      `none of these before: ${followed.map(({ file, probability }) => `${file} ${probability}`)}`,
    );
    const copied = await folders(page);
    assert.deepEqual(copied, Object.fromEntries(rows.map(({ file, answer }) => [file, answer])));

    // It stays out of the classes that there were once more is taught.
    await none
      .locator('.shot-card')
      .filter({ has: page.locator('[title^="umbrella-"]') })
      .getByRole('checkbox')
      .first()
      .check();
    await teachNew(page, page.getByRole('region', { name: 'Selected pictures' }), 'Umbrella');
    await status(page, /^36 pictures: .*\d Umbrella/);
    await sortState(page, /^Judged together/);
    const last = await agreed(page);
    const left = last.find(({ file }) => file === said) ?? {};
    assert.deepEqual([left.Cat, left.Rocket, left.Penguin], ['0.0000', '0.0000', '0.0000'], `${said} is none of them`);
    assert.ok(Math.abs(Number(left.Umbrella) + Number(left['none of these']) - 1) < 0.001);

    // Alone, a picture is none of these where it is among the others.
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    for (const row of last.filter((one) => !one['taught as'] && one.file !== said).slice(0, 8)) {
      await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(path.join(folder, row.file));
      await status(page, `Recognised “${row.file}”`);
      const headline = await page.locator('#verdict').innerText();
      assert.ok(headline.includes(row.answer), `${row.file}, ${row.answer}: ${headline}`);
      const best = (await page.locator('.meter-best .meter-name').textContent()) ?? '';
      const [first] = /none of these|cat|rocket|penguin|umbrella/.exec(headline.toLowerCase()) ?? [''];
      assert.equal(first, best.toLowerCase(), headline);
    }
  }),
);
