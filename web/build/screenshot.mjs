// @ts-check
/**
 * Takes the pictures of the page in the READMEs: a film of it, and on a phone.
 *
 *   node web/build/screenshot.mjs    (after make build; writes web/screenshot.webp and web/screenshot-phone.png)
 */
import path from 'node:path';
import sharp from 'sharp';
import { recognise, root, sample, status, visit } from '../test/browser/harness.js';

/** A browser for each visit: the one of the tests would keep this program running. @type {string[]} */
const flags = [];

/** On a phone, in the dark. */
await visit(
  { flags, offline: true, context: { viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true, hasTouch: true, reducedMotion: 'reduce' } },
  async ({ page }) => {
    await page.getByRole('button', { name: 'Try it with samples' }).click();
    await status(page, 'The samples are taught.');
    await page.getByRole('button', { name: 'Recognise the bicycle' }).click();
    await status(page, 'Recognised “bicycle.png”.');
    await page.getByText('Works offline').waitFor();
    await sharp(await page.screenshot())
      .png({ palette: true, quality: 90, effort: 10 })
      .toFile(path.join(root, 'web/screenshot-phone.png'));
  },
);

/** A film: classes are taught by samples, drawings in a style that none of them has are recognised, and something that was not taught. */
await visit({ flags, context: { viewport: { width: 1100, height: 720 }, reducedMotion: 'reduce' } }, async ({ page }) => {
  /** @type {Buffer[]} */
  const frames = [];
  /** @type {number[]} */
  const delay = [];
  const take = async (/** @type {number} */ milliseconds) => {
    frames.push(await page.screenshot());
    delay.push(milliseconds);
  };
  await take(1500);
  await page.getByRole('button', { name: 'Try it with samples' }).click();
  for (let taught = false; !taught; ) {
    await take(250);
    taught = ((await page.locator('#status').textContent()) ?? '').includes('The samples are taught.');
  }
  for (const asked of ['umbrella', 'bicycle', 'cat', 'elephant']) {
    await recognise(page, sample('fluent-emoji-flat', asked));
    await take(2200);
  }
  await sharp(frames, { join: { animated: true } })
    .webp({ delay, loop: 0, quality: 80, effort: 6 })
    .toFile(path.join(root, 'web/screenshot.webp'));
});
