// @ts-check
/**
 * Makes the served folder from the built parts:
 *
 *   node web/build/site.mjs        -> build/site
 *
 * To what other build steps put there it adds
 *
 *   - the page: index.html, the notices, its programs as page.mjs bundles them, and its styles and icons;
 *   - wasm_exec.js of the toolchain that built the engine;
 *   - manifest.json: {version, files: [{path, bytes, sha256}]}, every file that the page may ask
 *     for, sorted by path. Content-Length tells compressed bytes, so progress needs these;
 *   - sw.js: web/offline/sw.js after one line that defines VERSION, that of the manifest. It
 *     stands at the top to have the whole site as its scope;
 *   - beside files that get smaller their variants .br and .gz, made anew when the file changed.
 *
 * It removes files that a former build left in web/, and variants without a file.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { bundlePage } from './page.mjs';

/** The files that other build steps must have made. */
const PARTS = ['metaqda.wasm', 'metaqda-simd.wasm', 'prior.safetensors', 'extractor', 'kinds', 'networks', 'samples', 'share', 'use'];
const SHIPPED = /^web\/(ui|icons)\/.*\.(css|svg|png|ico)$|^web\/[\w-]+\.webmanifest$/;
const PACKED = /\.(png|jpe?g|webp|avif|woff2|mp4|webm|ico)$/; // compressed in themselves
const VARIANT = /\.(br|gz)$/;

/** @type {Record<string, (bytes: Buffer) => Promise<Buffer>>} */
const CODECS = {
  '.br': (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  '.gz': (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

/**
 * @param {string} root the source tree @param {string} out
 * @param {string} [wasmExec] the runtime of the engine, that of Go's toolchain if left out
 * @returns {Promise<{version: string, files: {path: string, bytes: number, sha256: string}[]}>} the manifest
 */
export async function buildSite(
  root,
  out,
  wasmExec = path.join(execFileSync('go', ['env', 'GOROOT'], { cwd: root, encoding: 'utf8' }).trim(), 'lib/wasm/wasm_exec.js'),
) {
  for (const part of PARTS) if (!existsSync(path.join(out, part))) throw new Error(`${part} is missing in ${out}: 'make build' makes it`);
  const page = await pageFiles(root, wasmExec);
  for (const [name, content] of page) await write(path.join(out, name), content);
  const names = (await filesBelow(out)).filter((name) => !/^(manifest\.json|sw\.js)$|(^|\/)\./.test(name));
  const stale = names.filter((name) =>
    VARIANT.test(name) ? !existsSync(path.join(out, name.replace(VARIANT, ''))) : name.startsWith('web/') && !page.has(name),
  );
  await Promise.all(stale.flatMap((name) => ['', '.br', '.gz'].map((suffix) => rm(path.join(out, name + suffix), { force: true }))));
  const files = await Promise.all(
    names
      .filter((name) => !VARIANT.test(name) && !stale.includes(name))
      .map(async (name) => {
        const content = await readFile(path.join(out, name));
        return { path: name, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
      }),
  );
  const worker = await readFile(path.join(root, 'web/offline/sw.js'), 'utf8');
  const version = createHash('sha256')
    .update(JSON.stringify(files) + worker)
    .digest('hex')
    .slice(0, 16);
  await write(path.join(out, 'manifest.json'), Buffer.from(`${JSON.stringify({ version, files }, null, 1)}\n`));
  await write(path.join(out, 'sw.js'), Buffer.from(`const VERSION = "${version}";\n${worker}`));
  await Promise.all([...files.map((file) => file.path), 'manifest.json', 'sw.js'].map((name) => compress(path.join(out, name))));
  return { version, files };
}

/** The page's files by their names in the site. @param {string} root @param {string} wasmExec @returns {Promise<Map<string, Buffer>>} */
async function pageFiles(root, wasmExec) {
  const inTree = (/** @type {string} */ name) => path.join(root, name);
  const shipped = (await filesBelow(inTree('web'))).map((name) => `web/${name}`).filter((name) => SHIPPED.test(name));
  const copied = [
    ['index.html', inTree('index.html')],
    ['LICENSE.txt', inTree('LICENSE')],
    ['THIRD_PARTY.md', inTree('THIRD_PARTY.md')],
    ['wasm_exec.js', wasmExec],
    ...shipped.map((name) => [name, inTree(name)]),
  ];
  const files = await Promise.all(copied.map(async ([name, source]) => /** @type {[string, Buffer]} */ ([name, await readFile(source)])));
  return new Map([...files, ...(await bundlePage(root))]);
}

/** @param {string} folder @returns {Promise<string[]>} sorted, with slashes; what npm installed is not looked at */
async function filesBelow(folder) {
  const found = await Promise.all(
    (await readdir(folder, { withFileTypes: true })).map(async (entry) => {
      if (entry.isFile()) return [entry.name];
      if (!entry.isDirectory() || entry.name === 'node_modules') return [];
      return (await filesBelow(path.join(folder, entry.name))).map((name) => `${entry.name}/${name}`);
    }),
  );
  return found.flat().sort((a, b) => (a < b ? -1 : 1));
}

/** Writes a file only if its content differs. Other files keep their time and their variants. @param {string} name @param {Buffer} content */
async function write(name, content) {
  if (existsSync(name) && content.equals(await readFile(name))) return;
  await mkdir(path.dirname(name), { recursive: true });
  await writeFile(name, content);
}

/** @param {string} name */
async function compress(name) {
  const { size, mtimeMs } = statSync(name);
  for (const [suffix, pack] of Object.entries(CODECS)) {
    const variant = statSync(name + suffix, { throwIfNoEntry: false });
    if (PACKED.test(name) || size < 200) await rm(name + suffix, { force: true });
    else if (!variant || variant.mtimeMs < mtimeMs) {
      const whole = path.join(path.dirname(name), `.${path.basename(name)}${suffix}`);
      await writeFile(whole, await pack(await readFile(name)));
      await rename(whole, name + suffix); // an interrupted build leaves no half file
    }
  }
}

/** The sizes of the downloads, in bytes, by part. @param {string} out @param {{path: string, bytes: number}[]} files */
function report(out, files) {
  /** @type {Record<string, {files: number, bytes: number, brotli: number}>} */
  const rows = {};
  for (const { path: name, bytes } of files) {
    const part =
      /^(extractor|kinds|networks|samples|share|use)\//.exec(name)?.[1] ??
      (/^(metaqda.*\.wasm|wasm_exec\.js)$/.test(name) ? 'engine' : name === 'prior.safetensors' ? 'prior' : 'page');
    const row = (rows[part] ??= { files: 0, bytes: 0, brotli: 0 });
    row.files++;
    row.bytes += bytes;
    row.brotli += statSync(path.join(out, `${name}.br`), { throwIfNoEntry: false })?.size ?? bytes;
  }
  console.table(rows);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const out = path.join(root, 'build/site');
  const { version, files } = await buildSite(root, out);
  console.log(`site ${version}`);
  report(out, files);
}
