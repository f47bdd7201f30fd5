// @ts-check
/** Picture files in Node: the bytes a browser would see, upright and without colour management. */
import { createRequire } from 'node:module';

const load = createRequire(new URL('../../web/package.json', import.meta.url));
const sharp = load('sharp');

/**
 * @param {string | Uint8Array} file path or contents of a JPEG, PNG, WebP, GIF, AVIF or TIFF picture
 * @returns {Promise<import('../../web/extractor/preprocess.js').Pixels>} rejects on damaged files
 */
export async function decodePicture(file) {
  const image = sharp(file, { failOn: 'error', ignoreIcc: true }).autoOrient();
  const { space, depth } = await image.metadata();
  if (space === 'cmyk') return fromInk(await image.pipelineColourspace('cmyk').toColourspace('cmyk').raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true }));
  // Grey pictures are not converted: a conversion to sRGB would change their values.
  const plain = (space === 'b-w' || space === 'srgb') && depth === 'uchar';
  const { data, info } = await (plain ? image : image.toColourspace('srgb'))
    .raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
  return { data: toRGBA(data, info.channels), width: info.width, height: info.height };
}

/** Four inks as browsers show them without a profile. @param {{data: Uint8Array, info: {width: number, height: number, channels: number}}} raw */
function fromInk({ data, info: { width, height, channels } }) {
  const rgba = new Uint8Array(4 * width * height).fill(255);
  for (let i = 0; i < width * height; i++) {
    const light = 255 - data[channels * i + 3];
    for (let c = 0; c < 3; c++) rgba[4 * i + c] = Math.round(((255 - data[channels * i + c]) * light) / 255);
  }
  return { data: rgba, width, height };
}

/** @param {Uint8Array} data @param {number} channels 1 grey, 2 grey + alpha, 3 RGB, 4 RGBA */
function toRGBA(data, channels) {
  if (channels === 4) return data;
  const pixels = data.length / channels;
  const rgba = new Uint8Array(4 * pixels);
  const [green, blue] = channels < 3 ? [0, 0] : [1, 2];
  for (let i = 0; i < pixels; i++) {
    const from = channels * i;
    rgba[4 * i] = data[from];
    rgba[4 * i + 1] = data[from + green];
    rgba[4 * i + 2] = data[from + blue];
    rgba[4 * i + 3] = channels === 2 ? data[from + 1] : 255;
  }
  return rgba;
}
