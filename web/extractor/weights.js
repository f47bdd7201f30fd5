// @ts-check
/**
 * Weights of 8 bits with one scale for each output channel. TensorFlow.js has no such format: it
 * has one scale per tensor. In model.json such a tensor has the "quantization" {"dtype": "int8",
 * "axis": a}, and in the weight file n float32 scales, n the size of axis a, followed by one int8 q
 * for each element:
 *     w[.., c, ..] = scale[c] q[.., c, ..],  c along axis a.
 * scripts/networks writes them.
 */
import { concatenate } from './tensors.js';

/** Bytes of one element. @type {Record<string, number>} */
export const elementBytes = { float16: 2, uint8: 1, uint16: 2, float32: 4, int32: 4, bool: 1 };

/** @typedef {{name: string, shape: number[], dtype: string, quantization?: {dtype: string, axis?: number}}} Spec of a tensor, as model.json has them */

/**
 * @param {Spec[]} specs @param {ArrayBuffer} stored the tensors, one after the other
 * @returns {{specs: Spec[], data: ArrayBuffer}} those of 8 bits by channel as float32, all others as they are
 */
export function dequantised(specs, stored) {
  if (!specs.some(byChannel)) return { specs, data: stored };
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const parts = [];
  let offset = 0;
  for (const spec of specs) {
    const bytes = bytesOf(spec);
    if (offset + bytes > stored.byteLength) throw new RangeError(`the weights end within “${spec.name}”`);
    const part = stored.slice(offset, offset + bytes);
    parts.push(new Uint8Array(byChannel(spec) ? multiplied(spec, part) : part));
    offset += bytes;
  }
  return {
    specs: specs.map((spec) => (byChannel(spec) ? { name: spec.name, shape: spec.shape, dtype: 'float32' } : spec)),
    data: concatenate(parts, Uint8Array).buffer,
  };
}

/** @param {Spec} spec */
const byChannel = ({ quantization }) => quantization?.dtype === 'int8';

/** @param {Pick<Spec, 'shape'>} spec */
export const elements = ({ shape }) => shape.reduce((a, b) => a * b, 1);

/** @param {Spec} spec */
function bytesOf(spec) {
  if (byChannel(spec)) return 4 * channelsOf(spec) + elements(spec);
  const each = elementBytes[spec.quantization?.dtype ?? spec.dtype];
  if (!each)
    throw new RangeError(
      `the weights “${spec.name}” are of the type ${spec.quantization?.dtype ?? spec.dtype}, which stands beside no weights of 8 bits by channel`,
    );
  return each * elements(spec);
}

/** @param {Spec} spec */
function channelsOf({ name, shape, quantization }) {
  const channels = shape[Number(quantization?.axis)];
  if (!(channels > 0)) throw new RangeError(`the weights “${name}” have no axis ${quantization?.axis}`);
  return channels;
}

/** @param {Spec} spec @param {ArrayBuffer} part @returns {ArrayBuffer} */
function multiplied(spec, part) {
  const channels = channelsOf(spec);
  const scales = new Float32Array(part, 0, channels);
  const whole = new Int8Array(part, 4 * channels);
  const weights = new Float32Array(whole.length);
  const inner = spec.shape.slice(Number(spec.quantization?.axis) + 1).reduce((a, b) => a * b, 1);
  for (let i = 0; i < weights.length; i++) weights[i] = scales[Math.floor(i / inner) % channels] * whole[i];
  return weights.buffer;
}
