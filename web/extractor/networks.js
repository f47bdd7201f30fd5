// @ts-check
/**
 * The files of an extractor, as the build lists them in its record: the files of one network for
 * pictures, or of several networks with a recipe, as for sounds and hands. Each of the latter takes
 * numbers of its input's shape, and returns the mean over the cells of each output.
 */
import { fetchAll } from './download.js';
import { ExtractorError } from './errors.js';
import { decodeManifest, sha256 } from './manifest.js';

/**
 * @typedef {object} NetworkManifest the file that scripts/networks writes beside each network
 * @property {string} id
 * @property {import('./manifest.js').ManifestFile[]} files model.json and its weights
 * @property {[number, number, number]} input height, width and channels
 * @property {{node: string, pooling: 'mean'}[]} outputs
 * @property {string} licence
 */

/** @typedef {{manifest: NetworkManifest, contents: Map<string, ArrayBuffer>, wasm: ArrayBuffer}} NetworkFiles */
/** @typedef {{run: (data: Float32Array) => Float32Array[], close: () => void}} Network answers the outputs in order */
/** @typedef {(files: NetworkFiles, registerKernels: () => void) => Promise<Network>} CreateNetwork */

/**
 * @typedef {object} Recorded the content of extractor.json of a kind, written by the build
 * @property {string} id @property {string} sha256 @property {number} dimension
 * @property {Record<string, NetworkManifest>} networks by their name in the recipe and of their folder
 * @property {import('./download.js').SizedFile} program what runs them
 * @property {Record<string, {id: string, sha256: string}>} [variants] the same files under another recipe, whose numbers mean other things
 */

/** @typedef {{id: string, networks: Record<string, Omit<NetworkFiles, 'wasm'>>, wasm: ArrayBuffer}} Fetched id: which recipe */

/** All extractors that a record describes: itself, and its variants. @template {Pick<Recorded, 'id' | 'sha256' | 'variants'>} T @param {T} record @returns {T[]} */
export const variantsOf = (record) => [record, ...Object.values(record.variants ?? {}).map((variant) => ({ ...record, ...variant }))];

/** @param {Recorded} record @param {string} [variant] its name @returns {Recorded} */
export const variantOf = (record, variant) => (variant ? { ...record, ...record.variants?.[variant] } : record);

/**
 * The networks, loaded, by their names.
 *
 * @param {(files: NetworkFiles) => Promise<Network>} createNetwork @param {Fetched} fetched @returns {Promise<Record<string, Network>>}
 */
export const loadNetworks = async (createNetwork, { networks, wasm }) =>
  Object.fromEntries(await Promise.all(Object.entries(networks).map(async ([name, files]) => [name, await createNetwork({ ...files, wasm })])));

/**
 * The identity of an extractor: of the contents of its files, one network after the other, and of its recipe.
 *
 * @param {BlobPart[]} contents @param {unknown} recipe all that the numbers depend on beside these
 */
export const identityWith = (contents, recipe) => sha256(...contents, JSON.stringify(recipe));

/** @typedef {{networks?: Recorded['networks'], files?: import('./manifest.js').ManifestFile[]}} Listed */

/** The files of an extractor, with the folder of their network where it has several. @param {Listed} record */
export const listed = ({ networks, files = [] }) =>
  networks ? Object.entries(networks).flatMap(([network, one]) => one.files.map((file) => ({ ...file, name: `${network}/${file.name}` }))) : files;

/**
 * The files with which an extractor is loaded.
 *
 * @param {(name: string) => URL} at @param {Recorded | import('./download.js').ExtractorRecord} record
 * @param {import('./download.js').OnProgress} [onProgress] bytes of all
 */
export async function fetchFiles(at, record, onProgress) {
  const files = listed(record);
  const [wasm, ...found] = await fetchAll(at, [record.program, ...files], onProgress);
  // Files of another build would give embeddings that do not fit the stored ones. Only secure contexts can compute the hash.
  if (globalThis.crypto?.subtle) {
    const hashes = await Promise.all(found.map((one) => sha256(one)));
    const wrong = files.find((file, i) => file.sha256 !== hashes[i]);
    if (wrong)
      throw new ExtractorError(
        'extractor-mismatch',
        `The feature extractor's files do not belong together (${wrong.name} is of another version); reload the page.`,
      );
  }
  return filesOf(record, found, wasm);
}

/** @param {any} record @param {ArrayBuffer[]} contents of the files as `listed` has them @param {ArrayBuffer} wasm @returns {Fetched | import('./session.js').ExtractorFiles} */
export function filesOf({ program, blocks, ...record }, contents, wasm) {
  const left = contents.values();
  const contentsOf = (/** @type {import('./manifest.js').ManifestFile[]} */ files) =>
    new Map(files.map(({ name }) => [name, /** @type {ArrayBuffer} */ (left.next().value)]));
  if (!record.networks) {
    const manifest = decodeManifest(record);
    return { manifest, wasm, contents: contentsOf(manifest.files) };
  }
  const networks = Object.entries(/** @type {Recorded['networks']} */ (record.networks)).map(([network, manifest]) => [
    network,
    { manifest, contents: contentsOf(manifest.files) },
  ]);
  return { id: record.id, wasm, networks: Object.fromEntries(networks) };
}
