// @ts-check
/**
 * Cuts a TensorFlow.js graph model down to the ancestors of chosen nodes.
 * The weights stay byte for byte as published (float16 where they were).
 */

/** Bytes one element takes in the weight file. @type {Record<string, number>} */
const elementBytes = { float16: 2, uint8: 1, uint16: 2, float32: 4, int32: 4, bool: 1 };

/**
 * @param {any} graph parsed model.json of a graph model with one weight group
 * @param {Uint8Array} packed its weight file
 * @param {string[]} outputNames nodes to keep, each the global average of a feature map
 * @returns {{model: any, weights: Uint8Array, dimension: number}}
 *   dimension: the channels of all outputs together
 */
export function pruneGraph(graph, packed, outputNames) {
  /** @type {Map<string, any>} */
  const nodes = new Map(graph.modelTopology.node.map((/** @type {any} */ n) => [n.name, n]));
  const kept = ancestors(nodes, outputNames);
  const topology = graph.modelTopology.node
    .filter((/** @type {any} */ n) => kept.has(n.name))
    .map(withFreeShape);
  const inputs = topology.filter((/** @type {any} */ n) => n.op === 'Placeholder');
  if (inputs.length !== 1) throw new Error(`Expected one input, found ${inputs.length}.`);
  const { weights, specs } = selectWeights(graph.weightsManifest[0].weights, packed, kept);
  const model = {
    format: 'graph-model',
    generatedBy: graph.generatedBy,
    convertedBy: graph.convertedBy,
    inputName: inputs[0].name,
    outputNames,
    modelTopology: { ...graph.modelTopology, node: topology },
    weightsManifest: [{ paths: ['weights.bin'], weights: specs }],
  };
  const dimension = outputNames.reduce((sum, name) => sum + channels(nodes, specs, name), 0);
  return { model, weights, dimension };
}

/** @param {string} input a node's input reference: ^name, name or name:port */
const sourceName = (input) => input.replace(/^\^/, '').replace(/:\d+$/, '');

/** @param {Map<string, any>} nodes @param {string[]} names @returns {Set<string>} */
function ancestors(nodes, names) {
  const kept = new Set();
  const waiting = [...names];
  while (waiting.length > 0) {
    const name = /** @type {string} */ (waiting.pop());
    if (kept.has(name)) continue;
    const node = nodes.get(name);
    if (!node) throw new Error(`The graph has no node '${name}'.`);
    kept.add(name);
    waiting.push(...(node.input ?? []).map(sourceName));
  }
  return kept;
}

/**
 * The published input is fixed at 512 x 512; the averages work at any size.
 * @param {any} node
 */
function withFreeShape(node) {
  if (node.op !== 'Placeholder') return node;
  const dim = ['-1', '-1', '-1', '3'].map((size) => ({ size }));
  return { ...node, attr: { ...node.attr, shape: { shape: { dim } } } };
}

/** @param {any} spec */
function byteLength(spec) {
  const type = spec.quantization?.dtype ?? spec.dtype;
  const each = elementBytes[type];
  if (!each) throw new Error(`Weight '${spec.name}' has the unknown type '${type}'.`);
  return each * spec.shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
}

/**
 * @param {any[]} specs @param {Uint8Array} packed @param {Set<string>} kept
 * @returns {{weights: Uint8Array, specs: any[]}}
 */
function selectWeights(specs, packed, kept) {
  /** @type {Uint8Array[]} */
  const parts = [];
  const chosen = [];
  let offset = 0;
  for (const spec of specs) {
    const size = byteLength(spec);
    if (kept.has(spec.name)) {
      parts.push(packed.subarray(offset, offset + size));
      chosen.push(spec);
    }
    offset += size;
  }
  if (offset !== packed.length) throw new Error(`The weight file has ${packed.length} bytes, expected ${offset}.`);
  return { weights: new Uint8Array(Buffer.concat(parts)), specs: chosen };
}

/**
 * Channels of an averaged feature map: breadth first up to the convolution that
 * made it, then the shape of its filter, [h, w, in, out] or depthwise
 * [h, w, in, multiplier].
 * @param {Map<string, any>} nodes @param {any[]} specs @param {string} name
 * @returns {number}
 */
function channels(nodes, specs, name) {
  const waiting = [name];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const node = nodes.get(next);
    const filter = specs.find((s) => s.name === node.input?.[1])?.shape;
    if (node.op === '_FusedConv2D') return filter[3];
    if (node.op === 'FusedDepthwiseConv2dNative') return filter[2] * filter[3];
    waiting.push(...(node.input ?? []).map(sourceName));
  }
  throw new Error(`No convolution leads to '${name}'.`);
}
