// @ts-check
/**
 * An ONNX file of a classifier: from embeddings to probabilities, none of these included.
 *
 * It is made of the plain numbers that `export()` writes (core/model/plain.go), so it answers as the classifier did then and
 * cannot be taught. With the names of that file, for a row x:
 *
 *   y = sign(v) |v|^power, v = max((x - mean) scale + shift, floor); a constant follows y if there is one
 *   y - centre is divided by its length if unit is 1
 *   u = weights y + intercept,  s = log sum exp(u + prior)
 *   none = sum_k weight_k sigmoid(-(slope_k s + offset_k))
 *   p = (1 - none) sum_k weight_k softmax(inverse temperature_k u + prior)
 *
 * It computes in doubles, as the classifier does: u may be in the hundreds, where single precision has only four decimals.
 *
 * ONNX files are Protocol Buffers. Writing the few fields that are needed takes thirty lines. Libraries for ONNX include the
 * whole schema, of over 100 KB.
 */
import { field, varintOf } from '../extractor/own/onnx-graph.js';
import { concatenate } from '../extractor/tensors.js';
import { embeddingOf } from './onnx-pictures.js';
import { metadataOf, shapesOf, tensorOf } from '../base/safetensors.js';

/** @typedef {keyof typeof TYPES} Type */
/** @typedef {[type: Type, ...shape: (number|string)[]]} Value a name stands for a side of any length */
/** @typedef {{shape: number[], numbers: Float64Array}} Tensor */

const text = (/** @type {string} */ content) => new TextEncoder().encode(content);

/** The least length that y is divided by, so that zeros stay zeros. */
const LEAST = 1e-300;
/** The numbers in onnx.proto of the types of tensors' elements, and of attributes. */
const TYPES = { float: 1, uint8: 2, int8: 3, int64: 7, bool: 9, double: 11 };
const ATTRIBUTES = { int: 2, string: 3, graph: 5, ints: 7 };
/** Writes of numbers. @type {Record<string, [bytes: number, write: (view: DataView, at: number, value: number) => void]>} */
const WRITES = {
  float: [4, (view, at, value) => view.setFloat32(at, value, true)],
  double: [8, (view, at, value) => view.setFloat64(at, value, true)],
  int8: [1, (view, at, value) => view.setInt8(at, value)],
  int64: [8, (view, at, value) => view.setBigInt64(at, BigInt(value), true)],
};
/** The operator set, and the version of the format that came with it. Newer runtimes read older ones. */
const [OPSET, FORMAT] = [17, 8];

/**
 * @param {Uint8Array} file what `export()` wrote
 * @param {import('./onnx-pictures.js').Network} [network] of pictures, if the file begins with a picture
 * @returns {{bytes: Uint8Array, dimension: number, classes: string[]}} the ONNX file, the length of an embedding, and the labels of its columns
 */
export function onnxOf(file, network) {
  const { meta, tensors } = plain(file);
  const classes = /** @type {string[]} */ (JSON.parse(meta.classes));
  const { centre, weights, intercept, prior, columns, hard, known, input } = tensors;
  const d = columns.shape[1];
  const [shift, floor, power, unit, constant = 0] = input.numbers;
  const row = (/** @type {Tensor} */ { shape: [, n], numbers }, /** @type {number} */ i) => numbers.subarray(i * n, (i + 1) * n);
  const graph = new Graph();

  const embedding = network ? graph.node('Identity', [embeddingOf(graph, network, 'picture')], {}, 'embedding') : 'embedding';
  let x = graph.node('Cast', [embedding], { to: 'double' });
  const scaled = tensors.columns.numbers.some((v, i) => v !== (i < d ? 0 : 1));
  if (scaled) x = graph.node('Mul', [graph.node('Sub', [x, graph.constant(row(columns, 0))]), graph.constant(row(columns, 1))]);
  if (shift) x = graph.node('Add', [x, graph.constant([shift])]);
  if (floor > -Number.MAX_VALUE) x = graph.node('Max', [x, graph.constant([floor])]);
  if (power !== 1) x = graph.node('Mul', [graph.node('Sign', [x]), graph.node('Pow', [graph.node('Abs', [x]), graph.constant([power])])]);
  if (constant) x = graph.node('Pad', [x, graph.constant([0, 0, 0, 1], [4], 'int64'), graph.constant([constant], [])]);
  x = graph.node('Sub', [x, graph.constant(centre.numbers)]);
  if (unit) x = graph.node('Div', [x, graph.node('Max', [graph.node('ReduceL2', [x], { axes: [1], keepdims: 1 }), graph.constant([LEAST])])]);

  const u = graph.node('Add', [
    graph.node('MatMul', [x, graph.constant(turned(weights), [centre.numbers.length, classes.length])]),
    graph.constant(intercept.numbers),
  ]);
  const s = graph.node('ReduceLogSumExp', [graph.node('Add', [u, graph.constant(prior.numbers)])], { axes: [1], keepdims: 1 });
  const nodes = known.shape[1];
  const odds = graph.node('Add', [graph.node('Mul', [s, graph.constant(row(known, 0))]), graph.constant(row(known, 1))]);
  const weigh = graph.constant(row(known, 2), [nodes, 1]);
  const none = graph.node('MatMul', [graph.node('Sigmoid', [graph.node('Neg', [odds])]), weigh]);
  const here = graph.node('MatMul', [graph.node('Sigmoid', [odds]), weigh]);

  const temperatures = hard.shape[1];
  const wide = graph.node('Unsqueeze', [u, graph.constant([1], [1], 'int64')]);
  const at = graph.node('Add', [graph.node('Mul', [wide, graph.constant(row(hard, 0), [temperatures, 1])]), graph.constant(prior.numbers)]);
  const each = graph.node('Mul', [graph.node('Softmax', [at], { axis: 2 }), graph.constant(row(hard, 1), [temperatures, 1])]);
  const p = graph.node('Mul', [here, graph.node('ReduceSum', [each, graph.constant([1], [1], 'int64')], { keepdims: 0 })]);
  graph.node('Cast', [p], { to: 'float' }, 'probabilities');
  graph.node('Cast', [none], { to: 'float' }, 'none');

  const bytes = graph.model({
    inputs: network ? { picture: ['uint8', 'height', 'width', 3] } : { embedding: ['float', 'rows', d] },
    outputs: { probabilities: ['float', 'rows', classes.length], none: ['float', 'rows', 1], ...(network && { embedding: ['float', 'rows', d] }) },
    about: `A classifier of metaqda: ${network ? 'a picture (RGB, of any size)' : 'embeddings, a row for each,'} to probabilities of the classes, in the order of the metadata “classes”, and of none of them. Each row sums to one.`,
    facts: { classes: meta.classes, extractor: meta.extractor, name: meta.name },
  });
  return { bytes, dimension: d, classes };
}

/** Weights as MatMul takes them: columns for rows. @param {Tensor} tensor */
function turned({ shape: [rows, d], numbers }) {
  const out = new Float64Array(numbers.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < d; j++) out[j * rows + i] = numbers[i * d + j];
  return out;
}

/** The doubles of the file, by their names. @param {Uint8Array} file */
function plain(file) {
  const meta = metadataOf(file) ?? {};
  if (meta.format !== 'metaqda.plain' || !['2', '3'].includes(meta.version))
    throw new Error('These are not the numbers of a classifier as this version exports them: export it anew.');
  return {
    meta,
    tensors: Object.fromEntries(
      Object.entries(shapesOf(file)).map(([name, shape]) => [name, { shape, numbers: new Float64Array(tensorOf(file, name).buffer) }]),
    ),
  };
}

/** Nodes and constants in the order in which they are computed. */
export class Graph {
  /** @type {Uint8Array[]} */
  #nodes = [];
  /** @type {Uint8Array[]} */
  #constants = [];
  #count = 0;

  /**
   * @param {string} operator @param {string[]} inputs @param {Record<string, number|number[]|string|Uint8Array>} [attributes] numbers, `to` by the name of a type, other texts, a graph as its bytes @param {string} [output] its name
   * @returns {string} the name of the output
   */
  node(operator, inputs, attributes = {}, output = `${operator.toLowerCase()}${this.#count++}`) {
    this.#nodes.push(
      message([
        ...inputs.map((name) => field(1, text(name))),
        field(2, text(output)),
        field(3, text(output)),
        field(4, text(operator)),
        ...Object.entries(attributes).map(([name, value]) =>
          field(5, message([field(1, text(name)), ...attribute(name === 'to' ? TYPES[/** @type {Type} */ (value)] : value)])),
        ),
      ]),
    );
    return output;
  }

  /**
   * Repeats nodes.
   *
   * @param {string} rounds how often, a scalar @param {string} start of doubles @param {(number|string)[]} sides of it @param {(round: string, value: string) => string} body the next value
   * @returns {string} the last value
   */
  loop(rounds, start, sides, body) {
    const [outer, id] = [this.#nodes, this.#count++];
    this.#nodes = [];
    const [round, on, value] = ['round', 'on', 'value'].map((name) => `${name}${id}`);
    const next = body(round, value);
    const still = this.node('Identity', [on]);
    const graph = message([
      ...this.#nodes.map((one) => field(1, one)),
      field(2, text(`body${id}`)),
      ...values({ [round]: ['int64'], [on]: ['bool'], [value]: ['double', ...sides] }, 11),
      ...values({ [still]: ['bool'], [next]: ['double', ...sides] }, 12),
    ]);
    this.#nodes = outer;
    return this.node('Loop', [rounds, '', start], { body: graph });
  }

  /** @param {ArrayLike<number>} numbers @param {number[]} [shape] @param {Type} [type] @returns {string} its name */
  constant(numbers, shape = [numbers.length], type = 'double') {
    const name = `constant${this.#constants.length}`;
    const [bytes, write] = WRITES[type];
    const view = new DataView(new ArrayBuffer(bytes * numbers.length));
    for (let i = 0; i < numbers.length; i++) write(view, bytes * i, numbers[i]);
    this.#constants.push(message([...shape.map((n) => number(1, n)), number(2, TYPES[type]), field(8, text(name)), field(9, new Uint8Array(view.buffer))]));
    return name;
  }

  /** @param {{inputs: Record<string, Value>, outputs: Record<string, Value>, about: string, facts: Record<string, string>}} parts inputs, outputs: by name */
  model({ inputs, outputs, about, facts }) {
    const graph = message([
      ...this.#nodes.map((one) => field(1, one)),
      field(2, text('classifier')),
      ...this.#constants.map((one) => field(5, one)),
      ...values(inputs, 11),
      ...values(outputs, 12),
    ]);
    return message([
      number(1, FORMAT),
      field(2, text('metaqda')),
      field(6, text(about)),
      field(7, graph),
      field(8, message([number(2, OPSET)])),
      ...Object.entries(facts).map(([key, value]) => field(14, message([field(1, text(key)), field(2, text(value))]))),
    ]);
  }
}

/** Inputs or outputs by their names. @param {Record<string, Value>} all @param {number} at number of their field */
const values = (all, at) =>
  Object.entries(all).map(([name, [type, ...shape]]) =>
    field(at, message([field(1, text(name)), field(2, message([field(1, message([number(1, TYPES[type]), field(2, message(shape.map(side)))]))]))])),
  );

/** @param {number|string} n */
const side = (n) => field(1, message([typeof n === 'string' ? field(2, text(n)) : number(1, n)]));

/** The fields of an attribute's value. @param {number|number[]|string|Uint8Array} value */
function attribute(value) {
  if (value instanceof Uint8Array) return [field(6, value), number(20, ATTRIBUTES.graph)];
  if (Array.isArray(value)) return [...value.map((one) => number(8, one)), number(20, ATTRIBUTES.ints)];
  return typeof value === 'string' ? [field(4, text(value)), number(20, ATTRIBUTES.string)] : [number(3, value), number(20, ATTRIBUTES.int)];
}

/** A message of its fields. @param {Uint8Array[]} fields */
const message = (fields) => concatenate(fields, Uint8Array);

/** A field of a whole number, not negative. @param {number} id @param {number} value */
const number = (id, value) => Uint8Array.from([...varintOf(8 * id), ...varintOf(value)]);
