// @ts-check
/** Pictures of hands for tests: emoji that the hand network takes for hands, of the icon sets that the samples are of. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';

export const styles = ['noto', 'twemoji', 'emojione', 'fluent-emoji-flat'];

/**
 * A PNG picture of one, 256 pixels high, on white.
 *
 * @param {string} style @param {string} id 'raised-hand', 'victory-hand', 'index-pointing-up'
 * @param {{width?: number, mirrored?: boolean}} [options] width of the picture, whose middle it is in
 */
export async function handOf(style, id, { width = 256, mirrored = false } = {}) {
  const set = JSON.parse(await readFile(fileURLToPath(new URL(`../../node_modules/@iconify-json/${style}/icons.json`, import.meta.url)), 'utf8'));
  const { width: w = 16, height: h = 16, body } = { ...set.info, ...set, ...(set.icons[id] ?? set.icons[set.aliases[id].parent]) };
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="256" height="256" viewBox="${-w / 10} ${-h / 10} ${1.2 * w} ${1.2 * h}">${body}</svg>`;
  const icon = sharp(Buffer.from(svg)).flatten({ background: 'white' });
  return sharp(await (mirrored ? icon.flop() : icon).png().toBuffer())
    .resize(width, 256, { fit: 'contain', background: 'white' })
    .png()
    .toBuffer();
}
