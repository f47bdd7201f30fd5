// @ts-check
/**
 * The page's own network: TensorFlow.js with the kernels that it needs, and no other.
 * The build bundles this file into `extractor/runtime.js`.
 */
import { registerKernel } from '@tensorflow/tfjs-core';
import { addConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Add.js';
import { fusedConv2DConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/FusedConv2D.js';
import { fusedDepthwiseConv2DConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/FusedDepthwiseConv2D.js';
import { createGraph } from './tfjs.mjs';

const kernels = [addConfig, fusedConv2DConfig, fusedDepthwiseConv2DConfig];

/** @type {import('./session.js').CreateRuntime} */
export const createRuntime = (files) => createGraph(files, () => {
  for (const kernel of kernels) registerKernel(/** @type {any} */ (kernel));
});
