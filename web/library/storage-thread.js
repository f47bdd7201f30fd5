// @ts-check
/** The worker of storage.js. */
import { serve } from '../engine/worker.js';
import { runtime } from './runtime.js';

serve(async () => runtime());
