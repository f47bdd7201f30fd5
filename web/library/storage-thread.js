// @ts-check
/** The worker of storage.js. */
import { loadRuntime } from '../engine/program.js';
import { serve } from '../engine/worker.js';

serve(async (script) => (script ? loadRuntime(script) : (await import('./runtime.js')).runtime()));
