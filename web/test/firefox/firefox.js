// @ts-check
/** What the tests in Firefox share: WebDriver BiDi drives it. */
import assert from 'node:assert/strict';
import path from 'node:path';
import puppeteer from 'puppeteer-core';
import { PATIENCE, sample, serveSite } from '../browser/harness.js';

/** @import {Page} from 'puppeteer-core' */

/**
 * Runs a test in a fresh Firefox. Afterwards nothing may have failed in the page, and
 * nothing been requested from elsewhere.
 *
 * @param {(world: {page: Page, open: () => Promise<Page>, site: import('../browser/harness.js').Site}) => Promise<void>} check
 * @param {Record<string, string|number|boolean>} [prefs] more settings of Firefox
 */
export async function visit(check, prefs = {}) {
  const site = await serveSite();
  const browser = await puppeteer.launch({
    browser: 'firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr', headless: true, timeout: PATIENCE,
    // No talk with its maker: only what the page asks for is requested.
    extraPrefsFirefox: { 'app.update.enabled': false, 'browser.safebrowsing.downloads.remote.enabled': false, 'network.captive-portal-service.enabled': false, ...prefs },
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
      if (url.origin !== site.origin && !/^(blob|data|about|file):/.test(url.protocol)) complaints.push(`requested ${url}`);
    });
    await page.goto(`${site.origin}/`);
    await ready(page);
    return page;
  };
  try {
    await check({ page: await open(), open, site });
  } finally {
    await browser.close();
    await site.stop();
  }
  assert.deepEqual(complaints, [], 'complaints');
}

/** @param {Page} page */
export async function ready(page) {
  await page.waitForSelector('body[data-ready], #trouble:not([hidden])');
  assert.equal(await page.$eval('#trouble', (element) => element.textContent), '', 'the page started');
}

/** @typedef {import('puppeteer-core').ElementHandle<HTMLInputElement>} Input */

/** @param {Page} page @param {string} selector */
export async function field(page, selector) {
  return /** @type {Input} */ (await page.waitForSelector(selector));
}

/** Teaches a class with one sample of each style. @param {Page} page @param {string} name @param {string[]} styles */
export async function teach(page, name, styles) {
  const named = await field(page, '#class-name');
  await named.type(name);
  await named.press('Enter');
  const label = `Name of the class ${name}`;
  const card = `.card:has([aria-label="${label}"])`;
  await (await field(page, `${card} input[type="file"]`)).uploadFile(...styles.map((style) => sample(style, name.toLowerCase())));
  await page.waitForFunction((thumbs, count) => document.querySelectorAll(thumbs).length === count, {}, `${card} .thumb`, styles.length);
}

/** Recognises a file and answers the meters. @param {Page} page @param {string} file @returns {Promise<Record<string, number>>} */
export async function recognise(page, file) {
  await (await field(page, '#query-file')).uploadFile(file);
  await page.waitForFunction((name) => document.querySelector('#status')?.textContent?.includes(`Recognised “${name}”.`), {}, path.basename(file));
  return Object.fromEntries(await page.$$eval('[role="meter"]', (all) =>
    all.map((one) => [one.getAttribute('aria-label') ?? '', Number(one.getAttribute('aria-valuenow'))])));
}
