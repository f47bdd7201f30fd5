// @ts-check
/** Pictures that are chosen while others are still being added, and what stands at the foot of the page over dialogs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { addClass, addPictures, card, downloaded, holdPictures, recognise, sample, sessionsOf, status, teach, visit } from './harness.js';
import { sortState } from './many.js';
import { LONG } from '../long.js';

const STYLES = ['noto', 'twemoji', 'openmoji', 'emojione', 'fxemoji'];
const drawings = (/** @type {string} */ name) => STYLES.map((style) => sample(style, name));

/** Chooses files for a class and does not wait. @param {import('playwright-core').Page} page @param {string} name @param {string[]} files */
const choose = (page, name, files) => page.getByLabel(`Add pictures to ${name}`, { exact: true }).setInputFiles(files);

test('pictures chosen while others are added wait their turn, in the order of choice', { timeout: 120_000 }, () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Cat');
    await addClass(page, 'Rocket');
    // One by one, as from a phone's gallery, then several, then one more, before the first is added.
    const chosen = [...drawings('cat').map((file) => ['Cat', file]), ['Rocket', ...drawings('rocket')], ['Cat', sample('noto', 'bicycle')]];
    await page.evaluate(
      (all) => {
        const seen = { order: /** @type {string[]} */ ([]), waited: false };
        Object.assign(globalThis, { seen });
        const nameOf = (/** @type {Element} */ inCard) => inCard.closest('.card')?.querySelector('input')?.value ?? '';
        new MutationObserver((list) => {
          for (const { addedNodes } of list) {
            for (const node of addedNodes) if (node instanceof HTMLElement && node.matches('.thumb')) seen.order.push(nameOf(node));
          }
          seen.waited ||= [...document.querySelectorAll('.card-batch')].some((batch) => nameOf(batch) === 'Rocket' && batch.textContent?.includes('5 waiting'));
        }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
        for (const [name, ...files] of all) {
          const field = /** @type {HTMLInputElement} */ ([...document.querySelectorAll('.card input[type=file]')].find((one) => nameOf(one) === name));
          const data = new DataTransfer();
          for (const text of files) data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], 'drawing.png', { type: 'image/png' }));
          field.files = data.files;
          field.dispatchEvent(new Event('change', { bubbles: true }));
        }
      },
      chosen.map(([name, ...files]) => [name, ...files.map((file) => readFileSync(file).toString('base64'))]),
    );
    await card(page, 'Cat').getByText('6 pictures').waitFor();
    await page.waitForFunction(() => !document.querySelector('.card-batch:not([hidden])')); // nothing waits
    assert.deepEqual(await page.evaluate(() => /** @type {any} */ (globalThis).seen), {
      order: [...Array(5).fill('Cat'), ...Array(5).fill('Rocket'), 'Cat'],
      waited: true,
    });
    assert.equal(await page.locator('.card .error:not([hidden])').count(), 0, 'nothing is complained of');
  }),
);

test('what waits can be cancelled, and what is chosen afterwards is added', { timeout: 120_000, ...LONG }, () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Cat');
    await addClass(page, 'Rocket');
    const goOn = await holdPictures(page, 1);
    await choose(page, 'Cat', [...drawings('cat'), ...drawings('banana')]);
    await choose(page, 'Rocket', drawings('rocket'));
    await card(page, 'Rocket').getByRole('button', { name: 'Cancel' }).click();
    await status(page, 'Cancelled: 0 pictures added to “Rocket”.');
    await goOn();
    await choose(page, 'Rocket', [sample('noto', 'rocket')]);
    await card(page, 'Rocket').getByText('1 picture', { exact: true }).waitFor();
    await card(page, 'Cat').getByText('10 pictures').waitFor();
  }),
);

for (const [name, viewport] of Object.entries({ 'a phone': { width: 390, height: 844 }, 'a laptop': { width: 1280, height: 800 } })) {
  test(`what is said covers nothing in a dialog, on ${name}`, { timeout: 120_000 }, () =>
    visit({ context: { viewport, reducedMotion: 'reduce' } }, async ({ page }) => {
      await teach(page, 'Cat', ['noto', 'twemoji']);
      const look = async (/** @type {string} */ dialog) => {
        await page.getByRole('dialog', { name: dialog }).waitFor();
        const at = await page.evaluate(() => {
          const said = /** @type {HTMLElement} */ (document.querySelector('#status'));
          const open = /** @type {Element} */ ([...document.querySelectorAll('dialog[open]')].at(-1));
          said.textContent = 'The session “Things from the garden and the bench” was opened, with its pictures.';
          said.classList.remove('quiet');
          open.scrollTop = open.scrollHeight;
          const [a, b] = [said, open].map((element) => element.getBoundingClientRect());
          const covered = [...open.querySelectorAll('button, input, select')].filter((one) => {
            const box = one.getBoundingClientRect();
            return one.checkVisibility() && box.bottom > a.top + 1 && box.top < a.bottom - 1 && box.right > a.left && box.left < a.right;
          });
          return { inside: open.contains(said), whole: a.top >= b.top && a.bottom <= b.bottom + 1, covered: covered.map((one) => one.textContent) };
        });
        assert.deepEqual(at, { inside: true, whole: true, covered: [] }, dialog);
      };
      await sessionsOf(page);
      await look('Sessions');
      await downloaded(page, 'Save this session');
      await status(page, /“My classes.safetensors” was saved: [1-9]\d* KB\./);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Settings' }).click();
      await look('Settings');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Show picture 1 of Cat' }).click();
      await look('Picture');
    }),
  );
}

test('a picture among many is shown whole, and what can be pressed is in sight, on a laptop and on a phone', { timeout: 120_000 }, () =>
  visit({ context: { viewport: { width: 1280, height: 800 } } }, async ({ page }) => {
    await teach(page, 'Cat', ['noto', 'twemoji']);
    await teach(page, 'Rocket', ['noto', 'twemoji']);
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(['cat', 'rocket', 'penguin'].map((one) => sample('openmoji', one)));
    await sortState(page, /^Judged together/);
    await page.locator('.shot').first().click();
    const dialog = page.getByRole('dialog', { name: 'Picture' });
    await dialog.getByRole('button', { name: 'Rocket', exact: true }).waitFor();
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(viewport);
      const at = await page.evaluate(() =>
        ['.viewer-picture', '.viewer-stage', '#viewer', '#viewer .correct']
          .map((one) => /** @type {Element} */ (document.querySelector(one)).getBoundingClientRect())
          .map(({ top, bottom, left, right }) => ({ top, bottom, left, right })),
      );
      const [picture, stage, whole, answers] = at;
      assert.ok(
        picture.top >= stage.top - 1 && picture.bottom <= stage.bottom + 1 && picture.left >= stage.left - 1 && picture.right <= stage.right + 1,
        JSON.stringify(at),
      );
      assert.ok(answers.bottom <= whole.bottom, `the answers are in sight: ${JSON.stringify(at)}`);
    }
    await page.keyboard.press('Escape');
    await page.locator('.shot-check input').first().check();
    const ends = await page.locator('.selection .button').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
    assert.ok(ends.length > 4 && Math.max(...ends) <= 390, `what is said of a selection ends at ${ends}`);
  }),
);

test('an answer from one class of one picture says what it rests on, and so does how good it is', { timeout: 120_000 }, () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Cat');
    await addPictures(page, 'Cat', [sample('noto', 'cat')]);
    await recognise(page, sample('emojione', 'rocket'));
    const answer = page.getByRole('region', { name: 'Prediction' });
    await answer.getByText(/^This rests on a single example\. With one class it can only say “Cat” or not/).waitFor();
    await addPictures(page, 'Cat', [sample('twemoji', 'cat'), sample('openmoji', 'cat')]);
    await addClass(page, 'Rocket'); // it is there, and not taught yet
    await answer.getByText(/^To tell “.*” from other things, teach a second class\.$/).waitFor();
    await page.getByText('How good is it?').click();
    await page.getByText(/^Only “Cat” has examples\. With more good pictures .* With a second class /).waitFor();
    await addPictures(page, 'Rocket', [sample('noto', 'rocket'), sample('twemoji', 'rocket'), sample('openmoji', 'rocket')]);
    await answer.getByText(/or not/).waitFor({ state: 'detached' });
    await answer.getByText(/^To tell “.*” from other things/).waitFor({ state: 'hidden' });
  }),
);
