// @ts-check
/** Many pictures in the page, as tests handle them: dropped, waited for, read from the saved table; what is stored. */
import { readFile } from 'node:fs/promises';
import { downloaded } from './page.js';

/** @import {Page} from 'playwright-core' */

/** Drops files or folders of this machine on an element. @param {Page} page @param {string} selector @param {string[]} paths */
export async function drop(page, selector, paths) {
  await page.locator(selector).first().scrollIntoViewIfNeeded();
  const { x, y } = await page.locator(selector).first().evaluate((element) => {
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

/** The table as saved, a record for each line. @param {Page} page */
export async function savedTable(page) {
  const text = await readFile(await (await downloaded(page, 'Save as a table')).path(), 'utf8');
  const [head, ...rows] = text.replace('\uFEFF', '').trim().split('\r\n').map((line) => line.split(','));
  return { head, rows: rows.map((row) => Object.fromEntries(row.map((value, i) => [head[i], value]))) };
}

/** Notes the tasks of the main thread that take 50 ms or more. @param {Page} page */
export function watchTasks(page) {
  return page.evaluate(() => {
    const tasks = /** @type {{at: number, took: number}[]} */ ([]);
    new PerformanceObserver((list) => { for (const { startTime, duration } of list.getEntries()) tasks.push({ at: startTime, took: duration }); })
      .observe({ type: 'longtask' });
    Object.assign(globalThis, { longTasks: tasks });
  });
}

/** The longest task since a time of the page's clock. @param {Page} page @param {number} [since] @returns {Promise<number>} in milliseconds, 0 for less than 50 */
export const longestTask = (page, since = 0) => page.evaluate((time) => Math.max(0, .../** @type {any} */ (globalThis).longTasks
  .filter((/** @type {{at: number}} */ { at }) => at >= time).map((/** @type {{took: number}} */ { took }) => took)), since);

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
