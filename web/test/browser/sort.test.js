// @ts-check
/** Many pictures at once: sorted, judged together, corrected, saved; folders as classes; "It is:" under an answer. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { drawings, drop, KNOWN, longestTask, OUT_OF_SET, savedTable, sortState, stored, watchTasks } from './many.js';
import { addPictures, card, downloaded, faults, hold, holdPictures, open, root, sample, status, teach, teachNew, visit } from './harness.js';
import { LONG } from '../long.js';
import { temporaryFolder } from '../temporary.js';

/** @import {Page} from 'playwright-core' */

const TAUGHT = ['noto', 'twemoji', 'openmoji'];
/** The page is never busy for longer, in milliseconds, even with many programs beside it; alone `make bench-sort` asks for a hundred. */
const LONGEST = 500;

const shared = process.env.METAQDA_PICTURES ?? path.join(root, '../shared/pictures');
const folder = temporaryFolder('sort');

const named = (/** @type {string} */ concept) => concept[0].toUpperCase() + concept.slice(1);

const TOGETHER = /^Judged together/;

const accuracy = (/** @type {Record<string, string>[]} */ rows, /** @type {(row: Record<string, string>) => string} */ truth) =>
  rows.filter((row) => row.answer === truth(row)).length / rows.length;

/** The whole percents of a number of the table, which has four decimals. @param {string} p */
const shown = (p) => Math.round(100 * Number(p));

/**
 * Sorts pictures and compares the answers one by one with those together.
 *
 * @param {Page} page
 * @param {string[]} files
 * @param {(row: Record<string, string>) => string} truth
 */
async function sorted(page, files, truth) {
  const judge = await hold(page, '**/web/ui/thread.js'); // until the answers one by one have been read
  await watchTasks(page);
  const begun = performance.now();
  await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(files);
  await page.getByRole('progressbar', { name: 'Pictures looked at' }).waitFor();
  await sortState(page, /^Judging all pictures together/);
  const read = performance.now();
  const one = await savedTable(page);
  judge();
  await sortState(page, TOGETHER);
  const judged = performance.now();
  await status(page, new RegExp(`^${files.length} pictures: `));
  const together = await savedTable(page);
  assert.equal(together.rows.length, files.length);
  const [least, surest] = await Promise.all(
    ['.shelf-none', '.sort-state'].map(async (one) => Number(/(\d+)\u00a0%/.exec((await page.locator(one).first().textContent()) ?? '')?.[1])),
  );
  for (const row of together.rows) {
    const sum = together.head.slice(5).reduce((all, name) => all + Number(row[name]), 0);
    assert.ok(Math.abs(sum - 1) < 0.001 * together.head.length, `the probabilities of ${row.file} sum to ${sum}`);
    assert.equal(row.probability, row[row.answer]);
    assert.equal(row.answer === 'none of these', shown(row['none of these']) >= least, `${row.file}: at least ${least} %`);
    assert.equal(row.doubtful === 'yes', shown(row.probability) < surest, `${row.file}: less than ${surest} % sure`);
  }
  const aside = (/** @type {Record<string, string>[]} */ rows) =>
    rows
      .filter(({ answer }) => answer === 'none of these')
      .map(({ file }) => file)
      .sort();
  assert.deepEqual(aside(together.rows), aside(one.rows), 'the same pictures are none of these as one by one');
  const longest = await longestTask(page);
  if (process.env.METAQDA_SOAK) assert.ok(longest <= LONGEST, `a task of ${longest} ms`); // beside which nothing runs
  const result = {
    longest,
    oneByOne: accuracy(one.rows, truth),
    together: accuracy(together.rows, truth),
    seconds: (read - begun) / 1000,
    judging: (judged - read) / 1000,
  };
  console.log(`# ${files.length} pictures: ${JSON.stringify(result, (_, v) => (typeof v === 'number' ? Number(v.toFixed(3)) : v))}`);
  return result;
}

test('120 pictures are sorted, most of them rightly, better together, and nothing of them is kept', { timeout: 300_000 }, () =>
  visit({}, async ({ page }) => {
    const files = await drawings(folder, 8, 20);
    assert.equal(files.length, 120);
    for (const concept of KNOWN) await teach(page, named(concept), TAUGHT);
    const kept = await stored(page);
    // Chosen files come without their folders: what they show is in the order chosen.
    const truths = new Map();
    const copies = path.join(folder, 'copies');
    await mkdir(copies, { recursive: true });
    const flat = await Promise.all(
      files.map(async (file, i) => {
        const name = `picture-${i}.png`;
        truths.set(name, named(path.basename(path.dirname(file))));
        await cp(file, path.join(copies, name));
        return path.join(copies, name);
      }),
    );
    const truth = (/** @type {Record<string, string>} */ { file }) => (truths.get(file) === named(OUT_OF_SET) ? 'none of these' : truths.get(file));
    const { oneByOne, together } = await sorted(page, flat, truth);
    assert.ok(oneByOne >= 0.6, `one by one ${oneByOne} right`);
    assert.ok(together >= oneByOne - 0.01, `together ${together} right, one by one ${oneByOne}`);
    assert.deepEqual(await stored(page), kept, 'nothing is stored');
    assert.ok((await page.locator('.shot-card').count()) < 120, 'not all cards at once');
    await page
      .getByRole('button', { name: /^Show \d+ more of/ })
      .first()
      .click();

    await page.getByRole('button', { name: /^Doubtful/ }).click();
    assert.equal(await page.locator('.shot-value').filter({ hasText: /9\d %/ }).count(), 0);
    await page.getByRole('button', { name: /^All/ }).click();

    await page.evaluate(() => history.back());
    const heading = page.getByRole('heading', { name: '120 pictures' });
    await heading.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Open again' }).click();
    await heading.waitFor();
    assert.ok(await page.getByRole('button', { name: 'Save as a table' }).isEnabled());
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.locator('.toast').getByText('The view of 120 pictures is closed. Your examples are kept.').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    assert.equal(await page.locator('.shot-card').count(), 0);
    assert.deepEqual(await stored(page), kept, 'nothing is left');
    assert.ok(await page.locator('#teach').isVisible());
  }),
);

test('with nothing taught each name is followed by the next group that looks alike, also after the first one', () =>
  visit({}, async ({ page }) => {
    const files = (await drawings(folder, 6)).filter((file) => /\/(cat|rocket|umbrella)\/fxemoji/.test(file));
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(files);
    await sortState(page, /^Nothing is taught yet/);
    const alike = page.locator('.alike');
    for (const [name, state] of /** @type {[string, RegExp][]} */ ([
      ['First', /^Compared part by part/],
      ['Second', TOGETHER],
    ])) {
      assert.equal(await alike.locator('.alike-picture').count(), 6, name);
      await alike.getByRole('button', { name: 'New…' }).click();
      await page.keyboard.type(name);
      await page.keyboard.press('Enter');
      await status(page, new RegExp(`^18 pictures: .*6 ${name}`));
      await sortState(page, state);
    }
    assert.ok(await alike.isVisible(), 'the third kind of thing has no name yet');
  }));

const photographs = existsSync(path.join(shared, 'corel1k.tar'));
test(
  'photographs of nothing taught: what is left out stays out, and a name given rightly costs the others next to nothing',
  { timeout: 600_000, ...(photographs ? LONG : { skip: 'not beside the clone' }) },
  () =>
    visit({}, async ({ page }) => {
      await promisify(execFile)('tar', ['xf', path.join(shared, 'corel1k.tar'), '-C', folder]);
      const classes = (await readdir(path.join(folder, 'corel1k'))).sort().slice(0, 8);
      const files = [];
      for (const name of classes) {
        for (const file of (await readdir(path.join(folder, 'corel1k', name))).sort()) {
          files.push(path.join(folder, `${name}!${file}`));
          await cp(path.join(folder, 'corel1k', name, file), files[files.length - 1]);
        }
      }
      const truth = (/** @type {string} */ file) => file.slice(0, file.lastIndexOf('!'));
      await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(files);
      await sortState(page, /^Nothing is taught yet/);
      const alike = page.locator('.alike');
      const named = new Set();
      /** @type {{file: string, doubtful: boolean, right: boolean}[]} */
      let before = [];
      const purities = [];
      const costs = { lost: 0, of: 0 };
      const judged = { sure: [0, 0], doubtful: [0, 0] };
      for (let step = 0; step < 8 && (await alike.isVisible()); step++) {
        const group = await alike
          .locator('.alike-picture')
          .evaluateAll((all) => all.map((one) => (one.getAttribute('aria-label') ?? '').replace(' belongs to them', '')));
        const counts = classes.map((name) => ({ name, count: group.filter((file) => truth(file) === name).length })).sort((a, b) => b.count - a.count);
        const [{ name, count }] = counts;
        purities.push(count / group.length);
        const leftOut = group.filter((file) => truth(file) !== name);
        for (const file of leftOut) await alike.getByRole('button', { name: `${file} belongs to them`, exact: true }).click();
        if (named.has(name)) await alike.getByRole('button', { name, exact: true }).click();
        else {
          await alike.getByRole('button', { name: 'New…' }).click();
          await page.keyboard.type(name);
          await page.keyboard.press('Enter');
        }
        await status(page, /^\d+ pictures: /);
        named.add(name);
        await sortState(page, named.size > 1 ? TOGETHER : /^Compared part by part/);
        const { rows } = await savedTable(page);
        for (const file of leftOut) assert.notEqual(rows.find((row) => row.file === file)?.answer, name, `${file} was left out of ${name}`);
        const now = rows
          .filter((row) => !row['taught as'])
          .map((row) => ({
            file: row.file,
            doubtful: row.doubtful === 'yes',
            right: row.answer === (named.has(truth(row.file)) ? truth(row.file) : 'none of these'),
          }));
        const others = now.filter(({ file }) => truth(file) !== name);
        const were = new Set(before.filter(({ right }) => right).map(({ file }) => file));
        const lost = before.length ? others.filter(({ file }) => were.has(file)).length - others.filter(({ right }) => right).length : 0;
        console.log(
          `# ${name}: ${group.length} offered, ${count} of it; ${lost} of ${others.length} others lost; ${now.filter(({ right }) => right).length} of ${now.length} right`,
        );
        assert.ok(lost <= others.length / 20, `naming ${name} cost ${lost} of ${others.length}`);
        costs.lost += Math.max(0, lost);
        costs.of += others.length;
        before = now;
        for (const { doubtful, right } of now) {
          const count = judged[doubtful ? 'doubtful' : 'sure'];
          count[0] += Number(right);
          count[1]++;
        }
      }
      assert.ok(costs.lost <= costs.of / 100, `names cost ${costs.lost} of ${costs.of}`);
      const purity = purities.reduce((a, b) => a + b, 0) / purities.length;
      assert.ok(purity >= 0.8, `groups are pure by ${purity} in the mean`);
      const [sure, doubtful] = [judged.sure, judged.doubtful].map(([right, all]) => right / all);
      console.log(`# ${sure} of ${judged.sure[1]} right that are not called doubtful, ${doubtful} of ${judged.doubtful[1]} that are`);
      assert.ok(sure >= 0.97 && doubtful <= 0.9, `right: ${sure} of what is not called doubtful, ${doubtful} of what is`);
    }),
);

test(
  'looking at pictures can be cancelled, and those that were looked at stay; what closing the page cuts short of adding is told, and undone by itself',
  { timeout: 120_000 },
  () =>
    visit({}, async ({ page, context, site }) => {
      await teach(page, 'Cat', ['noto']);
      const files = (await drawings(folder, 5)).slice(0, 60);
      const goOn = await holdPictures(page, 5);
      await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(files);
      await page
        .getByRole('region', { name: /^(Cat|None of these)$/ })
        .first()
        .waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await goOn();
      await status(page, /^Stopped: [1-5]?\d of 60 were looked at; choose the others again\. \d+ pictures?: /);
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.locator('dialog [data-key="closed"]').waitFor({ state: 'hidden' });
      await page.keyboard.press('Escape');
      await holdPictures(page, 3);
      await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles(files);
      await card(page, 'Cat').getByText('4 pictures').waitFor();
      const [others, back] = [await context.newPage(), await context.newPage()];
      await open(others, site);
      assert.equal(await others.locator('.toast').count(), 0, 'it is under way in another tab');
      await addPictures(others, 'Cat', [sample('twemoji', 'cat')]); // what ends here is still under way there
      await others.getByRole('button', { name: 'Undo' }).click();
      await status(others, 'Undone: add a picture to Cat.');
      const notes = () => others.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('adding')).length);
      assert.equal(await notes(), 1, 'the note of the tab that still adds');
      await page.close();
      await open(back, site);
      await back.getByText('Those already added are kept: add the missing ones.').waitFor();
      assert.equal(await notes(), 0, 'it is told once');
      await back.getByRole('button', { name: 'Undo' }).click();
      await status(back, /^Undone: add \d pictures to Cat/);
    }),
);

test('undo stops the teaching of a selection', { timeout: 120_000 }, () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', TAUGHT);
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles((await drawings(folder, 5)).slice(0, 60));
    await status(page, /^60 pictures: /);
    const all = page.getByRole('button', { name: /^Select all of/ });
    while (await all.count()) await all.first().click();
    const selected = page.getByRole('region', { name: 'Selected pictures' });
    await selected.getByRole('button', { name: 'Cat', exact: true }).click();
    await selected.getByText(/^Teaching \d+ of 60 …$/).waitFor();
    await page.waitForFunction((taught) => document.querySelectorAll('.thumb').length > taught, TAUGHT.length);
    await page.getByRole('button', { name: 'Undo' }).click();
    await status(page, /^Undone: add (a picture|[1-4]?\d pictures) to Cat\.$/);
    await page
      .locator('#teach-summary')
      .filter({ hasText: `${TAUGHT.length} pictures` })
      .waitFor({ state: 'attached' });
    await page.locator('.shot-card.taught').waitFor({ state: 'detached' });
    await selected.waitFor({ state: 'hidden' });
  }),
);

test('after a selection is named by the keyboard, its first picture has the focus', () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', TAUGHT);
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles((await drawings(folder, 5)).slice(0, 6));
    await status(page, /^6 pictures: /);
    for (const i of [1, 2]) await page.locator('.shot-check').nth(i).click();
    const cat = page.getByRole('region', { name: 'Selected pictures' }).getByRole('button', { name: 'Cat', exact: true });
    await cat.focus();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await status(page, '2 pictures taught as “Cat”.');
    await page.waitForFunction(() => document.activeElement?.matches('.taught .shot'));
  }));

test('pictures are corrected from the larger view, by selection, by the question and by what looks alike, and it is undone', { timeout: 180_000 }, () =>
  visit(
    {
      context: { reducedMotion: 'reduce' },
    },
    async ({ page }) => {
      await teach(page, 'Cat', TAUGHT);
      await teach(page, 'Rocket', TAUGHT);
      const files = (await drawings(folder, 5)).filter((file) => /(cat|rocket|penguin)\//.test(file.replaceAll(path.sep, '/')));
      await drop(page, '#stage', [...new Set(files.map((file) => path.dirname(file)))]);
      await sortState(page, TOGETHER);
      assert.equal(await page.locator('#sort-title').textContent(), '30 pictures');
      const answers = async () => (await savedTable(page)).rows.sort((a, b) => a.file.localeCompare(b.file)); // they arrive in any order
      const rows = await answers();
      assert.ok(
        rows.every(({ file }) => /^(cat|rocket|penguin)\/\w+-\d\.png$/.test(file)),
        'the path below the folder that was dropped',
      );
      assert.deepEqual(await faults(page), [], 'sorted');

      // Sorted anew while nothing is taught, and what was undone then done again: answered as if it had been there.
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      const [undo, redo] = ['undo', 'redo'].map((id) => page.locator(`#${id}-button`));
      let steps = 0;
      for (; (await undo.getAttribute('aria-disabled')) === 'false'; steps++) {
        const next = await undo.getAttribute('title');
        await undo.click();
        await page.waitForFunction((before) => document.querySelector('#undo-button')?.getAttribute('title') !== before, next);
      }
      await drop(page, '#stage', [...new Set(files.map((file) => path.dirname(file)))]);
      await sortState(page, /^Nothing is taught yet/);
      await redo.evaluate((button, n) => {
        while (n--) /** @type {HTMLElement} */ (button).click();
      }, steps); // none is judged by itself
      await page.locator('#teach-summary').filter({ hasText: '6 pictures' }).waitFor({ state: 'attached' });
      await sortState(page, TOGETHER);
      assert.deepEqual(await answers(), rows, 'what is done again is answered as if it had been there');

      // The larger view, by keyboard.
      const total = async () => Number(/(\d+) pictures/.exec((await page.locator('#teach-summary').textContent()) ?? '')?.[1]);
      assert.equal(await total(), 6);
      await page.locator('.shot').first().focus();
      await page.keyboard.press('Control+ArrowRight');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      const viewer = page.getByRole('dialog', { name: 'Picture' });
      await viewer.getByText(/^2 of \d+$/).waitFor();
      assert.deepEqual(await faults(page), [], 'larger view');
      await page.keyboard.press('Control+ArrowRight'); // is the browser's, as Alt with an arrow is
      await page.keyboard.press('ArrowRight');
      await viewer.getByText(/^3 of \d+$/).waitFor();
      await viewer.getByRole('button', { name: 'Cat', exact: true }).click();
      await viewer.getByText('Taught as Cat').waitFor();
      await page.keyboard.press('Escape');
      await viewer.waitFor({ state: 'hidden' });
      await page.waitForFunction(() => document.activeElement?.classList.contains('shot')); // the focus is on a picture
      await page.locator('.shot-card.taught').waitFor();
      await sortState(page, TOGETHER);
      assert.equal(await total(), 7);
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.locator('.shot-card.taught').waitFor({ state: 'detached' });
      assert.equal(await total(), 6);
      assert.deepEqual(await answers(), rows, 'what is undone is answered as before');

      // Taught again, and undone while all are judged: the answers that come then are not told as today's.
      const undone = page.evaluate(
        () =>
          new Promise((resolve) => {
            new MutationObserver((_, observer) => {
              if (!/^Judging/.test(document.querySelector('.sort-state')?.textContent ?? '')) return;
              observer.disconnect();
              resolve(document.querySelector('.shot-card.taught') !== null);
              /** @type {HTMLButtonElement} */ (document.querySelector('#undo-button')).click();
            }).observe(document.body, { subtree: true, childList: true, characterData: true });
          }),
      );
      await page.keyboard.press('Control+Shift+z');
      assert.ok(await undone, 'it was taught again');
      await page.locator('.shot-card.taught').waitFor({ state: 'detached' });
      assert.deepEqual(await answers(), rows, 'answers of what was undone meanwhile');

      // A selection, as a class that is new.
      const none = page.getByRole('region', { name: 'None of these' });
      await sortState(page, TOGETHER);
      await none.getByRole('button', { name: 'Select all of None of these' }).click();
      const picked = await none.locator('.selected').count();
      const selection = page.getByRole('region', { name: 'Selected pictures' });
      assert.ok(picked >= 3, `${picked} of 10 that were not taught are none of these`);
      assert.deepEqual(await faults(page), [], 'selected');
      await teachNew(page, selection, 'Penguin');
      await page.locator('.chip').filter({ hasText: 'Penguin' }).waitFor();
      await page
        .locator('#teach-summary')
        .filter({ hasText: `${6 + picked} pictures` })
        .waitFor({ state: 'attached' });
      await page.keyboard.press('Control+z');
      await page.locator('.chip').filter({ hasText: 'Penguin' }).waitFor({ state: 'detached' });
      await page.locator('#teach-summary').filter({ hasText: '6 pictures' }).waitFor({ state: 'attached' });
      await sortState(page, TOGETHER);
      assert.deepEqual(await answers(), rows, 'what is undone is answered as before');

      // What looks alike, without one of them; on a phone what is below them stays in its place until what is asked next is known.
      await page.setViewportSize({ width: 390, height: 844 });
      const alike = page.getByRole('region', { name: /look alike: name them/ });
      await alike.waitFor();
      const places = await page.evaluateHandle(() => {
        const [asks, below, save] = ['.asks', '.gallery', '.sort-tools .actions .button'].map(
          (one) => /** @type {HTMLButtonElement} */ (document.querySelector(one)),
        );
        const seen = /** @type {number[]} */ ([]);
        const look = () => {
          if (save.disabled) seen.push(below.offsetTop - asks.offsetTop);
          requestAnimationFrame(look);
        };
        look();
        return seen;
      });
      const group = alike.getByRole('button', { pressed: true });
      const many = await group.count();
      await group.last().click();
      await teachNew(page, alike, 'Bird');
      await status(page, /^30 pictures: .*\d Bird/);
      await page.locator('.asks[style]').waitFor({ state: 'detached' });
      await sortState(page, TOGETHER);
      const seen = await places.jsonValue();
      assert.ok(seen.length > 2 && seen.every((place, i) => place >= seen[Math.max(0, i - 1)]), `the list is below the questions by ${[...new Set(seen)]}`);
      const again = await savedTable(page);
      assert.equal(again.rows.filter((row) => row['taught as'] === 'Bird' && row.answer === 'Bird').length, many - 1);
      for (const row of again.rows) assert.match(row.Bird, /^[01]\.\d{4}$/, `${row.file} was answered before there were birds`);

      // What tells most.
      const question = page.getByRole('region', { name: 'Tell me what this is' });
      const asked = await question.getByRole('button', { name: /^Larger view of/ }).getAttribute('aria-label');
      assert.match(await question.innerText(), /\d+ other pictures? looks? like it: naming it|No other picture looks like it/);
      await question.getByRole('button', { name: 'Rocket', exact: true }).click();
      await status(page, 'Taught as “Rocket”.');
      await page.waitForFunction((before) => document.querySelector('.ask-picture')?.getAttribute('aria-label') !== before, asked);
    },
  ),
);

test('pictures are copied into a folder for each class, or into a zip where no folder can be chosen', { timeout: 120_000 }, () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', TAUGHT);
    await page.evaluate(() => {
      Object.assign(globalThis, { showDirectoryPicker: () => navigator.storage.getDirectory() });
    });
    await page
      .getByLabel('Choose a picture', { exact: true })
      .setInputFiles([sample('emojione', 'cat'), sample('fxemoji', 'cat'), sample('emojione', 'penguin')]);
    await sortState(page, /^Compared part by part/);
    const { rows } = await savedTable(page);
    await page.getByRole('button', { name: 'Copy into folders' }).click();
    await status(page, /^3 pictures copied into/);
    const copied = await page.evaluate(async () => {
      /** @type {string[]} */
      const found = [];
      const top = /** @type {any} */ (await navigator.storage.getDirectory());
      for await (const [name, entry] of top.entries())
        for await (const [file, one] of entry.entries()) found.push(`${name}/${file} ${(await one.getFile()).size > 0}`);
      return found.sort();
    });
    /** @type {Record<string, number>} */
    const seen = {};
    const expected = rows.map(({ file, answer }) => {
      const key = `${answer}/${file}`;
      seen[key] = (seen[key] ?? 0) + 1;
      return `${seen[key] === 1 ? key : key.replace('.png', ` (${seen[key]}).png`)} true`;
    });
    assert.deepEqual(copied, expected.sort());
    await page.getByRole('button', { name: 'Copy into folders' }).click();
    await status(page, /^0 pictures copied into “”; 3 were there already\.$/);
    // A browser without the picker, such as those of phones, saves a zip of the same files.
    await page.evaluate(() => {
      Object.assign(globalThis, { showDirectoryPicker: undefined });
      delete (/** @type {any} */ (globalThis).showDirectoryPicker);
    });
    await page.setViewportSize({ width: 390, height: 600 });
    await page.getByRole('button', { name: 'Close' }).click();
    const chooses = await page.locator('#query-file').evaluate((field) => {
      const button = /** @type {Element} */ (field.parentElement);
      const { x, y, width, height } = button.getBoundingClientRect();
      return button.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    });
    assert.ok(chooses, 'the button that the pictures were chosen with is in sight again on a phone');
    await page.getByRole('button', { name: 'Open again' }).click();
    const all = page.getByRole('button', { name: /^Select all of/ }).first();
    const covered = await all.evaluate((button) => {
      button.scrollIntoView({ block: 'end', behavior: 'instant' });
      /** @type {HTMLElement} */ (button).focus({ preventScroll: true });
      /** @type {HTMLElement} */ (button).click();
      const { x, y, width, height } = button.getBoundingClientRect();
      return !button.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    });
    assert.ok(!covered, 'what selects pictures is not covered by what is done with them');
    await page.getByRole('button', { name: 'Select none', exact: true }).click();
    const saved = await downloaded(page, 'Save folders as a zip');
    await status(page, /^3 pictures copied into “pictures in folders\.zip”/);
    const zipped = Object.entries(unzipSync(new Uint8Array(await readFile(await saved.path()))));
    assert.deepEqual(zipped.map(([name]) => `${name} true`).sort(), expected);
    const originals = await Promise.all(
      [
        ['emojione', 'cat'],
        ['fxemoji', 'cat'],
        ['emojione', 'penguin'],
      ].map(([style, concept]) => readFile(sample(style, concept), 'base64')),
    );
    assert.deepEqual(zipped.map(([, bytes]) => Buffer.from(bytes).toString('base64')).sort(), originals.sort(), 'the files themselves');
  }),
);

test('a folder of folders teaches a class for each, a folder on a card teaches that, and beside everything it is sorted', { timeout: 120_000 }, () =>
  visit({}, async ({ page }) => {
    const place = path.join(folder, 'zoo');
    for (const concept of ['cat', 'rocket']) {
      await mkdir(path.join(place, concept), { recursive: true });
      for (const style of TAUGHT) await cp(sample(style, concept), path.join(place, concept, `${style}.png`));
    }
    await page.getByText('Teach from folders, one per class').waitFor();
    await page.evaluate(() => {
      const { webkitGetAsEntry } = DataTransferItem.prototype;
      DataTransferItem.prototype.webkitGetAsEntry = () => {
        DataTransferItem.prototype.webkitGetAsEntry = webkitGetAsEntry;
        const readEntries = (/** @type {any} */ _, /** @type {(error: Error) => void} */ fail) => fail(new DOMException('', 'NotReadableError'));
        return /** @type {any} */ ({ name: 'zoo', isFile: false, createReader: () => ({ readEntries }) });
      };
    });
    await drop(page, '#teach-title', [place]);
    await page.locator('.toast').getByText('“zoo” could not be read and was left out: ').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await drop(page, '#teach-title', [place]);
    await status(page, /^3 pictures added to “.*”\. Folders done: 1 of 2\.$/);
    await status(page, '6 pictures of 2 folders taught.');
    await card(page, 'cat').getByText('3 pictures').waitFor();
    // What meets classes that are there asks once; a folder is one step.
    const meeting = page.getByRole('dialog', { name: 'Add to existing classes?' });
    for (const [answer, count] of [
      ['Cancel', 3],
      ['Add', 6],
    ]) {
      await drop(page, '#teach-title', [place]);
      await meeting.getByText('“cat”, “rocket” are classes already. The pictures of the folders are added there.').waitFor();
      await meeting.getByRole('button', { name: `${answer}` }).click();
      await meeting.waitFor({ state: 'hidden' });
      for (const name of ['cat', 'rocket']) await card(page, name).getByText(`${count} pictures`).waitFor();
    }
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.click();
    for (const name of ['cat', 'rocket']) await card(page, name).getByText('3 pictures').waitFor();
    await undo.click();
    await card(page, 'cat').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Redo' }).click();
    await card(page, 'rocket').getByText('3 pictures').waitFor();
    await drop(page, '[data-class]', [path.join(place, 'cat')]);
    await card(page, 'cat').getByText('6 pictures').waitFor();
    assert.equal(await page.locator('.drop-target').count(), 0);

    await drop(page, '#teach-title', [sample('emojione', 'cat'), sample('fxemoji', 'cat')]);
    const dialog = page.getByRole('dialog', { name: 'What are these 2 pictures?' });
    assert.deepEqual(await faults(page), []);
    await dialog.getByRole('button', { name: 'cat', exact: true }).click();
    await card(page, 'cat').getByText('8 pictures').waitFor();

    await drop(page, 'footer', [place]);
    await sortState(page, /^All of these pictures are taught/);
    assert.equal(await page.locator('#sort-title').textContent(), '6 pictures');
    await page.reload();
    await page.getByText('A reload does not keep the pictures that were being sorted').waitFor();
  }),
);
