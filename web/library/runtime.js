// @ts-check
/** What openStorage starts its program with: that of the package, not of the page. */
import { compiledKernels } from './engine.js';
import { loadGo } from './go.js';
import { scope } from './scope.js';

export { programOf } from './files.js';
export const kernels = async () => compiledKernels();

/** @returns {import('../engine/contract.js').Runtime} */
export function runtime() {
  const own = scope();
  return { Go: loadGo(own), scope: own };
}
