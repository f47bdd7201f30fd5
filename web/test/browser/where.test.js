// @ts-check
/** The page shows where in a picture an answer comes from. */
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import sharp from 'sharp';
import { temporaryFolder } from '../temporary.js';
import { addPictures, eventually, likeliest, meters, newSession, recognise, sample, teach, visit } from './harness.js';
import { LONG } from '../long.js';

/** @import {Page} from 'playwright-core' */

const folder = temporaryFolder('where');
const styles = ['noto', 'twemoji', 'openmoji'];

/** A cat at the left and a rocket at the right of one picture, or the other way round. @param {string} left @param {string} right */
async function beside(left, right) {
  const file = path.join(folder, `${left}-${right}.png`);
  const [a, b] = await Promise.all([left, right].map((name) => sharp(sample('fluent-emoji-flat', name)).resize(190, 190).toBuffer()));
  await sharp({ create: { width: 400, height: 200, channels: 3, background: '#fff' } })
    .composite([
      { input: a, left: 5, top: 5 },
      { input: b, left: 205, top: 5 },
    ])
    .png()
    .toFile(file);
  return file;
}

/** Where the innermost line is, in shares of the picture's width. @param {Page} page @returns {Promise<number>} */
const across = (page) =>
  page
    .locator('.where-lines .where-line')
    .last()
    .evaluate((line) => {
      const { x, width } = /** @type {SVGPathElement} */ (line).getBBox();
      return (x + width / 2) / 48;
    });

/** What is outlined, in words. @param {Page} page @param {string} text */
const outlined = (page, text) => page.getByText(`Outlined: what speaks most for ${text}.`, { exact: true }).waitFor();

test('the lines are around the thing that the answer names, and follow the answer', () =>
  visit({}, async ({ page }) => {
    for (const name of ['Cat', 'Rocket']) await teach(page, name, styles);
    const where = page.getByRole('button', { name: 'Where', exact: true });
    assert.equal(await where.isVisible(), false, 'nothing was asked');
    await recognise(page, await beside('cat', 'rocket'));
    await where.click();
    const rather = page.getByRole('button', { name: /^Compare with / });
    await rather.click();
    for (const [left, right] of [
      ['cat', 'rocket'],
      ['rocket', 'cat'],
    ]) {
      await recognise(page, await beside(left, right));
      const second = /** @type {string} */ (await rather.textContent()).replace('Compare with ', '');
      const first = second === 'Cat' ? 'Rocket' : 'Cat';
      await outlined(page, `“${first}” rather than “${second}”`);
      await eventually(async () =>
        assert.equal((await across(page)) < 0.5, first.toLowerCase() === left, `${first} at ${await across(page)} of ${left} and ${right}`),
      );
    }
    for (const background of ['#888', '#c00']) {
      const blank = path.join(folder, `blank-${background.slice(1)}.png`);
      await sharp({ create: { width: 400, height: 200, channels: 3, background } })
        .png()
        .toFile(blank);
      await recognise(page, blank);
      await page.getByText('No place stands out: the picture looks nearly the same everywhere.').waitFor();
      assert.equal(await page.locator('.where-lines').isVisible(), false, 'nothing is outlined in a picture of one colour');
    }
    await recognise(page, await beside('cat', 'rocket'));
    await page.locator('.where-lines').waitFor();
    await where.click();
    await eventually(async () => assert.equal(await page.locator('.where-lines').isVisible(), false));
    await where.click();
    await eventually(async () => assert.equal(await page.locator('.where-lines').isVisible(), true));
    await page.getByRole('button', { name: 'Clear the picture' }).click();
    await eventually(async () =>
      assert.equal((await page.locator('.where-lines').isVisible()) || (await where.isVisible()), false, 'it is about a picture that is gone'),
    );
  }));

test('a class that is gone is not outlined', () =>
  visit({}, async ({ page }) => {
    for (const name of ['Cat', 'Rocket']) await teach(page, name, styles.slice(0, 2)); // of three examples of one class it says whether the picture is all right
    await recognise(page, sample('fluent-emoji-flat', 'cat'));
    await page.getByRole('button', { name: 'Where', exact: true }).click();
    await outlined(page, '“Cat”');
    await page.getByRole('button', { name: 'Delete Cat' }).click();
    await outlined(page, '“Rocket”');
    await page.keyboard.press('Control+z');
    await outlined(page, '“Cat”');
  }));

test('why: the nearest pictures, and a note where the nearest one is of another class than the answer', () =>
  visit({}, async ({ page }) => {
    const why = page.getByRole('region', { name: 'Why' });
    const nearest = () => why.locator('.near .ellipsis').first().textContent();
    await teach(page, 'Cat', [...styles, 'emojione']);
    await teach(page, 'Rocket', styles);
    const query = sample('fluent-emoji-flat', 'cat');
    await recognise(page, sample('fxemoji', 'umbrella'));
    const expect = async (/** @type {string} */ none, /** @type {string} */ title) => {
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.getByRole('slider').fill(none);
      await page.keyboard.press('Escape');
      await why.getByText(title, { exact: true }).waitFor();
    };
    await expect('0.5', 'No taught picture is close enough. Nearest:');
    assert.match(await page.locator('#verdict').innerText(), /none of these/);
    await expect('0', 'Nearest taught pictures:'); // the answer is a class
    assert.equal((await meters(page))['None of these'], 0);
    assert.equal(likeliest(await recognise(page, query)), 'Cat');
    assert.equal(await nearest(), 'Cat');
    const [turned, same] = ['turned', 'same'].map((name) => path.join(folder, `${name}.png`));
    await sharp(query).resize(200).flatten({ background: '#fff' }).rotate(60, { background: '#fff' }).png().toFile(turned);
    await sharp(query).resize(200).flatten({ background: '#fff' }).png().toFile(same);
    const seen = /** @type {boolean[]} */ ([]);
    // A cat is taught as a rocket by mistake: turned, it is nearest and the other cats outweigh it; as it is, it is the answer.
    for (const mistaken of [turned, same]) {
      await addPictures(page, 'Rocket', [mistaken]);
      await eventually(async () => {
        assert.equal(await nearest(), 'Rocket');
        const answer = await page.locator('.meter-best .meter-name').textContent();
        const close = /^Nearest taught pictures:$/.test((await why.locator('#nearest-title').textContent()) ?? '');
        const note = await why.getByText('The answer weighs whole classes, not single pictures.', { exact: true }).isVisible();
        assert.equal(note, close && answer !== 'Rocket', `nearest is Rocket, the answer ${answer}, close: ${close}`);
        seen.push(note);
      });
      await page.getByRole('button', { name: 'Undo' }).click();
      await eventually(async () => assert.equal(await nearest(), 'Cat'));
    }
    assert.deepEqual(seen, [true, false], 'both were the case');
  }));

test('the picture is whole with its outline on it, the button is beside it, and another session has it off', LONG, () =>
  visit({}, async ({ page }) => {
    for (const name of ['Cat', 'Rocket']) await teach(page, name, styles);
    await recognise(page, sample('fluent-emoji-flat', 'cat'));
    await page.locator('#why:not([hidden])').waitFor();
    const where = page.getByRole('button', { name: 'Where', exact: true });
    await where.click();
    await page.getByRole('button', { name: /^Compare with / }).click();
    for (const [width, size] of [
      [1280, '100%'],
      [1280, '200%'],
      [390, '100%'],
    ]) {
      await page.setViewportSize({ width: Number(width), height: 800 });
      await page.evaluate((fontSize) => Object.assign(document.documentElement.style, { fontSize }), String(size));
      const rect = (/** @type {string} */ one) =>
        page.locator(one).evaluate((element) => {
          const { left, right, top, bottom } = element.getBoundingClientRect();
          return { left, right, top, bottom };
        });
      const [stage, picture, lines, button] = await Promise.all(['#stage', '#query-picture', '.where-lines', '.shown > .button'].map(rect));
      const state = `${width} pixels wide at ${size}: ${JSON.stringify({ stage, picture, lines, button })}`;
      assert.ok(
        picture.left >= stage.left - 1 && picture.right <= stage.right + 1 && picture.top >= stage.top - 1 && picture.bottom <= stage.bottom + 1,
        state,
      );
      for (const side of /** @type {const} */ (['left', 'right', 'top', 'bottom'])) assert.ok(Math.abs(picture[side] - lines[side]) < 1, state);
      assert.ok(button.top >= stage.bottom, state);
    }
    await page.evaluate(() => Object.assign(document.documentElement.style, { fontSize: '' }));
    await newSession(page, 'Other');
    for (const name of ['Cat', 'Rocket']) await teach(page, name, styles.slice(0, 2));
    await recognise(page, sample('fluent-emoji-flat', 'cat'));
    await page.getByRole('button', { name: 'Where', exact: true, pressed: false }).click();
    await page.getByRole('button', { name: /^Compare with /, pressed: false }).waitFor();
  }),
);
