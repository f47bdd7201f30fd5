// @ts-check
/**
 * The extractor of a shared file: in a worker that runs the very text of this program,
 * or in the window where no worker starts.
 */
import { answer, RemoteClient } from '../../base/remote.js';
import { simdSupported } from '../../base/simd.js';
import { nextTask } from '../../base/task.js';
import { ExtractorError } from '../../extractor/errors.js';
import { decodeManifest } from '../../extractor/manifest.js';
import { createRuntime } from '../../extractor/runtime.mjs';
import { createSession } from '../../extractor/session.js';

/** @typedef {import('../../extractor/download.js').ExtractorRecord} ExtractorRecord */
/** @typedef {{views: number, place: 'worker'|'window', embed: (picture: ImageBitmap, views?: number) => Promise<Float32Array>}} Extractor */

/** Milliseconds after which a silent worker counts as hung. */
const PATIENCE = 30_000;

/**
 * @param {ExtractorRecord} record
 * @param {(name: string) => Promise<Uint8Array<ArrayBuffer>>} read the bytes of a file of it
 * @param {string} program text of this program
 * @returns {Promise<Extractor>}
 */
export async function startExtractor(record, read, program) {
  const { runtimes, ...given } = record;
  const manifest = decodeManifest(given);
  const names = [...manifest.files.map(({ name }) => name), (simdSupported() ? runtimes.simd : runtimes.plain).name];
  const bytes = await Promise.all(names.map(read));
  const files = {
    manifest, wasm: bytes[names.length - 1].buffer,
    contents: new Map(manifest.files.map(({ name }, i) => [name, bytes[i].buffer])),
  };
  const place = await inWorker(files, program).catch(() => inWindow(files));
  return { views: manifest.views.length, ...place };
}

/** @param {import('../../extractor/session.js').ExtractorFiles} files @param {string} program */
async function inWorker(files, program) {
  const url = URL.createObjectURL(new Blob([program], { type: 'text/javascript' }));
  const client = new RemoteClient(new Worker(url, { name: 'extractor' }), {
    code: 'worker-failed', died: (why) => `The extractor's worker stopped: ${why}. Open the file anew.`, patience: PATIENCE,
    error: (code, message) => new ExtractorError(code, message),
  });
  try {
    await client.ask('load', files); // copied: the window may need them yet
  } catch (error) {
    client.close('no worker');
    throw error;
  } finally {
    URL.revokeObjectURL(url);
  }
  return {
    place: /** @type {const} */ ('worker'),
    embed: (/** @type {ImageBitmap} */ picture, /** @type {number|undefined} */ views) => client.ask('embed', { picture, views }),
  };
}

/** @param {import('../../extractor/session.js').ExtractorFiles} files */
async function inWindow(files) {
  return { place: /** @type {const} */ ('window'), ...await createSession(createRuntime, files, nextTask) };
}

/** The worker: load and embed, as extractor/worker.mjs has them. */
export function serveExtractor() {
  /** @type {Awaited<ReturnType<typeof createSession>> | undefined} */
  let session;
  answer({
    async load(/** @type {import('../../extractor/session.js').ExtractorFiles} */ files) {
      session = await createSession(createRuntime, files);
    },
    async embed(/** @type {{picture: ImageBitmap, views?: number}} */ { picture, views }) {
      try {
        return await session?.embed(picture, views);
      } finally {
        picture.close();
      }
    },
  }, { code: 'extractor-failed' });
}
