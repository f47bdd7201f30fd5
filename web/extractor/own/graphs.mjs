// @ts-check
/**
 * Any TensorFlow.js graph: all operations of the converter and all kernels of the wasm backend. The
 * build bundles this file into `networks/graphs.js`, which the page fetches only when an extractor
 * needs it.
 */
import { getKernelsForBackend } from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-wasm/dist/register_all_kernels.js';
import { ExtractorError } from '../errors.js';
import { createGraph } from '../tfjs.mjs';

/** @type {import('../session.js').CreateRuntime} */
export async function createRuntime(files) {
  try {
    return await createGraph(files, () => {
      if (getKernelsForBackend('wasm').length === 0) throw new Error('No kernels are registered.');
    });
  } catch (error) {
    if (error instanceof ExtractorError) throw error;
    throw new ExtractorError(
      'extractor-model',
      `TensorFlow.js cannot load this network (${/** @type {Error} */ (error).message}): check that its files are whole and a graph model.`,
    );
  }
}
