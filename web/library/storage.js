// @ts-check
/**
 * Stored sessions: classes, examples and thumbnails are kept in IndexedDB, and open tabs follow each other's changes.
 * The page of metaqda uses the same program.
 */
import { notInServiceWorker, startWorker } from '../base/remote.js';
import { startEngine } from '../engine/index.js';
import { session } from './session.js';

export { Batch, learn } from './batch.js';
export { nextTask } from '../base/task.js';

/**
 * Sessions, with the classifier of the open one.
 *
 * @template [Input=unknown]
 * @typedef {ReturnType<typeof session> & {classifier: import('./storage/classifier.js').StoredClassifier<Input>}} Storage
 */

/**
 * Opens the session that was open last, or a new one.
 *
 * @template [Input=unknown]
 * @param {import('./types.js').StorageOptions & Pick<import('./classifier/options.js').Options<Input>, 'extractor'>} [options]
 * @returns {Promise<Storage<Input>>}
 */
export async function openStorage(options = {}) {
  notInServiceWorker('open a storage');
  // The page does not need these modules, so it does not load them.
  const { FUNCTION, known, OPTIONS, TRUTH } = await import('./classifier/options.js');
  const { packaged, PROGRAM } = await import('./files.js');
  known(options, { extractor: OPTIONS.extractor, name: OPTIONS.name, wasm: PROGRAM, simd: TRUTH, onProgress: FUNCTION, worker: FUNCTION });
  const { extractor, name = 'metaqda', wasm = packaged(() => new URL('./storage.wasm', import.meta.url)), simd = true, onProgress, worker = thread } = options;
  const { storedClassifier } = await import('./storage/classifier.js');
  const { kernels, programOf, runtime } = await import('./storage/runtime.js');
  const modules = { engine: await programOf(wasm, onProgress), kernels: simd ? await kernels() : null };
  const engine = session(await startEngine(runtime(), 'storage', { modules, runtime: '', name, worker }));
  const own = typeof extractor === 'object' ? extractor : undefined;
  if (own?.id) await engine.useExtractor({ id: own.id, sha256: own.sha256 ?? '' });
  return Object.assign(engine, { classifier: storedClassifier(engine, extractor) });
}

const thread = () =>
  startWorker(
    () => new Worker(new URL('./storage-thread.js', import.meta.url), { type: 'module', name: 'metaqda-storage' }),
    'ask the classifier of the storage, whose classify and suggest need none',
  );
