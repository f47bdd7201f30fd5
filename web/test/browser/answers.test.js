// @ts-check
/** Answers: whose they are, how they are said, why, how good they are, and what can be taken back. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { unzipSync } from 'fflate';
import {
  addClass,
  addPictures,
  assertMeters,
  card,
  downloaded,
  eventually,
  hold,
  holdPictures,
  meters,
  newSession,
  openSession,
  recognise,
  sample,
  sessionsOf,
  status,
  teach,
  teachNew,
  visit,
} from './harness.js';
import { LONG } from '../long.js';

const styles = ['noto', 'twemoji', 'openmoji'];

test('names that people take for the same, that of none of these, and empty ones are refused in a sentence, of new classes and of renamed ones', () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Zitrone é');
    for (const name of ['zitrone é', 'ZITRONE  e\u0301', 'Ｚitrone É']) {
      await page.getByRole('textbox', { name: 'Name of a new class' }).fill(name);
      await page.getByRole('button', { name: 'Add class' }).click();
      await page
        .locator('#add-class + [role=alert]')
        .filter({ hasText: /Zitrone é.*exists already: choose another name/ })
        .waitFor(); // at its field
    }
    await page.getByRole('textbox', { name: 'Name of a new class' }).fill('none of these');
    await page.getByRole('button', { name: 'Add class' }).click();
    await page.getByRole('alert').filter({ hasText: 'is the answer if no class fits' }).waitFor();
    await page.getByRole('textbox', { name: 'Name of a new class' }).fill('Zitrone\u202e e');
    await page.getByRole('button', { name: 'Add class' }).click();
    await status(page, /^Added the class “Zitrone e”/);
    const field = card(page, 'Zitrone e').getByRole('textbox');
    await field.fill('ZITRONE É');
    await field.press('Enter');
    await card(page, 'Zitrone e').and(page.locator(':focus')).waitFor(); // not at the beginning of the page
    await card(page, 'Zitrone e').getByRole('alert').filter({ hasText: 'Zitrone é' }).waitFor();
    assert.equal(await field.inputValue(), 'Zitrone e');
    await field.fill('Zitrone e'); // as it was: nothing is wrong any more
    await card(page, 'Zitrone e').getByRole('alert').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'More for Zitrone e', exact: true }).click();
    const menu = page.getByRole('dialog', { name: 'Zitrone e' });
    await menu.getByText('Then “Zitrone e” will no longer be a separate class.').waitFor();
    await menu.getByLabel('Name').fill('zitrone é');
    await menu.getByRole('button', { name: 'Rename' }).click();
    await menu.getByRole('alert').filter({ hasText: 'Zitrone é' }).waitFor();
    await menu.getByLabel('Name').fill('Lim\u202eette'); // would turn the text around it
    await menu.getByRole('alert').waitFor({ state: 'detached' });
    await menu.getByRole('button', { name: 'Rename' }).click();
    await menu.waitFor({ state: 'hidden' });
    await card(page, 'Limette').waitFor();
    await status(page, 'Renamed to “Limette”.');
    await page.getByRole('button', { name: 'Add class' }).click();
    await page.getByRole('alert').filter({ hasText: 'Give the new class a name first.' }).waitFor();

    // Who presses twice has one class, and goes on to type the next name.
    await page.getByRole('textbox', { name: 'Name of a new class' }).evaluate((/** @type {HTMLInputElement} */ one) => {
      one.value = 'Quitte';
      one.form?.requestSubmit();
      one.form?.requestSubmit();
      one.value = 'Feige';
    });
    await status(page, /^Added the class “Quitte”/);
    assert.equal(await page.getByRole('textbox', { name: 'Name of a new class' }).inputValue(), 'Feige');
    await page
      .getByRole('alert')
      .filter({ hasText: /exists|first/ })
      .waitFor({ state: 'detached' }); // nothing was wrong
  }));

test('the second click of a double click on Add class meets nothing else', () =>
  visit({}, async ({ page }) => {
    const field = page.getByRole('textbox', { name: 'Name of a new class' });
    for (const name of ['Cat', 'Rocket']) await addClass(page, name);
    await field.fill('Banana');
    const box = await page.getByRole('button', { name: 'Add class' }).boundingBox();
    assert.ok(box);
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.evaluate(() =>
      addEventListener('click', ({ detail, target }) =>
        Object.assign(globalThis, { clicked: [detail, /** @type {Element} */ (target).closest('#add-class')?.id] }),
      ),
    );
    await page.mouse.click(x, y);
    await card(page, 'Banana').waitFor();
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await page.evaluate('undefined'); // by when the click has come
    assert.deepEqual(await page.evaluate('clicked'), [1, 'add-class'], 'the card that is in the place of the button by now hears nothing');
    const trash = await page.getByRole('button', { name: 'Delete Cat' }).boundingBox();
    assert.ok(trash);
    await page.mouse.click(trash.x + trash.width / 2, trash.y + trash.height / 2);
    await card(page, 'Cat').waitFor({ state: 'detached' });
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await status(page, 'Deleted “Cat”, which was empty.');
    await addClass(page, 'Dog');
    assert.ok(await card(page, 'Rocket').isVisible(), 'the next class, whose button is in its place, stays');
  }));

test('a complaint about files goes once the addition that it came with is undone', () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Cat');
    const broken = { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('no picture') };
    const cat = { name: 'cat.png', mimeType: 'image/png', buffer: await readFile(sample('noto', 'cat')) };
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles([cat, broken]);
    await card(page, 'Cat').getByRole('alert').filter({ hasText: 'broken.png' }).waitFor();
    await card(page, 'Cat').getByText('1 picture', { exact: true }).waitFor();
    await page.locator('#undo-button').click();
    await card(page, 'Cat').getByText('No pictures yet').waitFor();
    await card(page, 'Cat').getByRole('alert').waitFor({ state: 'hidden' });
  }));

test('the answer is said, and why, and goes with its picture where the next one cannot be read', () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', styles);
    await teach(page, 'Rocket', styles);
    const field = page.getByLabel('Choose a picture', { exact: true });
    await field.setInputFiles(sample('twemoji', 'rocket'));
    await status(page, /^(Almost certainly|Probably) Rocket: .+\s%\. Recognised “rocket\.png”\.$/);
    await page.locator('#meters').getByRole('meter').first().waitFor();
    const verdict = await page.locator('#verdict').evaluate((one) => parseFloat(getComputedStyle(one).fontSize));
    const others = await page
      .locator('body *:visible')
      .evaluateAll((all) => all.filter((one) => one.id !== 'verdict').map((one) => parseFloat(getComputedStyle(one).fontSize)));
    assert.ok(verdict > Math.max(...others), 'the answer is the largest on the page');
    const why = page.getByRole('region', { name: 'Why' });
    await why.getByText('This picture is an example of “Rocket”, so the answer is no test.').waitFor();
    assert.equal(await why.locator('.near').first().innerText(), 'Rocket');
    await page.waitForFunction(() => {
      // the picture itself is the nearest
      const source = (/** @type {string} */ selector) => document.querySelector(selector)?.getAttribute('src');
      return source('.near img') && source('.near img') === source('[aria-label="Show picture 2 of Rocket"] img');
    });
    await field.setInputFiles({ name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
    await page.getByRole('alert').filter({ hasText: 'broken.png' }).waitFor();
    assert.deepEqual(await meters(page), {}, 'no answer stands beside a picture that it is not about');
    await page.locator('#query-picture').waitFor({ state: 'hidden' });
    await page.locator('#why').waitFor({ state: 'hidden' });
  }));

test('samples keep out of a session that holds something, and their strip out of others', LONG, () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Mine');
    await page.getByRole('button', { name: 'Try it with samples' }).click();
    await status(page, 'The samples are taught in a new session, “Samples”.');
    await card(page, 'Bicycle').getByText('3 pictures').waitFor();
    await page.locator('#sample-queries').waitFor();
    const late = await hold(page, '**/samples/fluent-emoji-flat/cat.png');
    await page.getByRole('button', { name: 'Recognise the cat' }).click();
    await openSession(page, 'My classes');
    await card(page, 'Mine').waitFor();
    assert.equal(await page.locator('.card').count(), 1);
    await Promise.all([page.waitForResponse('**/samples/fluent-emoji-flat/cat.png'), late()]);
    await addClass(page, 'Also mine'); // by when all that was under way has been answered
    await page.locator('#query-picture').waitFor({ state: 'hidden' });
    assert.equal(await page.evaluate('said.some((one) => one.includes("cat.png"))'), false, 'nothing is asked about in another session');
    await page.locator('#sample-queries').waitFor({ state: 'hidden' });
    await openSession(page, 'Samples');
    await page.locator('#sample-queries').waitFor();
    // After a reload they are there again.
    await page.reload();
    await page.getByRole('button', { name: 'Recognise the penguin' }).waitFor();
    await openSession(page, 'My classes');
    await page.locator('#sample-queries').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Try it with samples' }).click();
    await status(page, 'The samples are taught in the session “Samples”, which is open now.');
  }),
);

test('samples taught in a session are found there after a reload', () =>
  visit({}, async ({ page }) => {
    await page.getByRole('button', { name: 'Try it with samples' }).click();
    await status(page, /^The samples are taught\. /);
    await page.reload();
    await page.getByRole('button', { name: 'Recognise the penguin' }).waitFor();
    await page.getByRole('button', { name: 'Try it with samples' }).click();
    await status(page, /^The samples are taught already\. /);
    assert.equal(await page.locator('#session-name').textContent(), 'My classes');
    await card(page, 'Bicycle').getByText('3 pictures').waitFor();
  }));

test('what is said stands in an open dialog, and undo and redo work there by keys', () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', styles.slice(0, 2));
    await page.getByRole('button', { name: 'Delete Cat' }).click();
    await status(page, 'Deleted “Cat” with 2 pictures.');
    await page.getByRole('button', { name: 'Settings' }).click();
    const settings = page.getByRole('dialog', { name: 'Settings' });
    await settings.waitFor();
    const said = settings.locator('#status');
    await said.waitFor({ state: 'hidden' }); // what was said before it opened
    await page.keyboard.press('Control+z');
    await said.filter({ hasText: 'Undone: remove Cat.' }).waitFor();
    await settings.getByRole('heading').first().click();
    await said.waitFor({ state: 'hidden' }); // after a press it may be true no more
    await page.keyboard.press('Control+Shift+z');
    await status(page, 'Redone: remove Cat.');
    await page.keyboard.press('Escape');
    await page.locator('body > #status').waitFor({ state: 'attached' });
  }));

test('how good it is: words, pictures, a move and its undo', () =>
  visit({}, async ({ page }) => {
    for (const name of ['Cat', 'Rocket', 'Banana']) await teach(page, name, styles);
    await addPictures(page, 'Rocket', [sample('fxemoji', 'cat')]);
    const panel = page.locator('#goodness');
    await panel.getByText('How good is it?').click();
    const line = panel.getByText(/^(All 10|\d of 10) right$/);
    await line.waitFor();
    const right = Number(/^\d/.exec((await line.textContent()) ?? '')?.[0] ?? 10);
    const rows = await panel.locator('.by-class li').allInnerTexts();
    assert.deepEqual(
      rows.map((row) => row.split('\n')[0]),
      ['Cat', 'Rocket', 'Banana'],
    );
    assert.equal(await panel.getByRole('meter').count(), 0, 'a screen reader hears each row once');
    assert.equal(
      rows.reduce((sum, row) => sum + Number(/(\d+) of/.exec(row)?.[1]), 0),
      right,
    );
    await panel.getByRole('heading', { name: 'Possibly in the wrong class' }).waitFor(); // the cat among the rockets
    const spoiling = panel.getByRole('listitem').filter({ hasText: 'Taught as “Rocket”, more like “Cat”.' });
    await panel.getByText(/^One more picture of “.*” would probably help most(, to tell it from “.*”|: some were taken for none of these)\.$/).waitFor();
    await spoiling.getByRole('button', { name: 'Leave it out' }).click();
    await card(page, 'Rocket').getByText('3 pictures').waitFor();
    await panel.locator('.goodness-result:not(.stale)').waitFor();
    await panel.getByText('No other example looks like another class.').waitFor();
    await panel.getByText('Left out: a picture of “Rocket”.').waitFor();
    await panel.getByRole('button', { name: 'Bring it back' }).click();
    await card(page, 'Rocket').getByText('4 pictures').waitFor();
    await panel.getByText('Left out:').waitFor({ state: 'detached' });
    await spoiling.waitFor();
    await panel.locator('.goodness-result:not(.stale)').waitFor();
    const cats =
      (await card(page, 'Cat')
        .getByText(/^\d+ pictures$/)
        .textContent()) ?? '';
    const more = `${parseInt(cats, 10) + 1} pictures`;
    await spoiling.getByRole('button', { name: 'Move to “Cat”' }).click();
    await card(page, 'Cat').getByText(more).waitFor();
    await panel.getByText('Moved: a picture of “Rocket”, to “Cat”.').waitFor();
    await panel.locator('.goodness-result:not(.stale)').waitFor();
    await page.locator('#undo-button').click(); // like everything
    await card(page, 'Rocket').getByText('4 pictures').waitFor();
    await panel.getByText('Moved:').waitFor({ state: 'detached' });
    await spoiling.getByRole('button', { name: 'Move to “Cat”' }).click();
    await card(page, 'Cat').getByText(more).waitFor();
    await panel.getByRole('button', { name: 'Move it back' }).click();
    await card(page, 'Cat').getByText(cats).waitFor();
    await panel.getByText('Moved:').waitFor({ state: 'detached' });
    await spoiling.waitFor();
    await panel.locator('.goodness-result:not(.stale)').waitFor();
    await panel.getByRole('button', { name: 'Show this picture of Rocket' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Picture' });
    await dialog.getByText('Rocket, picture 4 of 4').waitFor();
    await page.keyboard.press('Control+ArrowLeft'); // is the browser's, as Alt with an arrow is
    await page.keyboard.press('ArrowLeft');
    await dialog.getByText('Rocket, picture 3 of 4').waitFor();
    // The button of the last picture keeps the focus, or the arrow keys would do nothing.
    await dialog.getByRole('button', { name: 'Next', exact: true }).click();
    await dialog.getByText('Rocket, picture 4 of 4').waitFor();
    await dialog.locator('button[aria-disabled=true]').getByText('Next').waitFor();
    await page.keyboard.press('ArrowLeft');
    await dialog.getByText('Rocket, picture 3 of 4').waitFor();
    await page.keyboard.press('ArrowRight');
    await dialog.getByLabel('It belongs to').selectOption('Cat'); // as by keyboard, on the way to the next
    await dialog.getByLabel('It belongs to').selectOption('Banana');
    await dialog.getByRole('button', { name: 'Move to “Banana”' }).press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await card(page, 'Banana').getByText('4 pictures').waitFor();
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Show picture 4 of Banana');
    await page.getByRole('button', { name: 'Undo' }).click();
    await status(page, 'Undone: move a picture to Banana.');
    await card(page, 'Rocket').getByText('4 pictures').waitFor();
    await panel.locator('.goodness-result:not(.stale)').waitFor();
    await panel.getByText(right === 10 ? 'All 10 right' : `${right} of 10 right`, { exact: true }).waitFor(); // computed anew, and the same

    const goOn = await holdPictures(page, 1);
    await page.getByLabel('Add pictures to Banana', { exact: true }).setInputFiles(['emojione', 'fxemoji'].map((style) => sample(style, 'banana')));
    await card(page, 'Banana').getByText('4 pictures').waitFor();
    await spoiling.getByRole('button', { name: 'Leave it out' }).click();
    await card(page, 'Rocket').getByText('3 pictures').waitFor();
    await goOn();
    await card(page, 'Banana').getByText('5 pictures').waitFor();
    await panel.locator('.goodness-result:not(.stale)').waitFor();
    await panel.getByRole('button', { name: 'Bring it back' }).click();
    await card(page, 'Rocket').getByText('4 pictures').waitFor();
    assert.equal(await card(page, 'Banana').getByText('5 pictures').count(), 1, 'what was added meanwhile is a step of its own');
    await panel.locator('.goodness-result:not(.stale)').waitFor();

    await spoiling.getByRole('button', { name: 'Leave it out' }).click();
    await panel.getByText('Left out: a picture of “Rocket”.').waitFor();
    await newSession(page, 'Other');
    await teach(page, 'Rocket', styles.slice(0, 2));
    await panel.getByText('2 of 2 recognised as “Rocket”. Other things were not tried.').waitFor();
    await panel.getByText('Left out:').waitFor({ state: 'detached' }); // it is of the other session
  }));

test('a second choice moves the picture, the same one twice is one, none of these takes it back, and the headline of one picture says so', () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Cat');
    await addPictures(page, 'Cat', [sample('noto', 'cat')]);
    await addClass(page, 'Banana');
    await recognise(page, sample('emojione', 'rocket'));
    assert.doesNotMatch(await page.locator('#verdict').innerText(), /(Probably|certainly) Cat/);
    const bar = page.locator('#correct');
    const press = (/** @type {string} */ name) => bar.getByRole('button', { name, exact: true }).click();
    await press('None of these');
    await status(page, /^“None of these” teaches nothing/);
    await press('Banana');
    await card(page, 'Banana').getByText('1 picture', { exact: true }).waitFor();
    await press('Banana');
    await status(page, 'It is taught as “Banana” already.');
    await card(page, 'Banana').getByText('1 picture', { exact: true }).waitFor();
    const untested = (/** @type {string} */ name) => page.locator('#why').getByText(`This picture is an example of “${name}”, so the answer is no test.`);
    await untested('Banana').waitFor();
    await press('Cat');
    await card(page, 'Cat').getByText('2 pictures').waitFor();
    await untested('Cat').waitFor();
    await card(page, 'Banana').getByText('No pictures yet').waitFor();
    await bar.getByRole('button', { name: 'Cat', pressed: true }).waitFor();
    await press('None of these');
    await status(page, 'It is no longer taught as “Cat”. “None of these” teaches nothing.');
    await card(page, 'Cat').getByText('1 picture', { exact: true }).waitFor();
    await untested('Cat').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await card(page, 'Cat').getByText('2 pictures').waitFor();
    await bar.evaluate((element) => {
      // the second while the first is at work
      for (const name of ['None of these', 'Banana']) [...element.querySelectorAll('button')].find((button) => button.textContent === name)?.click();
    });
    await bar.getByRole('button', { name: 'Banana', pressed: true }).waitFor();
    await card(page, 'Banana').getByText('1 picture', { exact: true }).waitFor();
    await card(page, 'Cat').getByText('1 picture', { exact: true }).waitFor();
  }));

test('all that changes what is taught is undone and done again in order, over a reload too', () =>
  visit({}, async ({ page, site }) => {
    await teach(page, 'Cat', styles);
    await teach(page, 'Rocket', styles.slice(0, 2));
    await card(page, 'Cat').getByRole('textbox').fill('Feline');
    await page.keyboard.press('Enter');
    await card(page, 'Feline').waitFor();
    await page.getByRole('button', { name: 'More for Rocket' }).click();
    await page.getByRole('button', { name: 'Merge the two' }).click();
    await card(page, 'Feline').getByText('5 pictures').waitFor();
    await status(page, '“Rocket” is now part of “Feline”.'); // and stored
    await card(page, 'Feline').and(page.locator(':focus')).waitFor();
    await page.reload();
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    const [undo, redo] = ['Undo', 'Redo'].map((name) => page.getByRole('button', { name, exact: true }));
    const nodes = () => page.locator('#classes').evaluate(({ childNodes }) => childNodes.length);
    const before = await nodes();
    await undo.click();
    await card(page, 'Rocket').getByText('2 pictures').waitFor();
    await redo.click();
    await card(page, 'Rocket').waitFor({ state: 'detached' });
    assert.equal(await nodes(), before, 'a class that goes leaves nothing in the document');
    await undo.click();
    await card(page, 'Rocket').getByText('2 pictures').waitFor();
    await undo.click();
    await card(page, 'Cat').getByText('3 pictures').waitFor();
    await undo.click(); // the pictures of Rocket came in one go
    await card(page, 'Rocket').getByText('No pictures yet').waitFor();
    await redo.click();
    await card(page, 'Rocket').getByText('2 pictures').waitFor();
    await page.keyboard.press('Control+Shift+z');
    await card(page, 'Feline').getByText('3 pictures').waitFor();
    // A thumbnail is dragged to another class.
    await card(page, 'Rocket').locator('.thumb').first().dragTo(card(page, 'Feline').locator('.card-head'));
    await card(page, 'Feline').getByText('4 pictures').waitFor();
    assert.match((await redo.getAttribute('title')) ?? '', /nothing to redo/);
    assert.ok(site);
  }));

test('a picture in two classes is told when it is added, as it was and encoded anew, and which of the two stays is chosen', () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', styles);
    await teach(page, 'Rocket', styles);
    const twin = card(page, 'Rocket').getByText('is also in “Cat”');
    await addPictures(page, 'Rocket', [sample('fxemoji', 'cat')]);
    assert.equal(await twin.count(), 0, 'another picture of a cat is none');
    const again = await page.evaluate(async (src) => {
      const bitmap = await createImageBitmap(await (await fetch(src)).blob());
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
      const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp', quality: 0.9 })).arrayBuffer());
      return btoa(String.fromCharCode(...bytes));
    }, 'samples/noto/cat.png');
    await page
      .getByLabel('Add pictures to Rocket', { exact: true })
      .setInputFiles({ name: 'again.webp', mimeType: 'image/webp', buffer: Buffer.from(again, 'base64') });
    await twin.waitFor();
    await page.getByRole('button', { name: 'It is both' }).click();
    await twin.waitFor({ state: 'detached' });
    await addPictures(page, 'Rocket', [sample('twemoji', 'cat')]);
    await twin.waitFor();
    const dialog = page.getByRole('dialog', { name: 'Picture' });
    await page.getByRole('button', { name: 'Show it', exact: true }).click();
    await dialog.getByText('Rocket, picture 6 of 6').waitFor(); // the one that was added
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'It is Cat', exact: true }).click();
    await card(page, 'Rocket').getByText('5 pictures').waitFor();
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Show picture 2 of Cat'); // which is left
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'It is Rocket', exact: true }).click();
    await card(page, 'Cat').getByText('2 pictures').waitFor();
    await card(page, 'Rocket').getByText('6 pictures').waitFor();
    await twin.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await twin.waitFor();
    await page.getByRole('button', { name: 'Undo' }).click(); // what was added
    await twin.waitFor({ state: 'detached' });
  }));

test('what was taught is taken home as folders of pictures, and a file of something else is refused in a sentence', () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', styles);
    await teach(page, 'Rocket', styles.slice(0, 1));
    await sessionsOf(page);
    const saved = await downloaded(page, 'Save its pictures');
    assert.equal(saved.suggestedFilename(), 'My classes.zip');
    const files = unzipSync(new Uint8Array(await readFile(await saved.path())));
    assert.deepEqual(Object.keys(files), ['Cat/0001.jpg', 'Cat/0002.jpg', 'Cat/0003.jpg', 'Rocket/0001.jpg']);
    for (const file of Object.values(files)) assert.deepEqual([...file.slice(0, 3)], [0xff, 0xd8, 0xff], 'JPEG');
    await page.getByLabel('Open a saved session').setInputFiles({ name: 'cat.safetensors', mimeType: '', buffer: Buffer.from(files['Cat/0001.jpg']) });
    await page.getByRole('alert').getByText('This file holds no session of metaqda: choose one that this page saved, NAME.safetensors.').waitFor();
  }));

test('the headline is not covered by its picture, which with eighteen classes stays beside the answer', LONG, () =>
  visit({ context: { viewport: { width: 1280, height: 800 } } }, async ({ page }) => {
    await teach(page, 'Cat', styles);
    await teach(page, 'Rocket', styles);
    await recognise(page, sample('emojione', 'penguin'));
    await page.locator('#recognise').evaluate((panel) => panel.scrollTo(0, panel.scrollHeight));
    assert.ok(
      await page.locator('#verdict').evaluate((said) => {
        const { left, top, height } = said.getBoundingClientRect();
        return document.elementFromPoint(left + 5, top + height / 2) === said;
      }),
      'nothing covers the headline',
    );
    for (let i = 0; i < 17; i++) await addClass(page, `Class ${i}`);
    await recognise(page, sample('emojione', 'cat'));
    await page.getByRole('meter').last().scrollIntoViewIfNeeded();
    const box = await page.locator('#stage').boundingBox();
    assert.ok(box && box.y >= 0 && box.y + box.height <= 800, `the picture is at ${JSON.stringify(box)}`);
    await page.locator('#query-picture').click({ trial: true });
  }),
);

test('with many classes those that the answer names have a button, on a phone too', { timeout: 120_000 }, () =>
  visit({ context: { viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' } }, async ({ page }) => {
    for (let i = 0; i < 30; i++) await addClass(page, `Class ${i}`);
    await teach(page, 'Cat', styles);
    await teach(page, 'Rocket', styles);
    await recognise(page, sample('emojione', 'rocket'));
    const bar = page.locator('#correct');
    await bar.getByRole('button', { name: 'Rocket', exact: true }).click({ timeout: 5000 });
    await status(page, 'Taught as “Rocket”.');
    await bar.locator('button[aria-pressed=true]').filter({ hasText: 'Rocket' }).waitFor();
    const before = await bar.getByRole('button').allTextContents();
    await bar.getByRole('button', { name: /more…$/ }).click();
    const first = await page.evaluate(() => document.activeElement?.textContent ?? '');
    assert.ok(!before.includes(first) && /^Class \d+$/.test(first), `the first of the others has the focus: ${first}`);
    for (const [width, height] of [
      [390, 844],
      [1280, 800],
    ]) {
      await page.setViewportSize({ width, height });
      await recognise(page, sample('emojione', 'cat'));
      await page.locator('#why:not([hidden])').waitFor();
      await bar.getByRole('button', { name: /more…$/ }).click();
      for (const key of [
        'Tab',
        'Tab',
        'Tab',
        'Tab',
        'Tab',
        'Tab',
        'Tab',
        'Shift+Tab',
        'Shift+Tab',
        'Shift+Tab',
        'Shift+Tab',
        'Shift+Tab',
        'Shift+Tab',
        'Shift+Tab',
        '',
      ]) {
        const covered = await page.evaluate(() => {
          const now = /** @type {Element} */ (document.activeElement);
          const { left, top, bottom } = now.getBoundingClientRect();
          return [top + 4, bottom - 4].some((y) => document.elementFromPoint(left + 14, y)?.closest('button') !== now) && now.textContent;
        });
        assert.equal(covered, false, `what has the focus is covered, ${width} pixels wide`);
        if (key) await page.keyboard.press(key);
      }
    }
  }),
);

test(
  'the answer, its bars, its picture and why are in sight together after ten questions in a row, on a laptop and on a phone',
  { timeout: 120_000, ...LONG },
  () =>
    visit({ context: { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' } }, async ({ page }) => {
      const names = ['Cat', 'Rocket', 'Banana', 'Umbrella', 'Bicycle'];
      for (const name of names) await teach(page, name, ['noto']);
      for (const [width, height, ground] of [
        [1280, 800, 800],
        [390, 844, 748],
      ]) {
        // a phone has a bar at its foot
        await page.setViewportSize({ width, height });
        for (let i = 0; i < 10; i++) await recognise(page, sample(i % 2 ? 'emojione' : 'fxemoji', names[i % 5].toLowerCase()));
        await eventually(async () => {
          const boxes = await page.evaluate(() =>
            ['#query-picture', '#why', '#verdict', '.meter-best', 'li:nth-child(6) > .meter', '#correct .correct-label'].map((one) => {
              const { top, bottom } = /** @type {Element} */ (document.querySelector(one)).getBoundingClientRect();
              return { one, top, bottom };
            }),
          );
          const [label] = boxes.splice(-1);
          const end = width < 900 ? label.top : ground; // on a phone the buttons stay in sight below the bars
          for (const { one, top, bottom } of boxes)
            assert.ok(top >= 57 && bottom > top && bottom <= end, `${one} of ${width} by ${height}: ${top} to ${bottom}`);
          if (width < 900) assert.ok(label.bottom > label.top && label.bottom <= ground, `the buttons of ${width} by ${height}: ${JSON.stringify(label)}`);
        });
      }
    }),
);

test('under an answer a press says what it is, a new class is made, and both are undone', { timeout: 120_000 }, () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', ['noto']);
    await teach(page, 'Rocket', ['noto']);
    const bar = page.locator('#correct');
    await bar.getByRole('button', { name: 'Cat' }).waitFor({ state: 'hidden' });
    const before = await recognise(page, sample('emojione', 'penguin'));
    await teachNew(page, bar, 'Penguin');
    await card(page, 'Penguin').getByText('1 picture').waitFor();
    await eventually(async () => assert.ok((await meters(page)).Penguin > 0.5, 'the answer follows'));
    await page.getByRole('button', { name: 'Undo' }).click();
    await card(page, 'Penguin').waitFor({ state: 'detached' });
    await assertMeters(page, before, 'the answer is as it was');

    await recognise(page, sample('emojione', 'cat'));
    await bar.getByRole('button', { name: 'Cat' }).click();
    await card(page, 'Cat').getByText('2 pictures').waitFor();
    await page.emulateMedia({ forcedColors: 'active' });
    const ground = (/** @type {string} */ one) => page.locator(one).evaluate((element) => getComputedStyle(element).backgroundColor);
    for (const one of ['.meter-best .meter-bar', '.meter-none .meter-bar', '#correct [aria-pressed=true]'])
      assert.notEqual(await ground(one), await ground('body'), `${one} is seen in forced colours`);
    await page.emulateMedia({ forcedColors: 'none', media: 'print' });
    const fixed = () =>
      [...document.querySelectorAll('body *')]
        .filter((one) => one.checkVisibility() && ['fixed', 'sticky'].includes(getComputedStyle(one).position))
        .map(({ id, className }) => id || className);
    assert.deepEqual(await page.evaluate(fixed), [], 'nothing stands over another on paper');
    await page.emulateMedia({ media: 'screen' });
    await page.keyboard.press('Control+z');
    await card(page, 'Cat').getByText('1 picture', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Clear the picture' }).click();
    await bar.getByRole('button', { name: 'Cat' }).waitFor({ state: 'hidden' });

    await page.setViewportSize({ width: 320, height: 568 }); // the bar has room for some classes only
    for (const name of ['Sunflower', 'Laptop', 'Umbrella']) await addClass(page, name);
    await recognise(page, sample('emojione', 'penguin'));
    await teachNew(page, bar, 'Penguin');
    await bar.getByRole('button', { name: 'Penguin', pressed: true }).waitFor();
    const choices = () => bar.locator('.correct-choices button:visible').allTextContents();
    const some = await choices();
    await bar.getByRole('button', { name: /more…$/ }).press('Enter');
    const all = await choices();
    assert.deepEqual(all, ['Cat', 'Rocket', 'Sunflower', 'Laptop', 'Umbrella', 'Penguin', 'None of these']);
    assert.equal(
      await page.evaluate('document.activeElement.textContent'),
      all.find((name) => !some.includes(name)),
      'the first of the others has the focus',
    );
  }),
);
