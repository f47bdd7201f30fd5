// @ts-check
/**
 * esbuild plugins for tfjs. One leaves out the code that the pruned graphs cannot reach. The
 * converter names every TensorFlow operation that it knows, so a bundler alone would keep them all.
 */

/** Operation families the graphs use (see op_list and executors in the converter). */
const families = new Set(['arithmetic', 'convolution', 'graph']);

/** Operations those families may call for these graphs. */
const operations = `
export { add } from './add.js';
export { maximum } from './maximum.js';
export { maxPool } from './max_pool.js';
import * as fused from './fused_ops.js';
export { fused };
`;

/** Names the missing operation if another graph needs more. */
const noExecutor = `export const executeOp = (node) => {
  throw new Error("The extractor's build left out the operation '" + node.op + "'.");
};`;

/** @returns {import('esbuild').Plugin} */
export function slimTfjs() {
  return {
    name: 'slim-tfjs',
    setup(build) {
      build.onLoad({ filter: /tfjs-converter\/dist\/operations\/op_list\/\w+\.js$/ }, ({ path }) =>
        keep(path, /\/(\w+)\.js$/) ? undefined : { contents: 'export const json = [];' },
      );
      build.onLoad({ filter: /tfjs-converter\/dist\/operations\/executors\/\w+_executor\.js$/ }, ({ path }) =>
        keep(path, /\/(\w+)_executor\.js$/) ? undefined : { contents: noExecutor },
      );
      build.onLoad({ filter: /tfjs-core\/dist\/ops\/ops_for_converter\.js$/ }, ({ path }) => ({
        contents: operations,
        resolveDir: path.replace(/\/[^/]+$/, ''),
      }));
      leaveOutSurroundings(build);
    },
  };
}

/**
 * For a bundle of all of tfjs: it leaves out only code that must not run. The bundle has its own
 * engine, since the page's engine in the same window has fewer kernels.
 *
 * @returns {import('esbuild').Plugin}
 */
export function quietTfjs() {
  return {
    name: 'quiet-tfjs',
    setup(build) {
      leaveOutSurroundings(build);
      build.onLoad({ filter: /tfjs-core\/dist\/global_util\.js$/ }, () => ({
        contents: `const own = { atob: (text) => atob(text), btoa: (text) => btoa(text) };
          const all = new Map();
          export const getGlobalNamespace = () => own;
          export function getGlobal(key, init) {
            if (!all.has(key)) all.set(key, init());
            return all.get(key);
          }`,
      }));
    },
  };
}

/** @param {import('esbuild').PluginBuild} build */
function leaveOutSurroundings({ onLoad }) {
  // tfjs.mjs has its own platform, which uses neither fetch nor require.
  onLoad({ filter: /tfjs-core\/dist\/platforms\/platform_(browser|node)\.js$/ }, () => ({ contents: 'export {};' }));
  // The threaded backend needs cross-origin isolation and is never started here.
  onLoad({ filter: /wasm-out\/tfjs-backend-wasm-threaded-simd(\.worker)?\.js$/ }, () => ({
    contents: 'export default null; export const wasmWorkerContents = "";',
  }));
}

/** @param {string} path @param {RegExp} pattern */
function keep(path, pattern) {
  return families.has(pattern.exec(path)?.[1] ?? '');
}
