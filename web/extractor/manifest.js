// @ts-check
/**
 * An extractor's manifest: its network, its files, the network's input, and the output that is the
 * embedding. JSON; README.md describes each field.
 *
 * Manifests come from people, so everything is checked before anything is loaded, sizes first.
 * Unknown fields are refused: a misspelt one would go unnoticed and change the numbers.
 *
 * The identity of an extractor is the sha256 of the contents of its files, one after the other as
 * listed, and of recipeText. The numbers of an embedding depend on nothing else. The licence and the
 * division of weights into files are not included.
 */
import { ExtractorError } from './errors.js';
import { filter } from './preprocess.js';

/** @import {View} from './preprocess.js' */
/** @typedef {'tfjs-graph' | 'onnx' | 'function'} RuntimeName */
/** @typedef {'none' | 'mean' | 'first' | 'rest'} Pooling */
/** @typedef {{node: string, pooling: Pooling}} Output */
/** @typedef {{name: string, bytes: number, sha256: string}} ManifestFile */

/**
 * @typedef {object} Manifest
 * @property {typeof format} format
 * @property {string} id names network, version and views
 * @property {string} [sha256] the identity; computed from the rest if left out
 * @property {RuntimeName} runtime
 * @property {ManifestFile[]} files the model first; for a function its module
 * @property {number} dimension length of an embedding
 * @property {'picture' | 'file'} takes input of the extractor; whole files are for functions
 * @property {number} inputSize edge of the network's square input, in pixels
 * @property {View[]} views parts of each picture that the network gets
 * @property {'NHWC' | 'NCHW'} layout of the input, and of outputs that have height and width
 * @property {'RGB' | 'BGR'} channels
 * @property {[number, number]} range values of black and white, before mean and std
 * @property {number[]} mean by channel, subtracted @property {number[]} std by channel, divided by
 * @property {string} [inputName] needed if the network has more than one input
 * @property {Output[]} [outputs] joined to the embedding; if left out, those that a graph's file names
 * @property {string} licence of the network, as text
 */

export const format = 'metaqda-extractor-1';

/** Bounds of a manifest's values. They catch mistakes, but do not guarantee that a network fits. */
const most = /** @type {const} */ ({
  text: 1 << 18,
  files: 64,
  fileBytes: 2 ** 29,
  bytes: 2 ** 30,
  dimension: 8192,
  inputSize: 1024,
  views: 16,
  outputs: 16,
  name: 500,
  licence: 20_000,
});

const fields = [
  'format',
  'id',
  'sha256',
  'runtime',
  'files',
  'dimension',
  'takes',
  'inputSize',
  'views',
  'layout',
  'channels',
  'range',
  'mean',
  'std',
  'inputName',
  'outputs',
  'licence',
];

/** An invalid field of a manifest, and what to write there. */
export class ManifestError extends ExtractorError {
  /** @param {string} field such as files[0].sha256 @param {string} trouble what is wrong and what to do */
  constructor(field, trouble) {
    super('extractor-manifest', `The manifest’s ${field ? `“${field}”` : 'text'} ${trouble}.`);
    this.field = field;
  }
}

/**
 * Reads a manifest.
 *
 * @param {unknown} given its text, or what JSON.parse made of it
 * @returns {Manifest} with defaults filled in; throws a ManifestError
 */
export function decodeManifest(given) {
  const all = object(parsed(given), '', fields);
  if (all.format !== format) throw new ManifestError('format', `is ${shown(all.format)}: write ${JSON.stringify(format)}`);
  const runtime = /** @type {RuntimeName} */ (choice(all.runtime, 'runtime', ['tfjs-graph', 'onnx', 'function']));
  const takes = /** @type {'picture' | 'file'} */ (choice(all.takes ?? 'picture', 'takes', runtime === 'function' ? ['picture', 'file'] : ['picture']));
  const scale = scaleOf(all);
  /** @type {Manifest} */
  const manifest = {
    format,
    id: text(all.id, 'id', 100),
    runtime,
    files: list(all.files, 'files', most.files).map((file, i) => fileOf(file, `files[${i}]`)),
    dimension: whole(all.dimension, 'dimension', 1, most.dimension),
    takes,
    inputSize: takes === 'file' ? 0 : whole(all.inputSize, 'inputSize', 8, most.inputSize),
    views: takes === 'file' ? [] : list(all.views, 'views', most.views).map((view, i) => viewOf(view, `views[${i}]`)),
    layout: /** @type {Manifest['layout']} */ (choice(all.layout ?? 'NHWC', 'layout', ['NHWC', 'NCHW'])),
    channels: /** @type {Manifest['channels']} */ (choice(all.channels ?? 'RGB', 'channels', ['RGB', 'BGR'])),
    ...scale,
    licence: text(all.licence, 'licence', most.licence),
  };
  if (all.sha256 !== undefined) manifest.sha256 = digest(all.sha256, 'sha256');
  if (all.inputName !== undefined) manifest.inputName = text(all.inputName, 'inputName', most.name);
  if (all.outputs !== undefined) manifest.outputs = list(all.outputs, 'outputs', most.outputs).map((output, i) => outputOf(output, `outputs[${i}]`));
  checkTogether(manifest, all);
  return manifest;
}

/** @param {Manifest} manifest @param {Record<string, unknown>} all as it was given */
function checkTogether(manifest, all) {
  const { runtime, files, takes, outputs } = manifest;
  const names = files.map(({ name }) => name.toLowerCase());
  const twice = names.findIndex((name, i) => names.indexOf(name) < i);
  if (twice >= 0) throw new ManifestError(`files[${twice}].name`, `is “${files[twice].name}” a second time: list each file once`);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > most.bytes) throw new ManifestError('files', `come to ${bytes} bytes: a browser tab holds no more than ${most.bytes}`);
  if (runtime === 'onnx' && !outputs)
    throw new ManifestError('outputs', 'is missing: name the node that gives the embedding, [{"node": "...", "pooling": "none"}]');
  for (const name of ['inputSize', 'views', 'layout', 'channels', 'range', 'mean', 'std', 'inputName', 'outputs']) {
    const idle = takes === 'file' || (runtime === 'function' && !['inputSize', 'views'].includes(name));
    if (idle && all[name] !== undefined) throw new ManifestError(name, 'has no meaning for a function: leave it out');
  }
}

/**
 * The text to be hashed: all fields that affect the numbers of an embedding. Fields with default
 * values are not in the text. So a field that a later version adds changes no identity.
 *
 * @param {Pick<Manifest, 'inputSize' | 'views'> & Partial<Manifest>} manifest
 */
export function recipeText({ runtime = 'tfjs-graph', takes = 'picture', inputSize, views, layout, channels, range, mean, std, inputName, outputs, files }) {
  const same = (/** @type {number[] | undefined} */ a, /** @type {number[]} */ b) => a === undefined || a.every((value, i) => value === b[i]);
  return JSON.stringify({
    ...(takes === 'picture' ? { filter, inputSize, views: views.map(({ name, share }) => ({ name, share })) } : { takes }),
    runtime: runtime === 'tfjs-graph' ? undefined : runtime,
    layout: layout === 'NCHW' ? layout : undefined,
    channels: channels === 'BGR' ? channels : undefined,
    range: same(range, [0, 255]) ? undefined : range,
    mean: same(mean, [0, 0, 0]) ? undefined : mean,
    std: same(std, [1, 1, 1]) ? undefined : std,
    inputName,
    outputs: outputs?.map(({ node, pooling }) => ({ node, pooling })),
    // A function finds its files by name, a network by their order.
    files: runtime === 'function' ? files?.map(({ name }) => name) : undefined,
  });
}

/** @param {BlobPart[]} parts @returns {Promise<string>} in hex */
export async function sha256(...parts) {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await new Blob(parts).arrayBuffer()));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The identity of an extractor. @param {Manifest} manifest @param {BlobPart[]} contents of the files as listed */
export function identityOf(manifest, contents) {
  return sha256(...contents, recipeText(manifest));
}

/**
 * Compares files with the manifest.
 *
 * @param {Manifest} manifest
 * @param {(name: string) => Promise<Blob | Uint8Array<ArrayBuffer> | undefined>} find a file by its name, nothing where there is none
 * @returns {Promise<{sha256: string, contents: Map<string, ArrayBuffer>}>} the identity and the files; throws an ExtractorError
 */
export async function checkFiles(manifest, find) {
  if (!globalThis.crypto?.subtle) {
    throw new ExtractorError(
      'extractor-files',
      'This page was not opened over https, so the browser cannot check or keep files: open it over https, or on this device as localhost.',
    );
  }
  /** @type {Map<string, ArrayBuffer>} */
  const contents = new Map();
  for (const { name, bytes, sha256: expected } of manifest.files) {
    const found = await find(name);
    if (!found) throw new ExtractorError('extractor-files', `The file “${name}” that the manifest lists is missing: give it together with the manifest.`);
    const size = found instanceof Uint8Array ? found.byteLength : found.size;
    if (size !== bytes)
      throw new ExtractorError(
        'extractor-files',
        `The file “${name}” has ${size} bytes, and the manifest says ${bytes}: take the file that the manifest was written for, or put its size and sha256 into the manifest.`,
      );
    const content = await new Blob([found]).arrayBuffer();
    const hash = await sha256(content);
    if (hash !== expected)
      throw new ExtractorError(
        'extractor-files',
        `The file “${name}” is not the one of the manifest (its sha256 is ${hash}): take the file that the manifest was written for, or put this sha256 into the manifest.`,
      );
    contents.set(name, content);
  }
  const identity = await identityOf(manifest, [...contents.values()]);
  if (manifest.sha256 !== undefined && manifest.sha256 !== identity) {
    throw new ManifestError('sha256', `differs from the sha256 of the files and the other fields, ${identity}: write that, or leave the field out`);
  }
  return { sha256: identity, contents };
}

/** @param {unknown} given */
function parsed(given) {
  if (typeof given !== 'string') return given;
  if (given.length > most.text) throw new ManifestError('', `has ${given.length} characters: the most are ${most.text}`);
  try {
    return JSON.parse(given);
  } catch (error) {
    throw new ManifestError('', `is not JSON (${/** @type {Error} */ (error).message.replace(/\.$/, '')}): correct it there`);
  }
}

/** @param {Record<string, unknown>} all */
function scaleOf(all) {
  const range = /** @type {[number, number]} */ (numbers(all.range ?? [0, 255], 'range', 2));
  if (range[0] === range[1]) throw new ManifestError('range', 'has the same number twice: write the values of black and white, such as [0, 1]');
  if (all.range === undefined && (all.mean ?? all.std) !== undefined) {
    throw new ManifestError('range', 'is missing: write the scale of mean and std, [0, 1] for values such as 0.485, [0, 255] for bytes');
  }
  const mean = numbers(all.mean ?? [0, 0, 0], 'mean', 3);
  const std = numbers(all.std ?? [1, 1, 1], 'std', 3);
  const flat = std.findIndex((value) => value <= 0);
  if (flat >= 0) throw new ManifestError(`std[${flat}]`, `is ${std[flat]}: values are divided by it, so write a number greater than 0`);
  return { range, mean, std };
}

/** @param {unknown} given @param {string} at @returns {ManifestFile} */
function fileOf(given, at) {
  const { name, bytes, sha256: hash } = object(given, at, ['name', 'bytes', 'sha256']);
  const known = text(name, `${at}.name`, most.name);
  if (/[\\\0]|^\/|^\w:|(^|\/)\.{0,2}(\/|$)/.test(known))
    throw new ManifestError(`${at}.name`, `is ${shown(known)}: write the file’s name beside the manifest, such as model.onnx`);
  return { name: known, bytes: whole(bytes, `${at}.bytes`, 1, most.fileBytes), sha256: digest(hash, `${at}.sha256`) };
}

/** @param {unknown} given @param {string} at @returns {View} */
function viewOf(given, at) {
  const { name, share } = object(given, at, ['name', 'share']);
  const view = { name: text(name, `${at}.name`, 100) };
  if (share === undefined) return view;
  if (!(typeof share === 'number' && share > 0 && share <= 1))
    throw new ManifestError(
      `${at}.share`,
      `is ${shown(share)}: write the view’s side as a share of the largest square’s, above 0 and up to 1; leave it out for the whole picture`,
    );
  return { ...view, share };
}

/** @param {unknown} given @param {string} at @returns {Output} */
function outputOf(given, at) {
  const { node, pooling } = object(given, at, ['node', 'pooling', 'map']); // older manifests name a map, which is ignored
  return {
    node: text(node, `${at}.node`, most.name),
    pooling: /** @type {Pooling} */ (choice(pooling ?? 'none', `${at}.pooling`, ['none', 'mean', 'first', 'rest'])),
  };
}

/** @param {unknown} value @param {string} at @param {string[]} known fields @returns {Record<string, unknown>} */
function object(value, at, known) {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ManifestError(at, `is ${shown(value)}, not an object in braces: write {"${known[0]}": ...}`);
  const strange = Object.keys(value).find((key) => !known.includes(key));
  if (strange !== undefined)
    throw new ManifestError(`${at ? `${at}.` : ''}${strange.slice(0, 60)}`, `is an unknown field: leave it out, or write one of ${known.join(', ')}`);
  return /** @type {Record<string, unknown>} */ (value);
}

/** @param {unknown} value @param {string} at @param {number} longest @returns {unknown[]} */
function list(value, at, longest) {
  if (!Array.isArray(value) || value.length === 0 || value.length > longest)
    throw new ManifestError(at, `is ${Array.isArray(value) ? `a list of ${value.length}` : shown(value)}: write a list of 1 to ${longest}`);
  return value;
}

/** @param {unknown} value @param {string} at @param {number} longest */
function text(value, at, longest) {
  if (typeof value !== 'string' || value.trim() === '' || value.length > longest)
    throw new ManifestError(
      at,
      `is ${typeof value === 'string' && value.length > longest ? `${value.length} characters long` : shown(value)}: write a text of 1 to ${longest} characters`,
    );
  return value;
}

/** @param {unknown} value @param {string} at @param {number} least @param {number} largest */
function whole(value, at, least, largest) {
  if (!(Number.isInteger(value) && Number(value) >= least && Number(value) <= largest))
    throw new ManifestError(at, `is ${shown(value)}: write a whole number from ${least} to ${largest}`);
  return Number(value);
}

/** @param {unknown} value @param {string} at @param {number} count */
function numbers(value, at, count) {
  if (!Array.isArray(value) || value.length !== count || !value.every((one) => typeof one === 'number' && Number.isFinite(one) && Math.abs(one) <= 1e6)) {
    throw new ManifestError(at, `is ${shown(value)}: write ${count} numbers`);
  }
  return /** @type {number[]} */ ([...value]);
}

/** @param {unknown} value @param {string} at @param {string[]} known */
function choice(value, at, known) {
  if (typeof value !== 'string' || !known.includes(value))
    throw new ManifestError(at, `is ${shown(value)}: write ${known.map((one) => JSON.stringify(one)).join(' or ')}`);
  return value;
}

/** @param {unknown} value @param {string} at */
function digest(value, at) {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value))
    throw new ManifestError(at, `is ${shown(value)}: write 64 hexadecimal digits, as sha256sum prints them`);
  return value;
}

/** The value of a field for a message, shortened. @param {unknown} value */
function shown(value) {
  if (value === undefined) return 'missing';
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 60 ? `${json.slice(0, 57)}…` : json;
}
