// @ts-check
/**
 * The page's network of pictures as nodes of ONNX: from the bytes of a picture of any size to its embedding.
 *
 * A picture is reduced as web/extractor/preprocess.js does it, to the bit, with the weights
 *
 *   w_ij = max(0, 1 - |j + 1/2 - c_i| / max(1, r)),  c_i = (i + 1/2) r,  r = side/size, normalised over j
 *
 * First the width is reduced and rounded, then the height. The nodes of the network are those of web/extractor/NETWORK/model.json.
 * Weights stay in 8 bits, with a scale for each channel.
 */

/** @typedef {import('./onnx.js').Graph} Graph */
/** @typedef {import('../extractor/weights.js').Spec} Spec */
/** @typedef {import('../extractor/preprocess.js').View} View */
/** @typedef {{inputSize: number, views: View[], layout: string, channels: string, range: [number, number], mean: number[], std: number[], outputs: {node: string, pooling: string}[]}} Recipe the manifest of the network */
/** @typedef {{name: string, op: string, input?: string[], attr?: Record<string, any>}} Node */
/** @typedef {{recipe: Recipe, model: {modelTopology: {node: Node[]}, weightsManifest: {weights: Spec[]}[]}, weights: Uint8Array}} Network */

/** The largest answer of the activation, which cuts off there and at zero. */
const RELU6 = 6;

/**
 * @param {Graph} graph @param {Network} network @param {string} input picture of shape [height, width, 3], bytes
 * @returns {string} its embedding, of shape [1, dimension], in single precision
 */
export function embeddingOf(graph, { recipe, model, weights }, input) {
  const {
    inputSize,
    views,
    layout,
    channels,
    range: [lo, hi],
    mean,
    std,
    outputs: [output, ...others],
  } = recipe;
  if (layout !== 'NHWC' || channels !== 'RGB' || others.length || output.pooling !== 'mean')
    throw new Error('The network of this site cannot be written as ONNX: choose “A page”.');
  const planes = graph.node('Transpose', [input], { perm: [2, 0, 1] });
  const shape = graph.node('Shape', [planes]);
  const side = (/** @type {number} */ axis) => graph.node('Gather', [shape, graph.constant([axis], [1], 'int64')]);
  const sides = [side(1), side(2)];
  const reduced = views.map((view) => reduce(graph, crop(graph, planes, sides, view), inputSize));
  const pixels = graph.node('Cast', [graph.node('Concat', reduced, { axis: 0 })], { to: 'float' });
  const scale = (hi - lo) / 255;
  const fed = graph.node('Add', [
    graph.node('Mul', [
      pixels,
      graph.constant(
        std.map((s) => scale / s),
        [3, 1, 1],
        'float',
      ),
    ]),
    graph.constant(
      std.map((s, c) => (lo - mean[c]) / s),
      [3, 1, 1],
      'float',
    ),
  ]);
  const answer = convolved(graph, model, weights, fed, output.node);
  return graph.node('ReduceMean', [graph.node('ReduceMean', [answer], { axes: [2, 3], keepdims: 0 })], { axes: [0], keepdims: 1 }); // over cells, then over views
}

/** A view of a picture. @param {Graph} graph @param {string} planes of shape [3, height, width] @param {string[]} sides @param {View} view */
function crop(graph, planes, [height, width], { share }) {
  if (share === undefined) return { planes, height, width };
  const shorter = graph.node('Cast', [graph.node('Min', [height, width])], { to: 'double' });
  const rounded = graph.node('Floor', [graph.node('Add', [graph.node('Mul', [shorter, graph.constant([share])]), graph.constant([0.5])])]);
  const side = graph.node('Max', [graph.node('Cast', [rounded], { to: 'int64' }), graph.constant([1], [1], 'int64')]);
  const two = graph.constant([2], [1], 'int64');
  const starts = graph.node(
    'Concat',
    [height, width].map((whole) => graph.node('Div', [graph.node('Sub', [whole, side]), two])),
    { axis: 0 },
  );
  const middle = graph.node('Slice', [planes, starts, graph.node('Add', [starts, side]), graph.constant([1, 2], [2], 'int64')]);
  return { planes: middle, height: side, width: side };
}

/** To a square of whole numbers. @param {Graph} graph @param {{planes: string, height: string, width: string}} view @param {number} size @returns {string} of shape [1, 3, size, size] */
function reduce(graph, { planes, height, width }, size) {
  const edge = graph.constant([size], [1], 'int64');
  const narrow = weighed(graph, planes, 2, taps(graph, width, size), height, edge);
  return graph.node('Unsqueeze', [weighed(graph, narrow, 1, taps(graph, height, size), edge, edge), graph.constant([0], [1], 'int64')]);
}

/** @typedef {{first: string, last: string, weights: string, most: string}} Taps first source pixel of each output, the last of all, the weights w_ij from the first on, and how many there are */

/**
 * One axis reduced and rounded. The sum starts at one half, and taps are added one after the other, as in the page. If a pixel
 * lies just between two whole numbers, the last bit of the sum decides how it is rounded.
 *
 * @param {Graph} graph @param {string} planes of shape [3, height, width] @param {1|2} axis @param {Taps} taps of it @param {string} height @param {string} width of the result
 */
function weighed(graph, planes, axis, { first, last, weights, most }, height, width) {
  const shape = graph.node('Concat', [graph.constant([3], [1], 'int64'), height, width], { axis: 0 });
  const sum = graph.loop(most, graph.node('Expand', [graph.constant([0.5]), shape]), [3, 'rows', 'columns'], (round, value) => {
    const source = graph.node('Gather', [planes, graph.node('Min', [graph.node('Add', [first, round]), last])], { axis });
    const weight = graph.node('Gather', [weights, round], { axis: 1 });
    const along = axis === 2 ? weight : graph.node('Unsqueeze', [weight, graph.constant([1], [1], 'int64')]);
    return graph.node('Add', [value, graph.node('Mul', [along, graph.node('Cast', [source], { to: 'double' })])]);
  });
  return graph.node('Floor', [sum]);
}

/** @param {Graph} graph @param {string} side @param {number} size @returns {Taps} */
function taps(graph, side, size) {
  const [zero, half, one] = [0, 0.5, 1].map((value) => graph.constant([value]));
  const scalar = (/** @type {number} */ value) => graph.constant([value], [], 'int64');
  const add = (/** @type {string} */ a, /** @type {string} */ b) => graph.node('Add', [a, b]);
  const sub = (/** @type {string} */ a, /** @type {string} */ b) => graph.node('Sub', [a, b]);
  const n = graph.node('Cast', [side], { to: 'double' });
  const ratio = graph.node('Div', [n, graph.constant([size])]);
  const reach = graph.node('Max', [ratio, one]);
  const centres = graph.node('Mul', [
    graph.constant(
      Array.from({ length: size }, (_, i) => i + 0.5),
      [size, 1],
    ),
    ratio,
  ]);
  const from = graph.node('Max', [zero, graph.node('Floor', [add(sub(centres, reach), half)])]);
  const to = graph.node('Min', [n, graph.node('Floor', [add(add(centres, reach), half)])]);
  const most = add(graph.node('Squeeze', [graph.node('Cast', [graph.node('Ceil', [add(reach, reach)])], { to: 'int64' })]), scalar(1));
  const places = add(from, graph.node('Cast', [graph.node('Range', [scalar(0), most, scalar(1)])], { to: 'double' }));
  const far = graph.node('Div', [graph.node('Abs', [sub(add(places, half), centres)]), reach]);
  const inside = graph.node('Max', [graph.node('Min', [sub(to, places), one]), zero]);
  const weights = graph.node('Mul', [graph.node('Max', [sub(one, far), zero]), inside]);
  const sums = graph.node('CumSum', [weights, scalar(1)]); // one after the other, as the page adds them
  return {
    first: graph.node('Cast', [graph.node('Squeeze', [from, graph.constant([1], [1], 'int64')])], { to: 'int64' }),
    last: sub(side, graph.constant([1], [1], 'int64')),
    weights: graph.node('Div', [weights, graph.node('Gather', [sums, graph.constant([-1], [1], 'int64')], { axis: 1 })]),
    most,
  };
}

/** @param {Graph} graph @param {Network['model']} model @param {Uint8Array} stored @param {string} input of shape [views, 3, size, size] @param {string} last the node whose output is returned */
function convolved(graph, { modelTopology: { node: nodes }, weightsManifest }, stored, input, last) {
  const specs = new Map();
  let offset = 0;
  for (const spec of weightsManifest.flatMap(({ weights }) => weights)) {
    const count = spec.shape.reduce((a, b) => a * b, 1);
    const scales = spec.quantization ? spec.shape[Number(spec.quantization.axis)] : 0;
    const bytes = spec.quantization ? 4 * scales + count : 4 * count;
    specs.set(spec.name, { ...spec, count, scales, bytes: stored.slice(offset, offset + bytes).buffer });
    offset += bytes;
  }
  if (offset !== stored.length) throw new Error('The weights of the network are not those that it lists: reload the page.');
  /** @type {Map<string, string>} */
  const made = new Map();
  for (const { name, op, input: from = [], attr = {} } of nodes) {
    const of = (/** @type {number} */ i) => /** @type {string} */ (made.get(from[i]));
    if (op === 'Placeholder') made.set(name, input);
    else if (op === 'AddV2') made.set(name, graph.node('Add', [of(0), of(1)]));
    else if (/Conv2[dD]/.test(op)) {
      const deep = op === 'FusedDepthwiseConv2dNative';
      const { kernel, channels } = kernelOf(graph, specs.get(from[1]), deep);
      const bias = specs.get(from[2]);
      const [, sy, sx] = attr.strides.list.i.map(Number);
      const sum = graph.node('Conv', [of(0), kernel, graph.constant(new Float32Array(bias.bytes), [bias.count], 'float')], {
        auto_pad: 'SAME_UPPER',
        strides: [sy, sx],
        group: deep ? channels : 1,
      });
      made.set(
        name,
        attr.fused_ops.list.s.length > 1 ? graph.node('Clip', [sum, graph.constant([0], [], 'float'), graph.constant([RELU6], [], 'float')]) : sum,
      );
    } else if (op !== 'Const') throw new Error(`The network of this site has the operation ${op}, which cannot be written as ONNX: choose “A page”.`);
  }
  return /** @type {string} */ (made.get(last));
}

/**
 * A kernel as ONNX has it, output channels first.
 *
 * @param {Graph} graph @param {Spec & {count: number, scales: number, bytes: ArrayBuffer}} spec of [height, width, in, out], or of [height, width, channels, 1] @param {boolean} deep
 */
function kernelOf(graph, { shape: [h, w, a, b], count, scales, bytes }, deep) {
  const [outer, inner] = deep ? [a, b] : [b, a];
  const from = new Int8Array(bytes, 4 * scales);
  const to = new Int8Array(count);
  let at = 0;
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) for (let cell = 0; cell < h * w; cell++) to[at++] = from[(cell * a + (deep ? o : i)) * b + (deep ? i : o)];
  }
  const scale = graph.constant(new Float32Array(bytes, 0, scales), [scales], 'float');
  return { kernel: graph.node('DequantizeLinear', [graph.constant(to, [outer, inner, h, w], 'int8'), scale], { axis: 0 }), channels: outer };
}
