// @ts-check
/** The page in Firefox, driven by WebDriver BiDi: teach, recognise, reload, a second tab. */
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import puppeteer from 'puppeteer-core';
import { assertProbabilities, assertSame, most, PATIENCE, sample, serveSite } from '../browser/harness.js';

/** @typedef {import('puppeteer-core').Page} Page */

/**
 * Runs a test in a fresh Firefox. Afterwards nothing may have failed in the page, and
 * nothing been requested from elsewhere.
 *
 * @param {(world: {page: Page, open: () => Promise<Page>}) => Promise<void>} check
 */
async function visit(check) {
  const site = await serveSite();
  const browser = await puppeteer.launch({
    browser: 'firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr', headless: true, timeout: PATIENCE,
    // No talk with its maker: only what the page asks for is requested.
    extraPrefsFirefox: { 'app.update.enabled': false, 'browser.safebrowsing.downloads.remote.enabled': false, 'network.captive-portal-service.enabled': false },
  });
  /** @type {string[]} */
  const complaints = [];
  const open = async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => { if (message.type() === 'error') complaints.push(message.text()); });
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.origin !== site.origin && !/^(blob|data|about):/.test(url.protocol)) complaints.push(`requested ${url}`);
    });
    await page.goto(`${site.origin}/`);
    await ready(page);
    return page;
  };
  try {
    await check({ page: await open(), open });
  } finally {
    await browser.close();
    await site.stop();
  }
  assert.deepEqual(complaints, [], 'complaints');
}

/** @param {Page} page */
async function ready(page) {
  await page.waitForSelector('body[data-ready], #trouble:not([hidden])');
  assert.equal(await page.$eval('#trouble', (element) => element.textContent), '', 'the page started');
}

/** @typedef {import('puppeteer-core').ElementHandle<HTMLInputElement>} Input */

/** @param {Page} page @param {string} selector */
async function field(page, selector) {
  return /** @type {Input} */ (await page.waitForSelector(selector));
}

/** Teaches a class with one sample of each style. @param {Page} page @param {string} name @param {string[]} styles */
async function teach(page, name, styles) {
  const named = await field(page, '#class-name');
  await named.type(name);
  await named.press('Enter');
  const label = `Name of the class ${name}`;
  const card = `.card:has([aria-label="${label}"])`;
  await (await field(page, `${card} input[type="file"]`)).uploadFile(...styles.map((style) => sample(style, name.toLowerCase())));
  await page.waitForFunction((thumbs, count) => document.querySelectorAll(thumbs).length === count, {}, `${card} .thumb`, styles.length);
}

/** Recognises a file and answers the meters. @param {Page} page @param {string} file @returns {Promise<Record<string, number>>} */
async function recognise(page, file) {
  await (await field(page, '#query-file')).uploadFile(file);
  await page.waitForFunction((name) => document.querySelector('#status')?.textContent?.includes(`Recognised “${name}”.`), {}, path.basename(file));
  return Object.fromEntries(await page.$$eval('[role="meter"]', (all) =>
    all.map((one) => [one.getAttribute('aria-label') ?? '', Number(one.getAttribute('aria-valuenow'))])));
}

const names = ['Banana', 'Umbrella', 'Bicycle'];

test('three classes are taught and recognised in Firefox, and again after a reload and in a second tab', () => visit(async ({ page, open }) => {
  for (const name of names) await teach(page, name, ['noto', 'twemoji', 'openmoji']);
  /** @type {Record<string, Record<string, number>>} */
  const before = {};
  for (const name of names) {
    const got = before[name] = await recognise(page, sample('emojione', name.toLowerCase()));
    assert.deepEqual(Object.keys(got).sort(), [...names, 'None of these'].sort());
    assertProbabilities(got);
    assert.equal(most(got), name);
  }
  await page.reload();
  await ready(page);
  const other = await open();
  for (const tab of [page, other]) {
    await tab.bringToFront();
    for (const name of names) assertSame(await recognise(tab, sample('emojione', name.toLowerCase())), before[name], name);
  }
}));
