// @ts-check
/** The worker of the page's engine. */
import { loadRuntime } from './program.js';
import { serve } from './worker.js';

serve(loadRuntime);
