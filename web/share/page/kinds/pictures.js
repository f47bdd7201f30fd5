// @ts-check
/** Pictures in a shared file. */
import { nextTask } from '../../../base/task.js';
import { decodeManifest } from '../../../extractor/manifest.js';
// The build puts the runtime of any graph, or that of ONNX networks, in the place of this one.
import { createRuntime } from '../../../extractor/runtime.mjs';
import { createSession } from '../../../extractor/session.js';

export { pictures as kind } from '../../../ui/kinds/pictures/index.js';

/** @type {import('../extractor.js').Room['filesOf']} */
export function filesOf({ plain, blocks, ...given }, contents, wasm) {
  const manifest = decodeManifest(given);
  return { manifest, wasm, contents: new Map(manifest.files.map(({ name }, i) => [name, contents[i]])) };
}

/** @param {import('../../../extractor/session.js').ExtractorFiles} files */
export const start = (files) => createSession(createRuntime, files, nextTask);

/** @type {import('../extractor.js').Room['asked']} */
export const asked = (picture, views) => ({ picture, views });
