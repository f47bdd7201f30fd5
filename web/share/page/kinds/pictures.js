// @ts-check
/** Pictures in a shared file. */
import { nextTask } from '../../../base/task.js';
// The build may replace this runtime by the one of any graph or of ONNX networks.
import { createRuntime } from '../../../extractor/runtime.mjs';
import { createSession } from '../../../extractor/session.js';

export { pictures as kind } from '../../../ui/kinds/pictures/index.js';

/** @param {import('../../../extractor/session.js').ExtractorFiles} files */
export const start = (files) => createSession(createRuntime, files, nextTask);
