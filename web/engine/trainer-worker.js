// @ts-check
/**
 * The worker in which a prior is learned: the engine's program in its role `trainer`.
 * What comes in and goes out is described in trainer.js.
 */
import { answer } from '../base/remote.js';
import { loadRuntime, startProgram } from './program.js';

/** @type {import('../base/remote.js').Handlers} */
const handlers = {
  async start(/** @type {{modules: import('./program.js').Modules, runtime: string}} */ { modules, runtime }) {
    await loadRuntime(new URL(runtime));
    const { on, ...methods } = (await startProgram(modules, 'trainer')).methods;
    await on((/** @type {import('./trainer.js').Progress} */ progress) => tell('progress', progress));
    Object.assign(handlers, methods);
  },
};
const tell = answer(handlers, { code: 'internal' });
