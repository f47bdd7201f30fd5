// @ts-check
/**
 * What it takes of the processor to recognise sounds live, four times a second, with a microphone that Chromium plays a
 * recording to: `make bench-live`. Processor time of all of the browser's processes, beside the same page with the
 * microphone off. METAQDA_SECONDS is how long each is looked at, a minute where it is left out.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { FAKE } from '../browser/extractor/film.js';
import { addClass, card, visit } from '../browser/harness.js';
import { wordOf } from '../extractors/words.js';
import { temporaryFolder } from '../temporary.js';

const SECONDS = Number(process.env.METAQDA_SECONDS ?? 60);
const folder = temporaryFolder('live');

test('live recognition of sounds', async () => {
  const heard = path.join(folder, 'pedu.wav');
  await writeFile(heard, wordOf('pedu', 2));
  await visit({ flags: [...FAKE, `--use-file-for-fake-audio-capture=${heard}`] }, async ({ page, context }) => {
    await page.getByRole('button', { name: /^(Sounds|Spoken words)$/ }).click();
    for (const kind of ['pedu', 'baki', 'satu']) {
      await addClass(page, kind);
      await page
        .getByLabel(new RegExp(`^Add (sounds|spoken words) to ${kind}$`))
        .setInputFiles([0, 1].map((i) => ({ name: `${kind}-${i}.wav`, mimeType: 'audio/wav', buffer: Buffer.from(wordOf(kind, i)) })));
      await card(page, kind).locator('.thumb').nth(1).waitFor();
    }
    const browser = await /** @type {import('playwright-core').Browser} */ (context.browser()).newBrowserCDPSession();
    /** Seconds of processor time by kind of process. @returns {Promise<Record<string, number>>} */
    const used = async () => {
      const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
      return processInfo.reduce((all, { type, cpuTime }) => ({ ...all, [type]: (all[type] ?? 0) + cpuTime }), /** @type {Record<string, number>} */ ({}));
    };
    // How often it really looks, which on a busy machine is less than four times a second.
    await page.evaluate(() => {
      const { postMessage } = Worker.prototype;
      /** @type {any} */ (globalThis).looks = 0;
      Worker.prototype.postMessage = function (/** @type {any[]} */ ...args) {
        if (args[0]?.type === 'embed') /** @type {any} */ (globalThis).looks++;
        return postMessage.apply(this, /** @type {any} */ (args));
      };
    });
    /** @type {Record<string, Record<string, string>>} */
    const rows = {};
    for (const what of ['microphone off', 'live']) {
      if (what === 'live') {
        await page.getByRole('button', { name: 'Live microphone' }).click();
        await page.getByRole('meter', { name: 'pedu' }).waitFor();
      }
      const [before, looked, begun] = [await used(), await page.evaluate('looks'), performance.now()];
      await page.waitForTimeout(1000 * SECONDS);
      const [after, seconds] = [await used(), (performance.now() - begun) / 1000];
      const share = (/** @type {number} */ spent) => `${((100 * spent) / seconds).toFixed(1)} %`;
      const spent = Object.entries(after).map(([type, sum]) => /** @type {const} */ ([type, sum - (before[type] ?? 0)]));
      rows[what] = {
        ...Object.fromEntries(spent.map(([type, sum]) => [type, share(sum)])),
        all: share(spent.reduce((sum, [, one]) => sum + one, 0)),
        looks: `${(((await page.evaluate('looks')) - looked) / seconds).toFixed(1)} a second`,
      };
    }
    console.log('Of one core, by kind of process:');
    console.table(rows);
  });
});
