// @ts-check
/**
 * Sessions that stay: what was taught is kept in IndexedDB, with thumbnails, and tabs
 * that are open at the same time follow each other: what the page of metaqda works with.
 */
import { MetaqdaError } from '../base/remote.js';
import { startEngine } from '../engine/index.js';

export { loadEngine } from '../engine/index.js'; // of the page, whose files lie elsewhere
export { Batch, learn } from '../engine/batch.js';
export { nextTask } from '../base/task.js';

/**
 * Sessions, with the classifier of the open one.
 *
 * @template [Input=unknown]
 * @typedef {import('../engine/contract.js').LoadedEngine & {classifier: import('./storage/classifier.js').StoredClassifier<Input>}} Storage
 */

/**
 * Opens the session that was open last, or a new one.
 *
 * @template [Input=unknown]
 * @param {import('./types.js').StorageOptions & Pick<import('./classifier/options.js').Options<Input>, 'extractor'>} [options]
 * @returns {Promise<Storage<Input>>}
 */
export async function openStorage({ extractor, name = 'metaqda', wasm = new URL('./storage.wasm', import.meta.url), simd = true, onProgress,
  worker = () => new Worker(new URL('./storage-thread.js', import.meta.url), { type: 'module', name: 'metaqda-storage' }), ...unknown } = {}) {
  const [other] = Object.keys(unknown);
  if (other !== undefined) throw new MetaqdaError('argument', `There is no option '${other}': choose among extractor, name, wasm, simd, onProgress, worker.`);
  const { StoredClassifier } = await import('./storage/classifier.js');
  const { kernels, programOf, runtime } = await import('./storage/runtime.js'); // which the page has of its own
  const modules = { engine: await programOf(wasm, onProgress), kernels: simd ? await kernels() : null };
  const engine = await startEngine(runtime(), 'storage', { modules, runtime: '', name, worker });
  const own = typeof extractor === 'object' ? extractor : undefined;
  if (own?.id) await engine.useExtractor({ id: own.id, sha256: own.sha256 ?? '' });
  return Object.assign(engine, { classifier: new StoredClassifier(engine, extractor) });
}
