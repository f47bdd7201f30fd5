// @ts-check
/** Reads files and programs in every form that a caller may pass. */
import { isAttached } from '../base/attached.js';
import { MetaqdaError } from '../base/remote.js';
import { compile, fetched } from '../engine/program.js';

/** @typedef {URL | string | Response | Blob | ArrayBuffer | ArrayBufferView} File the address of a file, or its content */
/** @typedef {File | WebAssembly.Module} ProgramSource the address of a program, or the program */

/** The address of a file of the package. A plain script has none: there `import.meta.url` is not defined. @param {() => URL} address @returns {URL} */
export function packaged(address) {
  try {
    return address();
  } catch {
    throw new MetaqdaError(
      'fetch',
      'A script that is not a module does not know where the files of the package are: build it as a module, or import metaqda/inline, which needs no files for vectors.',
    );
  }
}

/** @param {unknown} x @returns {x is File} */
export function isFile(x) {
  return typeof x === 'string' || [URL, Response, Blob, ArrayBuffer].some((kind) => x instanceof kind) || ArrayBuffer.isView(x);
}

const isProgram = (/** @type {unknown} */ x) => typeof WebAssembly === 'object' && x instanceof WebAssembly.Module;
/** @type {import('./classifier/options.js').Kind} */
export const PROGRAM = ['a URL, an address, a Response, a Blob, bytes or a WebAssembly.Module', (x) => isFile(x) || isProgram(x)];

/** @param {ProgramSource} source @param {import('../engine/contract.js').OnProgress} [onProgress] @returns {Promise<WebAssembly.Module>} */
export async function programOf(source, onProgress) {
  if (isProgram(source)) return /** @type {WebAssembly.Module} */ (source);
  return compile(/** @type {Response | BufferSource} */ (await open(/** @type {File} */ (source))), { onProgress });
}

/** @param {File} source @returns {Promise<Uint8Array>} */
export async function bytesOf(source) {
  const found = await open(source);
  if (!(found instanceof Response)) return found;
  const bytes = await found.arrayBuffer().catch((/** @type {Error} */ { message }) => {
    throw new MetaqdaError('fetch', `${found.url || 'The Response'} arrived in part only (${message}): check the connection, and fetch it again.`);
  });
  return new Uint8Array(bytes);
}

/**
 * Fetches an address, or reads the file if it is a file and this is Node.js.
 *
 * @param {File} source
 * @returns {Promise<Response | Uint8Array>}
 */
async function open(source) {
  if (!isFile(source)) throw new MetaqdaError('argument', 'The file must be a URL, an address, a Response, a Blob or bytes.');
  if (source instanceof Response) {
    if (source.ok && !source.bodyUsed) return source;
    throw new MetaqdaError(
      'fetch',
      `The Response of ${source.url || 'the server'} has no file (${source.bodyUsed ? 'it was read already' : `status ${source.status}`}): check the address, and fetch it again.`,
    );
  }
  if (source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return bytesIn(source);
  const url = addressOf(source);
  if (url.protocol !== 'file:' || !globalThis.process?.versions?.node) return fetched(url);
  const name = 'node:fs/promises'; // a variable, so that bundlers leave it alone
  const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ name);
  return readFile(url).catch((/** @type {Error} */ error) => {
    throw new MetaqdaError('fetch', `The file ${url.href} could not be read (${error.message}): check the address.`);
  });
}

/** @param {ArrayBuffer | ArrayBufferView} source */
function bytesIn(source) {
  if (!isAttached(source))
    throw new MetaqdaError('argument', 'The bytes were transferred to another thread, or their buffer was made smaller: hand over a copy of them.');
  return source instanceof ArrayBuffer ? new Uint8Array(source) : new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}

/** @param {URL | string} source */
export function addressOf(source) {
  try {
    return new URL(source, globalThis.document?.baseURI ?? globalThis.location?.href);
  } catch {
    // such as a relative address that a page bundler made, on a server
    throw new MetaqdaError(
      'argument',
      `'${source}' is not a full address: hand over a URL (of a path in Node.js pathToFileURL(path)) or the bytes (of the engine to init), or let the server import metaqda without bundling it.`,
    );
  }
}
