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
// The build puts the runtime of any graph, or that of ONNX networks, in the place of this one.
import { createRuntime } from '../../extractor/runtime.mjs';
import { createSession } from '../../extractor/session.js';

/** @typedef {{views: number, place: 'worker'|'window', embed: (picture: ImageBitmap, views?: number) => Promise<Float32Array>}} Extractor */

/** Milliseconds after which a silent worker counts as hung, with a second more for each megabyte of the network. */
const PATIENCE = 30_000;

/**
 * @param {import('../assemble.js').SharedExtractor} shared
 * @param {(block: string) => Promise<Uint8Array<ArrayBuffer>>} read
 * @param {string} program text of this program
 * @returns {Promise<Extractor>}
 */
export async function startExtractor(shared, read, program) {
  const { plain, ...given } = shared;
  const manifest = decodeManifest(given);
  const simd = simdSupported();
  if (!simd && !plain) throw new ExtractorError('no-simd', 'This file needs a browser with SIMD in WebAssembly: open it in a current Chrome, Edge, Firefox or Safari.');
  const [wasm, ...contents] = await Promise.all([simd ? 'runtime-simd' : 'runtime-plain', ...manifest.files.map((_, i) => `file-${i}`)].map(read));
  const files = { manifest, wasm: wasm.buffer, contents: new Map(manifest.files.map(({ name }, i) => [name, contents[i].buffer])) };
  const place = await inWorker(files, program).catch(() => inWindow(files));
  return { views: manifest.views.length, ...place };
}

/** @param {import('../../extractor/session.js').ExtractorFiles} files @param {string} program */
async function inWorker(files, program) {
  const url = URL.createObjectURL(new Blob([program], { type: 'text/javascript' }));
  const client = new RemoteClient(new Worker(url, { name: 'extractor' }), {
    code: 'worker-failed', died: (why) => `The extractor's worker stopped: ${why}. Open the file anew.`,
    patience: PATIENCE + files.manifest.files.reduce((sum, { bytes }) => sum + bytes, 0) / 1000,
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
