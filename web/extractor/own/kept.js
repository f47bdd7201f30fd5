// @ts-check
/**
 * Extractors of the user: checked, kept on this device until they are removed, and loaded from
 * there. Files lie in a cache of the browser under kept-extractors/IDENTITY/, the manifest as
 * manifest.json. Their runtimes are fetched from networks/ and extractor/.
 */
import { fetchAll, fetchRecord, imported } from '../download.js';
import { ExtractorError } from '../errors.js';
import { load, sessionOf } from '../load.js';
import { checkFiles, decodeManifest, format } from '../manifest.js';

/** The service worker deletes caches whose names begin as the site's versions do. */
const cacheName = 'kept-extractors';

/** @import {Manifest} from '../manifest.js' */
/** @typedef {{sha256: string, manifest: Manifest}} Kept */
/** @typedef {Kept & {contents: Map<string, ArrayBuffer>}} Brought */

/**
 * Looks for a manifest among files, and checks the files that it lists.
 *
 * @param {File[]} files
 * @returns {Promise<Brought|null>} null where there is no manifest; throws an ExtractorError that says what to bring or to mend
 */
export async function inspect(files) {
  const found = await manifestAmong(files);
  if (!found) return null;
  const manifest = decodeManifest(found.text);
  if (manifest.runtime === 'function') {
    throw new ExtractorError(
      'extractor-function',
      'This manifest is for a function, and this page runs no code from files: use the function in your own page, with the npm package, or in scripts/embed.',
    );
  }
  const { sha256, contents } = await checkFiles(
    manifest,
    async (name) => files.find((file) => pathOf(file) === found.folder + name) ?? files.find((file) => file.name === name.split('/').pop()),
  );
  return { sha256, manifest: { ...manifest, sha256 }, contents };
}

/** @param {File[]} files @returns {Promise<{text: string, folder: string}|null>} */
async function manifestAmong(files) {
  const texts = files.filter(({ name, size }) => /\.json$/i.test(name) && size < 1 << 20);
  const near = [];
  for (const file of texts) {
    const text = await file.text();
    if (text.includes(format)) return { text, folder: pathOf(file).slice(0, -file.name.length) };
    if (/manifest|extractor/i.test(file.name)) near.push(text);
  }
  return near.length === 1 ? { text: near[0], folder: '' } : null;
}

/** Where a file lay, as far as is known. @param {File} file */
const pathOf = (file) => file.webkitRelativePath || file.name;

/** Keeps an extractor on this device. @param {Brought} brought */
export async function keep({ sha256, manifest, contents }) {
  const cache = await open();
  try {
    for (const [name, content] of contents) await cache.put(place(sha256, name), new Response(content));
    // The manifest comes last: with it the extractor is there.
    await cache.put(place(sha256, 'manifest.json'), new Response(JSON.stringify(manifest)));
  } catch (error) {
    await forget(sha256);
    throw new ExtractorError(
      'extractor-storage',
      `This browser has no room to keep the extractor (${/** @type {Error} */ (error).message}): free some storage, or remove another extractor.`,
    );
  }
}

/** @returns {Promise<Kept[]>} in the order of their names, without those whose manifest this version cannot read */
export async function kept() {
  const cache = await open();
  const manifests = (await cache.keys()).map(({ url }) => url).filter((url) => url.startsWith(place('', '')) && url.endsWith('/manifest.json'));
  const all = await Promise.all(
    manifests.map(async (url) => {
      try {
        const manifest = decodeManifest(await (await cache.match(url))?.text());
        return [{ manifest, sha256: /** @type {string} */ (manifest.sha256) }];
      } catch {
        return [];
      }
    }),
  );
  return all.flat().sort((a, b) => a.manifest.id.localeCompare(b.manifest.id));
}

/** Deletes all of an extractor. @param {string} sha256 */
export async function forget(sha256) {
  const cache = await open();
  const files = (await cache.keys()).map(({ url }) => url).filter((url) => url.startsWith(place(sha256, '')));
  await Promise.all(files.map((url) => cache.delete(url)));
}

/**
 * Loads an extractor that is kept here, or was just added.
 *
 * @param {Kept & {contents?: Map<string, ArrayBuffer>}} which
 * @param {import('../index.js').LoadOptions} [options]
 */
export async function loadKept({ sha256, manifest, contents }, options = {}) {
  const folder = new URL('networks/', document.baseURI);
  const runtime = manifest.runtime === 'onnx' ? 'onnx.js' : 'graphs.js';
  const loaded = await load(
    {
      record: { ...manifest, sha256 },
      files: async (onProgress) => ({
        manifest,
        contents: contents ?? (await contentsOf({ sha256, manifest })),
        wasm: await program(manifest, folder, onProgress),
      }),
      worker: () => new Worker(new URL('worker.js', folder), { type: 'module', name: 'extractor' }),
      window: sessionOf(() => imported(new URL(runtime, folder))),
    },
    { patience: 120_000, ...options },
  );
  return Object.assign(loaded, { shapes: () => loaded.ask('shapes') });
}

/**
 * The files of a kept extractor, compared with its manifest again.
 *
 * @param {Kept} which
 * @returns {Promise<Map<string, ArrayBuffer>>} by name
 */
export async function contentsOf({ sha256, manifest }) {
  const cache = await open();
  const { contents } = await checkFiles(manifest, async (name) => (await cache.match(place(sha256, name)))?.blob());
  return contents;
}

/**
 * The files of the runtime.
 *
 * @param {Manifest} manifest @param {URL} folder @param {import('../download.js').OnProgress} [onProgress]
 */
async function program({ runtime }, folder, onProgress) {
  const onnx = runtime === 'onnx';
  const base = onnx ? folder : new URL('extractor/', document.baseURI);
  const list = await fetchRecord(base, onnx ? 'networks.json' : 'extractor.json');
  const [wasm] = await fetchAll((name) => new URL(name, base), [onnx ? list.onnx : list.program], onProgress);
  return wasm;
}

/** @param {string} sha256 @param {string} name */
const place = (sha256, name) => new URL(`kept-extractors/${sha256 && `${sha256}/`}${name.split('/').map(encodeURIComponent).join('/')}`, document.baseURI).href;

async function open() {
  if (!globalThis.caches)
    throw new ExtractorError(
      'extractor-storage',
      'This page was not opened over https, so the browser keeps nothing for it: open it over https, or on this device as localhost.',
    );
  return caches.open(cacheName);
}
