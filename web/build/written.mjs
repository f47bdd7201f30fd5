// @ts-check
/** The modules of web/library/written, which the build writes: Go's glue and the kernels. */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compile as compileKernels } from './simd.mjs';

/**
 * An esbuild plugin that has them.
 *
 * @param {Record<string, () => Promise<string>>} [more] by the name that they are imported by
 * @returns {import('esbuild').Plugin}
 */
export function written(more = {}) {
  /** @type {Record<string, () => Promise<string>>} */
  const all = { go, kernels: async () => kernels(await compileKernels()), ...more };
  return {
    name: 'written',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /\/written\/\w+\.js$/ }, ({ path: name }) => ({ path: path.basename(name, '.js'), namespace: 'written' }));
      onLoad({ filter: /./, namespace: 'written' }, async ({ path: name }) => ({ contents: await all[name]() }));
    },
  };
}

/** The npm package as it stands in the tree, for programs in Node. @param {string} site that was built @returns {Promise<typeof import('../library/index.js')>} */
export async function library(site) {
  const {
    outputFiles: [{ text }],
  } = await build({
    entryPoints: [fileURLToPath(new URL('../library/index.js', import.meta.url))],
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'warning',
    plugins: [written({ kernels: async () => kernels(await readFile(path.join(site, 'metaqda-simd.wasm'))) })],
  });
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}

/**
 * wasm_exec.js reads what it needs from globalThis, and adds missing parts and itself there. Here a
 * scope of the caller takes the place of globalThis.
 */
async function go() {
  const goroot = process.env.GOROOT || execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim();
  const glue = await readFile(path.join(goroot, 'lib/wasm/wasm_exec.js'), 'utf8');
  return `
    export function loadGo(globalThis) {
      const fs = { writeSync: (fd, bytes) => globalThis.fs.writeSync(fd, bytes) };
      ${glue}
      return globalThis.Go;
    }`;
}

/** @param {Uint8Array} program */
function kernels(program) {
  const base64 = Buffer.from(program).toString('base64');
  return `export const kernels = () => Uint8Array.from(atob(${JSON.stringify(base64)}), (c) => c.charCodeAt(0));`;
}
