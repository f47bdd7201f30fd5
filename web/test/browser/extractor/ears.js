// @ts-check
/** Sessions of sounds in tests. The sounds are made by rule. */
import { existsSync } from 'node:fs';
import { kinds, soundOf } from '../../extractors/sounds.js';
import { wordOf } from '../../extractors/words.js';
import { addClass, card, status } from '../harness.js';

/** @import {Page} from 'playwright-core' */

/** Whether the site has YAMNet. Without it the page speaks of spoken words. */
export const every = existsSync(new URL('../../../../build/site/kinds/sounds/yamnet', import.meta.url));
/** What the page calls one example of this kind. */
export const [one, One] = every ? ['sound', 'Sound'] : ['spoken word', 'Spoken word'];

/** A recording as a file to choose. @param {string} kind @param {number} recording @param {string} [name] */
export const recording = (kind, recording, name = `${kind}-${recording}.wav`) => ({
  name,
  mimeType: 'audio/wav',
  buffer: Buffer.from((kind in kinds ? soundOf : wordOf)(kind, recording)),
});

/** @param {Page} page */
export async function chooseSounds(page) {
  await page.getByRole('button', { name: `${One}s`, exact: true }).click();
  await status(page, `This session is for ${one}s.`);
}

/** @param {Page} page @param {string} name @param {string} kind @param {number[]} which */
export async function teachSounds(page, name, kind, which) {
  await addClass(page, name);
  await page.getByLabel(`Add ${one}s to ${name}`, { exact: true }).setInputFiles(which.map((one) => recording(kind, one)));
  await card(page, name)
    .locator('.thumb')
    .nth(which.length - 1)
    .waitFor();
}

/**
 * Words one right after the other: .8 seconds of each.
 *
 * @param {string[]} words @param {{times?: number, channels?: number, gain?: number}} [as] times 16,000 samples a second @returns {Buffer} a WAV file
 */
export function dense(words, { times = 1, channels = 1, gain = 1 } = {}) {
  const samples = words.flatMap((word, i) => [...new Int16Array(wordOf(word, i % 3).buffer, 44).subarray(3200, 16_000)]);
  const data = Int16Array.from({ length: samples.length * times * channels }, (_, i) =>
    Math.max(-32_768, Math.min(32_767, gain * samples[Math.floor(i / times / channels)])),
  );
  const header = Buffer.from(wordOf(words[0], 0)).subarray(0, 44);
  header.writeUInt32LE(36 + data.byteLength, 4);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(16_000 * times, 24);
  header.writeUInt32LE(32_000 * times * channels, 28);
  header.writeUInt16LE(2 * channels, 32);
  header.writeUInt32LE(data.byteLength, 40);
  return Buffer.concat([header, Buffer.from(data.buffer)]);
}
