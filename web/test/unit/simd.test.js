// @ts-check
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, compile } from '../../build/simd.mjs';
import { simdSupported } from '../../base/simd.js';
import { simdImports } from '../../engine/kernels.js';

const binary = await compile();
const module = new WebAssembly.Module(binary);

/** Stands in for Go's instance. @param {WebAssembly.Memory} mem */
const instanceWith = (mem) => /** @type {WebAssembly.Instance} */ (/** @type {unknown} */ ({ exports: { mem } }));

test('the kernels own nothing in the memory they share and keep within 10 KB', () => {
  check(binary);
  assert.ok(binary.length <= 10 * 1024, `${binary.length} bytes`);
});

test('the check rejects a module with a data segment, and one that imports anything else than memory', () => {
  // (module (import "env" "memory" (memory 0)) (data (i32.const 0) "x"))
  assert.throws(
    () =>
      check(
        new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 2, 15, 1, 3, 101, 110, 118, 6, 109, 101, 109, 111, 114, 121, 2, 0, 0, 11, 7, 1, 0, 65, 0, 11, 1, 120]),
      ),
    /data section/,
  );
  // (module (import "a" "f" (func)))
  assert.throws(() => check(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 7, 1, 1, 97, 1, 102, 0, 0])), /memory alone/);
});

test('the trampolines and the kernels agree on names and numbers of arguments', () => {
  const { simd } = simdImports(module).imports;
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const functions = Object.entries(exports).filter(([, value]) => typeof value === 'function');
  const arity = Object.fromEntries(functions.map(([name, f]) => [name, /** @type {Function} */ (f).length]));
  const trampolines = Object.fromEntries(Object.entries(simd).map(([name, f]) => [name, f.length]));
  assert.deepEqual(trampolines, { ...arity, available: 0 });
});

test('without kernels the imports exist and available says no', () => {
  const simd = simdImports(null);
  assert.equal(simd.imports.simd.available(), 0);
  simd.attach(instanceWith(new WebAssembly.Memory({ initial: 1 })));
  assert.equal(simd.imports.simd.available(), 0);
  assert.equal(simdImports(module).imports.simd.available(), 1);
});

test('the kernels see memory that grew after they were attached', () => {
  assert.ok(simdSupported());
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { imports, attach } = simdImports(module);
  attach(instanceWith(memory));
  const page = memory.grow(3) * 65536 + 65536; // an address that did not exist before
  new Float64Array(memory.buffer, page, 40).fill(2);
  assert.equal(imports.simd.ddot(40, page, page), 160);
  assert.throws(() => imports.simd.ddot(40, 4 * 65536, 0), WebAssembly.RuntimeError);
});

test('every instance has its own memory', () => {
  const [a, b] = [1, 2].map((value) => {
    const memory = new WebAssembly.Memory({ initial: 1 });
    new Float64Array(memory.buffer, 0, 64).fill(value);
    const { imports, attach } = simdImports(module);
    attach(instanceWith(memory));
    return imports.simd;
  });
  assert.deepEqual([a.ddot(64, 0, 0), b.ddot(64, 0, 0)], [64, 256]);
});
