// @ts-check
/**
 * Makes one file: a page with everything that it needs, as blocks of text.
 *
 * A block is gzipped bytes in base128, in a script element that no browser runs. Names from people
 * are only in blocks and, escaped, in the title.
 */
import { base128, bytesOf } from '../base/base128.js';

/**
 * @typedef {object} About the block `about`, as JSON
 * @property {string} name of the session
 * @property {string} made when, in the form of ISO 8601
 * @property {string} version of the site
 * @property {boolean} learn whether the file can be taught more
 * @property {'probability'|'taught'} sort order of the classes
 * @property {string[]} classes names of the classes with pictures
 * @property {SharedExtractor} extractor
 */

/**
 * An extractor in a file: its record (a manifest, or one for each network) and identity. Its files
 * are the blocks `file-0`, `file-1` and so on, in the order of the record; `blocks` is their number.
 * The block `runtime` runs it.
 * @typedef {{id: string, sha256: string, dimension: number, blocks: number} & Partial<import('../extractor/manifest.js').Manifest & {networks: {}}>} SharedExtractor
 */

/** Marks the place of the blocks in the page. The page's program uses the same name. */
const PLACE = '<template id="blocks"></template>';
/** The title in the page, to be replaced. */
const TITLE = '<title>metaqda</title>';

/** Bytes from which on a file is too large for most e-mail: common limits are 20 to 25 MB. */
export const LARGE = 20e6;
/** Largest number of bytes in a file that a browser can be expected to open. */
export const MOST = 64e6;

/** @param {Uint8Array} bytes @returns {Promise<string>} */
export async function packed(bytes) {
  const stream = new Blob([/** @type {BlobPart} */ (bytes)]).stream().pipeThrough(new CompressionStream('gzip'));
  return base128(new Uint8Array(await new Response(stream).arrayBuffer()));
}

/** The inverse. @param {string} text @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function unpacked(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A block as a string in the source of JavaScript. @param {string} text of `packed` */
export const quoted = (text) => `'${text.replaceAll(/['\\\n]/g, (one) => (one === '\n' ? '\\n' : `\\${one}`))}'`;

/** Bytes of a text in a file. @param {string} text */
export const sizeOf = (text) => new Blob([text]).size;

/** @param {string} text for the inside of an element */
export function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * @param {string} page with a place for blocks
 * @param {string} title
 * @param {Record<string, string>} blocks packed, by name
 * @returns {string}
 */
export function assemble(page, title, blocks) {
  if (!page.includes(PLACE) || !page.includes(TITLE)) throw new Error('The page for shared files has another form than this program knows: reload the page.');
  const texts = Object.entries(blocks).map(([name, text]) => `<script type="application/octet-stream" id="block-${name}">${text}</script>`);
  return page.replace(TITLE, () => `<title>${escaped(title)}</title>`).replace(PLACE, () => texts.join('\n'));
}

/**
 * The notices of a file with an extractor of the user.
 *
 * @param {{id: string, licence: string}} manifest @param {string} notices of what runs it and of the rest
 */
export function broughtNotices({ id, licence }, notices) {
  return `The author of this file added the feature extractor “${id}”. This is the text of its licence:\n\n${licence}\n\n${notices}`;
}

/** The name of a session as a file name has it, without an ending. @param {string} name of the session */
export function plainName(name) {
  const words =
    name
      .normalize('NFKC')
      .toLowerCase()
      .match(/(\p{L}\p{M}*|\p{N})+/gu) ?? []; // marks are vowels in many scripts
  return [...words.join('-')].slice(0, 40).join('').replace(/-$/, '') || 'shared';
}

/** A valid file name for a session. @param {string} name of the session */
export const pageFile = (name) => `${plainName(name)}.html`;

/** "4.2 MB", or "31 KB" if it is less than 0.1 MB. @param {number} bytes */
export function megabytes(bytes) {
  return bytes < 1e5 ? `${Math.ceil(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
