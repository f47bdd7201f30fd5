// @ts-check
/** The page's extractor in Node: the same built runtime, graph and preprocessing. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { simdSupported } from '../../web/base/simd.js';
import { decodeManifest } from '../../web/extractor/manifest.js';
import { preprocess } from '../../web/extractor/preprocess.js';
import { inTurn, meanOf } from '../../web/extractor/session.js';

export const builtExtractor = fileURLToPath(new URL('../../build/site/extractor', import.meta.url));

/** @typedef {Pick<import('../../web/extractor/manifest.js').Manifest, 'inputSize' | 'views'>} Recipe */

/**
 * @param {string} [folder] what web/build/extractor.mjs wrote
 * @param {{simd?: boolean, recipe?: Recipe}} [options]
 *   simd false takes the plain binary; a recipe in place of the built one
 */
export async function loadExtractor(folder = builtExtractor, { simd = simdSupported(), recipe } = {}) {
  const read = async (/** @type {string} */ name) => new Uint8Array(await readFile(path.join(folder, name))).buffer;
  /** @type {import('../../web/extractor/download.js').ExtractorRecord} */
  const { runtimes, ...given } = JSON.parse(await readFile(path.join(folder, 'extractor.json'), 'utf8'));
  const manifest = { ...decodeManifest(given), ...recipe };
  const { createRuntime } = await import(pathToFileURL(path.join(folder, 'runtime.js')).href);
  const contents = new Map(await Promise.all(manifest.files.map(async ({ name }) => /** @type {const} */ ([name, await read(name)]))));
  /** @type {import('../../web/extractor/session.js').Runtime} */
  const runtime = await createRuntime({ manifest, contents, wasm: await read((simd ? runtimes.simd : runtimes.plain).name) });
  const { inputSize, views } = manifest;
  const inputs = (/** @type {import('../../web/extractor/preprocess.js').Pixels} */ pixels) => preprocess(pixels, inputSize, views);
  return {
    id: given.id, sha256: given.sha256, dimension: given.dimension,
    /** @param {import('../../web/extractor/preprocess.js').Pixels} pixels */
    embed: async (pixels) => meanOf(await inTurn(inputs(pixels), runtime.run)),
    /** The feature maps of each view. @param {import('../../web/extractor/preprocess.js').Pixels} pixels */
    maps: (pixels) => inTurn(inputs(pixels), runtime.maps),
  };
}
