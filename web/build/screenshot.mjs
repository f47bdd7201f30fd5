// @ts-check
/**
 * Takes the README's picture of the page: samples taught, one recognised.
 *
 *   node web/build/screenshot.mjs    (after make build; writes web/screenshot.png and web/screenshot-phone.png)
 */
import path from 'node:path';
import sharp from 'sharp';
import { root, status, visit } from '../test/browser/harness.js';

/** @param {string} name @param {import('playwright-core').BrowserContextOptions} context @param {string} sample */
async function take(name, context, sample) {
  await visit({ offline: true, context: { ...context, reducedMotion: 'reduce' } }, async ({ page }) => {
    await page.getByRole('button', { name: 'Try it with samples' }).click();
    await status(page, 'The samples are taught.');
    await page.getByRole('button', { name: `Recognise the ${sample}` }).click();
    await status(page, `Recognised “${sample}.png”.`);
    await page.getByText('Works offline').waitFor();
    const picture = await page.screenshot();
    await sharp(picture).png({ palette: true, quality: 90, effort: 10 }).toFile(path.join(root, 'web', name));
  });
}

await take('screenshot.png', { viewport: { width: 1280, height: 820 } }, 'umbrella');
await take('screenshot-phone.png', { viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true, hasTouch: true }, 'bicycle');
