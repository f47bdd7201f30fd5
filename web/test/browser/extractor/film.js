// @ts-check
/** A video of pictures, which Chromium's fake camera plays. */
import { open } from 'node:fs/promises';
import sharp from 'sharp';

export const FAKE = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
const WIDTH = 320;
const HEIGHT = 240;

/**
 * Writes an uncompressed Y4M video of pictures, each shown for some frames, and
 * answers the flags of a Chromium whose camera sees it.
 *
 * @param {string} target
 * @param {(string|Buffer)[]} pictures
 * @returns {Promise<string[]>}
 */
export async function seeing(target, pictures) {
  const file = await open(target, 'w');
  await file.write(`YUV4MPEG2 W${WIDTH} H${HEIGHT} F10:1 Ip A1:1 C420jpeg\n`);
  for (const picture of pictures) {
    const { data } = await sharp(picture)
      .resize(WIDTH, HEIGHT, { fit: 'contain', background: '#fff' })
      .flatten({ background: '#fff' })
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const frame = Buffer.concat([Buffer.from('FRAME\n'), yuv(data)]);
    for (let i = 0; i < 5; i++) await file.write(frame);
  }
  await file.close();
  return [...FAKE, `--use-file-for-fake-video-capture=${target}`];
}

/** RGB to planar YCbCr 4:2:0, full range (JPEG). @param {Buffer} rgb */
function yuv(rgb) {
  const y = Buffer.alloc(WIDTH * HEIGHT);
  const u = Buffer.alloc((WIDTH * HEIGHT) / 4);
  const v = Buffer.alloc((WIDTH * HEIGHT) / 4);
  for (let row = 0; row < HEIGHT; row++) {
    for (let column = 0; column < WIDTH; column++) {
      const at = row * WIDTH + column;
      const [r, g, b] = [rgb[3 * at], rgb[3 * at + 1], rgb[3 * at + 2]];
      y[at] = Math.round(0.299 * r + 0.587 * g + 0.114 * b);
      if (row % 2 || column % 2) continue;
      const half = (row / 2) * (WIDTH / 2) + column / 2;
      u[half] = Math.round(128 - 0.168736 * r - 0.331264 * g + 0.5 * b);
      v[half] = Math.round(128 + 0.5 * r - 0.418688 * g - 0.081312 * b);
    }
  }
  return Buffer.concat([y, u, v]);
}
