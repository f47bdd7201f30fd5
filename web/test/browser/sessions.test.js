// @ts-check
/** Sessions: kept over restarts of the browser, several side by side. */
import assert from 'node:assert/strict';
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { appendEdit } from './engine/former.js';
import {
  addClass,
  addPictures,
  assertSame,
  card,
  downloaded,
  eventually,
  holdPictures,
  newSession,
  open,
  openSession,
  recognise,
  sample,
  serveSite,
  sessionsOf,
  status,
  teach,
  visit,
} from './harness.js';
import { savedTable, sortState } from './many.js';
import { LONG } from '../long.js';
import { temporaryFolder } from '../temporary.js';

test('what one tab was taught is there after a restart of the browser', async () => {
  const site = await serveSite();
  const profile = temporaryFolder('profile');
  /** @type {Record<string, number>} */
  let before = {};
  try {
    await visit({ site, profile }, async ({ page }) => {
      await teach(page, 'Cat', ['noto', 'twemoji']);
      await teach(page, 'Rocket', ['noto', 'twemoji']);
      before = await recognise(page, sample('emojione', 'rocket'));
    });
    await visit({ site, profile }, async ({ page }) => {
      await card(page, 'Cat').getByText('2 pictures').waitFor();
      await card(page, 'Rocket').getByRole('button', { name: 'Show picture 2 of Rocket' }).waitFor();
      assertSame(await recognise(page, sample('emojione', 'rocket')), before);
    });
  } finally {
    await site.stop();
  }
});

test('sessions are made, switched, renamed and deleted', () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Cat');
    const first = (await page.locator('#session-name').textContent()) ?? '';

    await (await sessionsOf(page)).getByRole('textbox', { name: 'Name of a new session' }).fill('Gar\u202eden'); // as it is kept, it turns no text around
    await page.getByRole('button', { name: 'New session', exact: true }).dblclick(); // makes one
    await status(page, 'The new session “Garden” is open.');
    await card(page, 'Cat').waitFor({ state: 'detached' });
    assert.equal(await (await sessionsOf(page)).getByRole('textbox', { name: /^Name of the session/ }).count(), 2);
    await page.keyboard.press('Escape');
    await addClass(page, 'Finch');

    await page.locator('#undo-button[aria-disabled=false]').waitFor();
    const dialog = await sessionsOf(page);
    await dialog.getByRole('button', { name: 'Erase undo history' }).click();
    await status(page, 'The undo history is erased.');
    await page.locator('#undo-button[aria-disabled=true]').waitFor();
    const name = dialog.getByRole('textbox', { name: 'Name of the session Garden' });
    await name.fill('');
    await name.press('Enter');
    await dialog.getByRole('alert').filter({ hasText: 'A session needs a name.' }).waitFor();
    await name.fill('Garden'); // as it was: nothing is wrong any more
    await dialog.getByRole('alert').waitFor({ state: 'detached' });
    await name.fill('Birds');
    await name.press('Enter');
    await page.locator('#session-name').filter({ hasText: 'Birds' }).waitFor();
    await dialog.locator('.session.open:focus').waitFor(); // not at the beginning of the page
    await openSession(page, first);
    // A full storage: the notice returns with a change that comes some time after it was dismissed.
    const notice = page.locator('[data-key="storage"]');
    await page.evaluate(() => {
      const { put } = IDBObjectStore.prototype;
      const { now } = Date;
      let later = 0;
      IDBObjectStore.prototype.put = () => {
        throw new DOMException('', 'QuotaExceededError');
      };
      Date.now = () => now() + later;
      Object.assign(globalThis, { minutes: (/** @type {number} */ n) => (later = 60_000 * n), room: () => Object.assign(IDBObjectStore.prototype, { put }) });
    });
    await addClass(page, 'Hen');
    await notice.getByText('storage is full').waitFor();
    await notice.getByRole('button', { name: 'Dismiss' }).click();
    await addClass(page, 'Owl');
    await page.locator('#undo-button').and(page.getByTitle('Undo: add Owl')).waitFor();
    assert.equal(await notice.count(), 0, 'with each change it would hide the page');
    await page.evaluate('minutes(10)');
    await addClass(page, 'Duck');
    await notice.getByText('storage is full').waitFor();
    await page.evaluate('room()');
    await addClass(page, 'Crow');
    await notice.waitFor({ state: 'detached' });
    await card(page, 'Cat').waitFor();
    await card(page, 'Finch').waitFor({ state: 'detached' });

    // A press elsewhere ends the typing of a name, and that press may open the session.
    await (await sessionsOf(page)).getByRole('textbox', { name: 'Name of the session Birds' }).fill('Small birds');
    await dialog.getByRole('button', { name: 'Open Birds', exact: true }).click();
    await status(page, 'The session “Small birds” is open.');
    await (await sessionsOf(page)).getByRole('textbox', { name: 'Name of the session Small birds' }).fill('Birds');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await card(page, 'Finch').waitFor();
    await recognise(page, sample('noto', 'cat'));
    await sessionsOf(page);
    await dialog.getByRole('button', { name: 'Delete Birds' }).click();
    await dialog.getByText('Delete “Birds” with 0 pictures for good?').waitFor();
    await page.keyboard.press('Enter');
    await dialog.locator('[aria-label="Delete Birds"]:focus').waitFor(); // it was kept, by the button that has gone
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Delete', exact: true }).evaluate((button) => {
      for (let i = 0; i < 2; i++) /** @type {HTMLElement} */ (button).click(); // the second press finds nothing to delete
    });
    await dialog.getByRole('textbox', { name: 'Name of the session Birds' }).waitFor({ state: 'detached' });
    await status(page, 'The session “Birds” was deleted.');
    await dialog
      .getByRole('textbox', { name: `Name of the session ${first}` })
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('Half a na');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#session-name').textContent(), first, 'what is given up is not kept');
    await addClass(page, 'Dog'); // said behind all that was said of the deletion
    assert.equal(await page.evaluate("said.filter((text) => text.includes('was deleted')).length"), 1);
    await card(page, 'Cat').waitFor();
    await page.locator('#query-picture').waitFor({ state: 'hidden' }); // which was asked about in the one that is gone
  }));

test('with eight sessions what saves and shares the open one is in sight, on a laptop and on a phone', LONG, () =>
  visit({}, async ({ page }) => {
    for (let i = 2; i <= 8; i++) await newSession(page, `Session ${i}`);
    const dialog = await sessionsOf(page);
    await dialog.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.keyboard.press('Escape');
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
    ]) {
      await page.setViewportSize({ width, height });
      await sessionsOf(page);
      const whole = await dialog.boundingBox();
      for (const name of ['Save this session', 'Share…']) {
        const box = await dialog.getByRole('button', { name }).boundingBox();
        assert.ok(
          whole && box && box.y >= whole.y && box.y + box.height <= whole.y + whole.height,
          `${name} at ${JSON.stringify(box)} of ${JSON.stringify(whole)}`,
        );
      }
      await page.keyboard.press('Escape');
    }
  }),
);

test('what a tab said is gone once another tab has changed that', () =>
  visit({}, async ({ page, context, site }) => {
    await teach(page, 'Cat', ['noto']);
    const other = await context.newPage();
    await open(other, site);
    await card(other, 'Cat').getByText('1 picture').waitFor();
    await page.locator('#undo-button').click();
    const said = page.locator('#status');
    await said.filter({ hasText: 'Undone' }).waitFor({ state: 'attached' });
    await eventually(async () => assert.equal(await card(other, 'Cat').locator('img').count(), 0));
    await other.locator('#redo-button').click();
    await card(page, 'Cat').getByText('1 picture').waitFor();
    await eventually(async () => assert.equal(await said.textContent(), '', 'what is not undone any more'));
    assert.match((await other.locator('#status').textContent()) ?? '', /^Redone/, 'who changes it is told');

    const folders = temporaryFolder('folders');
    for (const name of ['Bird', 'Fish']) {
      await mkdir(path.join(folders, name));
      for (const style of ['noto', 'twemoji']) await cp(sample(style, 'penguin'), path.join(folders, name, `${style}.png`));
    }
    const goOn = await holdPictures(page, 1);
    await page.bringToFront(); // Chromium with windows reads a folder for no tab behind another
    await page.locator('#teach-folders').setInputFiles(folders);
    await card(other, 'Bird').getByText('1 picture').waitFor();
    await other.locator('#undo-button').click();
    await card(page, 'Bird').waitFor({ state: 'detached' });
    await goOn();
    await page.getByText('“Bird” was removed while its pictures were being added: add the missing folders again.').waitFor();
    assert.equal(await said.textContent(), '', 'nothing is taught, and nobody cancelled it here');

    const addMore = await holdPictures(page, 1);
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles(['twemoji', 'openmoji', 'fxemoji'].map((style) => sample(style, 'cat')));
    await card(other, 'Cat').getByText('2 pictures').waitFor();
    await other.getByRole('button', { name: 'Delete Cat' }).click();
    await card(page, 'Cat').waitFor({ state: 'detached' });
    await addMore();
    await page
      .locator('.toast')
      .filter({ hasText: '“Cat” was removed while its pictures were being added: add the missing pictures to another class.' })
      .waitFor();
    assert.equal(await said.textContent(), '', 'nobody cancelled it here');
  }));

test('what one tab changes is seen in another, and who is too late is told', () =>
  visit({}, async ({ page, context, site }) => {
    await teach(page, 'Cat', ['noto']);
    const other = await context.newPage();
    await other.addInitScript(() => Object.defineProperty(BroadcastChannel.prototype, 'onmessage', { set: () => {} })); // word of the first tab comes too late
    await open(other, site);
    await card(other, 'Cat').getByText('1 picture').waitFor();
    await addPictures(page, 'Cat', [sample('twemoji', 'cat')]);
    await other.getByRole('button', { name: 'Delete Cat' }).click();
    await other.getByText('Pictures were added to “Cat” in another tab meanwhile, so it was not removed').first().waitFor();
    await card(other, 'Cat').getByText('2 pictures').waitFor();
    await teach(other, 'Rocket', ['noto', 'twemoji']);
    await card(page, 'Rocket').getByText('2 pictures').waitFor();
    await addPictures(page, 'Cat', [sample('openmoji', 'cat')]);
    await newSession(other, 'Garden');
    const dialog = await sessionsOf(other);
    await dialog.getByRole('button', { name: 'Delete My classes' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('“My classes” was deleted in another tab. “Garden” is open now.').waitFor();
    assert.equal(await page.locator('#status').textContent(), '', 'what was said of “Cat”');
    assert.equal(await other.locator('.toast').filter({ hasText: 'was deleted' }).count(), 0, 'who deletes it knows');
    await newSession(page, 'Pond');
    assert.equal(await page.locator('.toast').filter({ hasText: 'was deleted' }).count(), 0, 'the notice goes with its session');

    const sessions = await sessionsOf(page);
    await sessions.getByRole('button', { name: 'Delete Garden' }).click();
    await sessions.getByText('Delete “Garden” with 0 pictures for good?').waitFor();
    await page.locator('.goodness-result').evaluate((result) => result.classList.remove('stale'));
    await other.keyboard.press('Escape');
    await teach(other, 'Rocket', ['noto']);
    await sessions.getByText('Delete “Garden” with 1 picture for good?').waitFor();
    assert.equal(await page.locator('.goodness-result.stale').count(), 0, 'how good this session is does not depend on others');
  }));

/**
 * Makes all sessions ones from before they recorded their extractor, or of another one.
 *
 * @param {import('playwright-core').Page} page
 * @param {string|undefined} extractor
 */
const rewriteExtractor = (page, extractor) => appendEdit(page, { Extractor: extractor ? { ID: extractor, SHA256: '00' } : { ID: '', SHA256: '' } });

for (const [name, extractor] of /** @type {[string, string|undefined][]} */ ([
  ['another one', 'net@1'],
  ['one that was not recorded', undefined],
])) {
  test(`a session that ${name} read is told, refuses to mix, and can be exported, left and deleted`, LONG, () =>
    visit({}, async ({ page, site }) => {
      await teach(page, 'Cat', ['noto', 'twemoji']);
      await teach(page, 'Rocket', ['noto', 'twemoji']);
      const own = await recognise(page, sample('emojione', 'cat'));
      await open(page, site);
      assertSame(await recognise(page, sample('emojione', 'cat')), own);
      const notice = page.getByRole('region', { name: 'Notices' }).getByRole('status').filter({ hasText: 'read by another feature extractor' });
      await notice.waitFor({ state: 'detached' });

      await rewriteExtractor(page, extractor);
      await open(page, site);
      await notice.filter({ hasText: 'read them again, or show others in a new session' }).waitFor();
      await card(page, 'Cat').getByText('2 pictures').waitFor();
      await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(sample('emojione', 'cat'));
      await page.locator('#query-error').filter({ hasText: 'read by another feature extractor' }).waitFor();
      await card(page, 'Cat').locator('input[type=file]').setInputFiles(sample('openmoji', 'cat'));
      await card(page, 'Cat').getByRole('alert').filter({ hasText: 'read by another feature extractor' }).waitFor();
      await card(page, 'Cat').getByText('2 pictures').waitFor();

      const dialog = await sessionsOf(page);
      const file = await (await downloaded(page, 'Save this session')).path();
      await dialog.getByLabel('Open a saved session').setInputFiles(file);
      await dialog.getByRole('alert').filter({ hasText: 'This classifier was made with the feature extractor' }).waitFor();
      await page.keyboard.press('Escape');

      await newSession(page, 'Anew');
      await notice.waitFor({ state: 'detached' });
      await teach(page, 'Cat', ['noto', 'twemoji']);
      await teach(page, 'Rocket', ['noto', 'twemoji']);
      assertSame(await recognise(page, sample('emojione', 'cat')), own);

      const sessions = await sessionsOf(page);
      await sessions.getByRole('button', { name: 'Delete My classes' }).click();
      await sessions.getByRole('button', { name: 'Delete', exact: true }).click();
      await sessions.getByRole('textbox', { name: 'Name of the session My classes' }).waitFor({ state: 'detached' });
    }),
  );
}

test("where the site's data are cleared under an open page, what is added is refused on its card, and the rest goes out as a file", () =>
  visit({}, async ({ page, site }) => {
    await teach(page, 'Cat', ['noto']);
    await (await page.context().newCDPSession(page)).send('Storage.clearDataForOrigin', { origin: site.origin, storageTypes: 'indexeddb' });
    await page.getByRole('region', { name: 'Notices' }).getByText('only in this tab: save it to a file').waitFor();
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles(['twemoji', 'openmoji'].map((style) => sample(style, 'cat')));
    await card(page, 'Cat')
      .getByRole('alert')
      .filter({ hasText: /save|export/ })
      .waitFor();
    const dialog = await sessionsOf(page);
    await dialog.getByRole('textbox', { name: 'Name of a new session' }).fill('Garden'); // it would take the place of what is here alone
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').filter({ hasText: 'only in this tab: save it to a file, then reload the page' }).waitFor();
    await card(page, 'Cat').getByText('1 picture', { exact: true }).waitFor();
    await downloaded(page, 'Save this session');
  }));

test('what is sorted belongs to its session: another one has it put away, and its own brings it back or says that it is gone', { timeout: 120_000 }, () =>
  visit({}, async ({ page }) => {
    for (const name of ['Cat', 'Umbrella']) await teach(page, name, ['noto', 'twemoji', 'openmoji']);
    await newSession(page, 'Other');
    await teach(page, 'Rocket', ['noto', 'twemoji', 'openmoji']);
    await openSession(page, 'My classes');
    const field = page.getByLabel('Choose a picture', { exact: true });
    const sort = page.locator('#sort');
    const [files, others] = ['cat', 'rocket'].map((concept) => ['emojione', 'fxemoji'].map((style) => sample(style, concept)));
    await field.setInputFiles(files);
    await sortState(page, /^Judged together/);
    const { head, rows } = await savedTable(page);
    await openSession(page, 'Other'); // open, by its own session
    await sort.waitFor({ state: 'hidden' });
    assert.ok(await page.locator('#teach').isVisible());
    await openSession(page, 'My classes');
    await sort.waitFor();
    await sortState(page, /^Judged together/);
    assert.deepEqual(await savedTable(page), { head, rows });

    await page.getByRole('button', { name: 'Close', exact: true }).click(); // closed, its notice
    const again = page.getByRole('button', { name: 'Open again' });
    await again.waitFor();
    await openSession(page, 'Other');
    await again.waitFor({ state: 'detached' });
    await openSession(page, 'My classes');
    await again.click();
    await sortState(page, /^Judged together/);
    assert.deepEqual(await savedTable(page), { head, rows });

    await openSession(page, 'Other'); // others take its place
    await field.setInputFiles(others);
    await sortState(page, /^Compared part by part with the examples of “Rocket”\./);
    assert.ok((await savedTable(page)).head.includes('Rocket'));
    await openSession(page, 'My classes');
    await sort.waitFor({ state: 'hidden' });
    await page.getByText('The pictures that were being sorted here are gone: choose them again.').waitFor();
  }),
);
