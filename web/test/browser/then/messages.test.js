// @ts-check
/** Messages to other pages, and actions in a shared file. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { chromium } from 'playwright-core';
import { seeing } from '../extractor/film.js';
import { chromiumPath, eventually, FLAGS, noteSaid, recognise, root, sample, status, teach, visit } from '../harness.js';
import { share } from '../share/shared.js';
import { PATIENCE } from '../site.js';
import { temporaryFolder } from '../../temporary.js';
import { add, listed, standIns, written } from './stand-ins.js';
import { LONG } from '../../long.js';

/** @import {Page} from 'playwright-core' */

const folder = temporaryFolder('messages');
const rocket = path.join(folder, 'rocket.y4m');
const styles = ['noto', 'twemoji', 'openmoji'];

/** A shared file with actions, made by the page. @type {Promise<string>|undefined} */
let file;
const shared = () =>
  (file ??= (async () => {
    let made = '';
    await visit({}, async ({ page }) => {
      for (const name of ['Cat', 'Rocket']) await teach(page, name, styles);
      await add(page, { when: 'Rocket', does: 'say a sentence', fields: { Sentence: 'Lift-off' } }, 'When Rocket is seen: say “Lift-off”');
      await add(
        page,
        { when: 'Rocket', does: 'post a message to other pages', fields: { Message: 'start the engines' } },
        'When Rocket is seen: post “start the engines” to the pages that listen',
      );
      made = await share(page, { learn: true });
    });
    return readFile(made, 'utf8');
  })());

/** The page of the README, as it stands there. */
async function listener() {
  const text = await readFile(path.join(root, 'web/share/README.md'), 'utf8');
  const [, page = ''] = /```html\n(<!doctype html>[\s\S]*?)```/.exec(text) ?? [];
  assert.ok(page.split('\n').length <= 21, 'a page of twenty lines');
  return page;
}

/** Opens an address in a Chromium with a made-up network: files by their addresses. @param {Record<string, string>} files @param {string} address @param {(page: Page) => Promise<void>} check */
async function withFiles(files, address, check) {
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    timeout: PATIENCE,
    args: [...FLAGS, ...(await seeing(rocket, [sample('noto', 'rocket')]))],
  });
  try {
    const context = await browser.newContext();
    context.setDefaultTimeout(PATIENCE);
    await context.addInitScript(noteSaid);
    await context.addInitScript(standIns);
    await context.route('**/*', (route) => {
      const body = files[route.request().url()];
      return body === undefined ? route.abort() : route.fulfill({ body, contentType: 'text/html' });
    });
    const page = await context.newPage();
    await page.goto(address);
    await check(page);
  } finally {
    await browser.close();
  }
}

test('a page of twenty lines that has a shared file in a frame hears what comes and goes, once a person allows it', LONG, async () => {
  const files = {
    'https://listener.example/': (await listener()).replace('classes.html', 'https://files.example/classes.html'),
    'https://files.example/classes.html': await shared(),
  };
  await withFiles(files, 'https://listener.example/', async (page) => {
    const heard = /** @type {any[]} */ ([]);
    await page.exposeFunction('hear', (/** @type {unknown} */ data) => heard.push(data));
    await page.evaluate(() => addEventListener('message', ({ data, origin }) => /** @type {any} */ (globalThis).hear({ ...data, from: origin })));
    const frame = page.frameLocator('iframe');
    await frame.locator('body[data-ready]').waitFor({ state: 'attached' });
    const asks = 'The page around this one, https://listener.example, asks to be told what is recognised here.';
    const toast = frame.locator('#toasts .toast').filter({ hasText: asks });
    await toast.waitFor();
    await frame.getByRole('button', { name: 'Live camera' }).click();
    await frame.locator('.then-here', { hasText: 'Seen now: Rocket.' }).waitFor({ state: 'attached' });
    assert.deepEqual(heard, [], 'what was sent before anyone allowed it');
    await frame.getByRole('button', { name: 'Live camera' }).click();
    await frame.locator('.then-here').waitFor({ state: 'detached' });
    assert.deepEqual(heard, [], 'what was sent before anyone allowed it');

    await toast.getByRole('button', { name: 'Allow' }).click();
    await toast.waitFor({ state: 'detached' });
    await frame.getByRole('button', { name: 'Live camera' }).click();
    await page.getByRole('heading', { name: 'Rocket is here' }).waitFor();
    await eventually(async () => assert.equal(heard.length, 2));
    const [{ event, ...rest }, message] = /** @type {any} */ (heard);
    assert.deepEqual(rest, { type: 'metaqda', from: 'https://files.example' });
    assert.deepEqual([event.label, event.here], ['Rocket', true]);
    assert.ok(event.probability > 0.9 && event.probability <= 1 && Math.abs(event.since - Date.now() / 1000) < 3600, JSON.stringify(event));
    assert.deepEqual([message.type, message.message, message.event], ['metaqda', 'start the engines', event]);
    await frame.getByRole('button', { name: 'Live camera' }).click();
    await page.getByRole('heading', { name: 'Rocket is gone' }).waitFor();

    await frame.locator('#then summary').click();
    await frame
      .getByRole('list', { name: 'Pages that listen' })
      .getByText('The page around this one, https://listener.example, is told what comes and goes.')
      .waitFor();
    await frame.getByRole('button', { name: /^Stop/ }).click();
    await frame.getByRole('list', { name: 'Pages that listen' }).waitFor({ state: 'detached' });
    heard.splice(0);
    await frame.getByRole('button', { name: 'Live camera' }).click();
    await frame.locator('.then-here', { hasText: 'Seen now: Rocket.' }).waitFor();
    await frame.locator('#then [role=alert]').getByText('No page listens yet: open a page that asks to listen, and allow it here.').waitFor();
    assert.deepEqual(heard, [], 'what was sent after it was stopped');
  });
});

test('a page that opened a shared file gets the answers that it asks for, and no other page does', LONG, async () => {
  const files = {
    'https://listener.example/': '<title>opens</title>',
    'https://files.example/classes.html': await shared(),
    'https://other.example/': '<title>other</title>',
  };
  await withFiles(files, 'https://listener.example/', async (page) => {
    /** @type {any[]} */
    const heard = [];
    await page.exposeFunction('hear', (/** @type {unknown} */ data) => heard.push(data));
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      page.evaluate(() => {
        addEventListener('message', ({ data }) => /** @type {any} */ (globalThis).hear(data));
        const other = window.open('https://files.example/classes.html');
        setInterval(() => {
          other?.postMessage({ type: 'metaqda', listen: 'answers' }, 'https://files.example');
          for (const wrong of [null, 7, {}, { type: 'metaqda' }, { type: 'metaqda', listen: 'all' }, { type: 'other', listen: 'events' }])
            other?.postMessage(wrong, '*');
        }, 100);
      }),
    ]);
    await opened.locator('body[data-ready]').waitFor({ state: 'attached' });
    await opened
      .locator('#toasts')
      .getByText('The page that opened this one, https://listener.example, asks to be told what is recognised here, with every answer.')
      .waitFor();
    assert.equal(await opened.locator('#toasts .toast').count(), 1, 'it asks once');
    await recognise(opened, sample('noto', 'cat'));
    assert.deepEqual(heard, []);
    await opened.getByRole('button', { name: 'Allow' }).click();
    const probabilities = await recognise(opened, sample('twemoji', 'cat'));
    await eventually(async () => assert.equal(heard.length, 1));
    const [{ type, answer }] = /** @type {any} */ (heard);
    assert.equal(type, 'metaqda');
    assert.deepEqual([answer.decision, Object.keys(answer.probabilities)], ['Cat', ['Cat', 'Rocket']]);
    const { 'None of these': none, ...classes } = probabilities;
    assert.deepEqual(
      { ...answer.probabilities, none: answer.none },
      { ...Object.fromEntries(Object.keys(answer.probabilities).map((name) => [name, classes[name]])), none },
    );
    heard.splice(0);
    await Promise.all([
      page.waitForURL('https://other.example/'),
      page.evaluate(() => {
        location.href = 'https://other.example/';
      }),
    ]); // the window has another page now, which nobody allowed
    await page.evaluate(() => addEventListener('message', ({ data }) => /** @type {any} */ (globalThis).hear(data)));
    await recognise(opened, sample('noto', 'rocket'));
    await opened.evaluate(() => window.opener.postMessage('the last one', '*'));
    await eventually(async () => assert.equal(heard.at(-1), 'the last one'));
    assert.deepEqual(heard, ['the last one']);
  });
});

test('a shared file does what was chosen, keeps it in a new file, and takes none of it for its own', async () => {
  const text = await shared();
  await withFiles({ 'https://files.example/': text }, 'https://files.example/', async (page) => {
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    await page.locator('#then summary').click();
    assert.deepEqual(await listed(page), ['When Rocket is seen: say “Lift-off”', 'When Rocket is seen: post “start the engines” to the pages that listen']);
    assert.equal(
      await page
        .locator('#then')
        .getByRole('button', { name: /^(Change|Remove|Add)/ })
        .count(),
      0,
    );
    await page.getByRole('button', { name: 'Live camera' }).click();
    await page.locator('.then-here', { hasText: 'Seen now: Rocket.' }).waitFor();
    await eventually(async () => assert.deepEqual(await written(page, 'say'), [['Lift-off', 'of the device']]));
    await page.locator('#correct').getByRole('button', { name: 'Rocket', exact: true }).click(); // so that it can be saved
    await status(page, 'Taught as “Rocket”.');
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as a new file like this one' }).click()]);
    const again = path.join(folder, 'again.html');
    await saved.saveAs(again);
    const [session] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as a session for metaqda' }).click()]);
    await session.saveAs(path.join(folder, 'again.safetensors'));
  });
  await withFiles({ 'https://files.example/': await readFile(path.join(folder, 'again.html'), 'utf8') }, 'https://files.example/', async (page) => {
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    await page.locator('#then summary').click();
    assert.equal((await listed(page)).length, 2);
  });
  await visit({}, async ({ page }) => {
    await page.locator('#session-button').click();
    await page.getByLabel('Open a saved session').setInputFiles(path.join(folder, 'again.safetensors'));
    await status(page, /is open|was opened/);
    await page.keyboard.press('Escape');
    await page.locator('#then summary').click();
    assert.deepEqual(await listed(page), ['When Rocket is seen: say “Lift-off”', 'When Rocket is seen: post “start the engines” to the pages that listen']);
  });
});

test('the page tells other tabs and windows of its own origin, once a person allows it', async () => {
  await visit({ expect: [/favicon\.ico/] }, async ({ page, context, site }) => {
    for (const name of ['Cat', 'Rocket']) await teach(page, name, styles);
    const tab = await context.newPage();
    await tab.goto(`${site.origin}/LICENSE.txt`);
    await tab.evaluate(() => {
      const channel = new BroadcastChannel('metaqda-messages');
      const heard = /** @type {any[]} */ ([]);
      Object.assign(globalThis, { heard, channel });
      channel.onmessage = ({ data }) => heard.push(data);
      channel.postMessage({ type: 'metaqda', listen: 'answers' });
    });
    await page.locator('#toasts').getByText(`Another tab of ${site.origin} asks to be told what is recognised here, with every answer.`).waitFor();
    await recognise(page, sample('noto', 'cat'));
    await page.getByRole('button', { name: 'Allow' }).click();
    await recognise(page, sample('noto', 'rocket'));
    await tab.waitForFunction(() => /** @type {any} */ (globalThis).heard.length > 0);
    assert.deepEqual(await tab.evaluate(() => /** @type {any} */ (globalThis).heard.map((/** @type {any} */ { type, answer }) => [type, answer.decision])), [
      ['metaqda', 'Rocket'],
    ]);

    const [opened] = await Promise.all([
      context.waitForEvent('page'),
      tab.evaluate(() => {
        Object.assign(globalThis, { other: window.open('/') });
      }),
    ]);
    await opened.locator('body[data-ready]').waitFor({ state: 'attached' });
    await tab.evaluate(() => /** @type {any} */ (globalThis).other.postMessage({ type: 'metaqda', listen: 'events' }, location.origin));
    await opened.locator('#toasts').getByText(`The page that opened this one, ${site.origin}, asks to be told what is recognised here.`).waitFor();
    await opened.getByRole('button', { name: 'Dismiss' }).last().click();
    await opened.locator('#toasts .toast').filter({ hasText: 'asks to be told' }).waitFor({ state: 'detached' });
  });
});
