// @ts-check
/** The worker of an extractor of another kind than pictures. */
// @ts-ignore: the bundle built from the kind's start.mjs stands beside the built worker
import { start } from './start.js';
import { serve } from '../serve.js';

serve(start);
