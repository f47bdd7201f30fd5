// @ts-check
/** The worker of any other network: it fetches the one runtime that the manifest names. answers.js has what it answers. */
import { answerWith } from '../answers.js';

/** @type {Record<string, () => Promise<{createRuntime: import('../session.js').CreateRuntime}>>} */
const runtimes = {
  // @ts-ignore: the bundles stand beside the built worker
  'tfjs-graph': () => import('./graphs.js'),
  // @ts-ignore
  onnx: () => import('./onnx.js'),
};

answerWith(async (files) => (await runtimes[files.manifest.runtime]()).createRuntime(files));
