// @ts-check
/** Throw-away projects that have the packed package installed, and nothing else of this tree. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../temporary.js';

export const root = fileURLToPath(new URL('../../../', import.meta.url));
const { version } = JSON.parse(readFileSync(path.join(root, 'web/package.json'), 'utf8'));
export const tarball = process.env.METAQDA_PACKAGE ?? path.join(root, `build/metaqda-${version}.tgz`);

/**
 * Makes a project of the given files and answers its folder.
 *
 * @param {Record<string, string>} [files]
 * @returns {{folder: string, package: string}} both gone after the test
 */
export function project(files = {}) {
  const folder = temporaryFolder('project');
  const modules = path.join(folder, 'node_modules');
  mkdirSync(modules);
  execFileSync('tar', ['xzf', tarball, '-C', modules]);
  renameSync(path.join(modules, 'package'), path.join(modules, 'metaqda'));
  const all = { 'package.json': '{"type": "module", "private": true}', ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return { folder, package: path.join(modules, 'metaqda') };
}

/** Runs a script of a project under Node.js and answers what it printed as JSON. @param {string} folder @param {string} file @param {...string} flags */
export function run(folder, file, ...flags) {
  return JSON.parse(execFileSync(process.execPath, [...flags, file], { cwd: folder, encoding: 'utf8', timeout: 60_000 }));
}

/** The i-th vector of class k: the same numbers for the same arguments. @param {number} k @param {number} i @param {number} [d] @returns {Float32Array} */
export function vector(k, i, d = 96) {
  return Float32Array.from({ length: d }, (_, j) => Math.abs(Math.sin((k + 1) * (j + 1) * 1.7)) + 0.4 * Math.abs(Math.sin((i + 1) * 7919 + j * 1.3 + k)));
}
