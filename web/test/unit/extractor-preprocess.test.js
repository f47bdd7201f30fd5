// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { Reducer, centreSquare, preprocess } from '../../extractor/preprocess.js';

/**
 * @param {number} width @param {number} height
 * @param {(x: number, y: number) => [number, number, number, number]} paint
 */
function picture(width, height, paint) {
  const data = new Uint8ClampedArray(4 * width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) data.set(paint(x, y), 4 * (y * width + x));
  }
  return { data, width, height };
}

/** A repeatable picture without structure. @param {number} width @param {number} height */
function noise(width, height) {
  let state = 1;
  const next = () => (state = (state * 48271) % 2147483647) & 255;
  return picture(width, height, () => [next(), next(), next(), 255]);
}

test('a picture of one colour stays that colour at every size', () => {
  for (const [width, height] of [[1, 1], [2, 5], [160, 160], [161, 97], [777, 640]]) {
    const pixels = preprocess(picture(width, height, () => [12, 200, 255, 255]), 160);
    assert.equal(pixels.length, 3 * 160 * 160);
    for (let i = 0; i < pixels.length; i += 3) {
      assert.deepEqual([pixels[i], pixels[i + 1], pixels[i + 2]], [12, 200, 255], `${width}x${height} at ${i}`);
    }
  }
});

test('a picture of the right size passes through untouched', () => {
  const source = noise(16, 16);
  const pixels = preprocess(source, 16);
  for (let i = 0; i < 256; i++) {
    assert.deepEqual([...pixels.slice(3 * i, 3 * i + 3)], [...source.data.slice(4 * i, 4 * i + 3)]);
  }
});

test('a ramp is sampled at pixel centres when it is enlarged', () => {
  // Value 10 x + 20 y at pixel (x, y) is linear: at the centre of output i the
  // source coordinate is (i + 1/2) n / size - 1/2, held at the borders.
  const n = 8;
  const size = 32;
  const pixels = preprocess(picture(n, n, (x, y) => [10 * x, 20 * y, 10 * x + 20 * y - 0, 255]), size);
  const at = (/** @type {number} */ i) => Math.min(n - 1, Math.max(0, ((i + 0.5) * n) / size - 0.5));
  for (let j = 0; j < size; j++) {
    for (let i = 0; i < size; i++) {
      const [red, green] = pixels.slice(3 * (j * size + i));
      assert.ok(Math.abs(red - 10 * at(i)) <= 0.5, `red ${red} at ${i}`);
      assert.ok(Math.abs(green - 20 * at(j)) <= 0.5, `green ${green} at ${j}`);
    }
  }
});

test('halving weighs four neighbours 1 3 3 1, and drops what lies outside the border', () => {
  // Ratio 2: the triangle reaches 2 pixels, taps at distance 1/2 and 3/2 weigh 3/4 and 1/4.
  const row = [8, 40, 104, 200, 16, 72, 136, 248];
  const pixels = preprocess(picture(8, 8, (x) => [row[x], 0, 0, 255]), 4);
  const round = Math.round;
  const inner = (/** @type {number} */ i) => (row[i - 1] + 3 * row[i] + 3 * row[i + 1] + row[i + 2]) / 8;
  const expected = [
    round((3 * row[0] + 3 * row[1] + row[2]) / 7), round(inner(2)), round(inner(4)),
    round((row[5] + 3 * row[6] + 3 * row[7]) / 7),
  ];
  assert.deepEqual([0, 1, 2, 3].map((i) => pixels[3 * i]), expected);
});

test('a fine checkerboard becomes grey instead of stripes', () => {
  const board = preprocess(picture(640, 640, (x, y) => ((x + y) % 2 ? [255, 255, 255, 255] : [0, 0, 0, 255])), 160);
  for (const value of board) assert.ok(Math.abs(value - 127.5) < 6, `${value}`);
});

test('only the centre square counts', () => {
  assert.deepEqual(centreSquare(300, 187), { x: 56, y: 0, side: 187 });
  assert.deepEqual(centreSquare(187, 300), { x: 0, y: 56, side: 187 });
  const inside = (/** @type {number} */ x) => x >= 5 && x < 13;
  const wide = preprocess(picture(18, 8, (x) => (inside(x) ? [1, 2, 3, 255] : [250, 250, 250, 255])), 20);
  for (let i = 0; i < wide.length; i += 3) assert.deepEqual([...wide.slice(i, i + 3)], [1, 2, 3]);
  const tall = preprocess(picture(8, 18, (_, y) => (inside(y) ? [1, 2, 3, 255] : [250, 250, 250, 255])), 20);
  assert.deepEqual(tall, wide);
});

test('transparency shows white', () => {
  assert.deepEqual([...preprocess(picture(3, 3, () => [0, 0, 0, 0]), 1)], [255, 255, 255]);
  assert.deepEqual([...preprocess(picture(3, 3, () => [255, 0, 100, 51]), 1)], [255, 204, 224]);
});

test('turning the picture turns the result', () => {
  const source = noise(211, 211);
  const turned = picture(211, 211, (x, y) => {
    const from = 4 * ((210 - y) * 211 + (210 - x));
    return /** @type {[number, number, number, number]} */ ([...source.data.slice(from, from + 4)]);
  });
  const a = preprocess(source, 40);
  const b = preprocess(turned, 40);
  for (let i = 0; i < 1600; i++) {
    // Ties may round apart when the order of summation turns round.
    assert.ok(Math.abs(a[3 * i] - b[3 * (1599 - i)]) <= 1);
  }
});

test('bands of rows give what the whole picture gives', () => {
  const source = noise(100, 100);
  const reducer = new Reducer(100, 16);
  for (let row = 0; row < 100; row += 7) {
    const count = Math.min(7, 100 - row);
    reducer.addRows(source.data.subarray(400 * row, 400 * (row + count)), count);
  }
  assert.deepEqual(reducer.finish(), preprocess(source, 16));
});

test('a picture cut short or without pixels is refused', () => {
  assert.throws(() => preprocess({ data: new Uint8Array(15), width: 2, height: 2 }, 8), /needs 16 bytes, got 15/);
  for (const [width, height] of [[0, 4], [4, 0], [2.5, 4], [-1, 4], [NaN, 4]]) {
    assert.throws(() => preprocess({ data: new Uint8Array(0), width, height }, 8), /choose another/);
  }
  const reducer = new Reducer(4, 2);
  reducer.addRows(new Uint8Array(16), 1);
  assert.throws(() => reducer.finish(), /1 of 4 rows/);
});
