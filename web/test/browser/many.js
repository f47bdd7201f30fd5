// @ts-check
/** Many pictures in the page, as tests handle them: dropped, waited for, read from the saved table; what is stored. */
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { downloaded, sample } from './page.js';

/** @import {Page} from 'playwright-core' */

export const KNOWN = ['cat', 'banana', 'rocket', 'umbrella', 'bicycle'];
export const OUT_OF_SET = 'penguin';
const OTHERS = ['emojione', 'fxemoji'];

/** Turned, grown and tinted copies of drawings, as CONCEPT/STYLE-N.png in a folder. @param {string} folder @param {number} variants @param {number} [outOfSet] variants of what is not taught @returns {Promise<string[]>} */
export async function drawings(folder, variants, outOfSet = variants) {
  const place = path.join(folder, `drawings-${variants}`);
  const files = [];
  for (const concept of [...KNOWN, OUT_OF_SET]) {
    await mkdir(path.join(place, concept), { recursive: true });
    for (const style of OTHERS) {
      for (let i = 0; i < (concept === OUT_OF_SET ? outOfSet : variants); i++) {
        const file = path.join(place, concept, `${style}-${i}.png`);
        await sharp(sample(style, concept))
          .resize(90 + 2 * (i % 20))
          .rotate(((i * 7) % 31) - 15, { background: '#fff' })
          .flatten({ background: ['#fff', '#f4efe6', '#e8f0f4'][i % 3] })
          .modulate({ brightness: 0.9 + 0.05 * (i % 5) })
          .png()
          .toFile(file);
        files.push(file);
      }
    }
  }
  return files;
}

/** Drops files or folders of this machine on an element. @param {Page} page @param {string} selector @param {string[]} paths */
export async function drop(page, selector, paths) {
  await page.locator(selector).first().scrollIntoViewIfNeeded();
  const { x, y } = await page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const box = element.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + Math.min(20, box.height / 2) };
    });
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of /** @type {const} */ (['dragEnter', 'dragOver', 'drop'])) await session.send('Input.dispatchDragEvent', { type, x, y, data });
  await session.detach();
}

/** Waits until the view of many pictures says how far it is. @param {Page} page @param {RegExp} text @param {number} [timeout] */
export const sortState = (page, text, timeout = 240_000) => page.locator('.sort-state').filter({ hasText: text }).waitFor({ timeout });

/** Sorts samples of one style, and looks at each state of the view. @param {Page} page @param {string[]} concepts @param {(state: string) => Promise<void>} look */
export async function lookSorted(page, concepts, look) {
  await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(concepts.map((one) => sample('fxemoji', one)));
  await sortState(page, /^Judged together/);
  await look('sorted');
  await page.locator('.shot').first().click();
  await page.getByRole('dialog', { name: 'Picture' }).waitFor();
  await look('one of them, large');
  await page.evaluate(() => history.back()); // it closes what is uppermost alone
  await page.getByRole('dialog', { name: 'Picture' }).waitFor({ state: 'hidden' });
  await page
    .getByRole('button', { name: /^Select all of/ })
    .first()
    .click();
  await look('selected');
}

/** The table as saved, a record for each line. @param {Page} page */
export async function savedTable(page) {
  const text = await readFile(await (await downloaded(page, 'Save as a table')).path(), 'utf8');
  const [head, ...rows] = text
    .replace('\uFEFF', '')
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
  return { head, rows: rows.map((row) => Object.fromEntries(row.map((value, i) => [head[i], value]))) };
}

/** Notes the tasks of the main thread that take 50 ms or more. @param {Page} page */
export function watchTasks(page) {
  return page.evaluate(() => {
    const tasks = /** @type {{at: number, took: number}[]} */ ([]);
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) tasks.push({ at: startTime, took: duration });
    }).observe({ type: 'longtask' });
    Object.assign(globalThis, { longTasks: tasks });
  });
}

/** The longest task since a time of the page's clock. @param {Page} page @param {number} [since] @returns {Promise<number>} in milliseconds, 0 for less than 50 */
export const longestTask = (page, since = 0) =>
  page.evaluate(
    (time) =>
      Math.max(
        0,
        .../** @type {any} */ (globalThis).longTasks
          .filter((/** @type {{at: number}} */ { at }) => at >= time)
          .map((/** @type {{took: number}} */ { took }) => took),
      ),
    since,
  );

/** How many entries each of the page's stores has. @param {Page} page @returns {Promise<Record<string, number>>} */
export function stored(page) {
  return page.evaluate(async () => {
    /** @type {Record<string, number>} */
    const counts = {};
    for (const { name } of await indexedDB.databases()) {
      const db = await new Promise((/** @type {(db: IDBDatabase) => void} */ resolve) => {
        const request = indexedDB.open(/** @type {string} */ (name));
        request.onsuccess = () => resolve(request.result);
      });
      for (const store of db.objectStoreNames) {
        counts[store] = await new Promise((resolve) => {
          const request = db.transaction(store).objectStore(store).count();
          request.onsuccess = () => resolve(request.result);
        });
      }
      db.close();
    }
    return counts;
  });
}
