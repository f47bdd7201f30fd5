// @ts-check
/**
 * Reads the graph of an ONNX model, and makes inner nodes outputs. ONNX Runtime returns only
 * outputs, but the embedding of a classifier is at a node before its output.
 *
 * A model is a protocol buffer: one field after the other, each with a number and a kind, in any
 * order. So outputs are added by appending fields. ModelProto.graph (7) gets another
 * GraphProto.output (12), a ValueInfoProto with the name (1) alone; ONNX Runtime infers its type.
 * Everything else stays byte for byte.
 */
import { concatenate } from '../tensors.js';

/** An error of the file, as the rest of a sentence that begins with the file's name. */
export class OnnxError extends Error {}

const broken = 'is not an ONNX model, or is cut short: take the .onnx file itself';

/**
 * @param {Uint8Array} model @param {string[]} names of the nodes' results
 * @returns {Uint8Array} the model itself where they are its outputs already
 */
export function expose(model, names) {
  const graph = graphOf(model);
  const inside = [...fieldsOf(model, graph.from, graph.to)].filter(({ kind }) => kind === 2);
  const outputs = inside.filter(({ number }) => number === 12).map(({ from, to }) => textOf(model, from, to, 1)[0]);
  const results = inside.filter(({ number }) => number === 1).flatMap(({ from, to }) => textOf(model, from, to, 2));
  for (const name of names) {
    if (!outputs.includes(name) && !results.includes(name))
      throw new OnnxError(`has no node whose result is called “${name}”${like(name, results)}: name another in the manifest’s “outputs”`);
  }
  const added = names.filter((name) => !outputs.includes(name)).map((name) => field(12, field(1, new TextEncoder().encode(name))));
  if (added.length === 0) return model;
  const grown = concatenate([model.subarray(graph.from, graph.to), ...added], Uint8Array);
  return concatenate([model.subarray(0, graph.start), field(7, grown), model.subarray(graph.to)], Uint8Array);
}

/** @param {Uint8Array} model */
function graphOf(model) {
  const graph = [...fieldsOf(model, 0, model.length)].filter(({ number, kind }) => number === 7 && kind === 2).pop();
  if (!graph) throw new OnnxError(broken);
  return graph;
}

/** The types of inputs, by TensorProto.DataType. */
const types = ['unknown', 'float32', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64', 'string', 'bool', 'float16', 'float64'];

/**
 * Field numbers are those of onnx.proto: GraphProto, NodeProto, TensorProto, ValueInfoProto.
 *
 * @param {Uint8Array} model
 * @returns {import('./propose.js').Graph & {beside: string[]}} beside: names of the files that hold weights outside the model
 */
export function readOnnx(model) {
  const inside = (/** @type {{from: number, to: number}} */ { from, to }, /** @type {number} */ number) =>
    [...fieldsOf(model, from, to)].filter((one) => one.number === number);
  const texts = (/** @type {Field} */ { from, to }, /** @type {number} */ number) => textOf(model, from, to, number);
  const graph = graphOf(model);
  /** @type {import('./propose.js').Graph['constants']} */
  const constants = new Map();
  const beside = new Set();
  const keep = (/** @type {string} */ name, /** @type {Field} */ tensor) => {
    constants.set(name, valuesOf(model, tensor));
    for (const entry of inside(tensor, 13)) if (texts(entry, 1)[0] === 'location') beside.add(texts(entry, 2)[0]);
  };
  for (const tensor of inside(graph, 5)) keep(texts(tensor, 8)[0], tensor);
  const nodes = inside(graph, 1).map((node) => {
    const [op, outputs] = [texts(node, 4)[0], texts(node, 2)];
    const [value] = op === 'Constant' ? inside(node, 5).flatMap((attribute) => inside(attribute, 5)) : [];
    if (value) keep(outputs[0], value);
    return { op, inputs: texts(node, 1), outputs };
  });
  const inputs = inside(graph, 11).map((input) => {
    const [tensor] = inside(input, 2).flatMap((kind) => inside(kind, 1));
    const type = tensor ? inside(tensor, 1).map(({ from, to }) => varint(model, from, to).value)[0] : 0;
    const dims = (tensor ? inside(tensor, 2) : [])
      .flatMap((shape) => inside(shape, 1))
      .map((dim) => inside(dim, 1).map(({ from, to }) => varint(model, from, to).value)[0]);
    // A size that is left open is a name, nothing, or at times 0 or -1.
    return { name: texts(input, 1)[0], type: types[type] ?? 'other numbers', dims: dims.map((dim) => (dim > 0 && dim < 2 ** 31 ? dim : -1)) };
  });
  return {
    inputs: inputs.filter(({ name }) => !constants.has(name)),
    nodes,
    constants,
    outputs: inside(graph, 12).map((output) => texts(output, 1)[0]),
    beside: [...beside],
  };
}

/** The numbers of a small constant of float32; null of any other. @param {Uint8Array} bytes @param {Field} tensor */
function valuesOf(bytes, { from, to }) {
  const fields = [...fieldsOf(bytes, from, to)];
  const type = fields.find(({ number }) => number === 2);
  const numbers = fields.filter(({ number, kind }) => number === 9 || (number === 4 && (kind === 2 || kind === 5)));
  const size = numbers.reduce((sum, one) => sum + one.to - one.from, 0);
  if (!type || varint(bytes, type.from, type.to).value !== 1 || size === 0 || size > 16) return null;
  const raw = concatenate(
    numbers.map((one) => bytes.subarray(one.from, one.to)),
    Uint8Array,
  );
  return Array.from({ length: size >> 2 }, (_, i) => new DataView(raw.buffer).getFloat32(4 * i, true));
}

/** Names that a person may have meant. @param {string} name @param {string[]} results */
function like(name, results) {
  const last = results.filter((one) => one).slice(-5);
  const near = results.filter((one) => one && (one.toLowerCase().includes(name.toLowerCase()) || name.toLowerCase().includes(one.toLowerCase()))).slice(0, 5);
  const shown = near.length ? near : last;
  return shown.length ? ` (${near.length ? 'alike are' : 'the last are'} ${shown.map((one) => `“${one}”`).join(', ')})` : '';
}

/** @typedef {{number: number, kind: number, start: number, from: number, to: number}} Field start is that of its tag, from and to those of what it holds */

/** @param {Uint8Array} bytes @param {number} from @param {number} to @returns {Generator<Field>} */
function* fieldsOf(bytes, from, to) {
  for (let at = from; at < to; ) {
    const start = at;
    const tag = varint(bytes, at, to);
    const kind = tag.value % 8;
    at = tag.next;
    let length = kind === 1 ? 8 : 4;
    if (kind === 2) ({ value: length, next: at } = varint(bytes, at, to));
    else if (kind === 0) length = varint(bytes, at, to).next - at;
    else if (kind !== 1 && kind !== 5) throw new OnnxError(broken);
    if (at + length > to) throw new OnnxError(broken);
    yield { number: Math.floor(tag.value / 8), kind, start, from: at, to: at + length };
    at += length;
  }
}

/** The texts of one field of a message. @param {Uint8Array} bytes @param {number} from @param {number} to @param {number} wanted */
function textOf(bytes, from, to, wanted) {
  return [...fieldsOf(bytes, from, to)]
    .filter(({ number, kind }) => number === wanted && kind === 2)
    .map((one) => new TextDecoder().decode(bytes.subarray(one.from, one.to)));
}

/** @param {Uint8Array} bytes @param {number} at @param {number} to */
function varint(bytes, at, to) {
  let value = 0;
  for (let shift = 0; shift < 10; shift++, at++) {
    if (at >= to) throw new OnnxError(broken);
    value += (bytes[at] & 127) * 2 ** (7 * shift);
    if (bytes[at] < 128) return { value, next: at + 1 };
  }
  throw new OnnxError(broken);
}

/** A field with a length: text, bytes or a message. @param {number} number @param {Uint8Array} content */
export function field(number, content) {
  return concatenate([Uint8Array.from([...varintOf(number * 8 + 2), ...varintOf(content.length)]), content], Uint8Array);
}

/** Seven bits a byte, the lowest first. @param {number} value */
export function varintOf(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return [...bytes, value];
}
