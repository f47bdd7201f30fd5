// @ts-check
/**
 * The adapter for plain functions, which make a vector of fixed length from a picture, a sound or
 * any other file. The first file of the manifest is a module whose default export is a
 * FunctionModule; scripts/embed imports it. A page passes a function of its own code: see
 * functionExtractor.
 */
import { ExtractorError } from '../errors.js';
import { decodeManifest, identityOf, ManifestError } from '../manifest.js';

/** @typedef {(input: any) => ArrayLike<number> | Promise<ArrayLike<number>>} Embed */
/** @typedef {{read: (name: string) => Uint8Array, manifest: import('../manifest.js').Manifest}} Given read answers a file that the manifest lists */
/** @typedef {(given: Given) => Embed | Promise<Embed>} FunctionModule makes the function, of Pixels or, where the manifest takes files, of bytes */

/**
 * A function with a manifest, as an extractor. The identity is that of the manifest's files. So
 * sessions of this page and embeddings of scripts/embed fit together.
 *
 * A function that takes files gets the bytes of a Blob, File, ArrayBuffer or DataView as a
 * Uint8Array. The classifier never passes it a Uint8Array, which is a vector already.
 *
 * @template Input
 * @param {unknown} manifest JSON text, or its value
 * @param {Record<string, Uint8Array<ArrayBuffer>> | null} contents of the files by name; null takes the manifest's sha256
 * @param {(input: Input) => ArrayLike<number> | Promise<ArrayLike<number>>} embed
 */
export async function functionExtractor(manifest, contents, embed) {
  const decoded = decodeManifest(manifest);
  const { id, dimension, takes } = decoded;
  if (decoded.runtime !== 'function') throw new ManifestError('runtime', `is ${JSON.stringify(decoded.runtime)}: here it is "function"`);
  if (!contents && !decoded.sha256) throw new ManifestError('sha256', 'is missing: write it, or give the contents of the files');
  const found = contents && decoded.files.map(({ name }) => contents[name]);
  const missing = found?.findIndex((content) => !content) ?? -1;
  if (missing >= 0)
    throw new ExtractorError('extractor-files', `The file “${decoded.files[missing].name}” that the manifest lists is missing: give its bytes by this name.`);
  const identity = found ? await identityOf(decoded, found) : /** @type {string} */ (decoded.sha256);
  return {
    id,
    dimension,
    sha256: identity,
    /** @param {Input | Blob | ArrayBuffer | DataView} input the latter three for a function that takes files */
    embed: async (input) => checked(await embed(/** @type {Input} */ (takes === 'file' ? await bytesOf(input) : input)), dimension),
    close: () => {},
  };
}

/** The bytes of a file, and anything else as it is. @param {unknown} input */
async function bytesOf(input) {
  if (input instanceof Blob) return new Uint8Array(await input.arrayBuffer());
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  return input instanceof DataView ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : input;
}

/** @param {ArrayLike<number>} answer @param {number} dimension */
export function checked(answer, dimension) {
  const embedding = Float32Array.from(answer ?? [], (v) => (typeof v === 'number' ? v : Number.NaN)); // null would be 0
  if (embedding.length === dimension && embedding.every(Number.isFinite)) return embedding;
  throw new ExtractorError(
    'bad-embedding',
    `The function answered ${embedding.length === dimension ? 'numbers of which some are not finite' : `a vector of length ${embedding.length}, and the manifest says ${dimension}`}: put the function or “dimension” right.`,
  );
}
