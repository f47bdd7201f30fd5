// @ts-check
/** Chromium killed while it is taught, METAQDA_KILLS times or five; and what its files hold. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../../temporary.js';
import { chromiumPath, PATIENCE, visit } from '../harness.js';
import { run, site, start } from './blank.js';
import { killMany } from './kills.js';

const { METAQDA_KILLS, METAQDA_SEED = '1' } = process.env;
const KILLS = Number(METAQDA_KILLS ?? 5);

test(`after each of ${KILLS} kills everything that was acknowledged is there`, { timeout: 60_000 + KILLS * 20_000 }, () =>
  killMany('chrome', chromiumPath(), KILLS, { seed: Number(METAQDA_SEED), writes: METAQDA_KILLS !== undefined }),
); // others share the disk in 'make test'

test('the bytes of a removed picture leave the files of the browser once it cannot be undone', async () => {
  const profile = temporaryFolder('profile');
  const thumbnail = randomBytes(3000);
  const folder = path.join(profile, 'Default/IndexedDB');
  const held = async () => {
    const files = [];
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const bytes = entry.isFile() ? await readFile(path.join(entry.parentPath, entry.name)).catch(() => Buffer.of()) : Buffer.of(); // it may be gone by now
      if ([500, 1500, 2500].some((at) => bytes.includes(thumbnail.subarray(at, at + 100)))) files.push(entry.name);
    }
    return files;
  };
  await visit({ site, profile, open: false, expect: [/favicon/] }, async ({ page }) => {
    await page.goto(`${site.origin}/LICENSE.txt`);
    await start(page);
    await run(
      page,
      `
      const [cat] = await teach(['cat', 'dog']);
      const { result: id } = await taught.addExampleSync(picture(0, 9), cat, { thumbnail: Uint8Array.from([${[...thumbnail]}]) });
      await taught.removeExample(id);`,
    );
    assert.notDeepEqual(await held(), [], 'the test does not find what it looks for');
    await run(page, 'await engine.forgetUndo()');
    // Chromium deletes files later that it no longer uses. We look again and again: a watch of a folder misses changes now and then.
    const since = Date.now();
    for (let files = await held(); files.length > 0; files = await held()) {
      assert.ok(Date.now() - since < PATIENCE, `still in ${files}`);
      await delay(100);
    }
  });
});
