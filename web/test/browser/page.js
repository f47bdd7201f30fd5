// @ts-check
/** What tests do on the page, and ask of it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { inFirefox, PATIENCE, siteFolder } from './site.js';

/** @import {Page} from 'playwright-core' */

/** Goes to the page and waits until it is ready. @param {Page} page @param {{origin: string}} site @param {string} [query] */
export async function open(page, site, query = '') {
  await page.goto(`${site.origin}/${query}`);
  await ready(page);
}

/** @param {Page} page */
export async function ready(page) {
  await page.locator('body[data-ready], #trouble:not([hidden])').first().waitFor({ state: 'attached' });
  assert.equal(await page.locator('#trouble').textContent(), '', 'the page started');
}

/** Holds what is asked for at an address. @param {Page} page @param {string} address @returns {Promise<() => void>} lets it go */
export async function hold(page, address) {
  let go = () => {};
  const held = new Promise((/** @type {(value: void) => void} */ resolve) => {
    go = resolve;
  });
  await page.route(address, async (route) => {
    await held;
    await route.continue();
  });
  return go;
}

/** Has the page take in so many pictures, of files or of the camera, and wait with the others. @param {Page} page @param {number} count @returns {Promise<() => Promise<void>>} has it go on */
export async function holdPictures(page, count) {
  await page.evaluate((most) => {
    const { createImageBitmap } = globalThis;
    const held = new Promise((resolve) => {
      Object.assign(globalThis, { goOn: resolve });
    });
    let begun = 0;
    Object.assign(globalThis, {
      createImageBitmap: async (/** @type {any[]} */ ...given) => {
        if ((given[0] instanceof Blob || given[0] instanceof HTMLVideoElement) && ++begun > most) await held;
        return createImageBitmap(.../** @type {[any]} */ (given));
      },
    });
  }, count);
  return () => page.evaluate('goOn()');
}

/** Waits until the service worker has everything. @param {Page} page */
export async function offlineReady(page) {
  await page.getByText('Works offline').waitFor();
}

/** @param {string} style @param {string} concept @returns {string} path of a sample picture */
export function sample(style, concept) {
  return path.join(siteFolder, 'samples', style, `${concept}.png`);
}

/** @param {Page} page @param {string} name */
export function card(page, name) {
  return page.locator('.card').filter({ has: page.getByRole('textbox', { name: `Name of the class ${name}`, exact: true }) });
}

/** @param {Page} page @param {string} name */
export async function addClass(page, name) {
  await page.getByRole('textbox', { name: 'Name of a new class' }).fill(name);
  await page.getByRole('button', { name: 'Add class' }).click();
  await card(page, name).waitFor();
}

/** Adds files to a class and waits until all are there, and stored. @param {Page} page @param {string} name @param {string[]} files */
export async function addPictures(page, name, files) {
  const before = await card(page, name).locator('.thumb').count();
  await page.getByLabel(`Add pictures to ${name}`, { exact: true }).setInputFiles(files);
  await card(page, name)
    .locator('.thumb')
    .nth(before + files.length - 1)
    .waitFor();
  await status(page, `${files.length} picture${files.length === 1 ? '' : 's'} added to “${name}”.`);
}

/** Teaches a class with one sample of each style. @param {Page} page @param {string} name @param {string[]} styles */
export async function teach(page, name, styles) {
  await addClass(page, name);
  await addPictures(
    page,
    name,
    styles.map((style) => sample(style, name.toLowerCase())),
  );
}

/** Recognises a file and answers the meters. @param {Page} page @param {string} file */
export async function recognise(page, file) {
  await page.evaluate('waitedFor = said.length'); // the same may have been recognised before
  await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(file);
  await status(page, `Recognised “${path.basename(file)}”.`);
  return meters(page);
}

/** Presses a button that offers a file. @param {Page} page @param {string|RegExp} button @returns {Promise<import('playwright-core').Download>} */
export async function downloaded(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button, exact: true }).click()]);
  return download;
}

/** Notes in a page what its status line says, sentence by sentence: the next one may come right behind it. */
export function noteSaid() {
  const said = /** @type {string[]} */ ([]);
  Object.assign(globalThis, { said, waitedFor: 0 });
  new MutationObserver((_, observer) => {
    const status = document.getElementById('status');
    if (!status) return;
    observer.disconnect();
    new MutationObserver((list) =>
      list.forEach(({ type, addedNodes }, i) => {
        if (type === 'childList') said.push([...addedNodes].map((one) => one.textContent).join(''));
        else if (list[i - 1]?.type !== 'childList') said.push(status.title); // the same once more
      }),
    ).observe(status, { childList: true, attributeFilter: ['title'] });
  }).observe(document, { subtree: true, childList: true });
}

/**
 * Waits until the status line has said this, after what was waited for before.
 *
 * @param {Page} page @param {string|RegExp} text part of it @returns {Promise<string>} what it said
 */
export async function status(page, text) {
  const { source, flags } = typeof text === 'string' ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i') : text;
  const found = await page
    .waitForFunction(
      ({ source, flags }) => {
        const scope = /** @type {{said: string[], waitedFor: number}} */ (/** @type {unknown} */ (globalThis));
        const at = scope.said.findIndex((one, i) => i >= scope.waitedFor && new RegExp(source, flags).test(one.replace(/\s+/g, ' ')));
        if (at >= 0) scope.waitedFor = at + 1;
        return at >= 0 && [scope.said[at]];
      },
      { source, flags },
    )
    .catch(async (error) => {
      throw new Error(`the page did not say “${text}”, but ${JSON.stringify(await page.evaluate('said.slice(waitedFor)'))}`, { cause: error });
    });
  return /** @type {string[]} */ (await found.jsonValue())[0];
}

/** Tries again what fails until it holds: for what follows a change in its own time. @template T @param {() => Promise<T>} check @returns {Promise<T>} */
export async function eventually(check) {
  for (
    const end = Date.now() + PATIENCE;
    ;
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    })
  ) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/**
 * The prediction as a person with a screen reader gets it.
 *
 * @param {Page} page
 * @returns {Promise<Record<string, number>>}
 */
export async function meters(page) {
  const read = (/** @type {Element[]} */ all) => all.map((one) => [one.getAttribute('aria-label') ?? '', Number(one.getAttribute('aria-valuenow'))]);
  const rows = inFirefox // where a list of elements does not reach the function
    ? await page.evaluate(`(${read})([...document.querySelectorAll('#prediction [role=meter]')])`)
    : await page.getByRole('region', { name: 'Prediction' }).getByRole('meter').evaluateAll(read);
  return Object.fromEntries(rows);
}

/** @param {Record<string, number>} probabilities */
export function most(probabilities) {
  return Object.entries(probabilities).reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}

/**
 * The most probable class: without background knowledge a style that was not taught may
 * well be none of these.
 *
 * @param {Record<string, number>} probabilities
 */
export const likeliest = ({ 'None of these': _, ...classes }) => most(classes);

/** Fails unless these are probabilities. @param {Record<string, number>} probabilities */
export function assertProbabilities(probabilities) {
  const values = Object.values(probabilities);
  for (const value of values) assert.ok(value >= 0 && value <= 1, `${value} is no probability`);
  const sum = values.reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - 1) < 1e-6, `the meters sum to ${sum}`);
}

/**
 * Fails unless both say the same, up to the rounding of sums in another order.
 *
 * @param {Record<string, number>} got
 * @param {Record<string, number>} want
 * @param {string} [what]
 */
export function assertSame(got, want, what = 'the probabilities') {
  assert.deepEqual(Object.keys(got).sort(), Object.keys(want).sort(), what);
  for (const [name, p] of Object.entries(want)) assert.ok(Math.abs(got[name] - p) < 1e-10, `${what}: ${name} ${got[name]}, was ${p}`);
}

/** Waits until the meters say this: after a change they follow when the page has the time. @param {Page} page @param {Record<string, number>} want @param {string} [what] */
export const assertMeters = (page, want, what) => eventually(async () => assertSame(await meters(page), want, what));

/** Opens the dialog of the sessions. @param {Page} page */
export async function sessionsOf(page) {
  const dialog = page.getByRole('dialog', { name: 'Sessions' });
  if (!(await dialog.isVisible())) await page.getByRole('button', { name: /^Session:/ }).click();
  await dialog.waitFor();
  return dialog;
}

/** Makes a session and waits until it is the open one, and the dialog is gone. @param {Page} page @param {string} name */
export async function newSession(page, name) {
  await (await sessionsOf(page)).getByRole('textbox', { name: 'Name of a new session' }).fill(name);
  await page.keyboard.press('Enter');
  await status(page, `The new session “${name}” is open.`);
}

/** Opens another session and waits until it is the open one, and the dialog is gone. @param {Page} page @param {string} name */
export async function openSession(page, name) {
  await (await sessionsOf(page)).getByRole('button', { name: `Open ${name}`, exact: true }).click();
  await status(page, `The session “${name}” is open.`);
}

/** Types the name of a new class where something is to be taught as one, and waits until it is. @param {Page} page @param {import('playwright-core').Locator} bar @param {string} name */
export async function teachNew(page, bar, name) {
  await bar.getByRole('button', { name: 'New…' }).click();
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await status(page, new RegExp(`aught as “${name}”\\.$`));
  await bar.getByLabel('Name of the new class').waitFor({ state: 'detached' }); // where keys would be typed
}

/** What the settings say about the prior in use. @param {Page} page */
export async function priorText(page) {
  const dialog = page.getByRole('dialog', { name: 'Settings' });
  if (!(await dialog.isVisible())) await page.getByRole('button', { name: 'Settings' }).click();
  return dialog.getByText(/numbers per picture/).textContent();
}

/** Another prior with the same numbers: one letter of a fact in its header differs. @param {Buffer} file */
export function touchPrior(file) {
  const size = Number(file.readBigUInt64LE(0));
  const header = file.subarray(8, 8 + size).toString();
  const changed = header.replace(/("fact[^"]*":"[^"]*)([a-z])(?=")/, (_, before, last) => `${before}${last === 'z' ? 'a' : 'z'}`);
  assert.notEqual(changed, header, `a fact to change in ${header.slice(0, 400)}`);
  const unchecked = changed.replace('"sha256":"', '"fact.s":"'); // a prior may lack a checksum
  return Buffer.concat([file.subarray(0, 8), Buffer.from(unchecked), file.subarray(8 + size)]);
}

/** @type {string|undefined} */
let axe;

/** What axe finds wrong, one line each. @param {Page} page @returns {Promise<string[]>} */
export async function faults(page) {
  axe ??= await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // Evaluated by the debugger: the page's policy rightly refuses foreign scripts.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const result = await /** @type {any} */ (window).axe.run(document, { resultTypes: ['violations'] });
    return result.violations.flatMap((/** @type {any} */ rule) =>
      rule.nodes.map((/** @type {any} */ node) => `${rule.id}: ${node.target} ${node.failureSummary}`),
    );
  });
}

/**
 * Counts frames drawn and keys heard while something goes on, once for each of its states.
 *
 * @param {Page} page @param {string} state code that answers how far it is, null while it does not go on
 */
export const servedMeanwhile = (page, state) =>
  page.evaluate(`(() => {
  const served = globalThis.served = { frames: new Set(), keys: new Set() };
  const note = (which) => { const now = ${state}; if (now !== null) served[which].add(now); };
  addEventListener('keydown', () => note('keys'));
  const frame = () => { note('frames'); requestAnimationFrame(frame); };
  frame();
})()`);

/** Fails unless there were frames at several states, and a key. On a busy machine a key takes a second to arrive. @param {Page} page */
export async function assertServed(page) {
  const [frames, keys] = /** @type {[number, number]} */ (await page.evaluate('[served.frames.size, served.keys.size]'));
  assert.ok(frames > 2 && keys > 0, `frames and keys at so many states: ${frames}, ${keys}`);
}
