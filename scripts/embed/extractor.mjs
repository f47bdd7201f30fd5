// @ts-check
/** Extractors in Node: the page's own, and any with a manifest, by the same built runtimes, preprocessing and checks. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { checked } from '../../web/extractor/own/function.js';
import { checkFiles, decodeManifest } from '../../web/extractor/manifest.js';
import { filesOf, listed, variantOf } from '../../web/extractor/networks.js';
import { preprocess } from '../../web/extractor/preprocess.js';
import { cellsOf, inTurn, meanOf } from '../../web/extractor/session.js';
import { Complaint } from './complaint.mjs';
import { decodeSound } from './hear.mjs';

const site = fileURLToPath(new URL('../../build/site/', import.meta.url));
export const builtExtractor = path.join(site, 'extractor');
/** The built extractors by the kind of their input. @type {Record<string, string>} */
export const builtKinds = { pictures: builtExtractor, sounds: path.join(site, 'kinds/sounds'), hands: path.join(site, 'kinds/hands') };

/** @typedef {import('../../web/extractor/manifest.js').Manifest} Manifest */
/** @typedef {import('../../web/extractor/preprocess.js').Pixels} Pixels */
/** @typedef {Pick<Manifest, 'inputSize' | 'views'>} Recipe */
/** @typedef {{recipe?: Recipe, variant?: string}} Options a recipe in place of the manifest's; variant: of the page's own */

/**
 * @typedef {object} NodeExtractor
 * @property {string} id @property {string} sha256 @property {number} dimension
 * @property {Manifest['takes']} takes what embed is given: pixels, or a file's bytes
 * @property {(input: any) => Promise<Float32Array>} embed
 * @property {(pixels: Pixels) => Promise<import('../../web/extractor/session.js').Cells | null>} [cells] of a network of pictures
 */

/**
 * @param {string} [place] folder that web/build/extractor.mjs wrote, or a manifest with its files beside it
 * @param {Options} [options]
 * @returns {Promise<NodeExtractor>}
 */
export async function loadExtractor(place = builtExtractor, options = {}) {
  if (!(await stat(place)).isDirectory()) return loadManifest(place, options);
  const record = variantOf(JSON.parse(await readFile(path.join(place, 'extractor.json'), 'utf8')), options.variant);
  const [wasm, ...contents] = await Promise.all([record.program, ...listed(record)].map(({ name }) => buffer(path.join(place, name))));
  const files = /** @type {any} */ (filesOf(record, contents, wasm));
  const { id, sha256, dimension } = record;
  if (!record.networks) return network({ ...files, sha256, module: path.join(place, 'runtime.js') }, options);
  const { embed } = await (await import(pathToFileURL(path.join(place, 'start.js')).href)).start(files);
  const facts = { id, sha256, dimension };
  return place === builtKinds.sounds ? { ...facts, takes: 'file', embed: async (file) => embed(await decodeSound(file)) } : { ...facts, takes: 'picture', embed };
}

/** @param {string} file @param {Options} options @returns {Promise<NodeExtractor>} */
async function loadManifest(file, options) {
  const folder = path.dirname(file);
  const manifest = decodeManifest(await readFile(file, 'utf8'));
  const { sha256, contents } = await checkFiles(manifest, (name) => readFile(path.join(folder, name)).then((bytes) => new Uint8Array(bytes), () => undefined));
  return manifest.runtime === 'function' ? functionOf(folder, manifest, sha256, contents) : networkOf({ manifest, sha256, contents }, options);
}

/**
 * Another network than the page's own.
 *
 * @param {{manifest: Manifest, sha256: string, contents: Map<string, ArrayBuffer>}} loaded @param {Options} [options]
 */
export async function networkOf({ manifest, sha256, contents }, options = {}) {
  const onnx = manifest.runtime === 'onnx';
  const list = onnx ? path.join(site, 'networks/networks.json') : path.join(builtExtractor, 'extractor.json');
  const built = JSON.parse(await readFile(list, 'utf8').catch(() => { throw new Complaint("What runs other networks is not built yet; run 'make build' first."); }));
  const program = onnx ? path.join(site, 'networks', built.onnx.name) : path.join(builtExtractor, built.program.name);
  return network({ manifest, sha256, contents, module: path.join(site, 'networks', onnx ? 'onnx.js' : 'graphs.js'), wasm: await buffer(program) }, options);
}

/**
 * @param {{manifest: Manifest, sha256: string, contents: Map<string, ArrayBuffer>, module: string, wasm: ArrayBuffer}} loaded
 * @param {Options} options
 */
async function network({ manifest, sha256, contents, module, wasm }, { recipe }) {
  const used = { ...manifest, ...recipe };
  const { id, dimension, takes, inputSize, views } = used;
  const { createRuntime } = await import(pathToFileURL(module).href);
  /** @type {import('../../web/extractor/session.js').Runtime} */
  const runtime = await createRuntime({ manifest: used, contents, wasm });
  const inputs = (/** @type {Pixels} */ pixels) => preprocess(pixels, inputSize, views);
  return {
    id, sha256, dimension, takes,
    embed: async (/** @type {Pixels} */ pixels) => checked(meanOf(await inTurn(inputs(pixels), runtime.run)), dimension),
    cells: async (/** @type {Pixels} */ pixels) => cellsOf(await inTurn(inputs(pixels), /** @type {NonNullable<typeof runtime.look>} */ (runtime.look)), views, pixels, dimension),
    shapes: async () => runtime.shapes?.(new Float32Array(3 * inputSize * inputSize)) ?? [],
    close: runtime.close,
  };
}

/** @param {string} folder @param {Manifest} manifest @param {string} sha256 @param {Map<string, ArrayBuffer>} contents @returns {Promise<NodeExtractor>} */
async function functionOf(folder, manifest, sha256, contents) {
  const { id, dimension, takes, files: [{ name }] } = manifest;
  const make = (await import(pathToFileURL(path.resolve(folder, name)).href)).default;
  if (typeof make !== 'function') throw new Complaint(`The module '${name}' has no function as its default export; see web/extractor/README.md.`);
  const embed = await make({
    manifest,
    read: (/** @type {string} */ file) => new Uint8Array(contents.get(file) ?? (() => { throw new Complaint(`'${name}' reads '${file}', which the manifest does not list; add it to "files".`); })()),
  });
  return { id, sha256, dimension, takes, embed: async (input) => checked(await embed(input), dimension) };
}

/** @param {string} file */
const buffer = async (file) => new Uint8Array(await readFile(file)).buffer;
