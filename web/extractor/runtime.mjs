// @ts-check
/**
 * The page's own networks: TensorFlow.js with the kernels that they need, and no other.
 * The build bundles this file into `extractor/runtime.js`.
 */
import { registerKernel } from '@tensorflow/tfjs-core';
import { addConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Add.js';
import { fusedConv2DConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/FusedConv2D.js';
import { fusedDepthwiseConv2DConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/FusedDepthwiseConv2D.js';
import { maximumConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/Maximum.js';
import { maxPoolConfig } from '@tensorflow/tfjs-backend-wasm/dist/kernels/MaxPool.js';
import * as tfjs from './tfjs.mjs';

const kernels = [addConfig, fusedConv2DConfig, fusedDepthwiseConv2DConfig, maximumConfig, maxPoolConfig];

const register = () => {
  for (const kernel of kernels) registerKernel(/** @type {any} */ (kernel));
};

/** @type {import('./session.js').CreateRuntime} */
export const createRuntime = (files) => tfjs.createGraph(files, register);

/** @param {import('./networks.js').NetworkFiles} files */
export const createNetwork = (files) => tfjs.createNetwork(files, register);
