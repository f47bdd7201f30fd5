// @ts-check
/** What people met who tried the page, where no other test holds it: large files, much at once, words, every state by axe. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { lookSorted } from './many.js';
import { addClass, addPictures, assertMeters, card, faults, meters, recognise, sample, status, teach, visit } from './harness.js';
import { LONG } from '../long.js';
import { temporaryFolder } from '../temporary.js';

/** @import {Page} from 'playwright-core' */

const STYLES = ['noto', 'twemoji', 'openmoji'];
const FAKE = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'];

const folder = temporaryFolder('met');

/** A drawing as a file of its own. @param {string} name @param {number} edge @param {number} [turn] */
async function drawn(name, edge, turn = 0) {
  const file = path.join(folder, `${name}-${edge}-${turn}.jpg`);
  await sharp(sample('emojione', name)).flatten({ background: '#fff' }).rotate(turn, { background: '#fff' }).resize(edge, edge).jpeg().toFile(file);
  return file;
}

test('sixty megapixels are recognised, and the answer before does not stand for them', { timeout: 120_000, ...LONG }, () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', STYLES);
    await teach(page, 'Rocket', STYLES);
    const small = await recognise(page, await drawn('cat', 2000));
    await recognise(page, sample('twemoji', 'rocket'));
    const large = await drawn('cat', 7750); // 60 million
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(large);
    await page.locator('#prediction[aria-busy="true"]').waitFor();
    await status(page, `Recognised “${path.basename(large)}”.`);
    const got = await meters(page);
    for (const [name, p] of Object.entries(small)) assert.ok(Math.abs(got[name] - p) < 0.03, `${name} ${got[name]}, of a smaller copy ${p}`);
    assert.equal(await page.locator('#prediction').getAttribute('aria-busy'), 'false');
  }),
);

/** Words of the laboratory. */
const LABORATORY = /\b(priors?|loss|npz|embeddings?|posteriors?|likelihood|meta-?learn\w*|hyperparameters?|epochs?|logits?|softmax|NIW|Student-t)\b/i;

/** Every text, name and hint of the page that has such a word, what is hidden too. @param {Page} page */
const laboratory = async (page) =>
  (
    await page.evaluate(() => {
      /** @type {string[]} */
      const found = [];
      const walk = (/** @type {Element} */ element) => {
        if (element.id === 'about' || /^(script|style|svg)$/i.test(element.tagName)) return; // About names the method by its title
        for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-valuetext']) found.push(element.getAttribute(name) ?? '');
        for (const child of element.childNodes) {
          if (child instanceof Element) walk(child);
          else found.push(child.textContent ?? '');
        }
      };
      walk(document.body);
      return found;
    })
  ).filter((text) => LABORATORY.test(text));

for (const [name, context] of Object.entries({
  'a phone in the dark': { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, colorScheme: /** @type {const} */ ('dark') },
  'a large screen in the light': { viewport: { width: 1920, height: 1080 }, colorScheme: /** @type {const} */ ('light') },
})) {
  test(
    `axe finds nothing in any state, nor is there a word of the laboratory, on ${name}`,
    { timeout: 180_000, ...(context.viewport.width > 1000 ? LONG : {}) },
    () =>
      visit(
        {
          flags: FAKE,
          context: { ...context, reducedMotion: 'reduce' },
        },
        async ({ page }) => {
          const look = async (/** @type {string} */ state) => {
            assert.deepEqual(await faults(page), [], state);
            assert.deepEqual(await laboratory(page), [], state);
            const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
            assert.ok(wide <= 0, `${state}: ${wide} pixels too wide`);
          };
          await look('an empty page');
          const touch = 'hasTouch' in context;
          await page.getByText(touch ? /^Choose one or several\.$/ : /^Choose one or several, or drop or paste them here\.$/).waitFor();
          await addClass(page, 'Cat');
          await look('a class without pictures');
          await addPictures(page, 'Cat', [sample('noto', 'cat')]);
          await recognise(page, sample('emojione', 'cat'));
          await look('one class of one picture');
          await teach(page, 'Rocket', STYLES);
          await recognise(page, sample('emojione', 'penguin'));
          await look('a picture of no class');
          const small = await page.evaluate(() =>
            [...document.querySelectorAll('button, label.button, label.tile, .jump a')]
              .filter((one) => one.getClientRects().length && !one.classList.contains('thumb-remove') && !one.classList.contains('link'))
              .map((one) => ({ text: one.textContent || one.getAttribute('aria-label'), height: one.getBoundingClientRect().height }))
              .filter(({ height }) => height < 40),
          );
          if (touch) assert.deepEqual(small, [], 'controls large enough for a thumb');
          const answer = await page.evaluate(() => {
            const { top, bottom } = /** @type {Element} */ (document.querySelector('#verdict')).getBoundingClientRect();
            const behind = /** @type {Element} */ (document.querySelector('.query')).getBoundingClientRect().bottom;
            return { top, bottom, behind, height: innerHeight };
          });
          assert.ok(answer.top >= answer.behind - 1 && answer.bottom <= answer.height, `the answer is in sight: ${JSON.stringify(answer)}`);
          const missed = await page.evaluate(() =>
            [...document.querySelectorAll('.card .thumb-remove')].flatMap((button) => {
              button.scrollIntoView({ block: 'center' });
              const { x, y, width, height } = button.getBoundingClientRect();
              return [-21, 0, 21].flatMap((across) =>
                [-21, 0, 21].flatMap((down) => {
                  const hit = document.elementFromPoint(x + width / 2 + across, y + height / 2 + down);
                  return hit?.closest('button') === button ? [] : [`${button.ariaLabel} at ${across}, ${down}: ${hit?.className}`];
                }),
              );
            }),
          );
          if (touch) assert.deepEqual(missed, [], 'a thumb removes the picture that it is on');
          await page.getByRole('button', { name: 'Remove picture 1 of Rocket' }).click();
          await page.getByRole('button', { name: 'Add class' }).click();
          await page.getByText('Learn from my other sessions').click();
          await page.getByRole('button', { name: 'Learn', exact: true }).click();
          await page.getByRole('alert').filter({ hasText: 'Learning needs another session' }).waitFor();
          await page.getByText('How good is it?').click();
          await page.getByText('Class by class').waitFor();
          await look('complaints, and how good it is');
          for (const dialog of ['Show picture 1 of Cat', 'Settings', /^Session:/, 'About and licences']) {
            await page.getByRole('button', { name: dialog }).click();
            await page.getByRole('dialog').waitFor();
            await look(`dialog ${dialog}`);
            await page.keyboard.press('Escape');
            await page.getByRole('dialog').waitFor({ state: 'hidden' });
          }
          await page.getByRole('button', { name: /^Live/ }).click();
          await page.locator('#live video').waitFor();
          await look('live');
          await page.getByRole('button', { name: /^Live/ }).click();
          await card(page, 'Cat')
            .getByRole('button', { name: /^Camera/ })
            .click();
          await page.getByRole('button', { name: /^Hold to capture/ }).waitFor();
          await look('the camera of a class');
          await card(page, 'Cat')
            .getByRole('button', { name: /^Camera/ })
            .click();
          await lookSorted(page, ['cat', 'rocket', 'penguin', 'umbrella'], look);
          await page.getByRole('button', { name: 'Close', exact: true }).click();
        },
      ),
  );
}

test('several taught pictures are removed, or moved, in one go that is taken back in one go', () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', [...STYLES, 'emojione', 'fxemoji']);
    await teach(page, 'Rocket', STYLES);
    const order = () =>
      page
        .locator('.card')
        .first()
        .locator('[data-example]')
        .evaluateAll((all) => all.map((one) => one.getAttribute('data-example')));
    const [before, answer] = [await order(), await recognise(page, sample('twemoji', 'cat'))];
    const dialog = page.getByRole('dialog', { name: 'Picture' });
    await page.getByRole('button', { name: 'Show picture 3 of Rocket' }).click();
    await page.keyboard.press('Control+z');
    await dialog.waitFor({ state: 'hidden' }); // what it showed has gone
    await page.keyboard.press('Control+Shift+z');
    await card(page, 'Rocket').getByText('3 pictures').waitFor();
    const select = async () => {
      await page.getByRole('button', { name: 'Show picture 2 of Cat' }).click();
      await dialog.getByRole('button', { name: 'Select several' }).click();
      await dialog.getByRole('button', { name: 'Picture 4 of Cat' }).click();
      await dialog.getByRole('button', { name: 'Picture 5 of Cat' }).click();
      await dialog.getByText('Cat: 3 of 5 pictures selected').waitFor();
    };
    await select();
    assert.deepEqual(await faults(page), [], 'several selected');
    await dialog.getByRole('button', { name: 'Remove 3' }).click();
    await card(page, 'Cat').getByText('2 pictures').waitFor();
    await page.keyboard.press('Control+z');
    await card(page, 'Cat').getByText('5 pictures').waitFor();
    await status(page, 'Undone: remove 3 pictures from Cat.');
    assert.deepEqual(await order(), before);
    await select();
    await dialog.getByLabel('They belong to').selectOption('Rocket');
    await dialog.getByRole('button', { name: 'Move to “Rocket”' }).click();
    await card(page, 'Rocket').getByText('6 pictures').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await card(page, 'Cat').getByText('5 pictures').waitFor();
    await card(page, 'Rocket').getByText('3 pictures').waitFor();
    assert.deepEqual(await order(), before);
    await assertMeters(page, answer);
  }));
