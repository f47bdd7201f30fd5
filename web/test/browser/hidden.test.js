// @ts-check
/**
 * A tab behind another one: teaching and sorting go on as fast as in front. The browser
 * slows down timers and idle work there to once a second, and frames to none. Playwright
 * makes every page think itself in front; Puppeteer does not.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import puppeteer from 'puppeteer-core';
import sharp from 'sharp';
import { chromiumPath, PATIENCE, sample, serveSite } from './harness.js';
import { LONG } from '../long.js';
import { temporaryFolder } from '../temporary.js';

/** @import {Page} from 'puppeteer-core' */
/** @typedef {import('puppeteer-core').ElementHandle<HTMLInputElement>} Input */

/** What Puppeteer says to keep hidden pages awake. */
const AWAKE = ['--disable-background-timer-throttling', '--disable-renderer-backgrounding', '--disable-backgrounding-occluded-windows'];

const PICTURES = 24;
/** Milliseconds for a picture where each waits for a timer, an idle moment or a frame: at least a second. */
const SLOW = 900;
/** Behind another tab it may take so many times as long as in front, and two seconds more. */
const SLOWER = 2;

const folder = temporaryFolder('hidden');

/** Turned drawings. @param {string} name @param {string} style @param {number} count @returns {Promise<string[]>} */
function turned(name, style, count) {
  return Promise.all(Array.from({ length: count }, async (_, i) => {
    const file = path.join(folder, `${name}-${style}-${i}.png`);
    await sharp(sample(style, name)).rotate(3 * i, { background: '#fff' }).flatten({ background: '#fff' }).png().toFile(file);
    return file;
  }));
}

/** Waits until something in the page is so, without the page's own timers. @template T @param {Page} page @param {(arg: T) => boolean} check @param {T} arg */
async function until(page, check, arg) {
  for (const end = performance.now() + 4 * PATIENCE; !await page.evaluate(/** @type {any} */ (check), arg); await wait(30)) {
    if (performance.now() > end) throw new Error(`not so in time: ${check} of ${arg}`);
  }
}

/** Adds pictures to a class, which is made. @param {Page} page @param {string} name @param {string[]} files @returns {Promise<number>} milliseconds */
async function teach(page, name, files) {
  await page.$eval('#class-name', (field, value) => { /** @type {HTMLInputElement} */ (field).value = value; }, name);
  await page.$eval('#add-class', (form) => /** @type {HTMLFormElement} */ (form).requestSubmit());
  const card = `.card:has([aria-label="Name of the class ${name}"])`;
  await until(page, (selector) => document.querySelector(selector) !== null, card);
  const field = /** @type {Input} */ (await page.$(`${card} input[type="file"]`));
  const begun = performance.now();
  await field.uploadFile(...files);
  await until(page, ([selector, count]) => document.querySelectorAll(/** @type {string} */ (selector)).length === count, [`${card} .thumb`, files.length]);
  return performance.now() - begun;
}

/** Sorts pictures, and closes that again. @param {Page} page @param {string[]} files @returns {Promise<number>} milliseconds */
async function sort(page, files) {
  const begun = performance.now();
  await /** @type {Input} */ (await page.$('#query-file')).uploadFile(...files);
  await until(page, (text) => document.querySelector('.sort-state')?.textContent?.startsWith(text) ?? false, 'Judged together');
  const took = performance.now() - begun;
  await page.$eval('.sort-head button', (button) => /** @type {HTMLElement} */ (button).click());
  return took;
}

/** Milliseconds that a timer of fifty takes, the longest of three. @param {Page} page @returns {Promise<number>} */
const timer = (page) => page.evaluate(async () => {
  let most = 0;
  for (let i = 0; i < 3; i++) {
    const begun = performance.now();
    await new Promise((resolve) => { setTimeout(resolve, 50); });
    most = Math.max(most, performance.now() - begun);
  }
  return most;
});

test('a tab behind another one teaches and sorts at full pace', { timeout: 240_000, ...LONG }, async () => {
  const site = await serveSite();
  const browser = await puppeteer.launch({
    executablePath: chromiumPath(), headless: true, timeout: PATIENCE, ignoreDefaultArgs: AWAKE,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-component-update', '--disable-dev-shm-usage'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`${site.origin}/`);
    await page.waitForSelector('body[data-ready]');
    for (const name of ['cat', 'rocket']) await teach(page, name, ['noto', 'twemoji'].map((style) => sample(style, name)));
    const [bananas, umbrellas, cats] = await Promise.all([
      turned('banana', 'noto', PICTURES), turned('umbrella', 'noto', PICTURES), turned('cat', 'emojione', PICTURES)]);
    const front = { teach: await teach(page, 'banana', bananas), sort: await sort(page, cats) };

    await (await browser.newPage()).bringToFront();
    await until(page, () => document.hidden, null);
    let throttled = 0; // the browser begins some time later
    for (const end = performance.now() + PATIENCE; throttled < SLOW && performance.now() < end; await wait(500)) throttled = await timer(page);
    assert.ok(throttled >= SLOW, `a timer takes ${throttled} ms: this browser does not slow down what is hidden, so that this tests nothing`);
    const back = { teach: await teach(page, 'umbrella', umbrellas), sort: await sort(page, cats) };
    assert.ok(await page.evaluate(() => document.hidden), 'hidden to the end');
    console.log(`# ${PICTURES} pictures in front ${JSON.stringify(front)} ms, behind ${JSON.stringify(back)} ms, a timer there ${throttled} ms`);
    for (const what of /** @type {const} */ (['teach', 'sort'])) {
      assert.ok(back[what] / PICTURES < SLOW, `to ${what} takes ${back[what] / PICTURES} ms a picture`);
      assert.ok(back[what] < SLOWER * front[what] + 2000, `to ${what} takes ${back[what]} ms, in front ${front[what]}`);
    }
  } finally {
    await browser.close();
    await site.stop();
  }
});
