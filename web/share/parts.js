// @ts-check
/**
 * Reads the parts of a shared file from the site. The page fetches them; scripts/share.mjs
 * reads the folder.
 */
import { listed, variantsOf } from '../extractor/networks.js';
import { assemble, broughtNotices, LARGE, megabytes, MOST, packed, sizeOf } from './assemble.js';

/** @import {SharedExtractor} from './assemble.js' */
/** @typedef {(name: string) => Promise<Uint8Array>} Read a file of the site */
/** @typedef {{page: string, version: string, extractor: SharedExtractor, blocks: Record<string, string>, network: number}} Parts
    the same in all files with one extractor; network: length of its blocks and of its runtime's */

/** @param {Read} read @param {string} name @returns {Promise<string>} */
const textOf = async (read, name) => new TextDecoder().decode(await read(name));

/** The places in the site of the page's own extractors, their priors and pages, by kind. @type {Record<string, {folder: string, prior: string, page: string}>} */
export const OWN = {
  pictures: { folder: 'extractor', prior: 'prior.safetensors', page: 'share/page' },
  ...Object.fromEntries(
    ['sounds', 'hands'].map((kind) => [kind, { folder: `kinds/${kind}`, prior: `kinds/${kind}/prior.safetensors`, page: `kinds/${kind}/share` }]),
  ),
};

/** @param {Read} read @param {string} folder */
export const recordOf = async (read, folder) => JSON.parse(await textOf(read, `${folder}/extractor.json`));

/** Parts with the page's own extractor for a kind. @param {Read} read @param {string} kind @param {string} [sha256] of the variant @returns {Promise<Parts>} */
export async function ownParts(read, kind, sha256) {
  const { folder, page } = OWN[kind];
  const all = variantsOf(await recordOf(read, folder));
  const { program, variants, ...record } = all.find((one) => one.sha256 === sha256) ?? all[0];
  return partsOf(
    read,
    record,
    page,
    (notices) => notices,
    listed(record).map(
      ({ name }) =>
        () =>
          read(`${folder}/${name}`),
    ),
    () => read(`${folder}/${program.name}`),
  );
}

/**
 * Parts with an extractor that a person brought.
 *
 * @param {Read} read @param {import('../extractor/manifest.js').Manifest} manifest @param {string} sha256
 * @param {() => Promise<Map<string, ArrayBuffer>>} contentsOf its files
 * @returns {Promise<Parts>}
 */
export async function broughtParts(read, manifest, sha256, contentsOf) {
  if (manifest.runtime === 'function')
    throw new Error(`The extractor “${manifest.id}” is a function, which a shared file does not run: use it in a page of your own, by the npm package.`);
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  // Base128 adds a seventh. Weights hardly compress.
  if (bytes > 2 * MOST) throw tooLarge(`The extractor “${manifest.id}” has ${megabytes(bytes)}`);
  const contents = await contentsOf();
  const onnx = manifest.runtime === 'onnx';
  const own = OWN.pictures.folder;
  const runtime = async () =>
    read(onnx ? `networks/${JSON.parse(await textOf(read, 'networks/networks.json')).onnx.name}` : `${own}/${(await recordOf(read, own)).program.name}`);
  return partsOf(
    read,
    { ...manifest, sha256 },
    `networks/share-${manifest.runtime}`,
    (notices) => broughtNotices(manifest, notices),
    manifest.files.map(
      ({ name }) =>
        async () =>
          new Uint8Array(/** @type {ArrayBuffer} */ (contents.get(name))),
    ),
    runtime,
  );
}

/**
 * @param {Read} read @param {Omit<SharedExtractor, 'blocks'>} extractor
 * @param {string} page without what its name ends in @param {(notices: string) => string} noted
 * @param {(() => Promise<Uint8Array>)[]} files of the extractor @param {() => Promise<Uint8Array>} runtime what runs it
 * @returns {Promise<Parts>}
 */
async function partsOf(read, extractor, page, noted, files, runtime) {
  const network = { ...Object.fromEntries(files.map((file, i) => [`file-${i}`, file])), runtime };
  const { version } = JSON.parse(await textOf(read, 'manifest.json'));
  /** @type {Record<string, string>} */
  const blocks = {};
  let length = 0;
  for (const [name, content] of Object.entries(network)) {
    blocks[name] = await packed(await content());
    length += sizeOf(blocks[name]);
    if (length > MOST) throw tooLarge(`With the extractor “${extractor.id}” the file would have over ${megabytes(MOST)}`);
  }
  blocks.engine = await packed(await read('share/engine.wasm'));
  blocks.notices = await packed(new TextEncoder().encode(noted(await textOf(read, `${page}.txt`))));
  return { page: await textOf(read, `${page}.html`), version, extractor: { ...extractor, blocks: files.length }, blocks, network: length };
}

/**
 * The file.
 *
 * @param {Parts} parts
 * @param {Pick<import('./assemble.js').About, 'name' | 'learn' | 'sort' | 'classes'>} about
 * @param {Record<string, Uint8Array>} taught `classifier`, with small pictures if they go along, and `prior`
 * @returns {Promise<string>}
 */
export async function sharedFile({ page, version, extractor, blocks }, about, taught) {
  const first = new TextEncoder().encode(JSON.stringify({ ...about, made: new Date().toISOString(), version, extractor }));
  /** @type {Record<string, string>} */
  const own = {};
  for (const [name, bytes] of Object.entries({ about: first, ...taught })) own[name] = await packed(bytes);
  const text = assemble(page, about.name, { ...own, ...blocks });
  const size = sizeOf(text);
  if (size > MOST) throw tooLarge(`With all taught examples the file would have ${megabytes(size)}`);
  return text;
}

/** The warning about a file that is too large for most e-mail, '' for others. @param {string} text @param {Parts} parts @param {string} extractor */
export function largeness(text, { network }, extractor) {
  if (sizeOf(text) < LARGE) return '';
  return `${network > LARGE / 2 ? `, ${megabytes(network)} of it ${extractor} and what runs it` : ''}. That is too large for most e-mail`;
}

/** @param {string} why */
const tooLarge = (why) => new Error(`${why}, and one file holds at most ${MOST / 1e6} MB: save the session instead, and hand on the extractor beside it.`);
