// @ts-check
/**
 * An esbuild plugin that leaves out of the bundle what one pruned graph cannot
 * reach in tfjs: the converter names every TensorFlow operation it knows, so a
 * bundler alone keeps them all.
 */

/** Operation families the graph uses (see op_list and executors in the converter). */
const families = new Set(['arithmetic', 'basic_math', 'convolution', 'graph', 'reduction']);

/** Operations those families may call for this graph. */
const operations = `
export { add } from './add.js';
export { mul } from './mul.js';
export { mean } from './mean.js';
export { relu6 } from './relu6.js';
export { clone } from './clone.js';
import * as fused from './fused_ops.js';
export { fused };
`;

/** Says what is missing, should another graph ever need more. */
const noExecutor = `export const executeOp = (node) => {
  throw new Error("The extractor's build left out the operation '" + node.op + "'.");
};`;

/** @returns {import('esbuild').Plugin} */
export function slimTfjs() {
  return {
    name: 'slim-tfjs',
    setup(build) {
      build.onLoad({ filter: /tfjs-converter\/dist\/operations\/op_list\/\w+\.js$/ }, ({ path }) =>
        keep(path, /\/(\w+)\.js$/) ? undefined : { contents: 'export const json = [];' });
      build.onLoad({ filter: /tfjs-converter\/dist\/operations\/executors\/\w+_executor\.js$/ }, ({ path }) =>
        keep(path, /\/(\w+)_executor\.js$/) ? undefined : { contents: noExecutor });
      build.onLoad({ filter: /tfjs-core\/dist\/ops\/ops_for_converter\.js$/ }, ({ path }) =>
        ({ contents: operations, resolveDir: path.replace(/\/[^/]+$/, '') }));
      // runtime.js brings a platform of its own that neither fetches nor requires.
      build.onLoad({ filter: /tfjs-core\/dist\/platforms\/platform_(browser|node)\.js$/ }, () =>
        ({ contents: 'export {};' }));
      // The threaded backend needs cross-origin isolation and is never started here.
      build.onLoad({ filter: /wasm-out\/tfjs-backend-wasm-threaded-simd(\.worker)?\.js$/ }, () =>
        ({ contents: 'export default null; export const wasmWorkerContents = "";' }));
    },
  };
}

/** @param {string} path @param {RegExp} pattern */
function keep(path, pattern) {
  return families.has(pattern.exec(path)?.[1] ?? '');
}
