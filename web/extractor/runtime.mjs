// @ts-check
/**
 * The page's own network: TensorFlow.js with the kernels that it needs, and no other.
 * The build bundles this file into `extractor/runtime.js`.
 */
import { registerKernel } from '@tensorflow/tfjs-core';
import { addConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Add.js';
import { castConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Cast.js';
import { fusedConv2DConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/FusedConv2D.js';
import { fusedDepthwiseConv2DConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/FusedDepthwiseConv2D.js';
import { identityConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Identity.js';
import { meanConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Mean.js';
import { multiplyConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Multiply.js';
import { relu6Config } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Relu6.js';
import { reshapeConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Reshape.js';
import { transposeConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Transpose.js';
import { createGraph } from './tfjs.mjs';

const kernels = [
  addConfig, castConfig, fusedConv2DConfig, fusedDepthwiseConv2DConfig,
  identityConfig, meanConfig, multiplyConfig, relu6Config, reshapeConfig,
  transposeConfig,
];

/** @type {import('./session.js').CreateRuntime} */
export const createRuntime = (files) => createGraph(files, () => {
  for (const kernel of kernels) registerKernel(/** @type {any} */ (kernel));
});
