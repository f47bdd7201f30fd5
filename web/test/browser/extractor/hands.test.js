// @ts-check
/** Hands: files, the camera with Chromium's fake device, and what is no hand. The hands are emoji. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { handOf } from '../../extractors/hands.js';
import {
  addClass,
  addPictures,
  card,
  faults,
  hold,
  meters,
  most,
  newSession,
  offlineReady,
  open,
  openSession,
  priorText,
  ready,
  recognise,
  sample,
  status,
  visit,
} from '../harness.js';
import { assertNear, kept, opened, share } from '../share/shared.js';
import { one, One } from './ears.js';
import { seeing } from './film.js';
import { LONG } from '../../long.js';
import { temporaryFolder } from '../../temporary.js';

/** @import {Page} from 'playwright-core' */

const folder = temporaryFolder('hands');

const SIGNS = { Stop: 'raised-hand', Up: 'index-pointing-up', Peace: 'victory-hand' };

/** @param {string} style @param {string} id @param {Parameters<typeof handOf>[2]} [options] */
const file = async (style, id, options) => ({ name: `${style}-${id}.png`, mimeType: 'image/png', buffer: await handOf(style, id, options) });

/** @param {Page} page */
async function teachHands(page) {
  await page.getByRole('button', { name: 'Hands', exact: true }).click();
  await status(page, 'This session is for hands.');
  for (const [name, id] of Object.entries(SIGNS)) {
    await addClass(page, name);
    await page.getByLabel(`Add hands to ${name}`, { exact: true }).setInputFiles([await file('noto', id), await file('twemoji', id)]);
    await card(page, name).locator('.thumb').nth(1).waitFor();
  }
}

/** @param {Page} page @param {string} style @param {string} id */
async function ask(page, style, id, mirrored = true) {
  await page.getByLabel('Choose a photo of a hand', { exact: true }).setInputFiles(await file(style, id, { width: 400, mirrored }));
  await status(page, `Recognised “${style}-${id}.png”.`);
  return most(await meters(page));
}

test('hands from files are taught, recognised mirrored and small, undone, sorted, shared, and are there after a reload and offline', async () => {
  /** @type {Record<string, number>} */
  let before = {};
  let shared = '';
  await visit({ offline: true }, async ({ page, context }) => {
    await teachHands(page);
    for (const [name, id] of Object.entries(SIGNS)) assert.equal(await ask(page, 'emojione', id), name);
    await page.locator('#correct').getByRole('button', { name: 'Peace', exact: true }).click();
    await card(page, 'Peace').locator('.thumb').nth(2).waitFor();
    await page.keyboard.press('Control+z');
    await card(page, 'Peace').locator('.thumb').nth(2).waitFor({ state: 'detached' });

    await offlineReady(page);
    await context.setOffline(true);
    await page.reload();
    await ready(page);
    assert.equal(await page.getByLabel('Choose a photo of a hand', { exact: true }).count(), 1, 'ready for what the session is about');
    assert.equal(await ask(page, 'fluent-emoji-flat', 'raised-hand'), 'Stop');
    await context.setOffline(false);

    assert.equal(await ask(page, 'emojione', 'victory-hand'), 'Peace');
    before = await meters(page);
    shared = await share(page, { learn: true, pictures: true });
    await page
      .getByLabel('Choose a photo of a hand', { exact: true })
      .setInputFiles([
        await file('emojione', 'raised-hand'),
        await file('emojione', 'victory-hand'),
        await file('fluent-emoji-flat', 'raised-hand'),
        { name: 'rocket.png', mimeType: 'image/png', buffer: await readFile(sample('noto', 'rocket')) },
      ]);
    await status(page, /^3 hands: 2 Stop, 1 Peace\./);
    await page.locator('#sort').getByRole('alert').filter({ hasText: '“rocket.png”: No hand was found here' }).waitFor();
    await page
      .locator('.sort-state')
      .filter({ hasText: /^Judged together/ })
      .waitFor(); // others than those taught
    for (const shelf of [/^Stop\s*2/, /^Peace\s*1/]) await page.locator('#sort').getByRole('button', { name: shelf }).first().waitFor();
  });
  await opened(shared, async (page) => {
    assert.equal(await ask(page, 'emojione', 'victory-hand'), 'Peace');
    assertNear(await meters(page), before);
    await page.getByText('Show it a hand.').waitFor();
    await page.getByText('What it was taught').click();
    await page.getByAltText('Hand 2 of Peace').waitFor();
    await page.getByLabel('Choose a photo of a hand', { exact: true }).setInputFiles(sample('noto', 'rocket'));
    await page.locator('#query-error').filter({ hasText: 'No hand was found here' }).waitFor();
  });
});

test('files chosen while hands are still being loaded wait, and are taught as hands', () =>
  visit({}, async ({ page }) => {
    const program = await hold(page, '**/kinds/hands/worker.js');
    await page.getByRole('button', { name: 'Hands', exact: true }).click();
    await addClass(page, 'Stop');
    await page
      .getByLabel('Add pictures to Stop', { exact: true })
      .setInputFiles([
        await file('noto', 'raised-hand'),
        await file('twemoji', 'raised-hand'),
        { name: 'rocket.png', mimeType: 'image/png', buffer: await readFile(sample('noto', 'rocket')) },
      ]);
    await card(page, 'Stop').getByText('3 waiting').waitFor();
    program();
    await status(page, 'This session is for hands.');
    await status(page, '2 hands added to “Stop”.');
    await card(page, 'Stop').locator('.error').filter({ hasText: '“rocket.png”: No hand was found here' }).waitFor();
  }));

test('while the network of a session is loaded nothing is said of another one', () =>
  visit({}, async ({ page, site }) => {
    await page.getByRole('button', { name: 'Hands', exact: true }).click();
    await status(page, 'This session is for hands.');
    await addClass(page, 'Stop');
    await page.getByLabel('Add hands to Stop', { exact: true }).setInputFiles([await file('noto', 'raised-hand')]);
    await card(page, 'Stop').locator('.thumb').waitFor();
    await newSession(page, 'Other');
    await page.getByRole('button', { name: 'Pictures', exact: true }).click();
    await status(page, 'This session is for pictures.');
    await open(page, site);
    const program = await hold(page, '**/kinds/hands/worker.js');
    await openSession(page, 'My classes');
    await card(page, 'Stop').waitFor();
    await openSession(page, 'Other'); // which waits for nothing
    await addClass(page, 'Rocket');
    await page.getByLabel('Add pictures to Rocket', { exact: true }).setInputFiles(sample('noto', 'rocket'));
    await status(page, '1 picture added to “Rocket”.');
    await openSession(page, 'My classes');
    await addClass(page, 'Up');
    await page.getByLabel('Add pictures to Up', { exact: true }).setInputFiles([await file('noto', 'index-pointing-up')]);
    await card(page, 'Up').getByText('1 waiting').waitFor();
    assert.equal(await page.getByText('read by another feature extractor').count(), 0);
    const asked = await file('emojione', 'raised-hand', { width: 400 });
    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(asked);
    await status(page, 'Looking at “emojione-raised-hand.png” …');
    program();
    await status(page, '1 hand added to “Up”.');
    await page.getByAltText('Hand being recognised: emojione-raised-hand.png').waitFor();
    assert.equal(await page.locator('#query-error').textContent(), '');

    // A session without hands stays one for hands.
    await newSession(page, 'Empty');
    await page.getByRole('button', { name: 'Hands', exact: true }).click();
    await addClass(page, 'Stop');
    await openSession(page, 'Other');
    await open(page, site);
    const again = await hold(page, '**/kinds/hands/worker.js');
    await openSession(page, 'Empty');
    await page.getByLabel('Add pictures to Stop', { exact: true }).setInputFiles([await file('noto', 'raised-hand')]);
    await card(page, 'Stop').getByText('1 waiting').waitFor();
    again();
    await status(page, '1 hand added to “Stop”.');
    await page.locator('#undo-button').click();
    await card(page, 'Stop').getByText('No hands yet').waitFor();
    for (const count of ['1 hand', '2 hands']) {
      const own = await hold(page, '**/weights.bin'); // the page starts slowly: first without an example, then with one
      await page.reload();
      await page.getByLabel(/^Add .* to Stop$/).setInputFiles([await file(count === '1 hand' ? 'noto' : 'twemoji', 'raised-hand')]);
      await card(page, 'Stop').getByText('1 waiting').waitFor();
      own();
      await card(page, 'Stop').getByText(count, { exact: true }).waitFor();
      await ready(page);
    }

    // What comes late disturbs no other session.
    await openSession(page, 'Other');
    await open(page, site);
    const late = await hold(page, '**/kinds/hands/worker.js');
    await openSession(page, 'My classes');
    await card(page, 'Stop').waitFor();
    await openSession(page, 'Other');
    await recognise(page, sample('noto', 'rocket'));
    late();
    await page.locator('#loading').waitFor({ state: 'hidden' });
    await addPictures(page, 'Rocket', [sample('twemoji', 'rocket'), sample('openmoji', 'rocket')]);
    assert.ok(await page.locator('#query-picture').isVisible());
  }));

test('left and right hands are told apart where the settings say so, in files that travel, too', LONG, async () => {
  const apart = /** @param {Page} page */ async (page) => {
    for (const mirrored of [false, true]) assert.equal(await ask(page, 'emojione', 'raised-hand', mirrored), mirrored ? 'Turn left' : 'Turn right');
  };
  let [session, shared] = ['', ''];
  await visit({}, async ({ page }) => {
    await page.getByRole('button', { name: 'Hands', exact: true }).click();
    await status(page, 'This session is for hands.');
    for (const [name, mirrored] of /** @type {const} */ ([
      ['Turn right', false],
      ['Turn left', true],
    ])) {
      await addClass(page, name);
      await page
        .getByLabel(`Add hands to ${name}`, { exact: true })
        .setInputFiles([await file('noto', 'raised-hand', { mirrored }), await file('twemoji', 'raised-hand', { mirrored })]);
      await card(page, name).locator('.thumb').nth(1).waitFor();
    }
    const settings = async () => {
      await page.getByRole('button', { name: 'Settings' }).click();
      return page.getByLabel('Left and right hands are different');
    };
    const program = await hold(page, '**/kinds/hands/worker.js');
    await (await settings()).click();
    await page.getByRole('dialog', { name: 'Use another extractor' }).waitFor();
    for (let i = 0; i < 2; i++) await page.keyboard.press('Escape'); // also the settings
    program();
    await status(page, 'Cancelled: nothing has changed.');
    await (await settings()).check();
    await status(page, '4 hands read again, into a new session.');
    await page.getByRole('button', { name: 'Session: My classes (left and right apart)' }).waitFor();
    await apart(page);
    shared = await share(page);
    await page.getByRole('button', { name: /^Session:/ }).click();
    session = await kept(page, 'Save this session');
    await page.keyboard.press('Escape');
    await page
      .getByLabel('Choose a photo of a hand', { exact: true })
      .setInputFiles([await file('emojione', 'raised-hand'), await file('emojione', 'victory-hand')]);
    await page.locator('#sort-title').filter({ hasText: '2 hands' }).waitFor();
    await openSession(page, 'My classes');
    await page.locator('#sort').waitFor({ state: 'hidden' }); // what the one has read is nothing to the other
    await (await settings()).and(page.locator(':not(:checked)')).waitFor();
  });
  await visit({}, async ({ page }) => {
    await page.getByRole('button', { name: /^Session:/ }).click();
    await page.getByLabel('Open a saved session').setInputFiles(session);
    await status(page, 'The session was opened.');
    await page.keyboard.press('Escape');
    await apart(page);
  });
  await opened(shared, apart);
});

test(
  'the camera draws the hand that it sees and recognises it, many frames of one held still count as one; where there is none, that is said',
  LONG,
  async () => {
    const film = path.join(folder, 'film.y4m');
    const held = await Promise.all([256, 259, 262].map((width) => handOf('emojione', 'victory-hand', { width })));
    await visit({ flags: await seeing(film, held) }, async ({ page }) => {
      await teachHands(page);
      const isDrawn = () =>
        page.waitForFunction(() => {
          const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('canvas.landmarks'));
          const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).getImageData(0, 0, canvas.width, canvas.height);
          const share = data.filter((value, i) => i % 4 === 3 && value > 0).length / (canvas.width * canvas.height);
          return share > 0.003 && share < 0.2; // of the picture
        });
      await page.evaluate(() => {
        // there is no frame yet, as while one camera follows another
        const { createImageBitmap } = globalThis;
        Object.assign(globalThis, {
          createImageBitmap: () => {
            Object.assign(globalThis, { createImageBitmap });
            return Promise.reject(new DOMException('no frame', 'InvalidStateError'));
          },
        });
      });
      await page.getByRole('button', { name: 'Camera for Peace' }).click();
      await isDrawn();
      await page.locator('.guide').waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'Live camera' }).click();
      await page.getByRole('meter', { name: 'Peace' }).waitFor();
      assert.equal(most(await meters(page)), 'Peace');
      await isDrawn();
      await page.getByRole('button', { name: 'Where', exact: true }).waitFor({ state: 'hidden' }); // hands have no places

      await page.getByRole('button', { name: 'Camera for Peace' }).click();
      const shutter = page.getByRole('button', { name: 'Hold to capture Peace' });
      await shutter.and(page.locator(':enabled')).click();
      await card(page, 'Peace').locator('.thumb').nth(2).waitFor();
      await ask(page, 'fluent-emoji-flat', 'victory-hand');
      const before = await meters(page);
      await shutter.and(page.locator(':enabled')).hover();
      await page.mouse.down();
      await card(page, 'Peace').locator('.thumb').nth(8).waitFor();
      await page.mouse.up();
      await ask(page, 'fluent-emoji-flat', 'victory-hand');
      const after = await meters(page);
      assert.ok(Math.abs(after.Peace - before.Peace) < 0.05, `after one frame ${before.Peace}, after seven ${after.Peace}`);
    });
    await visit({ flags: await seeing(film, [sample('noto', 'rocket')]) }, async ({ page }) => {
      await teachHands(page);
      await page.getByRole('button', { name: 'Live camera' }).click();
      await page.getByText('No hand found.', { exact: true }).waitFor();
      await page.locator('.guide').waitFor();
      assert.equal(await page.getByRole('meter').count(), 0);
      await page.getByLabel('Add hands to Stop', { exact: true }).setInputFiles(sample('noto', 'rocket'));
      await card(page, 'Stop').locator('.error').filter({ hasText: 'No hand was found here' }).waitFor();
      assert.equal(await card(page, 'Stop').locator('.thumb').count(), 2);
    });
  },
);

test('until hands are in use what is shown is read as before, and who chooses has chosen', LONG, () =>
  visit({ expect: [/404/] }, async ({ page }) => {
    const choose = (/** @type {string} */ kind) => page.getByRole('button', { name: kind, exact: true }).click();
    const first = (await page.locator('#session-name').textContent()) ?? '';
    await page.route('**/kinds/hands/prior.safetensors', (route) => route.fulfill({ status: 404 }), { times: 1 });
    const notice = page.getByText('The page’s background knowledge could not be fetched.');
    await choose('Hands');
    await notice.waitFor();
    const again = await hold(page, '**/manifest.json');
    await Promise.all([page.waitForRequest('**/manifest.json'), page.getByRole('button', { name: 'Try again' }).click()]);
    await choose('Pictures'); // which waits
    again();
    await status(page, 'This session is for pictures.');
    assert.match((await priorText(page)) ?? '', /^Built in: 1,280 numbers/);
    await page.keyboard.press('Escape');
    await notice.waitFor({ state: 'detached' }); // which was that of hands
    await addClass(page, 'Cat');
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles(sample('noto', 'cat'));
    await status(page, /added to “Cat”/);
    await page.getByLabel('Choose a picture', { exact: true }).waitFor({ state: 'attached' }); // the session is of pictures
    // Who opens another session meanwhile has not chosen for that one.
    await page.getByRole('button', { name: `${One}s`, exact: true }).waitFor({ state: 'hidden' });
    await newSession(page, 'Bare');
    const program = await hold(page, '**/kinds/sounds/worker.js');
    await Promise.all([page.waitForRequest('**/kinds/sounds/worker.js'), choose(`${One}s`)]);
    await newSession(page, 'Other');
    program();
    await page.getByRole('alert').filter({ hasText: 'Another session was opened meanwhile' }).waitFor();
    await page.locator('[data-kind=pictures][aria-pressed=true]').waitFor();
    await openSession(page, first);
    await card(page, 'Cat').waitFor();
    // With an example the kind is a label, which leads to a new session of another kind.
    await page.getByRole('button', { name: `${One}s`, exact: true }).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'This session is for Pictures' }).click();
    const dialog = page.getByRole('dialog', { name: 'This session is for pictures' });
    assert.deepEqual(await faults(page), []);
    await dialog.getByRole('button', { name: `New session for ${one}s` }).dblclick(); // which makes one
    await status(page, `A new session for ${one}s is open.`);
    await page.locator('[data-kind][aria-pressed=true]:focus').waitFor();
    await page.getByRole('button', { name: `Session: ${One}s` }).waitFor();
    await page.getByLabel(`Choose a ${one}`, { exact: true }).waitFor({ state: 'attached' });
    await card(page, 'Cat').waitFor({ state: 'detached' });
    // A session without examples keeps its kind, too.
    for (const [session, what] of [
      [first, 'picture'],
      [`${One}s`, one],
    ]) {
      await openSession(page, session);
      await page.getByLabel(`Choose a ${what}`, { exact: true }).waitFor({ state: 'attached' });
    }

    const sounds = await hold(page, '**/kinds/sounds/**/weights.bin'); // which were in use last, and come again
    await page.reload();
    await choose('Hands');
    await status(page, 'This session is for hands.');
    sounds();
    await ready(page);
    assert.equal(await page.getByLabel('Choose a photo of a hand', { exact: true }).count(), 1);
  }),
);
