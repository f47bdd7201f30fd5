// @ts-check
// Builds the SIMD kernels: wasm/simd/kernels/*.ts -> one small WebAssembly module.
//
//   node web/build/simd.mjs [out]      default: build/site/metaqda-simd.wasm
//
// The kernels share Go's memory, so the module may own nothing in it: the build fails if it has a
// data segment, a start function, a global or an import other than the memory. It also fails if it
// grows past its budget.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUDGET = 10 * 1024;
const FORBIDDEN = new Map([
  [6, 'global'],
  [8, 'start'],
  [9, 'element'],
  [11, 'data'],
]);

/** Compiles the kernels in memory. @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function compile() {
  /** @type {Uint8Array<ArrayBuffer> | undefined} */
  let binary;
  const { error, stderr } = await asc.main(
    ['index.ts', '--outFile', 'kernels.wasm', '-O3', '--noAssert', '--converge', '--runtime', 'stub', '--importMemory', '--enable', 'simd'],
    {
      readFile: (/** @type {string} */ name) => readSource(name),
      writeFile: (/** @type {string} */ name, /** @type {any} */ bytes) => {
        if (name === 'kernels.wasm') binary = bytes;
      },
      listFiles: () => [],
    },
  );
  if (error || !binary) throw new Error(`simd: ${error?.message ?? 'no output'}\n${stderr.toString()}`);
  return binary;
}

/** @param {string} name path as the compiler asks for it, relative to the kernels */
function readSource(name) {
  try {
    return readFileSync(`${ROOT}wasm/simd/kernels/${name}`, 'utf8');
  } catch {
    return null; // The compiler tries several names for one import.
  }
}

/** Throws if the module would touch anything but the memory that it imports. @param {Uint8Array<ArrayBuffer>} binary */
export function check(binary) {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(binary));
  if (imports.length !== 1 || imports[0].kind !== 'memory') {
    throw new Error(`simd: the kernels must import the memory alone, not ${JSON.stringify(imports)}`);
  }
  for (const id of sections(binary)) {
    if (FORBIDDEN.has(id)) throw new Error(`simd: the kernels must not have a ${FORBIDDEN.get(id)} section`);
  }
  if (binary.length > BUDGET) throw new Error(`simd: ${binary.length} bytes, budget ${BUDGET}`);
}

/**
 * Lists the section ids of a module: after the 8-byte header each section is an id, a LEB128 length and as many bytes.
 * @param {Uint8Array} binary
 */
function sections(binary) {
  const ids = [];
  for (let at = 8; at < binary.length; ) {
    ids.push(binary[at++]);
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = binary[at++];
      length |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    at += length;
  }
  return ids;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = process.argv[2] ?? `${ROOT}build/site/metaqda-simd.wasm`;
  const binary = await compile();
  check(binary);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, binary);
  console.log(`${relative(process.cwd(), out)}: ${binary.length} bytes`);
}
