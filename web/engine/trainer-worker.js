// @ts-check
/**
 * The worker in which a prior is learned: the engine's program in its role `trainer`.
 * What comes in and goes out is described in trainer.js.
 */
import { loadRuntime, startProgram } from './index.js';

/** @type {Promise<import('./index.js').Methods>|null} */
let methods = null;

/** @param {{modules: import('./index.js').Modules, runtime: string}} args */
async function start({ modules, runtime }) {
  await loadRuntime(new URL(runtime));
  const { methods: started } = await startProgram(modules, 'trainer');
  await started.on((/** @type {import('./trainer.js').Progress} */ progress) => postMessage({ type: 'progress', progress }));
  return started;
}

addEventListener('message', async ({ data: { type, id, args } }) => {
  try {
    if (type === 'start') methods = start(args);
    const ready = await methods;
    if (!ready) throw Object.assign(new Error('The trainer was not started: reload the page.'), { code: 'internal' });
    postMessage({ type, id, result: type === 'start' ? null : await ready[type](args) });
  } catch (error) {
    const { code = 'internal', message } = /** @type {Error & {code?: string}} */ (error);
    postMessage({ type: 'error', id, error: { code, message } });
  }
});
