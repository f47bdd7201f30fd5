// @ts-check
/** What comes late, or while something else is at work: it counts once, for what it was meant for, and for nothing else. */
import assert from 'node:assert/strict';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import {
  addClass,
  card,
  eventually,
  hold,
  holdPictures,
  newSession,
  open,
  openSession,
  ready,
  recognise,
  sample,
  sessionsOf,
  status,
  teach,
  visit,
} from './harness.js';
import { appendEdit } from './engine/former.js';
import { sortState } from './many.js';
import { LONG } from '../long.js';
import { temporaryFolder } from '../temporary.js';

/** @import {Page} from 'playwright-core' */

const STYLES = ['noto', 'twemoji', 'openmoji'];
const OTHERS = ['emojione', 'fxemoji'].flatMap((style) => ['cat', 'rocket', 'penguin'].map((concept) => sample(style, concept)));

/** @param {Page} page */
const field = (page) => page.getByLabel('Choose a picture', { exact: true });

/** Waits until the engine has the step that undo would take back. @param {Page} page @param {RegExp} name */
const undoIs = (page, name) => page.locator('#undo-button').and(page.getByTitle(name)).waitFor();

test('pictures that come while others are encoded in vain, judged or copied are all there, judged with them', { timeout: 180_000 }, () =>
  visit({ expect: [/encoder-worker|404/] }, async ({ page }) => {
    // A worker that does not start, found out by two pictures at once.
    await page.evaluate(() => {
      const { postMessage } = Worker.prototype;
      Object.assign(globalThis, { encoded: 0 });
      Worker.prototype.postMessage = function (/** @type {any[]} */ ...given) {
        if (given[0]?.type === 'encode') /** @type {any} */ (globalThis).encoded++;
        return postMessage.apply(this, /** @type {any} */ (given));
      };
    });
    await page.route('**/encoder-worker.js', async (route) => {
      await page.waitForFunction(() => /** @type {any} */ (globalThis).encoded > 1);
      await route.fulfill({ status: 404 });
    });
    await field(page).setInputFiles(OTHERS.slice(0, 2));
    await sortState(page, /^Nothing is taught yet/);
    await page.getByRole('heading', { name: '2 pictures' }).waitFor();
    assert.equal(await page.locator('#sort').getByRole('alert').count(), 0, 'both could be read');
    await page.getByRole('button', { name: 'Close', exact: true }).click();

    const goOn = await holdPictures(page, 0);
    await field(page).setInputFiles(OTHERS[2]); // it is not recognised, since several are chosen meanwhile
    await status(page, 'Looking at');
    await field(page).setInputFiles(OTHERS.slice(0, 2));
    await goOn();
    await sortState(page, /^Nothing is taught yet/);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    assert.equal(await page.getByRole('region', { name: 'Prediction' }).getAttribute('aria-busy'), 'false', 'no answer is awaited any more');
    for (const name of ['Cat', 'Rocket']) await teach(page, name, STYLES);

    const judge = await hold(page, '**/web/ui/thread.js');
    await field(page).setInputFiles(OTHERS.slice(0, 2));
    await sortState(page, /^Judging/);
    const states = await page.evaluateHandle(() => {
      const seen = /** @type {string[]} */ ([]);
      const sort = /** @type {Element} */ (document.querySelector('#sort'));
      new MutationObserver(() => {
        if (/^Looking/.test(sort.querySelector('.sort-state')?.textContent ?? '')) /** @type {any} */ (globalThis).looking?.();
        seen.push(`${sort.querySelector('#sort-title')?.textContent}: ${sort.querySelector('.sort-state')?.textContent}`);
      }).observe(sort, { subtree: true, childList: true, characterData: true });
      return seen;
    });
    await page.exposeFunction('looking', judge);
    await field(page).setInputFiles(OTHERS.slice(2, 5));
    await sortState(page, /^Judged together/);
    await page.getByRole('heading', { name: '5 pictures' }).waitFor();
    assert.deepEqual(
      (await states.jsonValue()).filter((state) => /: Judged/.test(state) && !/^5 pictures/.test(state)),
      [],
      'nothing is told as judged before all are in',
    );

    // What is taught while a folder is chosen: the copies would be of older answers.
    await page.evaluate(async () => {
      const folder = await navigator.storage.getDirectory();
      const sort = /** @type {Element} */ (document.querySelector('#sort'));
      const judging = new Promise((resolve) => {
        new MutationObserver(() => {
          if (/^Judging/.test(sort.querySelector('.sort-state')?.textContent ?? '')) resolve(folder);
        }).observe(sort, { subtree: true, childList: true, characterData: true });
      });
      Object.assign(globalThis, { showDirectoryPicker: () => judging });
    });
    await page.getByRole('button', { name: 'Copy into folders' }).click();
    await page.locator('.shot').first().click();
    await page.getByRole('dialog', { name: 'Picture' }).getByRole('button', { name: 'Cat', exact: true }).click();
    await page.locator('#sort').getByText('Nothing was copied, since pictures were taught or added meanwhile').waitFor({ state: 'attached' });
    await page.keyboard.press('Control+z');
    await status(page, /^Undone: /);
    await page.keyboard.press('Escape');
    await sortState(page, /^Judged together/);

    // What is taught and what comes while copies are made.
    await page.evaluate(() => {
      const { createWritable } = FileSystemFileHandle.prototype;
      const held = new Promise((resolve) => {
        Object.assign(globalThis, { copy: resolve });
      });
      FileSystemFileHandle.prototype.createWritable = async function (...given) {
        await held;
        return createWritable.apply(this, given);
      };
      Object.assign(globalThis, { showDirectoryPicker: () => navigator.storage.getDirectory() });
    });
    await page.getByRole('button', { name: 'Copy into folders' }).click();
    await sortState(page, /^Copying/);
    await page.locator('.shot').first().click();
    const viewer = page.getByRole('dialog', { name: 'Picture' });
    await viewer.getByRole('button', { name: 'Cat', exact: true }).click();
    await viewer.getByText('Taught as Cat').waitFor();
    await undoIs(page, /to Cat$/);
    await field(page).setInputFiles([OTHERS[5], sample('noto', 'penguin')]);
    await page.evaluate('copy()');
    await page.getByRole('heading', { name: '7 pictures' }).waitFor();
    await page.locator('.sort-tools .button:enabled', { hasText: 'Copy' }).waitFor();

    // What is said of a picture is taken back as it was said; what is pressed for the next one is for that one.
    for (const [name, done] of [
      ['Rocket', 'Taught as “Rocket”.'],
      ['None of these', '1 picture marked as none of these.'],
    ]) {
      await viewer.getByRole('button', { name, exact: true }).click();
      await status(page, done);
      await undoIs(page, /(to Rocket|from Cat)$/);
      await page.keyboard.press('Control+z');
      await status(page, /^Undone: .*(to Rocket|from Cat)\.$/);
      await viewer.getByText('Taught as Cat').waitFor();
    }
    await viewer.evaluate((dialog) => {
      const press = (/** @type {string} */ name) => [...dialog.querySelectorAll('button')].find(({ textContent }) => textContent === name)?.click();
      for (const [name, key] of [
        ['Rocket', 'ArrowRight'],
        ['Cat', 'ArrowLeft'],
      ]) {
        // at once: the second waits, and is of what was shown
        press(name);
        dialog.dispatchEvent(new KeyboardEvent('keydown', { key }));
      }
    });
    await viewer.getByText('Taught as Rocket').waitFor();
    await page.keyboard.press('ArrowRight');
    await viewer.getByText('Taught as Cat').waitFor();
  }),
);

test(
  'a picture that is cleared as it appears is not asked about, and a camera that is late takes nothing away; the next camera is one',
  { timeout: 120_000 },
  () =>
    visit({}, async ({ page }) => {
      await teach(page, 'Cat', STYLES);
      await teach(page, 'Rocket', STYLES);
      await page.evaluate(() => {
        const clear = /** @type {HTMLButtonElement} */ (document.querySelector('#clear-button'));
        new MutationObserver((_, observer) => {
          if (clear.hidden) return;
          observer.disconnect();
          clear.click();
          document.body.dataset.cleared = 'true';
        }).observe(clear, { attributes: true });
      });
      await field(page).setInputFiles(OTHERS[0]);
      await page.locator('[data-cleared]').waitFor();
      await addClass(page, 'Cup'); // by when all that was under way has been answered
      assert.deepEqual([await page.locator('#correct').getByRole('group').isVisible(), await page.locator('#why').isVisible()], [false, false]);

      // Cameras that are drawn, the first one at once, the next when it is told to.
      await page.evaluate(() => {
        const scope = /** @type {any} */ (globalThis);
        const { mediaDevices } = navigator;
        Object.assign(scope, {
          tracks: [],
          turns: 0,
          late: new Promise((resolve) => {
            scope.list = resolve;
          }),
        });
        mediaDevices.enumerateDevices = async () => {
          await scope.late;
          return /** @type {any} */ (['one', 'two'].map((deviceId) => ({ kind: 'videoinput', deviceId })));
        };
        mediaDevices.getUserMedia = async () => {
          const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 240 });
          const stream = canvas.captureStream(0);
          const [track] = /** @type {any[]} */ (stream.getVideoTracks());
          const first = scope.tracks.push(track) < 3;
          setInterval(() => {
            if (!first && !scope.go) return;
            canvas.getContext('2d')?.fillRect(0, 0, 320 * Math.random(), 240);
            track.requestFrame();
          }, 50);
          return stream;
        };
      });
      const live = page.getByRole('button', { name: 'Live camera' });
      await live.click();
      await page.waitForFunction(() => /** @type {any} */ (document.querySelector('#live video'))?.readyState > 1);
      await recognise(page, OTHERS[0]);
      await page.evaluate('list()');
      await addClass(page, 'Jug');
      assert.ok(await page.locator('#query-picture').isVisible(), 'what was asked about meanwhile stays');

      await live.click();
      await page.getByRole('button', { name: 'Switch camera' }).waitFor();
      await page.evaluate(() => {
        const { setTimeout } = globalThis;
        const later = (/** @type {any[]} */ ...given) => {
          if (given[1] <= 150) /** @type {any} */ (globalThis).turns++; // as between two looks
          return setTimeout(.../** @type {[any]} */ (given));
        };
        Object.assign(globalThis, { setTimeout: later });
        const next = /** @type {HTMLButtonElement} */ (document.querySelector('#live [aria-label="Switch camera"]'));
        next.click();
        next.click();
      });
      await page.waitForFunction(() => {
        const { tracks, turns } = /** @type {any} */ (globalThis);
        return tracks.length > 2 && turns > 4;
      }); // it was looked whether there is a frame
      await page.evaluate('go = true');
      await page.waitForFunction(() => /** @type {any} */ (document.querySelector('#live video'))?.readyState > 1);
      assert.equal(await page.locator('#query-error').textContent(), '');
      await page.getByRole('meter').first().waitFor(); // there is an answer that can stay
      await live.click();
      await status(page, /The camera is off\.$/);
      assert.deepEqual(await page.evaluate('tracks.map(({ readyState }) => readyState)'), Array(3).fill('ended'), 'each that was opened is off');
    }),
);

test('the live view, called off while it waits for a network, ends the wait of the picture before it', LONG, () =>
  visit({}, async ({ page }) => {
    await page.getByRole('button', { name: 'Hands', exact: true }).click();
    await status(page, 'This session is for hands.');
    await addClass(page, 'Fist');
    const go = await hold(page, '**/kinds/hands/*');
    await page.reload({ waitUntil: 'commit' });
    await card(page, 'Fist').waitFor();
    await page.locator('#query-file').setInputFiles(OTHERS[0]);
    await status(page, 'Looking at');
    await page.locator('#live-button').click();
    await page.locator('#live-button').click();
    const prediction = page.getByRole('region', { name: 'Prediction' });
    assert.equal(await prediction.getAttribute('aria-busy'), 'false', 'no answer is awaited any more');
    go();
    await ready(page);
  }),
);

test('samples that are being taught stay out of a session that is opened meanwhile, and one undo takes them back', { timeout: 120_000, ...LONG }, () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Banana', STYLES.slice(0, 2));
    await newSession(page, 'Empty');
    const button = page.locator('#samples-button');
    const tried = async (/** @type {number} */ pictures) => {
      const go = await hold(page, `**/samples/${STYLES[pictures]}/banana.png`);
      await button.click();
      await card(page, 'Banana').getByText(`${pictures} picture`).waitFor();
      return go;
    };
    const held = await tried(1);
    await openSession(page, 'My classes');
    await card(page, 'Banana').getByText('2 pictures').waitFor();
    held();
    await button.and(page.locator('[aria-disabled=false]')).waitFor();
    assert.equal(await page.locator('.card').count(), 1);
    await card(page, 'Banana').getByText('2 pictures').waitFor();
    await page.getByText('Another session was opened before all samples were taught').waitFor();

    await openSession(page, 'Empty');
    await card(page, 'Cat').getByText('3 pictures').waitFor();
    await page.locator('#undo-button').click();
    await page.locator('.card').first().waitFor({ state: 'detached' });
    const again = await tried(2);
    await page.locator('#undo-button').click();
    again();
    await status(page, 'Cancelled.');
    await status(page, /^Undone: /);
    await page.locator('.card').first().waitFor({ state: 'detached' });
  }),
);

test('what the menu of a class saves late closes no other menu, and it saves nothing of a class that is gone', { timeout: 120_000 }, () =>
  visit({}, async ({ page }) => {
    await teach(page, 'Cat', STYLES.slice(0, 1));
    await addClass(page, 'Rocket');
    const go = await hold(page, '**/sessions/pictures.js');
    await page.getByRole('button', { name: 'More for Cat' }).click();
    await page.getByRole('button', { name: 'Save its pictures' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More for Rocket' }).click();
    go();
    await status(page, '“Cat.zip” was saved: 1 picture.');
    assert.ok(await page.getByRole('dialog', { name: 'Rocket' }).isVisible());
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'More for Cat' }).click();
    const save = page.getByRole('button', { name: 'Save its pictures' });
    await save.focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press('Control+z');
    await page.locator('.card').first().waitFor({ state: 'detached' });
    await save.click();
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'This class does not exist any more' }).waitFor();
  }),
);

test('what is undone while it is added is undone also if another session is opened at once', { timeout: 120_000 }, () =>
  visit({}, async ({ page }) => {
    await newSession(page, 'Other');
    await openSession(page, 'My classes');
    await teach(page, 'Cat', STYLES.slice(0, 1));
    const goOn = await holdPictures(page, 2);
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles(OTHERS);
    await card(page, 'Cat').getByText('3 pictures').waitFor();
    await page.locator('#undo-button').click();
    await page.getByRole('button', { name: /^Session:/ }).click();
    await page.getByRole('button', { name: 'Open Other', exact: true }).click();
    await goOn();
    await status(page, /^Undone: add \d pictures to Cat\.$/);
    await status(page, 'The session “Other” is open.');
    await openSession(page, 'My classes');
    await card(page, 'Cat').getByText('1 picture').waitFor();
  }),
);

test('a picture that is read while another session is opened stays out of a class of the same name there', { timeout: 120_000 }, () =>
  visit({}, async ({ page, site }) => {
    const [folders, unread] = ['folders', 'unread'].map(temporaryFolder);
    for (const folder of ['bad', 'good']) {
      await mkdir(path.join(folders, folder));
      for (const concept of ['cat', 'rocket']) await cp(sample('noto', concept), path.join(folders, folder, `${concept}.png`));
    }
    await mkdir(path.join(unread, 'bad'));
    await writeFile(path.join(unread, 'bad', 'broken.png'), 'no picture');
    await addClass(page, 'Cat');
    await appendEdit(page, { Extractor: { ID: 'net@1', SHA256: '00' } }); // to name its examples the list asks the network
    await open(page, site);
    for (const name of ['One', 'Two']) {
      await newSession(page, name);
      await teach(page, 'Cat', STYLES.slice(0, 1));
    }
    await openSession(page, 'One');
    const goOn = await holdPictures(page, 1);
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles(OTHERS.slice(0, 2));
    await card(page, 'Cat').getByText('2 pictures').waitFor();
    const sessions = await sessionsOf(page);
    const list = await hold(page, '**/kinds/*/extractor.json');
    await sessions.getByRole('textbox', { name: 'Name of the session Two' }).fill('Second');
    await page.keyboard.press('Enter');
    await sessions.getByRole('button', { name: /^Open (Two|Second)$/ }).click(); // the list may have asked before it was held up
    await status(page, /^The session “.*” is open\.$/);
    await goOn();
    await recognise(page, sample('noto', 'rocket'));
    list();
    await page
      .locator('.toast')
      .filter({ hasText: 'Adding pictures to “Cat” was stopped to open another session: go back and add the missing ones.' })
      .waitFor();
    assert.ok(!(await page.evaluate("said.some((text) => text.startsWith('Cancelled'))")), 'which would seem to be about what was opened');
    await page.locator('#session-name').filter({ hasText: 'Second' }).waitFor();
    await card(page, 'Cat').getByText('1 picture', { exact: true }).waitFor();

    const read = await holdPictures(page, 1);
    await page.locator('#teach-folders').setInputFiles(folders);
    await card(page, 'bad').getByText('1 picture', { exact: true }).waitFor();
    await openSession(page, 'One');
    await read();
    await page
      .locator('.toast')
      .filter({ hasText: 'Adding pictures of folders was stopped to open another session: go back and add the missing ones.' })
      .waitFor();
    assert.deepEqual(await page.evaluate("[said.some((text) => text.startsWith('Cancelled')), document.querySelectorAll('.toast').length]"), [false, 2]);

    await page.locator('#teach-folders').setInputFiles(unread);
    await card(page, 'bad').getByRole('alert').filter({ hasText: 'broken.png' }).waitFor();
    await eventually(async () => assert.equal(await page.locator('#status').textContent(), '', 'no number of pictures beside the error'));
  }),
);
