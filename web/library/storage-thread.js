// @ts-check
/** The worker of storage.js. */
import { serve } from '../engine/worker.js';
import { runtime } from './storage/runtime.js';

serve(async () => runtime());
