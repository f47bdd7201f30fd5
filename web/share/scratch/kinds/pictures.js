// @ts-check
/** Pictures in an extension for Scratch: those of its camera. */
import { nextTask } from '../../../base/task.js';
import { createRuntime } from '../../../extractor/runtime.mjs';
import { createSession } from '../../../extractor/session.js';

export { sense } from '../camera.js';

/** @param {import('../../../extractor/session.js').ExtractorFiles} files */
export const start = (files) => createSession(createRuntime, files, nextTask);
