// @ts-check
/** What openStorage starts its program with: that of the package, not of the page. */
import { compiledKernels } from '../engine.js';
import { loadGo } from '../written/go.js';

export { programOf } from '../files.js';
export const kernels = async () => compiledKernels();

/** @returns {import('../../engine/contract.js').Runtime} */
export function runtime() {
  const own = scope();
  return { Go: loadGo(own), scope: own };
}

/**
 * The global scope for a Go program that works with what browsers offer: as it is, but
 * what the program and Go's glue leave there goes to a place of their own.
 *
 * @returns {Record<string, any>}
 */
function scope() {
  return new Proxy(/** @type {Record<string | symbol, any>} */ (Object.create(null)), {
    get(own, name) {
      if (name in own) return own[name];
      const value = /** @type {any} */ (globalThis)[name];
      // Functions of the window, such as fetch, want it as their this; classes do not.
      return typeof value === 'function' && !value.prototype ? value.bind(globalThis) : value;
    },
  });
}
