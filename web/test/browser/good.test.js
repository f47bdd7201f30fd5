// @ts-check
/** In a session of one class the page says whether a picture is like its examples, and where it is not. */
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import sharp from 'sharp';
import { temporaryFolder } from '../temporary.js';
import { seeing } from './extractor/film.js';
import { addClass, addPictures, card, eventually, recognise, sample, sessionsOf, status, teach, teachNew, visit } from './harness.js';
import { savedTable, sortState } from './many.js';
import { opened, share } from './share/shared.js';
import { LONG } from '../long.js';

/** @import {Page} from 'playwright-core' */

const folder = temporaryFolder('good');

/** A cat as a camera takes it, one time after the other; with a spot at the upper right if it is bad. @param {number} at @param {boolean} [bad] */
async function cat(at, bad = false) {
  const file = path.join(folder, `${bad ? 'bad' : 'good'}-${at}.png`);
  const input = await sharp(sample('fluent-emoji-flat', 'cat'))
    .resize(240 + 8 * (at % 3))
    .toBuffer();
  const spot = await sharp({ create: { width: 70, height: 70, channels: 3, background: '#3a2a10' } })
    .png()
    .toBuffer();
  const tone = 225 + 4 * (at % 5);
  await sharp({ create: { width: 320, height: 320, channels: 3, background: { r: tone, g: tone, b: tone - 5 } } })
    .composite([{ input, left: 20 + 3 * (at % 4), top: 30 - 2 * (at % 5) }, ...(bad ? [{ input: spot, left: 215, top: 35 }] : [])])
    .png()
    .toFile(file);
  return file;
}

/** What is said of the shown picture. @param {Page} page @param {RegExp} text */
const says = (page, text) => page.locator('.good-says').filter({ hasText: text }).waitFor();

test('good ones and bad ones are told apart from examples of good ones alone', () =>
  visit({}, async ({ page, site }) => {
    await addClass(page, 'Good');
    const files = await Promise.all([0, 1, 2, 3, 4, 5].map((at) => cat(at)));
    await addPictures(page, 'Good', files.slice(0, 2));
    await recognise(page, await cat(11));
    assert.equal(await page.locator('.good').isVisible(), false, 'two examples are too few');
    const offered = async (/** @type {boolean} */ compares) => {
      await (await sessionsOf(page)).getByRole('button', { name: 'Share…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Share' });
      await dialog.getByText(/^“.*” as one file: 1 class/).waitFor();
      assert.equal((await dialog.innerText()).includes('With them the file says whether something is wrong'), compares);
      for (let i = 0; i < 2; i++) await page.keyboard.press('Escape');
    };
    await offered(false);
    await addPictures(page, 'Good', files.slice(2));
    await offered(true);
    await says(page, /^Like the examples of “Good”: (> )?\d+ %$/); // what is shown is judged anew
    await page.getByText('The pictures of this class are nearly the same, so anything else looks unlike them: teach other views, too.').waitFor();
    await page.getByText(/^To tell “.*” from other things, teach a second class\.$/).waitFor();
    const shown = await page.locator('#prediction').innerText();
    assert.equal(shown.match(/%/g)?.length, 1, `one number, not two: ${shown}`);
    const other = await page.context().newPage();
    await other.goto(`${site.origin}/manifest.json`);
    await other.evaluate(() => {
      const channel = new BroadcastChannel('metaqda-messages');
      Object.assign(globalThis, { channel, told: [] });
      channel.onmessage = ({ data }) => data.answer && /** @type {any} */ (globalThis).told.push(data.answer);
      channel.postMessage({ type: 'metaqda', listen: 'answers' });
    });
    await page.getByRole('button', { name: 'Allow' }).click();
    await recognise(page, await cat(8, true));
    await says(page, /^Not like the examples of “Good”: (> )?\d+ %$/);
    const { decision, headline, none, probabilities } = await eventually(async () => {
      const told = /** @type {any} */ (await other.evaluate('told.at(-1)'));
      assert.ok(told);
      return told;
    });
    assert.deepEqual([decision, headline], [null, await page.locator('.good-says').innerText()], 'other pages are told what is shown');
    assert.deepEqual(probabilities, { Good: 1 - none });
    await other.close();
    await page.getByRole('button', { name: 'Where', exact: true }).click();
    await page.getByText('Outlined: what is least like “Good”.', { exact: true }).waitFor();
    const [across, down] = await page
      .locator('.where-lines .where-line')
      .last()
      .evaluate((line) => {
        const { x, y, width, height } = /** @type {SVGPathElement} */ (line).getBBox();
        return [(x + width / 2) / 48, (y + height / 2) / 48];
      });
    assert.ok(across > 0.5 && down < 0.5, `the spot at the upper right is outlined at ${across}, ${down}`);
    const blank = path.join(folder, 'blank.png');
    await sharp({ create: { width: 400, height: 300, channels: 3, background: '#888' } })
      .png()
      .toFile(blank);
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(blank);
    await page.getByText('No place stands out: the picture looks nearly the same everywhere.').waitFor();
    assert.equal(await page.locator('.where-lines').isVisible(), false, 'nothing is outlined in a picture of one colour');
    await page.keyboard.press('Escape');
    await page.reload();
    await card(page, 'Good').waitFor();
    await recognise(page, await cat(9, true)); // the cells of the examples are read from the stored pictures
    await says(page, /^Not like the examples of/);
    await recognise(page, await cat(8));
    await says(page, /^Like the examples of/);
    await teach(page, 'Rocket', ['noto', 'twemoji']);
    await eventually(async () => assert.equal(await page.locator('.good').isVisible(), false, 'two classes are ordinary ones'));
    assert.deepEqual(await Promise.all(['#verdict', '#meters'].map((part) => page.locator(part).isVisible())), [true, true], 'their answer is back');
    await page.getByRole('button', { name: 'Delete Rocket' }).click();
    await says(page, /^Like the examples of/);
  }));

test('many pictures are compared as one is: bad ones are found among good ones, and anew after each change', LONG, () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Good');
    const files = await Promise.all([0, 1, 2, 3, 4, 5].map((at) => cat(at)));
    await addPictures(page, 'Good', files);
    const asked = await Promise.all([...[6, 15, 16].map((at) => cat(at)), ...[7, 8].map((at) => cat(at, true))]);
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(asked);
    await sortState(page, /^Compared part by part with the examples of “Good”\./);
    const bad = page.getByRole('region', { name: 'None of these' });
    await bad.getByText('Not like the examples of “Good”.', { exact: true }).waitFor();
    const { rows } = await savedTable(page);
    assert.equal(rows.length, asked.length);
    for (const { file, answer } of rows) assert.equal(answer, file.startsWith('bad') ? 'none of these' : 'Good', file);

    // What is taught meanwhile has all compared anew. The network looks at the new example alone.
    await page.evaluate(() => {
      const { postMessage } = Worker.prototype;
      Object.assign(globalThis, { looked: 0, waitedFor: /** @type {any} */ (globalThis).said.length });
      Worker.prototype.postMessage = function (/** @type {any[]} */ ...given) {
        if (given[0]?.type === 'cells') /** @type {any} */ (globalThis).looked++;
        return postMessage.apply(this, /** @type {any} */ (given));
      };
    });
    await page.locator('.shot').filter({ hasText: 'good-16.png' }).click();
    await page.getByRole('dialog', { name: 'Picture' }).getByRole('button', { name: 'Good', exact: true }).click();
    await page.keyboard.press('Escape');
    await status(page, /^5 pictures: 3 Good, 2 none of these\./);
    assert.equal(await page.evaluate('looked'), 1);
    const anew = (await savedTable(page)).rows;
    assert.notDeepEqual(anew, rows);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    for (const file of asked.filter((one) => !one.endsWith('good-16.png'))) {
      await recognise(page, file);
      const [, not, over, percent] = /^(Not l|L)ike the examples of “Good”: (> )?(\d+) %$/.exec(await page.locator('.good-says').innerText()) ?? [];
      const row = anew.find((one) => one.file === path.basename(file));
      const least = Number(percent) + (over ? 0.5 : -0.51);
      const p = 100 * Number(row?.probability);
      assert.ok(p >= least && p <= least + 1.02, `${file}: ${percent} %, in the table ${row?.probability}`);
      assert.equal(row?.answer, not === 'L' ? 'Good' : 'none of these', file);
    }
    await page.getByRole('button', { name: 'Open again' }).click();
    await bad.getByRole('button', { name: 'Select all of None of these' }).click();
    await teachNew(page, page.getByRole('region', { name: 'Selected pictures' }), 'Spot');
    await sortState(page, /^Judged together/); // two classes are ordinary ones
  }),
);

/** The cat in the middle of a picture as wide as the camera's; `toned` so that the camera's pictures have the colours of the others, for Chromium widens its range. @param {number} at @param {{bad?: boolean, toned?: boolean}} [how] */
async function wide(at, { bad = false, toned = false } = {}) {
  const file = path.join(folder, `wide-${bad}-${toned}-${at}.png`);
  const picture = sharp(await cat(at, bad)).resize(320, 240, { fit: 'contain', background: '#e1e1dc' });
  await (toned ? picture.linear(219 / 255, 16) : picture).png().toFile(file);
  return file;
}

test('live, nothing is said of classes before the first picture is compared', async () => {
  const flags = await seeing(path.join(folder, 'first.y4m'), [await cat(8)]);
  await visit({ flags }, async ({ page }) => {
    await addClass(page, 'Good');
    await addPictures(page, 'Good', await Promise.all([0, 1, 2].map((at) => cat(at))));
    await page.evaluate(() => {
      const seen = new Set();
      Object.assign(globalThis, { seen });
      const look = () => {
        const verdict = /** @type {HTMLElement} */ (document.querySelector('#verdict'));
        if (verdict.checkVisibility()) seen.add(verdict.innerText);
        requestAnimationFrame(look);
      };
      look();
    });
    await page.getByRole('button', { name: 'Live camera' }).click();
    await says(page, /^(Like|Not like|Perhaps like|Perhaps not like) the examples of/);
    assert.deepEqual(await page.evaluate('[...seen]'), ['Choose something to recognise.']);
  });
});

test('live, it says of each thing before the camera whether it is all right, and where it is not', LONG, async () => {
  const [good, bad] = await Promise.all([false, true].map((bad) => wide(8, { bad, toned: true })));
  const flags = await seeing(path.join(folder, 'good.y4m'), [...Array(6).fill(good), ...Array(6).fill(bad)]);
  await visit({ flags }, async ({ page }) => {
    await addClass(page, 'Good');
    await addPictures(page, 'Good', await Promise.all([0, 1, 2, 3, 4, 5].map((at) => wide(at))));
    await page.getByRole('button', { name: 'Live camera' }).click();
    for (const text of [/^Like the examples of/, /^Not like the examples of/, /^Like the examples of/]) await says(page, text);
    await page.getByRole('button', { name: 'Live camera' }).click();
    await status(page, /^(Like|Not like|Perhaps like|Perhaps not like) the examples of.* The camera is off\.$/);
    assert.deepEqual(
      await Promise.all(['.good-says', '#verdict'].map((part) => page.locator(part).isVisible())),
      [true, false],
      'the last picture is judged alike',
    );
    await page.getByRole('button', { name: /^Live/ }).click();
    for (const text of [/^Not like the examples of/, /^Like the examples of/]) await says(page, text); // until the last picture's button is gone
    await page.getByRole('button', { name: 'Where', exact: true }).click();
    await page.getByText('Outlined: what is least like “Good”.', { exact: true }).waitFor();
    await says(page, /^Not like the examples of/);
    await page.locator('.where-lines .where-line').last().waitFor();
    await teach(page, 'Rocket', ['noto', 'twemoji']); // two classes are ordinary ones
    await page.locator('.good').waitFor({ state: 'hidden' });
    await page.locator('.meter-best').waitFor();
  });
});

test('a shared file of good ones says the same, if their pictures go along', LONG, async () => {
  const bad = await cat(8, true);
  let [file, fixed, plain, said] = ['', '', '', ''];
  await visit({}, async ({ page }) => {
    await addClass(page, 'Good');
    await addPictures(page, 'Good', await Promise.all([0, 1, 2, 3, 4, 5].map((at) => cat(at))));
    await recognise(page, bad);
    await says(page, /^Not like the examples of/);
    said = await page.locator('.good-says').innerText();
    plain = await share(page);
    fixed = await share(page, { pictures: true });
    file = await share(page, { learn: true, pictures: true });
  });
  await opened(plain, async (page) => {
    await page.getByText('This file says how likely a picture is “Good”.').waitFor();
    await recognise(page, bad);
    assert.equal(await page.locator('.good').isVisible(), false, 'there are no examples to compare with');
  });
  await opened(fixed, async (page) => {
    await recognise(page, bad);
    await says(page, /^Not like the examples of/);
    assert.equal(await page.locator('.good').innerText(), `${said}\n\nCompared part by part with 6 different pictures.`, 'no advice to teach');
  });
  await opened(file, async (page) => {
    await page.getByText('This file says whether a picture is like “Good”, or something is wrong with it.').waitFor();
    await recognise(page, bad);
    await says(page, /^Not like the examples of/);
    assert.equal(await page.locator('.good-says').innerText(), said);
    await page.getByRole('button', { name: 'Where', exact: true }).click();
    await page.getByText('Outlined: what is least like “Good”.', { exact: true }).waitFor();
    await recognise(page, await cat(8));
    await says(page, /^Like the examples of/);
    const compared = (/** @type {number} */ n) => page.getByText(`Compared part by part with ${n} different pictures.`).waitFor();
    await compared(6);
    await page.getByRole('group', { name: 'It is:' }).getByRole('button', { name: 'Good', exact: true }).click();
    await compared(7);
    await page.getByRole('button', { name: /^Undo/ }).click();
    await compared(6);
  });
});
