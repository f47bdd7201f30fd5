// @ts-check
/** The page's extractor in Node: the same built runtime, graph and preprocessing. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { simdSupported } from '../../web/base/simd.js';
import { preprocess } from '../../web/extractor/preprocess.js';
import { meanOf } from '../../web/extractor/session.js';

export const builtExtractor = fileURLToPath(new URL('../../build/site/extractor', import.meta.url));

/**
 * @param {string} [folder] what web/build/extractor.mjs wrote
 * @param {{simd?: boolean, recipe?: import('../../web/extractor/preprocess.js').Recipe}} [options]
 *   simd false takes the plain binary; a recipe in place of the built one
 */
export async function loadExtractor(folder = builtExtractor, { simd = simdSupported(), recipe } = {}) {
  const read = async (/** @type {string} */ name) => new Uint8Array(await readFile(path.join(folder, name)));
  const text = async (/** @type {string} */ name) => JSON.parse(await readFile(path.join(folder, name), 'utf8'));
  /** @type {import('../../web/extractor/download.js').ExtractorRecord} */
  const record = await text('extractor.json');
  const { createRuntime } = await import(pathToFileURL(path.join(folder, 'runtime.js')).href);
  const runtime = await createRuntime({
    model: await text('model.json'),
    weights: (await read('weights.bin')).buffer,
    wasm: (await read(simd ? record.wasm.simd : record.wasm.plain)).buffer,
  });
  const { id, sha256, dimension } = record;
  const { inputSize, views } = recipe ?? record;
  return {
    id, sha256, dimension,
    /** @param {import('../../web/extractor/preprocess.js').Pixels} pixels @returns {Float32Array} */
    embed: (pixels) => meanOf(runtime.run, preprocess(pixels, inputSize, views), inputSize),
    /** The feature maps of each view. @param {import('../../web/extractor/preprocess.js').Pixels} pixels */
    maps: (pixels) => preprocess(pixels, inputSize, views).map((input) => runtime.maps(input, inputSize)),
  };
}
