// @ts-check
/**
 * Makes inner nodes of an ONNX model its outputs: ONNX Runtime answers outputs alone,
 * and the features of a classifier are what it computes just before them.
 *
 * A model is a protocol buffer: fields of a number and a kind, one after the other, in
 * which a later one is as good as an earlier one. So to add outputs is to append
 * fields: ModelProto.graph (7) grows by GraphProto.output (12), a ValueInfoProto with
 * the name (1) alone, whose type ONNX Runtime infers. All else stays byte for byte.
 */

/** What is wrong with the file, as the rest of a sentence that begins with its name. */
export class OnnxError extends Error {}

const broken = 'is not an ONNX model, or is cut short: take the .onnx file itself';

/**
 * @param {Uint8Array} model @param {string[]} names of the nodes' results
 * @returns {Uint8Array} the model itself where they are its outputs already
 */
export function expose(model, names) {
  const graph = [...fieldsOf(model, 0, model.length)].filter(({ number, kind }) => number === 7 && kind === 2).pop();
  if (!graph) throw new OnnxError(broken);
  const inside = [...fieldsOf(model, graph.from, graph.to)].filter(({ kind }) => kind === 2);
  const outputs = inside.filter(({ number }) => number === 12).map(({ from, to }) => textOf(model, from, to, 1)[0]);
  const results = inside.filter(({ number }) => number === 1).flatMap(({ from, to }) => textOf(model, from, to, 2));
  for (const name of names) {
    if (!outputs.includes(name) && !results.includes(name)) throw new OnnxError(`has no node whose result is called “${name}”${like(name, results)}: name another in the manifest’s “outputs”`);
  }
  const added = names.filter((name) => !outputs.includes(name)).map((name) => field(12, field(1, new TextEncoder().encode(name))));
  if (added.length === 0) return model;
  const grown = join([model.subarray(graph.from, graph.to), ...added]);
  return join([model.subarray(0, graph.start), field(7, grown), model.subarray(graph.to)]);
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
  for (let at = from; at < to;) {
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
  return [...fieldsOf(bytes, from, to)].filter(({ number, kind }) => number === wanted && kind === 2).map((one) => new TextDecoder().decode(bytes.subarray(one.from, one.to)));
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

/** @param {number} number @param {Uint8Array} content */
function field(number, content) {
  return join([Uint8Array.from([...varintOf(number * 8 + 2), ...varintOf(content.length)]), content]);
}

/** @param {number} value */
function varintOf(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
  return [...bytes, value];
}

/** @param {Uint8Array[]} parts */
function join(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
