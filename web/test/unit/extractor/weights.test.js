// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { dequantised } from '../../../extractor/weights.js';

/** @param {ArrayBufferView[]} parts */
const stored = (...parts) => {
  const all = Buffer.concat(parts.map((part) => new Uint8Array(part.buffer)));
  return all.buffer.slice(all.byteOffset, all.byteOffset + all.length);
};

test('weights of 8 bits are multiplied by the scale of their channel, whichever axis that is', () => {
  const whole = Int8Array.from({ length: 12 }, (_, i) => (i % 2 ? -1 : 1) * 10 * i);
  for (const [axis, channelOf] of /** @type {[number, (i: number) => number][]} */ ([
    [0, (i) => Math.floor(i / 6)],
    [1, (i) => Math.floor(i / 2) % 3],
    [2, (i) => i % 2],
  ])) {
    const shape = [2, 3, 2];
    const scales = Float32Array.from({ length: shape[axis] }, (_, c) => 0.5 ** (c + 1));
    const { specs, data } = dequantised([{ name: 'w', shape, dtype: 'float32', quantization: { dtype: 'int8', axis } }], stored(scales, whole));
    assert.deepEqual(specs, [{ name: 'w', shape, dtype: 'float32' }]);
    assert.deepEqual(
      new Float32Array(data),
      Float32Array.from(whole, (q, i) => scales[channelOf(i)] * q),
    );
  }
});

test('what is stored otherwise stays as it is, beside them and alone', () => {
  const half = { name: 'h', shape: [3], dtype: 'float32', quantization: { dtype: 'float16' } };
  const plain = { name: 'p', shape: [2], dtype: 'float32' };
  const eight = { name: 'w', shape: [1, 2], dtype: 'float32', quantization: { dtype: 'int8', axis: 1 } };
  const alone = stored(Uint16Array.of(1, 2, 3), Float32Array.of(4, 5));
  assert.deepEqual(dequantised([half, plain], alone), { specs: [half, plain], data: alone });
  const { specs, data } = dequantised([half, eight, plain], stored(Uint16Array.of(1, 2, 3), Float32Array.of(2, 3), Int8Array.of(5, -7), Float32Array.of(4, 5)));
  assert.deepEqual(
    specs.map(({ name }) => name),
    ['h', 'w', 'p'],
  );
  assert.deepEqual(data, stored(Uint16Array.of(1, 2, 3), Float32Array.of(10, -21, 4, 5)));
});

test('too few bytes, an axis that is not there and an unknown type are refused', () => {
  const eight = (/** @type {number} */ axis) => ({ name: 'w', shape: [1, 2], dtype: 'float32', quantization: { dtype: 'int8', axis } });
  assert.throws(() => dequantised([eight(1)], new ArrayBuffer(9)), /the weights end within “w”/);
  assert.throws(() => dequantised([eight(2)], new ArrayBuffer(10)), /“w” have no axis 2/);
  assert.throws(() => dequantised([eight(1), { name: 's', shape: [1], dtype: 'string' }], new ArrayBuffer(11)), /“s” are of the type string/);
});
