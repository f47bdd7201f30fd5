// @ts-check
/** The worker of the page's own network of pictures; session.js has its messages. */
// @ts-ignore: the bundle built from runtime.mjs stands beside the built worker
import { createRuntime } from './runtime.js';
import { serve } from './serve.js';
import { createSession } from './session.js';

serve((files) => createSession(createRuntime, files));
