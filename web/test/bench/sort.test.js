// @ts-check
/**
 * A folder of a thousand photographs sorted in the page: how long that takes, beside the
 * extractor by itself, whether the page goes on answering to a hand, how many answers are
 * right, and what memory it takes: `make bench-sort`, with the photographs beside the
 * clone. On a machine that does something else too times are longer.
 *
 * METAQDA_SORTED=100 sorts so many, and judges no times. METAQDA_PROFILE=FILE also writes what the page's main thread did, for the
 * performance panel of Chromium's tools.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { drop, longestTask, savedTable, sortState, watchTasks } from '../browser/many.js';
import { root, status, visit } from '../browser/harness.js';
import { temporaryFolder } from '../temporary.js';

/** @import {Page} from 'playwright-core' */

/** The classes taught are those of one set, those out of set come from another. */
const KNOWN = 'aerial_aid';
const OUT_OF_SET = 'scenes_sun16';
const TAUGHT = 3;
const PICTURES = Number(process.env.METAQDA_SORTED ?? 1000);
const NONE = 'none of these';

/** A page that does nothing for longer than this is felt to hang, in milliseconds. */
const LONGEST = 100;
/** The page may take so much longer than the extractor on a picture read already: it also reads each, and makes the copy it keeps. */
const SLOWER = 1.5;

const shared = process.env.METAQDA_PICTURES ?? path.join(root, '../shared/pictures');
const there = [KNOWN, OUT_OF_SET].every((name) => existsSync(path.join(shared, `${name}.tar`)));

const folder = temporaryFolder('thousand');

/** @param {string} name of a set @returns {Promise<{name: string, files: string[]}[]>} its classes */
async function classesOf(name) {
  await promisify(execFile)('tar', ['xf', path.join(shared, `${name}.tar`), '-C', folder]);
  const place = path.join(folder, name);
  return Promise.all(
    (await readdir(place))
      .sort()
      .map(async (one) => ({ name: one, files: (await readdir(path.join(place, one))).sort().map((file) => path.join(place, one, file)) })),
  );
}

/** A folder to teach, one to sort, and what each file of it is. */
async function material() {
  const [known, others] = [await classesOf(KNOWN), await classesOf(OUT_OF_SET)];
  const asked = [
    ...known.flatMap(({ name, files }) => files.slice(TAUGHT).map((file) => ({ file, truth: name }))),
    ...others.flatMap(({ files }) => files.map((file) => ({ file, truth: NONE }))),
  ]
    .map((_, i, all) => all[(i * 389) % all.length])
    .slice(0, PICTURES); // 389 is prime: a fixed shuffle
  const [taught, unsorted] = [path.join(folder, 'taught'), path.join(folder, 'unsorted')];
  for (const { name, files } of known) {
    await mkdir(path.join(taught, name), { recursive: true });
    for (const file of files.slice(0, TAUGHT)) await cp(file, path.join(taught, name, path.basename(file)));
  }
  await mkdir(unsorted);
  const truths = new Map();
  for (const [i, { file, truth }] of asked.entries()) {
    truths.set(`unsorted/${i}.jpg`, truth);
    await cp(file, path.join(unsorted, `${i}.jpg`));
  }
  return { taught, unsorted, truths, pictures: known.length * TAUGHT };
}

/** Milliseconds that the extractor by itself takes for a picture. @param {Page} page @param {string} file */
async function extractorAlone(page, file) {
  const picture = (await readFile(file)).toString('base64');
  return page.evaluate(async (base64) => {
    const { loadExtractor } = await import(/** @type {any} */ ('/tests/modules.js'));
    const extractor = await loadExtractor({});
    const blob = new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], { type: 'image/jpeg' });
    const bitmap = await createImageBitmap(blob);
    const begun = performance.now();
    for (let i = 0; i < 60; i++) await extractor.embed(bitmap);
    const each = (performance.now() - begun) / 60;
    extractor.close();
    return each;
  }, picture);
}

/** Megabytes of the page's own heap, after a collection. @param {import('playwright-core').CDPSession} session */
async function heap(session) {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1e6;
}

/** Megabytes of memory of all processes of the browser. @param {string} mark in the browser's command line */
async function resident(mark) {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'rss=,args=']);
  return stdout
    .split('\n')
    .filter((line) => line.includes('--type=renderer') && line.includes(mark))
    .reduce((most, line) => Math.max(most, Number.parseInt(line, 10) / 1e3), 0);
}

test('a thousand photographs', { timeout: 900_000, skip: there ? false : 'no photographs beside the clone' }, () =>
  visit(
    {
      flags: ['--enable-precise-memory-info'],
    },
    async ({ page, context }) => {
      const { taught, unsorted, truths, pictures } = await material();
      await drop(page, '#teach-title', [taught]);
      await page
        .locator('#status')
        .filter({ hasText: new RegExp(`^${pictures} pictures of \\d+ folders taught\\.`) })
        .waitFor({ timeout: 120_000 });
      const alone = await extractorAlone(page, path.join(unsorted, '0.jpg'));
      const session = await context.newCDPSession(page);
      await session.send('Performance.enable');
      const before = await heap(session);
      const profile = process.env.METAQDA_PROFILE;
      if (profile) {
        await session.send('Profiler.enable');
        await session.send('Profiler.start');
      }
      await watchTasks(page);
      const begun = await page.evaluate(() => performance.now());
      let judge = () => {};
      const held = new Promise((/** @type {(value: void) => void} */ resolve) => {
        judge = resolve;
      });
      await page.route('**/web/ui/thread.js', async (route) => {
        await held; // until the answers one by one have been read
        await route.continue();
      });
      const clock = performance.now();
      await drop(page, 'footer', [unsorted]);
      await sortState(page, /^Judging all pictures together/, 600_000);
      const read = performance.now();
      const readLongest = await longestTask(page, begun);
      const one = await savedTable(page);
      const saved = await page.evaluate(() => performance.now());
      const judging = performance.now();
      judge();
      await sortState(page, /^Judged together/, 600_000);
      await status(page, new RegExp(`^${PICTURES} pictures: `));
      const judged = performance.now();
      const judgeLongest = await longestTask(page, saved);
      if (profile) await writeFile(profile, JSON.stringify((await session.send('Profiler.stop')).profile));
      const together = await savedTable(page);
      const right = (/** @type {Record<string, string>[]} */ rows, /** @type {(truth: string) => boolean} */ among) => {
        const some = rows.filter(({ file }) => among(truths.get(file)));
        return some.filter(({ file, answer }) => answer === truths.get(file)).length / some.length;
      };
      const shares = (/** @type {{rows: Record<string, string>[]}} */ { rows }) => {
        const known = rows.filter(({ file }) => truths.get(file) !== NONE);
        return {
          all: right(rows, () => true),
          known: right(rows, (truth) => truth !== NONE),
          outOfSet: right(rows, (truth) => truth === NONE),
          knownLaidAside: known.filter(({ answer }) => answer === NONE).length / known.length,
        };
      };
      const seconds = (/** @type {number} */ ms) => ms / 1000;
      const result = {
        pictures: together.rows.length,
        seconds: seconds(read - clock + judged - judging),
        oneByOne: seconds(read - clock),
        judging: seconds(judged - judging),
        each: (read - clock) / PICTURES,
        extractorAlone: alone,
        longest: { oneByOne: readLongest, judging: judgeLongest },
        right: { oneByOne: shares(one), together: shares(together) },
        megabytes: { heapBefore: before, heap: await heap(session), renderer: await resident('') },
      };
      console.log(`# ${JSON.stringify(result, (_, v) => (typeof v === 'number' ? Number(v.toFixed(3)) : v), 1).replaceAll('\n', '\n# ')}`);
      assert.equal(together.rows.length, PICTURES);
      if (PICTURES < 1000) return; // to see that all of it runs
      assert.ok(result.right.together.all >= result.right.oneByOne.all, 'better together');
      assert.ok(Math.max(readLongest, judgeLongest) <= LONGEST, `a task of ${Math.max(readLongest, judgeLongest)} ms`);
      assert.ok(result.each <= SLOWER * alone, `${result.each} ms a picture, the extractor by itself ${alone}`);
    },
  ),
);
