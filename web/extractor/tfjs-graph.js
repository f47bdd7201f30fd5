// @ts-check
/** Reads the model.json of a TensorFlow.js graph. */
import { ExtractorError } from './errors.js';
import { concatenate } from './tensors.js';
import { elementBytes, elements } from './weights.js';

/** Parses a model.json. Throws an ExtractorError if it is not one of a graph. @param {string} name of the file @param {string} text of it @returns {any} the model */
export function modelOf(name, text) {
  /** @type {any} */
  let model;
  try {
    model = JSON.parse(text);
  } catch (error) {
    throw new ExtractorError(
      'extractor-model',
      `The file “${name}” is not the model.json of a TensorFlow.js graph (${/** @type {Error} */ (error).message}): choose that file.`,
    );
  }
  if (Array.isArray(model?.modelTopology?.node) && Array.isArray(model.weightsManifest)) return model;
  const layers = model?.format === 'layers-model' || model?.modelTopology?.model_config;
  throw new ExtractorError(
    'extractor-model',
    layers
      ? `The file “${name}” is a layers model: turn it into a graph model with tensorflowjs_converter (--input_format tfjs_layers_model --output_format tfjs_graph_model).`
      : `The file “${name}” is not the model.json of a TensorFlow.js graph: choose that file.`,
  );
}

/** The names of the files with the weights, in the order of the model. @param {any} model @returns {string[]} */
export const shardsOf = ({ weightsManifest }) => weightsManifest.flatMap((/** @type {any} */ { paths }) => paths);

/** The inputs, nodes, constants and outputs of the graph. @param {any} model @param {(name: string) => Uint8Array} shard reads a file of weights @returns {import('./own/propose.js').Graph} */
export function readTfjs(model, shard) {
  const plain = (/** @type {string} */ name) => name.replace(/^\^|:\d+$/g, '');
  /** @type {any[]} */
  const all = model.modelTopology.node;
  const nodes = all
    .filter(({ op }) => op !== 'Const' && op !== 'Placeholder')
    .map(({ op, name, input = [] }) => ({ op, inputs: input.map(plain), outputs: [name] }));
  const used = new Set(nodes.flatMap(({ inputs }) => inputs));
  const named = Object.values(model.signature?.outputs ?? {})
    .map(({ name }) => plain(name))
    .filter((name) => nodes.some(({ outputs }) => outputs[0] === name));
  return {
    inputs: all
      .filter(({ op }) => op === 'Placeholder')
      .map(({ name, attr }) => ({
        name,
        type: attr?.dtype?.type === 'DT_FLOAT' ? 'float32' : String(attr?.dtype?.type ?? 'unknown'),
        dims: (attr?.shape?.shape?.dim ?? []).map((/** @type {any} */ { size }) => (Number(size) > 0 ? Number(size) : -1)),
      })),
    nodes,
    constants: new Map([...all.filter(({ op }) => op === 'Const').map(({ name }) => /** @type {const} */ ([name, null])), ...smallOf(model, shard)]),
    outputs: named.length ? named : nodes.map(({ outputs }) => outputs[0]).filter((name) => !used.has(name)),
  };
}

/**
 * The constants of up to four float32 numbers, dequantised; those stored as float16 are left out. Weights lie one after
 * the other in the shards of their group.
 *
 * @param {any} model @param {(name: string) => Uint8Array} shard
 * @returns {[string, number[]][]}
 */
function smallOf({ weightsManifest }, shard) {
  /** @type {[string, number[]][]} */
  const found = [];
  for (const { paths, weights } of weightsManifest) {
    const bytes = concatenate(paths.map(shard), Uint8Array);
    let offset = 0;
    for (const spec of weights) {
      const { name, dtype, quantization } = spec;
      const count = elements(spec);
      const step = elementBytes[quantization?.dtype ?? dtype];
      if (!step) break; // a text has no fixed length, so the place of the next weight is not known
      if (dtype === 'float32' && quantization?.dtype !== 'float16' && count <= 4) {
        const view = new DataView(bytes.buffer, offset, count * step);
        const read = { 4: 'getFloat32', 2: 'getUint16', 1: 'getUint8' }[step];
        found.push([
          name,
          Array.from(
            { length: count },
            (_, i) => /** @type {any} */ (view)[/** @type {string} */ (read)](i * step, true) * (quantization?.scale ?? 1) + (quantization?.min ?? 0),
          ),
        ]);
      }
      offset += count * step;
    }
  }
  return found;
}
