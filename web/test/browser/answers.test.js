// @ts-check
/** Answers: whose they are, how they are said, why, how good they are, and what can be taken back. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { addClass, addPictures, card, meters, most, recognise, sample, status, teach, visit } from './harness.js';
import { LONG } from '../long.js';

/** @typedef {import('playwright-core').Page} Page */

const styles = ['noto', 'twemoji', 'openmoji'];
const FAKE = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'];

/** What has the focus, by its name or class. @param {Page} page */
const focused = (page) => page.evaluate(() => {
  const now = document.activeElement;
  return now?.getAttribute('aria-label') ?? now?.closest('[data-class]')?.querySelector('input')?.value ?? now?.tagName ?? '';
});

test('a class that returns finds its name taken and loses nothing', LONG, () => visit({}, async ({ page }) => {
  await teach(page, 'Cat', styles);
  await teach(page, 'Rocket', styles);
  const before = await recognise(page, sample('emojione', 'cat'));
  await page.getByRole('button', { name: 'Delete Cat' }).click();
  await card(page, 'Cat').waitFor({ state: 'detached' });
  await addClass(page, 'Cat');
  await addPictures(page, 'Cat', [sample('fxemoji', 'cat')]);
  await page.keyboard.press('Escape');
  await page.locator('#recognise').focus();
  await page.keyboard.press('Control+z');
  await status(page, '“Cat” is back as “Cat (2)”: another class has its name.');
  await card(page, 'Cat (2)').getByText('3 pictures').waitFor();
  await card(page, 'Cat').getByText('1 picture', { exact: true }).waitFor();
  await page.waitForFunction(() => document.activeElement?.classList.contains('card'));
  assert.equal(await focused(page), 'Cat (2)');
  await page.getByRole('button', { name: 'Delete Cat', exact: true }).click();
  await card(page, 'Cat').waitFor({ state: 'detached' });
  const after = await recognise(page, sample('emojione', 'cat'));
  assert.ok(Math.abs(after['Cat (2)'] - before.Cat) < 1e-10);
}));

test('names that people take for the same, and that of none of these, are refused in a sentence', () => visit({}, async ({ page }) => {
  await addClass(page, 'Zitrone é');
  for (const name of ['zitrone é', 'ZITRONE  e\u0301', 'Ｚitrone É']) {
    await page.getByRole('textbox', { name: 'Name of a new class' }).fill(name);
    await page.getByRole('button', { name: 'Add class' }).click();
    await page.getByRole('alert').filter({ hasText: 'There is a class “Zitrone é” already: choose another name.' }).waitFor();
  }
  await page.getByRole('textbox', { name: 'Name of a new class' }).fill('none of these');
  await page.getByRole('button', { name: 'Add class' }).click();
  await page.getByRole('alert').filter({ hasText: 'is what the page answers where no class fits' }).waitFor();
  await addClass(page, 'Zitrone e');
}));

test('the answer is said, and goes with its picture where the next one cannot be read', () => visit({}, async ({ page }) => {
  await teach(page, 'Cat', styles);
  await teach(page, 'Rocket', styles);
  const field = page.getByLabel('Picture to recognise', { exact: true });
  await field.setInputFiles(sample('twemoji', 'rocket'));
  await status(page, /^(Almost certainly|Probably) Rocket: .+ %\. Recognised “rocket\.png”\.$/);
  await page.locator('#meters').getByRole('meter').first().waitFor();
  const verdict = await page.locator('#verdict').evaluate((one) => parseFloat(getComputedStyle(one).fontSize));
  const others = await page.locator('body *:visible').evaluateAll((all) => all.filter((one) => one.id !== 'verdict').map((one) => parseFloat(getComputedStyle(one).fontSize)));
  assert.ok(verdict > Math.max(...others), 'the answer is the largest on the page');
  await field.setInputFiles({ name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
  await page.getByRole('alert').filter({ hasText: 'broken.png' }).waitFor();
  assert.deepEqual(await meters(page), {}, 'no answer stands beside a picture that it is not about');
  await page.locator('#query-picture').waitFor({ state: 'hidden' });
  await page.locator('#why').waitFor({ state: 'hidden' });
}));

test('when live view ends the answer stays beside the frame that it is about', LONG, () => visit({ flags: FAKE }, async ({ page }) => {
  await teach(page, 'Cat', styles);
  await teach(page, 'Rocket', styles);
  await recognise(page, sample('twemoji', 'rocket'));
  await page.getByRole('button', { name: 'Live camera' }).click();
  await page.locator('#query-picture').waitFor({ state: 'hidden' });
  await page.getByRole('meter').first().waitFor();
  await page.waitForTimeout(600);
  await page.getByRole('button', { name: 'Live camera' }).click();
  await status(page, /The camera is off\.$/);
  await page.getByRole('img', { name: 'Picture being recognised: the last picture of the camera' }).waitFor();
  assert.notDeepEqual(await meters(page), {});
}));

test('the shutter stays where it is while it is held, and what it took is taken back in one go', LONG, () => visit({ flags: FAKE }, async ({ page }) => {
  await addClass(page, 'Ball');
  await page.getByRole('button', { name: 'Camera for Ball' }).click();
  const shutter = page.getByRole('button', { name: 'Hold to capture Ball' });
  await shutter.and(page.locator(':enabled')).waitFor();
  await shutter.hover();
  const before = await shutter.boundingBox();
  await page.mouse.down();
  await card(page, 'Ball').locator('.thumb').nth(8).waitFor();
  const after = await shutter.boundingBox();
  await page.mouse.up();
  // A pressed button is drawn a little smaller, about its middle.
  const middle = (/** @type {typeof before} */ box) => box && [box.x + box.width / 2, box.y + box.height / 2].map(Math.round);
  assert.deepEqual(middle(after), middle(before));
  await page.getByText(/^Took \d+ pictures of “Ball”\.$/).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await status(page, /^Removed the \d+ pictures from “Ball”\.$/);
  await card(page, 'Ball').getByText('No pictures yet').waitFor();
}));

test('samples keep out of a session that holds something, and their strip out of others', LONG, () => visit({}, async ({ page }) => {
  await addClass(page, 'Mine');
  await page.getByRole('button', { name: 'Try it with samples' }).click();
  await status(page, 'The samples are in, in a session of their own, “Samples”.');
  await card(page, 'Bicycle').getByText('3 pictures').waitFor();
  await page.locator('#sample-queries').waitFor();
  const session = page.getByRole('button', { name: /^Session:/ });
  await session.filter({ hasText: 'Samples' }).click();
  await page.getByRole('button', { name: 'Open My classes' }).click();
  await card(page, 'Mine').waitFor();
  assert.equal(await page.locator('.card').count(), 1);
  await page.locator('#sample-queries').waitFor({ state: 'hidden' });
  await session.click();
  await page.getByRole('button', { name: 'Open Samples' }).click();
  await page.locator('#sample-queries').waitFor();
}));

test('what is to be said stands before an open dialog and can be pressed there', () => visit({}, async ({ page }) => {
  await teach(page, 'Cat', styles.slice(0, 2));
  await page.getByRole('button', { name: 'Delete Cat' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('dialog', { name: 'Settings' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await status(page, '“Cat” is back.');
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => document.querySelector('#notices')?.parentElement?.tagName), 'BODY');
}));

test('how good it is: words, pictures, a move and its undo', () => visit({}, async ({ page }) => {
  for (const name of ['Cat', 'Rocket', 'Banana']) await teach(page, name, styles);
  await addPictures(page, 'Rocket', [sample('fxemoji', 'cat')]);
  const tasks = await page.evaluateHandle(() => {
    const long = /** @type {number[]} */ ([]);
    new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration))).observe({ entryTypes: ['longtask'] });
    return long;
  });
  const panel = page.locator('#goodness');
  await panel.getByText('How good is it?').click();
  const line = panel.getByText(/^(All 10|\d of 10) right$/);
  await line.waitFor();
  assert.deepEqual((await tasks.jsonValue()).filter((duration) => duration > 100), [], 'long tasks while leaving out');
  const right = Number(/^\d/.exec(await line.textContent() ?? '')?.[0] ?? 10);
  const rows = await panel.getByRole('meter').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''));
  assert.deepEqual(rows.map((row) => row.split(':')[0]), ['Cat', 'Rocket', 'Banana']);
  assert.equal(rows.reduce((sum, row) => sum + Number(/(\d+) of/.exec(row)?.[1]), 0), right);
  await panel.getByText('Pictures that fit badly').waitFor(); // the cat among the rockets
  await panel.getByRole('button', { name: 'Show this picture of Rocket' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Picture' });
  await dialog.getByText('Rocket, picture 4 of 4').waitFor();
  await page.keyboard.press('ArrowLeft');
  await dialog.getByText('Rocket, picture 3 of 4').waitFor();
  await page.keyboard.press('ArrowRight');
  await dialog.getByLabel('It belongs to').selectOption('Banana');
  await dialog.waitFor({ state: 'hidden' });
  await card(page, 'Banana').getByText('4 pictures').waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Show picture 4 of Banana');
  await page.getByRole('button', { name: 'Undo' }).click();
  await status(page, 'The picture is in “Rocket” again.');
  await card(page, 'Rocket').getByText('4 pictures').waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Show picture 4 of Rocket');
  await panel.locator('.goodness-result:not(.stale)').waitFor();
  assert.equal(await panel.locator('.headline').textContent(), right === 10 ? 'All 10 right' : `${right} of 10 right`, 'computed anew, and the same');
}));

test('why: the nearest taught pictures', () => visit({}, async ({ page }) => {
  for (const name of ['Cat', 'Rocket']) await teach(page, name, styles);
  assert.equal(most(await recognise(page, sample('noto', 'rocket'))), 'Rocket');
  const why = page.getByRole('region', { name: 'Why' });
  await why.getByText('4 taught pictures most like it, nearest first:').waitFor();
  assert.equal(await why.locator('.near').first().innerText(), 'Rocket');
  const same = await page.evaluate(() => {
    const source = (/** @type {string} */ selector) => document.querySelector(selector)?.getAttribute('src');
    return source('.near img') === source('[aria-label="Show picture 1 of Rocket"] img');
  });
  assert.ok(same, 'the picture itself is the nearest');
}));

test('with eighteen classes the picture stays beside its answer', LONG, () => visit({ context: { viewport: { width: 1280, height: 800 } } }, async ({ page }) => {
  await teach(page, 'Cat', styles);
  for (let i = 0; i < 17; i++) await addClass(page, `Class ${i}`);
  await recognise(page, sample('emojione', 'cat'));
  await page.getByRole('meter').last().scrollIntoViewIfNeeded();
  const box = await page.locator('#stage').boundingBox();
  assert.ok(box && box.y >= 0 && box.y + box.height <= 800, `the picture is at ${JSON.stringify(box)}`);
  await page.locator('#query-picture').click({ trial: true });
}));

test('a session tells when it was last saved to a file', LONG, () => visit({}, async ({ page }) => {
  await teach(page, 'Cat', ['noto']);
  const row = page.getByRole('dialog', { name: 'Sessions' }).getByRole('listitem');
  await page.getByRole('button', { name: /^Session:/ }).click();
  await row.getByText('never saved to a file').waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save this session' }).click();
  const file = await (await download).path();
  await page.getByLabel('Open a saved session').setInputFiles(file);
  await status(page, 'The session was opened.');
  await page.locator('#session-name').filter({ hasText: 'My classes (2)' }).waitFor();
  await row.getByText('saved to a file today').nth(1).waitFor(); // what came out of a file is in one
  await row.getByRole('textbox', { name: 'Name of the session My classes (2)' }).waitFor();
}));
