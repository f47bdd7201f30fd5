// @ts-check
/**
 * Networks of an extractor that has one or several beside a recipe of its own, as those
 * of sounds and hands have. The build lists them in the extractor's record; each is fed
 * numbers of its input's shape, and answers the mean over the cells of each output.
 */
import { fetchAll, programOf } from './download.js';
import { ExtractorError } from './errors.js';
import { sha256 } from './manifest.js';

/**
 * @typedef {object} NetworkManifest what scripts/networks writes beside each
 * @property {string} id
 * @property {{name: string, bytes: number, sha256: string}[]} files model.json and its weights
 * @property {[number, number, number]} input height, width and channels
 * @property {{node: string, pooling: 'mean'}[]} outputs
 * @property {string} licence
 */

/** @typedef {{manifest: NetworkManifest, contents: Map<string, ArrayBuffer>, wasm: ArrayBuffer}} NetworkFiles */
/** @typedef {{run: (data: Float32Array) => Float32Array[], close: () => void}} Network answers the outputs in order */
/** @typedef {(files: NetworkFiles, registerKernels: () => void) => Promise<Network>} CreateNetwork */

/**
 * @typedef {object} Recorded what the build writes to extractor.json of a kind
 * @property {string} id @property {string} sha256 @property {number} dimension
 * @property {Record<string, NetworkManifest>} networks by their name in the recipe and of their folder
 * @property {import('./download.js').RuntimeFiles} runtimes
 * @property {Record<string, {id: string, sha256: string}>} [variants] the same files under another recipe, whose numbers mean other things
 */

/** @typedef {{id: string, networks: Record<string, Omit<NetworkFiles, 'wasm'>>, wasm: ArrayBuffer}} Fetched id: which recipe */

/** All that a record describes: itself, and its variants. @template {Pick<Recorded, 'id' | 'sha256' | 'variants'>} T @param {T} record @returns {T[]} */
export const variantsOf = (record) => [record, ...Object.values(record.variants ?? {}).map((variant) => ({ ...record, ...variant }))];

/** @param {Recorded} record @param {string} [variant] its name @returns {Recorded} */
export const variantOf = (record, variant) => (variant ? { ...record, ...record.variants?.[variant] } : record);

/**
 * The networks, loaded, by their names.
 *
 * @param {(files: NetworkFiles) => Promise<Network>} createNetwork @param {Fetched} fetched @returns {Promise<Record<string, Network>>}
 */
export const loadNetworks = async (createNetwork, { networks, wasm }) => Object.fromEntries(await Promise.all(
  Object.entries(networks).map(async ([name, files]) => [name, await createNetwork({ ...files, wasm })])));

/**
 * The identity of an extractor: of the contents of its files, one network after the other, and of its recipe.
 *
 * @param {BlobPart[]} contents @param {unknown} recipe all that the numbers depend on beside these
 */
export const identityOf = (contents, recipe) => sha256(...contents, JSON.stringify(recipe));

/**
 * @param {(path: string) => URL} at where a file of the record is: NETWORK/NAME, or what runs them
 * @param {Recorded} record @param {import('./download.js').OnProgress} [onProgress] bytes of all
 * @returns {Promise<Fetched>}
 */
export async function fetchNetworks(at, { id, networks, runtimes }, onProgress) {
  const all = listed(networks);
  const files = all.map(({ network, name, bytes }) => ({ name: `${network}/${name}`, bytes }));
  const [wasm, ...found] = await fetchAll(at, [programOf(runtimes), ...files], onProgress);
  await Promise.all(all.map(async ({ network, name, sha256: expected }, i) => {
    if (globalThis.crypto?.subtle && await sha256(found[i]) !== expected) {
      throw new ExtractorError('extractor-mismatch', `The file ${network}/${name} is not the one that belongs here; reload the page.`);
    }
  }));
  return fetchedOf({ id, networks }, found, wasm);
}

/** The files of all networks, one network after the other. @param {Recorded['networks']} networks */
export const listed = (networks) => Object.entries(networks).flatMap(([network, { files }]) => files.map((file) => ({ network, ...file })));

/** @param {Pick<Recorded, 'id' | 'networks'>} record @param {ArrayBuffer[]} contents of the files as `listed` has them @param {ArrayBuffer} wasm @returns {Fetched} */
export const fetchedOf = ({ id, networks }, contents, wasm) => ({
  id, wasm,
  networks: Object.fromEntries(Object.entries(networks).map(([network, manifest]) => [network, {
    manifest, contents: new Map(listed(networks).flatMap((file, i) => (file.network === network ? [[file.name, contents[i]]] : []))),
  }])),
});
