// @ts-check
/**
 * The worker for long work. It runs the engine's program in the role `batch`; batch.js describes the messages.
 */
import { answer } from '../base/remote.js';
import { startProgram } from './program.js';

/** @param {(runtime: string) => Promise<import('./contract.js').Runtime>} load takes the runtime's address from the window */
export function serve(load) {
  /** @type {import('../base/remote.js').Handlers} */
  const handlers = {
    async start(/** @type {Omit<import('./contract.js').Thread, 'worker'> & {role: 'batch'}} */ { modules, runtime, role, name }) {
      const {
        methods: { on, ...methods },
      } = await startProgram(modules, await load(runtime), role, name);
      await on((/** @type {unknown} */ progress) => tell('progress', progress));
      // A message carries one value; several arguments come as an array.
      for (const [type, method] of Object.entries(methods)) handlers[type] = (args) => (Array.isArray(args) ? method(...args) : method(args));
    },
  };
  const tell = answer(handlers, { code: 'internal' });
}
