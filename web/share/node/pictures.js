// @ts-check
/** The page's extractor of pictures in Node.js, with its files beside it: for the folder that "Use it" makes. */
import { readFile } from 'node:fs/promises';
import jpeg from 'jpeg-js';
// @ts-ignore: it has no types
import { PNG } from 'pngjs';
import { filesOf, listed } from '../../extractor/networks.js';
import { preprocess } from '../../extractor/preprocess.js';
import { inTurn, meanOf } from '../../extractor/session.js';
import { orientationOf, upright } from './orientation.js';

const network = (/** @type {string} */ name) => new URL(`./metaqda/efficientnet-lite0/${name}`, import.meta.url);
const PNG_MARK = 0x89504e47;
/** Most megapixels of a photograph, beyond what cameras have, and most megabytes to decode it in. */
const MOST = { maxResolutionInMP: 250, maxMemoryUsageInMB: 2048 };

/** Loads an extractor for `openClassifier`. It reads JPEG and PNG files, by path or content. */
export async function loadExtractor() {
  const record = JSON.parse(await readFile(network('extractor.json'), 'utf8'));
  const [wasm, ...contents] = await Promise.all(
    [record.program, ...listed(record)].map(async ({ name }) => new Uint8Array(await readFile(network(name))).buffer),
  );
  const files = /** @type {import('../../extractor/session.js').ExtractorFiles} */ (filesOf(record, contents, wasm));
  const { createRuntime } = await import(network('runtime.js').href);
  const { run } = /** @type {import('../../extractor/session.js').Runtime} */ (await createRuntime(files));
  const { id, sha256, dimension, inputSize, views } = record;
  return {
    id,
    sha256,
    dimension,
    embed: async (/** @type {string | URL | Uint8Array} */ file) =>
      meanOf(await inTurn(preprocess(decoded(file instanceof Uint8Array ? file : await contentOf(file), file), inputSize, views), run)),
  };
}

/** @param {string | URL} file */
const contentOf = (file) =>
  readFile(file).catch((cause) => {
    throw new Error(`${file} cannot be read (${cause.message}): check that the file is there.`, { cause });
  });

/** @param {Uint8Array} content @param {string | URL | Uint8Array} file @returns {import('../../extractor/preprocess.js').Pixels} */
function decoded(content, file) {
  try {
    if (content.length > 8 && new DataView(content.buffer, content.byteOffset).getUint32(0) === PNG_MARK) return PNG.sync.read(Buffer.from(content));
    return upright(jpeg.decode(content, { useTArray: true, ...MOST }), orientationOf(content));
  } catch (error) {
    throw new Error(
      `${file instanceof Uint8Array ? 'This' : file} is no JPEG or PNG picture that can be read (${/** @type {Error} */ (error).message}): choose another file, or save it anew as one.`,
      { cause: error },
    );
  }
}
