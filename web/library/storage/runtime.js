// @ts-check
/** The modules with which openStorage starts its program: those of the package, not those of the page. */
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
 * A global scope for a Go program. Reading finds the globals of this realm. The program and wasm_exec.js write into
 * this object, so they change no globals.
 *
 * @returns {Record<string, any>}
 */
function scope() {
  return new Proxy(/** @type {Record<string | symbol, any>} */ (Object.create(null)), {
    get(own, name) {
      if (name in own) return own[name];
      const value = /** @type {any} */ (globalThis)[name];
      // Functions of the window, such as fetch, need the window as their this; classes do not.
      return typeof value === 'function' && !value.prototype ? value.bind(globalThis) : value;
    },
  });
}
