// @ts-check
/** The worker of the page's own network; answers.js has what it answers. */
// @ts-ignore: the bundle built from runtime.mjs stands beside the built worker
import { createRuntime } from './runtime.js';
import { answerWith } from './answers.js';

answerWith(createRuntime);
