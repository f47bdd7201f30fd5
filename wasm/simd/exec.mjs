// @ts-check
// Runs a GOOS=js program under Node with the SIMD kernels at hand; for go test and go run:
//
//   GOOS=js GOARCH=wasm go test -exec "node --stack-size=8192 $PWD/wasm/simd/exec.mjs" ./wasm/simd
//
// METAQDA_SIMD=0 runs without the kernels. They are read from build/site/metaqda-simd.wasm
// (node web/build/simd.mjs), or from the file that METAQDA_SIMD_WASM names.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { simdSupported } from '../../web/base/simd.js';
import { simdImports } from '../../web/engine/kernels.js';

const require = createRequire(import.meta.url);

/** Loads the toolchain's glue; it leaves a class Go and wants Node's modules as globals. */
function loadGlue() {
  const root = process.env.GOROOT || execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim();
  Object.assign(globalThis, { require, fs, path });
  require(path.join(root, 'lib/wasm/wasm_exec.js'));
  return /** @type {any} */ (globalThis).Go;
}

/** Compiles the kernels, unless they are switched off. */
function loadKernels() {
  if (process.env.METAQDA_SIMD === '0' || !simdSupported()) return null;
  const file = process.env.METAQDA_SIMD_WASM || new URL('../../build/site/metaqda-simd.wasm', import.meta.url);
  return new WebAssembly.Module(fs.readFileSync(file));
}

/** Go keeps arguments and environment in 8 KB: only what a test may need is handed on. */
function environment() {
  const handed = /^(PATH|HOME|TMPDIR|PWD|CI|GODEBUG|GOTRACEBACK|METAQDA_.*)$/;
  return Object.fromEntries(Object.entries({ TMPDIR: os.tmpdir(), ...process.env }).filter(([name]) => handed.test(name)));
}

const Go = loadGlue();
const go = new Go();
go.argv = process.argv.slice(2);
go.env = environment();
go.exit = process.exit;
const simd = simdImports(loadKernels());
Object.assign(go.importObject, simd.imports);
const { instance } = await WebAssembly.instantiate(fs.readFileSync(go.argv[0]), go.importObject);
simd.attach(instance);
process.on('exit', (code) => {
  // Nothing is left to wait for and Go has not ended: wake it, so that it reports the deadlock.
  if (code === 0 && !go.exited) {
    go._pendingEvent = { id: 0 };
    go._resume();
  }
});
await go.run(instance);
