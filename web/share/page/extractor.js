// @ts-check
/**
 * The extractor of a shared file. It runs in a worker that has the same program as the page,
 * or in the window if no worker starts.
 */
import { simdSupported } from '../../base/simd.js';
import { ExtractorError } from '../../extractor/errors.js';
import { load } from '../../extractor/load.js';
import { filesOf } from '../../extractor/networks.js';
// The build replaces this module by the one of the file's kind.
import * as kind from './kinds/pictures.js';

/**
 * @typedef {object} Room the differences between kinds that ui/kinds does not have
 * @property {(extractor: () => Promise<any>, every: boolean) => import('../../ui/kinds/index.js').Kind} kind every: whether its networks tell all sounds apart
 * @property {(files: any) => Promise<Record<string, (args?: any) => any>>} start loads it, in the worker or the window
 */
/** @typedef {Awaited<ReturnType<typeof startExtractor>>} Extractor */

export const room = /** @type {Room} */ (kind);

/** Milliseconds after which a silent worker counts as hung, plus a second per megabyte of the network. */
const PATIENCE = 30_000;

/**
 * @param {import('../assemble.js').SharedExtractor} shared
 * @param {(block: string) => Promise<Uint8Array<ArrayBuffer>>} read
 * @param {string} program text of this program
 */
export async function startExtractor(shared, read, program) {
  if (!simdSupported())
    throw new ExtractorError('no-simd', 'This file needs a browser with SIMD in WebAssembly: open it in a current Chrome, Edge, Firefox or Safari.');
  const [wasm, ...contents] = await Promise.all(
    ['runtime', ...Array.from({ length: shared.blocks }, (_, i) => `file-${i}`)].map(async (name) => (await read(name)).buffer),
  );
  return load(
    {
      record: shared,
      files: async () => filesOf(shared, contents, wasm), // copies: the window may need them later
      worker: () => new Worker(URL.createObjectURL(new Blob([program], { type: 'text/javascript' })), { name: 'extractor' }),
      window: room.start,
    },
    { patience: PATIENCE + contents.reduce((sum, { byteLength }) => sum + byteLength, 0) / 1000 },
  );
}
