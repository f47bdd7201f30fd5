// @ts-check
/** Pictures in a shared file. */
import { nextTask } from '../../../base/task.js';
// The build puts the runtime of any graph, or that of ONNX networks, in the place of this one.
import { createRuntime } from '../../../extractor/runtime.mjs';
import { createSession } from '../../../extractor/session.js';

export { pictures as kind } from '../../../ui/kinds/pictures/index.js';

/** @param {import('../../../extractor/session.js').ExtractorFiles} files */
export const start = (files) => createSession(createRuntime, files, nextTask);
