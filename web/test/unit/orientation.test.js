// @ts-check
/** Photographs turned upright in Node.js, beside libvips. */
import assert from 'node:assert/strict';
import test from 'node:test';
import sharp from 'sharp';
import { orientationOf, upright } from '../../share/node/orientation.js';

const [width, height] = [5, 3];
const picture = sharp(
  Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * 83) % 256),
  { raw: { width, height, channels: 3 } },
);
const pixels = async (/** @type {import('sharp').Sharp} */ image) => {
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data: [...data], width: info.width, height: info.height };
};

for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
  test(`a photograph of orientation ${orientation} is turned as libvips turns it`, async () => {
    const file = await picture.clone().jpeg().withMetadata({ orientation }).toBuffer();
    assert.equal(orientationOf(file), orientation);
    const { data, ...size } = upright({ ...(await pixels(sharp(file))), data: new Uint8Array((await pixels(sharp(file))).data) }, orientation);
    assert.deepEqual({ ...size, data: [...data] }, await pixels(sharp(file).autoOrient()));
  });
}

test('files without metadata, and cut anywhere, are upright or as they say', async () => {
  assert.equal(orientationOf(await picture.clone().jpeg().toBuffer()), 1);
  const file = await picture.clone().jpeg().withMetadata({ orientation: 6 }).toBuffer();
  for (let length = 0; length < file.length; length++) assert.ok([1, 6].includes(orientationOf(file.subarray(0, length))), `${length} bytes`);
});
