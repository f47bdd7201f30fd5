// @ts-check
/**
 * Sessions that stay: what was taught is kept in IndexedDB, with thumbnails, and tabs
 * that are open at the same time follow each other: what the page of metaqda works with.
 */
import { startEngine } from '../engine/index.js';

export { loadEngine } from '../engine/index.js'; // of the page, whose files lie elsewhere
export { Judge, learn } from '../engine/judge.js';
export { nextTask } from '../base/task.js';

/** @typedef {import('../engine/contract.js').LoadedEngine} Storage */

/**
 * Opens the session that was open last, or a new one.
 *
 * @param {import('./types.js').StorageOptions} [options]
 * @returns {Promise<Storage>}
 */
export async function openStorage({ name = 'metaqda', wasm = new URL('./storage.wasm', import.meta.url), simd = true, onProgress,
  worker = () => new Worker(new URL('./storage-thread.js', import.meta.url), { type: 'module', name: 'metaqda-storage' }) } = {}) {
  const { kernels, programOf, runtime } = await import('./runtime.js'); // which the page has of its own
  const modules = { engine: await programOf(wasm, onProgress), kernels: simd ? await kernels() : null };
  return startEngine(runtime(), 'storage', { modules, runtime: '', name, worker });
}
