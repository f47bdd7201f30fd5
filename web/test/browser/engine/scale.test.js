// @ts-check
/**
 * The page and its engine with as much in them as they take: 2,000 classes and 20,000
 * pictures of the extractor's length with thumbnails.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { unzipSync } from 'fflate';
import {
  assertServed,
  card,
  newSession,
  offlineReady,
  open,
  openSession,
  ready,
  recognise,
  sample,
  servedMeanwhile,
  serveSite,
  sessionsOf,
  status,
  visit,
} from '../harness.js';
import { writeFormer } from './former.js';
import { LONG } from '../../long.js';

/** @import {Page} from 'playwright-core' */

/** @type {import('../harness.js').Site} */
let site;
before(async () => {
  site = await serveSite();
});
after(() => site.stop());

const DIMENSION = 1280;
const CLASSES = 2000;
const PICTURES = 20_000;

/**
 * Fills the browser's storage with a session of a former version, and has it turned into a log.
 *
 * @param {Page} page on the site, which has been open before
 * @param {{classes?: number, pictures?: number, dimension?: number}} [size]
 */
async function fill(page, { classes = CLASSES, pictures = PICTURES, dimension = DIMENSION } = {}) {
  await writeFormer(
    page,
    async function* ({ classes, pictures, dimension }) {
      const session = 's';
      const canvas = new OffscreenCanvas(96, 96);
      const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d'));
      let seed = 1;
      const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
      const id = () => Math.floor(random() * 2 ** 32).toString(16) + Math.floor(random() * 2 ** 32).toString(16);
      /** @type {Uint8Array[]} */
      const thumbnails = [];
      for (let i = 0; i < 32; i++) {
        for (let k = 0; k < 40; k++) {
          context.fillStyle = `hsl(${360 * random()} 70% 50%)`;
          context.fillRect(96 * random(), 96 * random(), 30, 30);
        }
        thumbnails.push(new Uint8Array(await (await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.8 })).arrayBuffer()));
      }
      const { id: extractor, sha256: extractorSum } = await (await fetch('/extractor/extractor.json')).json();
      const ids = Array.from({ length: classes }, id);
      yield [
        ['sessions', session, { id: session, name: 'My classes', created: 1, updated: 2, sort: 'probability', nonePrior: 0.2, extractor, extractorSum }],
        ['meta', 'current', session],
        ...ids.map((key, k) => /** @type {[string, unknown, unknown]} */ (['classes', key, { id: key, session, name: `Class ${k + 1}`, order: k + 1 }])),
      ];
      for (let from = 0; from < pictures; from += 1000) {
        /** @type {[string, unknown, unknown][]} */
        const some = [];
        for (let i = from; i < Math.min(from + 1000, pictures); i++) {
          const k = i % classes;
          const x = new Float32Array(dimension);
          for (let j = 0; j < dimension; j++) x[j] = Math.max(0, 1 + Math.sin((k + 1) * (j + 1))) * random() * random() + random();
          const key = id();
          some.push(
            ['examples', key, { id: key, session, class: ids[k], order: Math.floor(i / classes) + 1, embedding: new Uint8Array(x.buffer) }],
            ['thumbnails', key, thumbnails[i % 32]],
          );
        }
        yield some;
      }
    },
    { classes, pictures, dimension },
  );
  await page.reload();
  const migrated = await page.evaluate(async () => {
    const { loadEngine } = await import(/** @type {any} */ ('/tests/modules.js'));
    const begun = performance.now();
    await loadEngine({ base: `${location.origin}/` });
    return performance.now() - begun;
  });
  console.log(`# ${pictures} pictures of a former version became a log in ${migrated.toFixed(0)} ms, with the start`);
}

/** Goes to the page, which has never been open, with a session in its database. @param {Page} page @param {Parameters<typeof fill>[1]} size */
async function openFilled(page, size) {
  await page.goto(`${site.origin}/LICENSE.txt`);
  await fill(page, size);
  await open(page, site);
}

/**
 * Reads the snapshot as the engine does, some segments at a time, and does nothing with it: what
 * the storage alone takes, which differs between machines by more than all the rest.
 *
 * @param {Page} page
 * @returns {Promise<number>} milliseconds
 */
const readOnly = (page) =>
  page.evaluate(async () => {
    const answer = (/** @type {IDBRequest} */ r) =>
      new Promise((resolve, reject) => {
        r.onsuccess = () => resolve(r.result);
        r.onerror = () => reject(r.error);
      });
    const begun = performance.now();
    const db = await answer(indexedDB.open('metaqda'));
    const store = db.transaction('snapshots').objectStore('snapshots');
    const keys = await answer(store.getAllKeys());
    for (let at = 0; at < keys.length; at += 8) await Promise.all(keys.slice(at, at + 8).map((/** @type {IDBValidKey} */ key) => answer(store.get(key))));
    db.close();
    return performance.now() - begun;
  });

/** The start of the engine may take so much longer than reading alone, or two seconds; that of the page so much, or three. */
const OVER_READING = 2;
const PAGE_OVER_READING = 3.5;
/** The longest piece of work, in milliseconds. */
const LONGEST = 200;

/** Times are judged in `make soak-scale` alone, beside which nothing runs. */
const SLACK = process.env.METAQDA_SOAK ? 1 : Infinity;

/** Notes the longest pieces of work on the main thread from now on. @param {Page} page */
const watch = (page) =>
  page.addInitScript(() => {
    const scope = /** @type {any} */ (globalThis);
    scope.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) scope.longest = Math.max(scope.longest, duration);
    }).observe({ type: 'longtask', buffered: true });
  });

test('with 2,000 classes and 20,000 pictures the engine starts, adds and answers, and nothing is frozen', { timeout: 300_000, ...LONG }, () =>
  visit({ site, open: false, expect: [/favicon/] }, async ({ page }) => {
    await page.goto(`${site.origin}/`);
    await ready(page);
    await page.goto(`${site.origin}/LICENSE.txt`);
    await fill(page, { pictures: PICTURES - 20 });
    await watch(page);
    await page.reload();
    const reading = await readOnly(page);
    const seen = await page.evaluate(
      async ({ DIMENSION }) => {
        const { loadEngine } = await import(/** @type {any} */ ('/tests/modules.js'));
        const picture = () => Float32Array.from({ length: DIMENSION }, () => Math.random());
        /** @type {(work: () => Promise<unknown>) => Promise<number>} */
        const timed = async (work) => {
          await new Promise((resolve) => {
            setTimeout(resolve);
          }); // each in a task of its own
          const begun = performance.now();
          await work();
          return performance.now() - begun;
        };
        const refused = (/** @type {Promise<unknown>} */ promise) =>
          promise.then(
            () => null,
            ({ code, message }) => ({ code, message }),
          );
        /** @type {any} */ let engine;
        const start = await timed(async () => {
          engine = await loadEngine({ base: `${location.origin}/` });
        });
        const { classes } = await engine.state();
        const add = (/** @type {number} */ k, /** @type {Uint8Array | null} */ thumbnail) =>
          engine.stored((/** @type {any} */ taught) => taught.addExampleSync(picture(), classes[k].name, { thumbnail }));
        const preparing = await timed(() => add(7, new Uint8Array(3000)));
        const prepared = await timed(() => engine.taught.predict(picture()));
        const adds = [];
        for (let i = 0; i < 19; i++) adds.push(await timed(() => add(100 * i, new Uint8Array(3000))));
        const answers = [];
        for (let i = 0; i < 9; i++) answers.push(await timed(() => engine.taught.predict(picture())));
        const removed = await timed(() => engine.stored((/** @type {any} */ taught) => taught.removeExample(classes[3].examples[0].id)));
        await add(3, null);
        const onePicture = await refused(add(3, null));
        const oneClass = await refused(engine.stored((/** @type {any} */ taught) => taught.addClass('One too many')));
        const median = (/** @type {number[]} */ t) => t.sort((a, b) => a - b)[t.length >> 1];
        return {
          start,
          preparing,
          prepared,
          add: median(adds),
          answer: median(answers),
          removed,
          onePicture,
          oneClass,
          classes: classes.length,
          memory: await engine.memory(),
          longest: /** @type {any} */ (globalThis).longest,
        };
      },
      { DIMENSION },
    );
    const { onePicture, oneClass, classes, memory, ...times } = seen;
    console.log(
      `# ${CLASSES} classes, ${PICTURES} pictures, ms: reading alone ${reading.toFixed(0)}, ${Object.entries(times)
        .map(([name, t]) => `${name} ${t.toFixed(0)}`)
        .join(', ')}; ${(memory / 1e6).toFixed(0)} MB`,
    );
    assert.equal(classes, CLASSES);
    assert.deepEqual([onePicture?.code, oneClass?.code], ['limit', 'limit']);
    assert.match(onePicture?.message ?? '', /at most 20000 examples/);
    assert.match(oneClass?.message ?? '', /at most 2000 classes/);
    assert.ok(times.start < Math.max(2000, OVER_READING * reading) * SLACK, `start ${times.start} ms, reading alone ${reading} ms`);
    assert.ok(times.add < 50 * SLACK, `add ${times.add} ms`);
    assert.ok(times.longest < LONGEST * SLACK, `longest piece of work ${times.longest} ms`);
    assert.ok(memory < 1e9, `${memory} bytes`);
  }),
);

test('with 2,000 classes and 20,000 pictures the page starts, recognises, and shows what is looked at', { timeout: 300_000, ...LONG }, () =>
  visit({ site, offline: true, open: false, expect: [/favicon/] }, async ({ page }) => {
    await page.goto(`${site.origin}/`);
    await ready(page);
    await offlineReady(page);
    await page.goto(`${site.origin}/LICENSE.txt`);
    await fill(page, { pictures: PICTURES - 1 });
    const reading = await readOnly(page);
    await watch(page);
    const begun = performance.now();
    await page.goto(`${site.origin}/`);
    await page.locator('body[data-ready]').waitFor({ state: 'attached', timeout: 120_000 });
    const start = performance.now() - begun;
    const longest = () => page.evaluate(() => /** @type {any} */ (globalThis).longest);
    const atStart = await longest();
    await page.getByText('2000 classes, 19999 pictures').waitFor();
    // What is in view has its pictures, what is far from it has none yet.
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.card .thumb-picture')].slice(0, 10).every((image) => /** @type {HTMLImageElement} */ (image).naturalWidth > 0),
    );
    assert.ok((await page.locator('.thumb').count()) < 2000);
    await card(page, 'Class 1').waitFor();
    await page.locator('.card').last().scrollIntoViewIfNeeded();
    await card(page, 'Class 2000').locator('.thumb').nth(8).waitFor();
    const answer = await recognise(page, sample('emojione', 'cat'));
    const shown = Object.keys(answer).length; // none of these is among the 60 most probable, or comes with them
    assert.ok(shown === 60 || shown === 61, `${shown} meters`);
    await page.getByText(new RegExp(`^And ${CLASSES + 1 - shown} more, less probable: .* together$`)).waitFor();
    await page.getByLabel('Add pictures to Class 2000', { exact: true }).setInputFiles(sample('noto', 'cat'));
    await card(page, 'Class 2000').locator('.thumb').nth(9).waitFor();
    await page.getByLabel('Add pictures to Class 2000', { exact: true }).setInputFiles(sample('noto', 'rocket'));
    await card(page, 'Class 2000').getByRole('alert').filter({ hasText: 'at most 20000 examples' }).waitFor();
    await page.locator('#session-button').click();
    await page
      .getByRole('dialog', { name: 'Sessions' })
      .getByText(/metaqda uses \d+ MB of memory/)
      .waitFor();
    console.log(
      `# the page, ms: reading alone ${reading.toFixed(0)}, ready ${start.toFixed(0)}, longest piece of work until then ${atStart.toFixed(0)}, in all ${(await longest()).toFixed(0)}`,
    );
    assert.ok(start < Math.max(3000, PAGE_OVER_READING * reading) * SLACK, `ready after ${start} ms, reading alone ${reading} ms`);
    assert.ok(atStart < LONGEST * SLACK, `longest piece of work ${atStart} ms`);
  }),
);

test('of a session with many pictures each has its copy when all are handed on', { timeout: 120_000 }, () =>
  visit({ site, open: false, expect: [/favicon/] }, async ({ page }) => {
    await page.goto(`${site.origin}/`);
    await ready(page);
    await page.goto(`${site.origin}/LICENSE.txt`);
    await fill(page, { classes: 7, pictures: 700, dimension: 32 });
    await page.reload();
    const copies = await page.evaluate(async () => {
      const { loadEngine, withThumbnails } = await import(/** @type {any} */ ('/tests/modules.js'));
      const engine = await loadEngine({ base: `${location.origin}/` });
      const { classes } = await engine.changes(0);
      const all = await withThumbnails(engine, classes);
      const count = (/** @type {any[]} */ some) => some.flatMap(({ examples }) => examples).filter(({ thumbnail }) => thumbnail?.length > 100).length;
      const [first] = classes;
      const { undo } = await engine.stored((/** @type {any} */ taught) => taught.removeExample(first.examples[3].id)); // the copy is in the store alone
      await engine.stored((/** @type {any} */ taught) => taught.undo(undo));
      const [back] = await engine.thumbnails([first.examples[3].id]);
      return { bare: count(classes), all: count(all), same: String(back) === String(all[0].examples[3].thumbnail) };
    });
    assert.deepEqual(copies, { bare: 0, all: 700, same: true });
  }),
);

test('a session of many pictures is saved whole and under its name, though another one is opened meanwhile', { timeout: 120_000, ...LONG }, () =>
  visit({ site, open: false, expect: [/favicon/] }, async ({ page }) => {
    await openFilled(page, { classes: 7, pictures: 700 });
    await newSession(page, 'Other');
    for (const [save, file] of [
      ['Save this session', 'My classes.safetensors'],
      ['Save its pictures', 'My classes.zip'],
    ]) {
      await openSession(page, 'My classes');
      const sessions = await sessionsOf(page);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        sessions.evaluate((dialog, name) => {
          for (const label of [name, 'Open']) [...dialog.querySelectorAll('button')].find(({ textContent }) => textContent === label)?.click();
        }, save),
      ]);
      assert.equal(download.suggestedFilename(), file);
      await status(page, 'The session “Other” is open.');
      if (file.endsWith('zip')) assert.equal(Object.keys(unzipSync(await readFile(await download.path()))).length, 700);
    }
  }),
);

test('frames are drawn and keys are heard while every example is left out in turn', { timeout: 120_000, ...LONG }, () =>
  visit({ site, open: false, expect: [/favicon/] }, async ({ page }) => {
    await openFilled(page, { classes: 10, pictures: 1200 });
    await servedMeanwhile(page, "(() => { const bar = document.querySelector('#goodness progress'); return bar.hidden ? null : bar.value; })()");
    await page.getByText('How good is it?').click();
    let computing = true;
    const done = page
      .getByText('Class by class')
      .waitFor()
      .finally(() => {
        computing = false;
      });
    while (computing) await page.keyboard.press('Shift'); // without a question in between: on a busy machine each takes long
    await done;
    await assertServed(page);
  }),
);
