// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { Reducer, preprocess, rectangleOf } from '../../../extractor/preprocess.js';

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

const square = { name: 'square', share: 1 };
const whole = { name: 'whole' };

/**
 * The largest centred square alone.
 * @param {import('../../../extractor/preprocess.js').Pixels} pixels @param {number} size
 */
const preprocessSquare = (pixels, size) => preprocess(pixels, size, [square])[0];

/** A repeatable picture without structure. @param {number} width @param {number} height */
function noise(width, height) {
  let state = 1;
  const next = () => (state = (state * 48271) % 2147483647) & 255;
  return picture(width, height, () => [next(), next(), next(), 255]);
}

test('a picture of one colour stays that colour at every size', () => {
  for (const [width, height] of [
    [1, 1],
    [2, 5],
    [160, 160],
    [161, 97],
    [777, 640],
  ]) {
    const pixels = preprocessSquare(
      picture(width, height, () => [12, 200, 255, 255]),
      160,
    );
    assert.equal(pixels.length, 3 * 160 * 160);
    for (let i = 0; i < pixels.length; i += 3) {
      assert.deepEqual([pixels[i], pixels[i + 1], pixels[i + 2]], [12, 200, 255], `${width}x${height} at ${i}`);
    }
  }
});

test('a picture of the right size passes through untouched', () => {
  const source = noise(16, 16);
  const pixels = preprocessSquare(source, 16);
  for (let i = 0; i < 256; i++) {
    assert.deepEqual([...pixels.slice(3 * i, 3 * i + 3)], [...source.data.slice(4 * i, 4 * i + 3)]);
  }
});

test('a ramp is sampled at pixel centres when it is enlarged', () => {
  // Value 10 x + 20 y at pixel (x, y) is linear: at the centre of output i the
  // source coordinate is (i + 1/2) n / size - 1/2, held at the borders.
  const n = 8;
  const size = 32;
  const pixels = preprocessSquare(
    picture(n, n, (x, y) => [10 * x, 20 * y, 10 * x + 20 * y - 0, 255]),
    size,
  );
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
  const pixels = preprocessSquare(
    picture(8, 8, (x) => [row[x], 0, 0, 255]),
    4,
  );
  const round = Math.round;
  const inner = (/** @type {number} */ i) => (row[i - 1] + 3 * row[i] + 3 * row[i + 1] + row[i + 2]) / 8;
  const expected = [round((3 * row[0] + 3 * row[1] + row[2]) / 7), round(inner(2)), round(inner(4)), round((row[5] + 3 * row[6] + 3 * row[7]) / 7)];
  assert.deepEqual(
    [0, 1, 2, 3].map((i) => pixels[3 * i]),
    expected,
  );
});

test('a fine checkerboard becomes grey instead of stripes', () => {
  const board = preprocessSquare(
    picture(640, 640, (x, y) => ((x + y) % 2 ? [255, 255, 255, 255] : [0, 0, 0, 255])),
    160,
  );
  for (const value of board) assert.ok(Math.abs(value - 127.5) < 6, `${value}`);
});

test('only the centre square counts for a view of it', () => {
  assert.deepEqual(rectangleOf(square, 300, 187), { x: 56, y: 0, width: 187, height: 187 });
  assert.deepEqual(rectangleOf(square, 187, 300), { x: 0, y: 56, width: 187, height: 187 });
  const inside = (/** @type {number} */ x) => x >= 5 && x < 13;
  const wide = preprocessSquare(
    picture(18, 8, (x) => (inside(x) ? [1, 2, 3, 255] : [250, 250, 250, 255])),
    20,
  );
  for (let i = 0; i < wide.length; i += 3) assert.deepEqual([...wide.slice(i, i + 3)], [1, 2, 3]);
  const tall = preprocessSquare(
    picture(8, 18, (_, y) => (inside(y) ? [1, 2, 3, 255] : [250, 250, 250, 255])),
    20,
  );
  assert.deepEqual(tall, wide);
});

test('transparency shows white', () => {
  assert.deepEqual(
    [
      ...preprocessSquare(
        picture(3, 3, () => [0, 0, 0, 0]),
        1,
      ),
    ],
    [255, 255, 255],
  );
  assert.deepEqual(
    [
      ...preprocessSquare(
        picture(3, 3, () => [255, 0, 100, 51]),
        1,
      ),
    ],
    [255, 204, 224],
  );
});

test('turning the picture turns the result', () => {
  const source = noise(211, 211);
  const turned = picture(211, 211, (x, y) => {
    const from = 4 * ((210 - y) * 211 + (210 - x));
    return /** @type {[number, number, number, number]} */ ([...source.data.slice(from, from + 4)]);
  });
  const a = preprocessSquare(source, 40);
  const b = preprocessSquare(turned, 40);
  for (let i = 0; i < 1600; i++) {
    // Ties may round apart when the order of summation turns round.
    assert.ok(Math.abs(a[3 * i] - b[3 * (1599 - i)]) <= 1);
  }
});

test('a share of the square is centred too, and never nothing', () => {
  const middle = { name: 'middle', share: 0.7 };
  assert.deepEqual(rectangleOf(middle, 300, 200), { x: 80, y: 30, width: 140, height: 140 });
  assert.deepEqual(rectangleOf(middle, 11, 31), { x: 1, y: 11, width: 8, height: 8 });
  assert.deepEqual(rectangleOf(middle, 1, 1), { x: 0, y: 0, width: 1, height: 1 });
  assert.deepEqual(rectangleOf({ name: 'dot', share: 0.01 }, 9, 9), { x: 4, y: 4, width: 1, height: 1 });
});

test('the whole picture is squeezed by a filter for each axis', () => {
  // Enlarged across by 2 and reduced down by 2: the axes do not know of each other.
  const column = [8, 40, 104, 200, 16, 72, 136, 248];
  const row = [0, 60, 120, 180];
  const source = picture(4, 16, (x, y) => [column[y >> 1], row[x], 9, 255]);
  const [pixels] = preprocess(source, 8, [whole]);
  const reduced = column.map((value, i) => {
    const taps = [
      [column[(2 * i - 1) >> 1], 1],
      [value, 3],
      [value, 3],
      [column[i + 1], 1],
    ].filter(([v]) => v !== undefined);
    return Math.round(taps.reduce((sum, [v, w]) => sum + v * w, 0) / taps.reduce((sum, [, w]) => sum + w, 0));
  });
  const enlarged = [0, 15, 45, 75, 105, 135, 165, 180];
  for (let j = 0; j < 8; j++) {
    for (let i = 0; i < 8; i++) assert.deepEqual([...pixels.slice(3 * (8 * j + i), 3 * (8 * j + i) + 3)], [reduced[j], enlarged[i], 9], `${i}, ${j}`);
  }
});

test('of a square picture the whole is the largest square', () => {
  const source = noise(97, 97);
  assert.deepEqual(preprocess(source, 40, [whole])[0], preprocessSquare(source, 40));
});

test('views do not depend on which others are asked for', () => {
  const source = noise(120, 90);
  const views = [whole, square, { name: 'middle', share: 0.7 }];
  assert.deepEqual(
    preprocess(source, 32, views),
    views.map((view) => preprocess(source, 32, [view])[0]),
  );
});

test('a share is what its cut-out gives alone', () => {
  const source = noise(100, 60);
  const { x, y, width, height } = rectangleOf({ name: 'middle', share: 0.5 }, 100, 60);
  const cut = picture(
    width,
    height,
    (i, j) => /** @type {[number, number, number, number]} */ ([...source.data.slice(4 * ((y + j) * 100 + x + i), 4 * ((y + j) * 100 + x + i) + 4)]),
  );
  assert.deepEqual(preprocess(source, 32, [{ name: 'middle', share: 0.5 }])[0], preprocessSquare(cut, 32));
});

test('bands of rows give what the whole picture gives', () => {
  const source = noise(100, 80);
  const views = [whole, square, { name: 'middle', share: 0.7 }];
  const reducer = new Reducer(100, 80, 16, views);
  for (let row = 0; row < 80; row += 7) {
    const count = Math.min(7, 80 - row);
    reducer.addRows(source.data.subarray(400 * row, 400 * (row + count)), count);
  }
  assert.deepEqual(reducer.finish(), preprocess(source, 16, views));
});

test('a picture cut short or without pixels is refused', () => {
  assert.throws(() => preprocessSquare({ data: new Uint8Array(15), width: 2, height: 2 }, 8), /needs 16 bytes, got 15/);
  for (const [width, height] of [
    [0, 4],
    [4, 0],
    [2.5, 4],
    [-1, 4],
    [NaN, 4],
  ]) {
    assert.throws(() => preprocessSquare({ data: new Uint8Array(0), width, height }, 8), /choose another/);
  }
  const reducer = new Reducer(4, 4, 2, [square]);
  reducer.addRows(new Uint8Array(16), 1);
  assert.throws(() => reducer.finish(), /1 of 4 rows/);
});
