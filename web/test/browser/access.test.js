// @ts-check
/** The page by keyboard alone, and in narrow windows. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { lookSorted } from './many.js';
import { addClass, addPictures, card, eventually, meters, recognise, sample, status, visit } from './harness.js';
import { LONG } from '../long.js';

/** @import {Page} from 'playwright-core' */

/** Presses Tab until the element with this name has the focus. @param {Page} page @param {string} name */
async function tabTo(page, name) {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    const now = await page.evaluate(() => {
      const element = document.activeElement;
      const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : null;
      return (element?.getAttribute('aria-label') ?? label ?? element?.textContent ?? '').trim();
    });
    if (now === name) return;
  }
  assert.fail(`Tab never reached “${name}”`);
}

test('everything is done by keyboard alone', LONG, () =>
  visit({}, async ({ page }) => {
    page.on('filechooser', () => {}); // else each wait switches the interception on anew, later than the key
    for (const name of ['Cat', 'Rocket']) {
      await tabTo(page, 'Name of a new class');
      await page.keyboard.type(name);
      await page.keyboard.press('Enter');
      await card(page, name).waitFor();
      await page.evaluate(() => {
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      });
      await tabTo(page, `Add pictures to ${name}`);
      const chooser = page.waitForEvent('filechooser');
      await page.keyboard.press('Enter');
      await (await chooser).setFiles(['noto', 'twemoji'].map((style) => sample(style, name.toLowerCase())));
      await card(page, name).getByText('2 pictures').waitFor();
    }
    await tabTo(page, 'Choose a picture');
    const visible = await page.evaluate(() => {
      const label = document.activeElement?.closest('label');
      return label ? getComputedStyle(label).outlineStyle : 'none';
    });
    assert.notEqual(visible, 'none', 'the focus can be seen');
    const chooser = page.waitForEvent('filechooser');
    await page.keyboard.press('Enter');
    await (await chooser).setFiles(sample('emojione', 'cat'));
    await status(page, 'Recognised “cat.png”.');
    assert.ok((await meters(page)).Cat > 0);

    await tabTo(page, 'Remove picture 1 of Cat');
    await page.keyboard.press('Enter');
    await card(page, 'Cat').getByText('1 picture', { exact: true }).waitFor();
    // The focus stays near.
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Remove picture 1 of Cat');
    await tabTo(page, 'Undo');
    await page.keyboard.press('Enter');
    await card(page, 'Cat').getByText('2 pictures').waitFor();
    await tabTo(page, 'Delete Rocket');
    await page.keyboard.press('Enter');
    await card(page, 'Rocket').waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-class')); // the focus is not lost
    await tabTo(page, 'Settings');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Settings' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.activeElement?.id === 'settings-button'); // the focus returns
  }),
);

// A phone's window at 200 % is 195 pixels wide.
const WIDTHS = [195, 280, 320, 390];

test('a held Enter and a double click open a dialog once, and a held Enter adds one class', () =>
  visit({}, async ({ page }) => {
    for (const [button, title] of [
      ['Settings', 'Settings'],
      ['Session: My classes', 'Sessions'],
    ]) {
      await page.getByRole('button', { name: button }).dblclick();
      const dialog = page.getByRole('dialog', { name: title });
      await dialog.waitFor();
      await page.mouse.click(5, 5);
      await dialog.waitFor({ state: 'hidden' });
    }
    const hold = async () => {
      for (let i = 0; i < 4; i++) await page.keyboard.down('Enter');
      await page.keyboard.up('Enter');
    };
    await page.getByRole('button', { name: 'Settings' }).focus();
    await hold();
    await page.getByRole('dialog', { name: 'Settings' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('#class-name').fill('Cat');
    await hold();
    await card(page, 'Cat').waitFor();
    assert.equal(await page.locator('#add-class-error').textContent(), '');
    await addClass(page, 'Rocket');
    const button = await page.getByRole('button', { name: 'Add class' }).boundingBox();
    assert.ok(button);
    await page.mouse.move(button.x + 20, button.y + 20);
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    assert.equal(await page.locator('#add-class-error').textContent(), '', 'a slow double click misses no name');
  }));

test('the focus stays where it is while a button is at work, and near what had it once that goes', () =>
  visit({}, async ({ page }) => {
    const focused = (/** @type {string} */ element) => page.locator(element).and(page.locator(':focus')).waitFor({ state: 'attached' });
    await page.locator('#samples-button').press('Enter');
    await status(page, /^The samples are taught/);
    await focused('#samples-button');
    await page.evaluate(async () => {
      const { toast } = await import(`${location.origin}/tests/modules.js`);
      toast({ text: 'A notice.' });
    });
    await page.getByRole('button', { name: 'Dismiss' }).press('Enter');
    await focused('main');
    const picture = page.locator('.thumb-open').first();
    await picture.focus();
    const room = await picture.evaluate((one) => {
      const { outlineWidth, outlineOffset } = getComputedStyle(one);
      const [own, list] = [one, /** @type {Element} */ (one.closest('.thumbs'))].map((each) => each.getBoundingClientRect());
      return Math.min(own.left - list.left, list.bottom - own.bottom) - parseFloat(outlineWidth) - parseFloat(outlineOffset);
    });
    assert.ok(room >= 0, `the list of pictures cuts ${-room} pixels of the outline of the focus`);
    await page.getByRole('button', { name: 'Camera for Cat' }).focus();
    await page.keyboard.press('Control+z');
    await status(page, /^Undone/);
    await focused('#classes');
    assert.equal(await page.locator('.card').count(), 0);
  }));

/** Presses Tab through the page. @param {Page} page @param {string} first element @returns {Promise<string[]>} what had the focus below a bar at the foot */
async function hidden(page, first) {
  const found = new Set();
  await page.locator(first).first().focus();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    const [name, below] = await page.evaluate(() => {
      const now = /** @type {HTMLElement} */ (document.activeElement);
      const bars = [...document.querySelectorAll('.jump, .selection')].filter((bar) => !bar.contains(now) && bar.getBoundingClientRect().height);
      const { top, bottom } = now.getBoundingClientRect();
      return [
        now === document.body ? '' : now.outerHTML.slice(0, 200),
        bars.some((bar) => (top + bottom) / 2 > bar.getBoundingClientRect().top && top < bar.getBoundingClientRect().bottom),
      ];
    });
    if (!name) break;
    if (below) found.add(name);
  }
  return [...found];
}

test('what gets the focus is never below the bars at the foot', () =>
  visit({ context: { viewport: { width: 360, height: 640 }, reducedMotion: 'reduce' } }, async ({ page }) => {
    await page.locator('#samples-button').click();
    await status(page, /^The samples are taught/);
    assert.deepEqual(await hidden(page, '.skip'), []);
    const styles = ['noto', 'twemoji', 'openmoji'].flatMap((style) => ['banana', 'cat', 'rocket', 'guitar'].map((concept) => sample(style, concept)));
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(styles);
    await status(page, /^12 pictures: /);
    await page.locator('.shot-check').first().click();
    await page.locator('.selection').waitFor();
    await page.locator('.shot-check').first().scrollIntoViewIfNeeded();
    const before = await page.evaluate('scrollY');
    await page.locator('.selection button').first().focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('Tab');
    assert.deepEqual(
      await page.evaluate("[scrollY, Boolean(document.activeElement.closest('.selection'))]"),
      [before, true],
      'in the bar of a selection the page stays',
    );
    assert.deepEqual(await hidden(page, '.shot'), []);
  }));

test('with letters twice as large what is said is beside the name of the page, and “None of these” is whole', () =>
  visit({ context: { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' } }, async ({ page }) => {
    await page.evaluate(() => Object.assign(document.documentElement.style, { fontSize: '200%' }));
    await addClass(page, 'Cat');
    const [brand, said] = await Promise.all(['.brand', '#status'].map((one) => page.locator(one).boundingBox()));
    assert.ok(brand && said && brand.x + brand.width <= said.x, `${JSON.stringify(said)} beside ${JSON.stringify(brand)}`);
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles([sample('noto', 'cat'), sample('noto', 'rocket')]);
    const none = page.locator('.ask:not([hidden])').getByRole('button', { name: 'None of these' }).first();
    assert.ok(await none.evaluate((button) => button.scrollWidth <= button.clientWidth), 'the text of the button is whole');
  }));

test('on a phone the bar of a selection shows all that it offers at first, with many classes too', () =>
  visit({ context: { viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' } }, async ({ page }) => {
    for (let i = 0; i < 16; i++) await addClass(page, `Class number ${i}`);
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles([sample('noto', 'cat'), sample('noto', 'rocket')]);
    await page.locator('.shot-check').first().click();
    const bar = page.locator('.selection');
    await bar.getByRole('button', { name: /more…$/ }).waitFor();
    await eventually(async () => assert.ok(await bar.evaluate((one) => one.scrollHeight <= one.clientHeight), 'nothing has to be scrolled to'));
    for (const name of ['Class number 0', 'None of these', 'New…']) assert.ok(await bar.getByRole('button', { name, exact: true }).isVisible(), name);
    await bar.getByRole('button', { name: /more…$/ }).click();
    await bar.getByRole('button', { name: 'Class number 15' }).click();
    await status(page, 'Taught as “Class number 15”.');
  }));

/** How far the page, an open dialog or the pictures of a class reach beyond their width. @param {Page} page */
const beyond = (page) =>
  page.evaluate(() =>
    Math.max(...[document.documentElement, ...document.querySelectorAll('dialog[open], .thumbs')].map((one) => one.scrollWidth - one.clientWidth)),
  );

/** Buttons whose text comes closer than three pixels to their upper or lower border. @param {Page} page */
const tight = (page) =>
  page.locator('.button:visible').evaluateAll((all) =>
    all
      .filter((one) => {
        const { top, bottom } = one.getBoundingClientRect();
        return [...one.childNodes]
          .filter((part) => part instanceof Text)
          .some((part) => {
            const text = document.createRange();
            text.selectNodeContents(part);
            return [...text.getClientRects()].some((line) => line.top < top + 3 || line.bottom > bottom - 3);
          });
      })
      .map((one) => one.textContent),
  );

/** What is pressed and lower than 44 pixels. @param {Page} page */
const low = (page) =>
  page
    .locator(':is(.button, .chip, summary, .shelf-head .link):visible')
    .evaluateAll((all) => all.filter((one) => one.isConnected && one.getBoundingClientRect().height < 44).map((one) => one.textContent)); // one may be drawn anew meanwhile

/** How many pixels the order of the sorted pictures lacks to be as wide as its longest text. @param {Page} page */
const lacking = (page) =>
  page.evaluate(() => {
    const select = /** @type {HTMLElement|null} */ (document.querySelector('#sort-order'));
    if (!select?.offsetWidth) return 0;
    const now = select.offsetWidth;
    select.style.flex = 'none';
    const wanted = select.offsetWidth;
    select.style.flex = '';
    return wanted - now;
  });

test('no width from 195 pixels on has to be scrolled to the side, nor with long names of letters that run to the left', { timeout: 120_000 }, () =>
  visit({ context: { hasTouch: true, reducedMotion: 'reduce' } }, async ({ page }) => {
    const look = async (/** @type {string} */ state) => {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 2 * width });
        assert.equal(await beyond(page), 0, `${state}, ${width} pixels wide`);
        assert.deepEqual(await tight(page), [], `${state}, ${width} pixels wide: what is written on a button keeps clear of its border`);
        assert.deepEqual(await low(page), [], `${state}, ${width} pixels wide: a finger hits it`);
        if (width > 195) assert.ok((await lacking(page)) <= 0, `${state}, ${width} pixels wide: the order of the pictures is not cut off`);
      }
    };
    await look('an empty page');
    for (const [name, of] of /** @type {const} */ ([
      ['Rocketwithalongnamethatisasingleword', 'rocket'],
      ['קבוצת חתולים גדולה מאוד עם שם ארוך במיוחד שאינו נכנס בשורה אחת', 'cat'],
    ])) {
      await addClass(page, name);
      await addPictures(
        page,
        name,
        ['noto', 'twemoji'].map((style) => sample(style, of)),
      );
    }
    await addPictures(page, 'Rocketwithalongnamethatisasingleword', [sample('noto', 'cat')]);
    await page.getByRole('button', { name: 'It is both' }).waitFor();
    await addPictures(page, 'קבוצת חתולים גדולה מאוד עם שם ארוך במיוחד שאינו נכנס בשורה אחת', [sample('noto', 'rocket')]);
    await page.getByRole('button', { name: 'It is both' }).nth(1).waitFor();
    await recognise(page, sample('emojione', 'cat'));
    await page.locator('#why:not([hidden])').waitFor();
    await page.getByRole('button', { name: 'Where', exact: true }).click();
    await page.getByRole('button', { name: /^Compare with / }).waitFor();
    await page.getByText('When it sees …').click();
    await page.getByText('How good is it?').click();
    await page.getByText('Class by class').waitFor();
    await page.getByText('Possibly in the wrong class').waitFor();
    await look('an answer');
    const cut = await page
      .locator('.spoiling-presses button')
      .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
    assert.deepEqual(cut, [], 'nothing is cut off on either side');
    assert.deepEqual(
      await page.locator('.by-class .ellipsis').evaluateAll((all) => all.map((one) => getComputedStyle(one).textAlign)),
      ['left', 'left'],
      'names stand below each other',
    );
    for (const dialog of ['More for Rocket', 'Show picture 1 of Rocket', 'Settings', 'Session:', 'Use it…', 'About and licences']) {
      await page.getByRole('button', { name: dialog }).first().click();
      await page.getByRole('dialog').waitFor();
      if (await page.locator('#move-to').isVisible()) await page.locator('#move-to').selectOption({ index: 1 }); // the button names it
      await look(dialog);
      for (const link of await page.locator('dialog[open] a').all())
        assert.ok(((await link.boundingBox())?.height ?? 0) >= 24, `a finger meets “${await link.textContent()}”`);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    }
    await lookSorted(page, ['cat', 'rocket', 'penguin'], look);
  }),
);

/** Buttons under the answer that are not whole and in sight. @param {Page} page */
const hiddenChoices = (page) =>
  page.locator('#correct button:visible').evaluateAll((all) =>
    all
      .filter((one) => {
        const { left, right, top, bottom } = one.getBoundingClientRect();
        return [left + 4, right - 4].some((x) => [top + 4, bottom - 4].some((y) => document.elementFromPoint(x, y)?.closest('button') !== one));
      })
      .map((one) => one.textContent),
  );

test('on a phone the room above the tabs shows the page while nothing is said; turned, the phone shows the same part of it, and a new class', () =>
  visit({ context: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, reducedMotion: 'reduce' } }, async ({ page }) => {
    const ground = () => page.locator('#status').evaluate((line) => getComputedStyle(line).backgroundColor);
    await addClass(page, 'Snowdrops in May');
    await status(page, /^Added the class/);
    const cut = await page.locator('.card-name').evaluate((name) => name.scrollWidth - name.clientWidth);
    assert.ok(cut <= 0, `${cut} pixels of the name are cut off beside what fits below it`);
    const session = await page.locator('#session-name').evaluate((name) => {
      name.textContent = 'My classes (2)';
      return name.scrollWidth - name.clientWidth;
    });
    assert.ok(session <= 0, `${session} pixels of the session’s name are cut off beside free room`);
    assert.notEqual(await ground(), 'rgba(0, 0, 0, 0)', 'a sentence has its ground');
    await page.locator('#status.quiet').waitFor({ state: 'attached' });
    assert.equal(await ground(), 'rgba(0, 0, 0, 0)');
    await page.locator('#sort').evaluate((view) => view.removeAttribute('hidden'));
    assert.equal(await ground(), 'rgba(0, 0, 0, 0)', 'below many pictures too');
    const pulled = await page.evaluate(() => [document.documentElement, document.body].map((one) => getComputedStyle(one).overscrollBehaviorY));
    assert.deepEqual(pulled, ['contain', 'contain'], 'no pull reloads the page, which would lose them');
    await page.locator('#sort').evaluate((view) => view.setAttribute('hidden', ''));

    const at = async (/** @type {import('playwright-core').Locator} */ one) => (await one.boundingBox())?.y ?? NaN;
    const part = page.locator('#goodness');
    await part.evaluate((one) => scrollBy({ top: one.getBoundingClientRect().top - 80, behavior: 'instant' }));
    await page.setViewportSize({ width: 844, height: 390 });
    await eventually(async () => assert.ok(Math.abs((await at(part)) - 80) < 40, `it stands at ${await at(part)}`));
    await page.locator('#class-name').evaluate((field) => field.scrollIntoView({ block: 'start', behavior: 'instant' }));
    await addClass(page, 'Rocket');
    await eventually(async () => assert.ok((await at(card(page, 'Rocket'))) >= 0, `it stands at ${await at(card(page, 'Rocket'))}`));
  }));

test('the buttons under an answer are whole and in sight with any number of classes, and so is the best bar', { timeout: 120_000, ...LONG }, () =>
  visit({ context: { reducedMotion: 'reduce' } }, async ({ page }) => {
    await addClass(page, 'Cat');
    await addPictures(page, 'Cat', [sample('noto', 'cat'), sample('twemoji', 'cat')]);
    await addClass(page, 'Rocket');
    await addPictures(page, 'Rocket', [sample('noto', 'rocket')]);
    const bar = page.locator('#correct');
    for (const more of [[], ['Sunflower', 'Laptop', 'Cup'], ['Turtle', 'A name that is so long that no button on any phone has room for all of it']]) {
      for (const name of more) await addClass(page, name);
      for (const [width, height] of [
        [1280, 800],
        [390, 844],
        [320, 568],
      ]) {
        await page.setViewportSize({ width, height });
        await recognise(page, sample('emojione', 'cat'));
        await page.locator('#why:not([hidden])').waitFor();
        const state = `${await page.locator('.card').count()} classes, ${width} pixels wide`;
        await eventually(async () => assert.deepEqual(await hiddenChoices(page), [], state));
        for (const name of ['None of these', 'New…']) assert.ok(await bar.getByRole('button', { name }).isVisible(), `${name}, ${state}`);
        const [best, choices] = await Promise.all(['.meter-best', '#correct'].map((one) => page.locator(one).boundingBox()));
        assert.ok(best && choices && best.y + best.height <= choices.y + 1, `the best bar is in sight, ${state}`);
      }
    }
    await bar.getByRole('button', { name: /more…$/ }).click();
    assert.equal(await bar.locator('button:visible').count(), 9, 'all classes, none of these and a new one');
    await recognise(page, sample('emojione', 'rocket'));
    await bar.getByRole('button', { name: /more…$/ }).waitFor();
  }),
);
