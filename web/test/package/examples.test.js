// @ts-check
/** The examples, with the packed package, in Chromium. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { downloaded, serveSite, visit } from '../browser/harness.js';
import { seeing } from '../browser/extractor/film.js';
import { handOf } from '../extractors/hands.js';
import { wordOf } from '../extractors/words.js';
import { project, root } from './project.js';

/** @import {Page} from 'playwright-core' */

const examples = path.join(root, 'web/examples');
const names = readdirSync(examples).filter((name) => name.endsWith('.html'));
const installed = project();
const out = path.join(installed.folder, 'site');
/** @type {import('../browser/harness.js').Site} */
let site;

before(async () => {
  mkdirSync(out);
  cpSync(installed.package, path.join(out, 'metaqda'), { recursive: true });
  const places = /** @type {Record<string, string>} */ ({
    metaqda: 'index',
    'metaqda/knn-classifier': 'knn-classifier',
    'metaqda/extractors/efficientnet-lite0': 'efficientnet-lite0',
    'metaqda/extractors/hands': 'hands',
    'metaqda/extractors/sounds': 'sounds',
  });
  for (const name of names) {
    // The test server allows no script in a page; a bundler moves it out likewise.
    const text = readFileSync(path.join(examples, name), 'utf8');
    const [, script] = /** @type {RegExpExecArray} */ (/<script type="module">([\s\S]*)<\/script>/.exec(text));
    writeFileSync(
      path.join(out, `${name}.js`),
      script.replace(/from '(metaqda[^']*)'/g, (_, from) => `from './metaqda/${places[from]}.js'`),
    );
    writeFileSync(
      path.join(out, name),
      text.replace(/<script type="module">[\s\S]*<\/script>/, `<script type="module" src="${name}.js"></script>`).replace(/ style="[^"]*"/, ''),
    );
  }
  writeFileSync(path.join(out, 'index.html'), '');
  site = await serveSite(out);
});
after(() => site.stop());

/** Opens an example and waits until it is ready. @param {string} name @param {(page: Page) => Promise<void>} check @param {Partial<import('../browser/harness.js').VisitOptions>} [options] */
const opened = (name, check, options) =>
  visit({ site, open: false, ...options }, async ({ page }) => {
    await page.goto(`${site.origin}/${name}.html`);
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    await check(page);
  });

/** @param {Page} page @param {RegExp} text */
const answers = (page, text) => page.locator('#answer').filter({ hasText: text }).waitFor();

test('no example is longer than sixty lines', () => {
  assert.equal(names.length, 6);
  for (const name of names) assert.ok(readFileSync(path.join(examples, name), 'utf8').split('\n').length <= 61, name);
});

test('one teaches languages, asks, saves and opens', () =>
  opened('embeddings', async (page) => {
    const teach = async (/** @type {string} */ text, /** @type {string} */ label) => {
      await page.getByPlaceholder('a sentence', { exact: true }).fill(text);
      await page.getByPlaceholder('its language').fill(label);
      await page.getByRole('button', { name: 'Teach' }).click();
      await page.waitForFunction(() => /** @type {HTMLInputElement} */ (document.querySelector('[name=text]')).value === '');
    };
    for (const text of [
      'the cat sat on the mat with the other one',
      'when there is something to say they should say this',
      'what is the weather like in the north',
    ])
      await teach(text, 'English');
    for (const text of [
      'die katze sitzt auf der matte neben der anderen',
      'wenn es etwas zu sagen gibt sollten sie es sagen',
      'wie ist das wetter heute im norden',
    ])
      await teach(text, 'German');
    const ask = page.getByPlaceholder('a sentence to ask about');
    await ask.fill('this is the thing that they think about');
    await answers(page, /^English/);
    await ask.fill('das ist eine sache die sie gerne haben möchten');
    await answers(page, /^German/);
    const file = await (await downloaded(page, 'Save')).path();
    await page.reload();
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    await ask.fill('this is the thing that they think about');
    await page.locator('#open').setInputFiles(file);
    await answers(page, /^English/);
  }));

test('a webcam is taught and recognised', () =>
  opened(
    'webcam',
    async (page) => {
      await page.getByPlaceholder('what is it?').fill('the green one');
      await page.getByRole('button', { name: 'This is it' }).click();
      await answers(page, /^Looks like the green one; I know nothing else yet$|none of these/);
      await page.getByPlaceholder('what is it?').fill('another');
      await page.getByRole('button', { name: 'This is it' }).click();
      await answers(page, /(the green one|another):? \d+ %/);
    },
    { flags: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'], context: { permissions: ['camera'] } },
  ));

test('a hand sign is taught and recognised', async () => {
  const flags = await seeing(path.join(out, 'hand.y4m'), [await handOf('noto', 'victory-hand')]);
  await opened(
    'hands',
    async (page) => {
      for (const label of ['peace', 'another']) {
        await page.getByPlaceholder('what does it mean?').fill(label);
        await page.getByRole('button', { name: 'This is it' }).click();
        await answers(page, label === 'peace' ? /^Looks like peace; I know nothing else yet$|none of these/ : /(peace|another):? \d+ %/);
      }
    },
    { flags },
  );
});

test('words are taught from recordings and told apart', () =>
  opened('sounds', async (page) => {
    const recordings = (/** @type {string} */ kind, /** @type {number[]} */ which) =>
      which.map((one) => ({ name: `${one}.wav`, mimeType: 'audio/wav', buffer: Buffer.from(wordOf(kind, one)) }));
    for (const kind of ['pedu', 'baki']) {
      await page.getByPlaceholder('which word?').fill(kind);
      await page.getByLabel('Recordings of it').setInputFiles(recordings(kind, [0, 1, 2]));
      await answers(page, new RegExp(`${kind}: 3`));
    }
    await page.getByLabel('A recording to ask about').setInputFiles(recordings('pedu', [3]));
    await answers(page, /pedu/);
  }));

test('a sign unlocks, another one does not', () =>
  opened('gesture', async (page) => {
    const box = /** @type {{x: number, y: number}} */ (await page.locator('#pad').boundingBox());
    const draw = async (/** @type {number[][]} */ points) => {
      await page.mouse.move(box.x + points[0][0], box.y + points[0][1]);
      await page.mouse.down();
      for (const [x, y] of points) await page.mouse.move(box.x + x, box.y + y, { steps: 6 });
      await page.mouse.up();
    };
    const z = (/** @type {number} */ jitter) => [
      [60, 60 + jitter],
      [220, 62],
      [70 + jitter, 220],
      [230, 215 - jitter],
    ];
    await draw(z(0));
    await answers(page, /1 of 3/);
    await draw(z(9));
    await draw(z(-7));
    await answers(page, /Locked/);
    await draw(z(4));
    await answers(page, /Unlocked/);
    await draw([
      [150, 40],
      [240, 150],
      [150, 250],
      [60, 150],
      [150, 40],
    ]);
    await answers(page, /Still locked/);
    await page.locator('#answer').evaluate((answer) => {
      /** @type {HTMLOutputElement} */ (answer).value = '';
    });
    await draw([
      [60, 220],
      [150, 60],
      [240, 220],
    ]);
    await answers(page, /Still locked/);
  }));

test('colours are told where the kNN classifier told them, and kept', () =>
  opened('knn', async (page) => {
    const add = async (/** @type {string} */ colour, /** @type {string} */ label) => {
      await page.locator('#colour').fill(colour);
      await page.locator('#label').fill(label);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
    };
    for (const colour of ['#c02020', '#e01010', '#b03028']) await add(colour, 'red');
    for (const colour of ['#2020c0', '#1010e0', '#3028b0']) await add(colour, 'blue');
    await page.locator('#colour').fill('#d02830');
    await answers(page, /^red \(\d+ %\) of \{"red":3,"blue":3\}/);
    await page.reload();
    await page.locator('#colour').fill('#2030d0');
    await answers(page, /^blue \(\d+ %\) of \{"red":3,"blue":3\}/);
    await page.locator('#label').fill('red');
    await page.getByRole('button', { name: 'Clear it' }).click();
    await answers(page, /^blue \(100 %\) of \{"blue":3\}/);
  }));
