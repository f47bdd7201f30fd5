// @ts-check
/** The worker of any other network: it fetches the one runtime that the manifest names. session.js has its messages. */
import { serve } from '../serve.js';
import { createSession } from '../session.js';

/** @type {Record<string, () => Promise<{createRuntime: import('../session.js').CreateRuntime}>>} */
const runtimes = {
  // @ts-ignore: the bundles stand beside the built worker
  'tfjs-graph': () => import('./graphs.js'),
  // @ts-ignore
  onnx: () => import('./onnx.js'),
};

serve(async (files) => createSession((await runtimes[files.manifest.runtime]()).createRuntime, files));
