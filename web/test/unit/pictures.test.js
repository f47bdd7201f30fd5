// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import sharp from 'sharp';
import { claimedSize } from '../../ui/kinds/pictures/decode.js';
import { Thumbnails } from '../../ui/kit/thumbnails.js';
import { soundOf, withPicture } from '../../library/inputs.js';
import { claimsPicture, refusal } from '../../ui/kinds/pictures/decode.js';

/** @param {string} name @param {string} type @param {number} [size] */
const file = (name, type, size = 9) => ({ name, type, size });

test('a file is taken for a picture by its type, or by its name where it has none', () => {
  assert.ok(claimsPicture(file('x', 'image/png')));
  assert.ok(claimsPicture(file('x.JPG', '')));
  assert.ok(claimsPicture(file('x.heic', '')));
  assert.ok(!claimsPicture(file('x.png.txt', '')));
  assert.ok(!claimsPicture(file('x.png', 'text/plain')));
  assert.ok(!claimsPicture(file('', '')));
});

test('each reason for refusing a file has its own sentence with the name in it', () => {
  for (const [refused, expected] of /** @type {[ReturnType<typeof file>, RegExp][]} */ ([
    [file('a.png', 'image/png', 0), /^“a\.png” is empty/],
    [file('b.HEIC', ''), /^“b\.HEIC” is a HEIC picture.*JPEG or PNG/],
    [file('c', 'image/heif'), /^“c” is a HEIC picture/],
    [file('d.pdf', 'application/pdf'), /^“d\.pdf” is not a picture/],
    [file('Fruit.safetensors', ''), /^“Fruit\.safetensors” is not a picture: open a saved session under Sessions\.$/],
    [file('e.png', 'image/png'), /^“e\.png” could not be read as a picture/],
    [file('', 'image/png'), /^“The pasted picture” could not/],
  ])) {
    const text = refusal(refused);
    assert.match(text, expected);
    assert.match(text, /\.$/);
  }
});

test('width and height are read from the header of every usual format', async () => {
  const picture = sharp({ create: { width: 300, height: 17, channels: 4, background: '#f008' } });
  const files = {
    jpeg: picture.jpeg(),
    profile: picture.clone().withMetadata({ icc: 'p3' }).jpeg({ progressive: true }),
    png: picture.clone().png(),
    gif: picture.clone().gif(),
    lossy: picture.clone().flatten().webp(),
    alpha: picture.clone().webp(),
    lossless: picture.clone().webp({ lossless: true }),
  };
  for (const [name, made] of Object.entries(files)) {
    const bytes = await made.toBuffer();
    assert.deepEqual(claimedSize(bytes), { width: 300, height: 17 }, name);
    for (let n = 0; n < 40; n++) claimedSize(bytes.subarray(0, n)); // a torn file is no error
  }
  assert.equal(claimedSize(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')), null);
});

test('an image shows what it was asked for last, and one that has gone takes no others with it', async () => {
  const image = () => {
    const element = { dataset: {}, src: '', removeAttribute: () => (element.src = '') };
    return /** @type {HTMLImageElement} */ (/** @type {unknown} */ (element));
  };
  let go = (/** @type {any} */ _) => {};
  const slow = new Promise((resolve) => {
    go = resolve;
  });
  const bytes = new Uint8Array(1);
  const thumbnails = new Thumbnails({
    thumbnails: async (/** @type {string[]} */ ids) => {
      if (ids.includes('a')) await slow;
      return ids.map((id) => (id === 'gone' ? null : bytes));
    },
  });
  const turn = () =>
    new Promise((resolve) => {
      setImmediate(resolve);
    });
  const [one, other, last] = [image(), image(), image()];
  thumbnails.painter('gone')(one);
  thumbnails.painter('a')(other);
  await turn();
  thumbnails.painter('b')(other);
  await turn();
  const shown = other.src;
  assert.match(shown, /^blob:/);
  go(bytes);
  await turn();
  assert.equal(other.src, shown);
  thumbnails.painter('a')(last);
  assert.match(last.src, /^blob:/);
  assert.deepEqual([last.src !== shown, one.src], [true, '']);
  thumbnails.keep([]);
});

test('an image shows nothing for an example without a thumbnail, whatever it showed before', async () => {
  const thumbnails = new Thumbnails({ thumbnails: async (ids) => ids.map((id) => (id === 'with' ? new Uint8Array(1) : null)) });
  const image = /** @type {any} */ ({
    dataset: {},
    removeAttribute(/** @type {string} */ name) {
      delete this[name];
    },
  });
  for (const [id, shows] of /** @type {const} */ ([
    ['with', true],
    ['without', false],
    ['with', true],
  ])) {
    thumbnails.painter(id)(image);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    assert.equal('src' in image, shows, id);
  }
});

test('many thumbnails are shown some at a time, so that the page serves its visitor meanwhile', async (t) => {
  t.mock.method(URL, 'createObjectURL', () => {
    for (const end = performance.now() + 1; performance.now() < end; ); // as long as a browser takes
    return 'blob:';
  });
  const thumbnails = new Thumbnails({ thumbnails: async (ids) => ids.map(() => new Uint8Array(1)) });
  const images = Array.from({ length: 60 }, () => /** @type {any} */ ({ dataset: {} }));
  images.forEach((image, i) => thumbnails.painter(`${i}`)(image));
  let turns = 0;
  for (; images.some(({ src }) => !src) && turns < 99; turns++)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  assert.ok(turns > 2 && turns < 99, `all were shown after ${turns} turns`);
});

test('a bitmap that is made of a picture is freed after the answer, and one that was handed over is not', async (t) => {
  class Bitmap {
    closed = false;
    close() {
      this.closed = true;
    }
  }
  const bitmap = new Bitmap();
  const globals = { ImageBitmap: Bitmap, ImageData: class {}, createImageBitmap: async () => bitmap };
  Object.assign(globalThis, globals);
  t.after(() => Object.keys(globals).forEach((name) => delete (/** @type {any} */ (globalThis)[name])));
  const given = new Bitmap();
  const video = /** @type {any} */ ({});
  const ask = async (/** @type {any} */ picture) => [picture === bitmap, picture.closed];
  assert.deepEqual(await withPicture(/** @type {any} */ (given), ask), [false, false]);
  assert.deepEqual(await withPicture(video, ask), [true, false]);
  assert.deepEqual([given.closed, bitmap.closed], [false, true]);
  bitmap.closed = false;
  await assert.rejects(
    withPicture(video, () => Promise.reject(new Error('no hand'))),
    /no hand/,
  );
  assert.equal(bitmap.closed, true);
});

test('a sound is taken in a worker too, which has no AudioBuffer and decodes nothing', async () => {
  const sound = { samples: new Float32Array(1600), rate: 16_000 };
  assert.equal(await soundOf(sound), sound);
  await assert.rejects(soundOf(new Blob([new Uint8Array(9)])), { code: 'unsupported' });
});
