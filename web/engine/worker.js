// @ts-check
/**
 * The worker for what takes long: the engine's program in a role, `trainer` (trainer.js)
 * or `judge` (judge.js), which describe what comes in and goes out.
 */
import { answer } from '../base/remote.js';
import { loadRuntime, startProgram } from './program.js';

/** @type {import('../base/remote.js').Handlers} */
const handlers = {
  async start(/** @type {{modules: import('./program.js').Modules, runtime: string, role: 'trainer'|'judge'}} */ { modules, runtime, role }) {
    await loadRuntime(new URL(runtime));
    const { on, ...methods } = (await startProgram(modules, role)).methods;
    await on((/** @type {unknown} */ progress) => tell('progress', progress));
    // A call carries one value; what takes several gets them as an array.
    for (const [name, method] of Object.entries(methods)) handlers[name] = (args) => (Array.isArray(args) ? method(...args) : method(args));
  },
};
const tell = answer(handlers, {
  code: 'internal', transfer: (result) => (result instanceof Float64Array ? [result.buffer] : []),
});
