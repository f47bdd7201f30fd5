// @ts-check
/**
 * Stages the npm package in build/package and packs it:
 *
 *   node web/build/package.mjs        -> build/metaqda-VERSION.tgz
 *
 * Needs what make has built before: build/library.wasm, the page's program, the extractor, and the kernels'
 * compiler. The JavaScript is bundled, so bundlers have little to resolve. The types come from its JSDoc.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { bundleEntries, recordModule } from './entries.mjs';
import { builtIn } from './extractor.mjs';
import { buildKinds } from './kinds.mjs';
import { written } from './written.mjs';

/** Types that JSDoc cannot express. */
const ELEMENT = `declare global { interface HTMLElementTagNameMap { 'metaqda-classifier': MetaqdaClassifier } }
export interface MetaqdaEvents {
    ready: CustomEvent<null>;
    example: CustomEvent<{ label: string; ids: string[] }>;
    answer: CustomEvent<import('./classifier/options.js').Prediction>;
    failed: CustomEvent<Error>;
}
type Events = Omit<HTMLElementEventMap, keyof MetaqdaEvents> & MetaqdaEvents;
export interface MetaqdaClassifier {
    addEventListener<K extends keyof Events>(type: K, listener: (this: MetaqdaClassifier, event: Events[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
    addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
    removeEventListener<K extends keyof Events>(type: K, listener: (this: MetaqdaClassifier, event: Events[K]) => unknown, options?: boolean | EventListenerOptions): void;
    removeEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | EventListenerOptions): void;
}
`;

const root = fileURLToPath(new URL('../../', import.meta.url));
const library = path.join(root, 'web/library');
const out = path.join(root, 'build/package');
const prior = path.join(root, 'web/prior/default.safetensors');

const { version, repository, homepage, bugs } = JSON.parse(await readFile(path.join(root, 'web/package.json'), 'utf8'));
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await copy();
const kinds = await buildKinds(out, builtIn, false);
await bundle();
await plainGraphs();
await types();
await asFiles();
await writeFile(path.join(out, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
const packed = path.join(root, `build/metaqda-${version}.tgz`);
const [{ filename, size, unpackedSize }] = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', path.join(root, 'build')], { cwd: out, encoding: 'utf8' }),
);
if (path.join(root, 'build', filename) !== packed) await rename(path.join(root, 'build', filename), packed);
console.log(`${path.relative(process.cwd(), packed)}: ${size} bytes, ${unpackedSize} unpacked`);

async function bundle() {
  const names = ['index', 'knn-classifier', 'worker', 'storage', 'extractors', 'efficientnet-lite0', 'sounds', 'hands', 'element'];
  await bundleEntries({ ...Object.fromEntries(names.map((name) => [name, `library/${name}.js`])), function: 'extractor/own/function.js' }, out, record);
  // Each is bundled by itself: if window and worker share a file, one bundler (Parcel) loses it in the
  // worker.
  for (const name of ['worker-thread', 'storage-thread']) await bundleEntries({ [name]: `library/${name}.js` }, out, record, { splitting: false });
  // By itself, so that it needs no chunk. Bundlers must not look for an engine beside it.
  await build({
    entryPoints: [path.join(library, 'inline.js')],
    outdir: out,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    logLevel: 'warning',
    legalComments: 'inline',
    define: { 'import.meta.url': 'undefined' },
    plugins: [written({ engine })],
  });
}

async function engine() {
  const small = gzipSync(await readFile(path.join(root, 'build/library.wasm')), { level: 9 }).toString('base64');
  return `
    export const engine = () => new Response(
      new Blob([Uint8Array.from(atob('${small}'), (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream('gzip')),
      { headers: { 'content-type': 'application/wasm' } });`;
}

async function record() {
  const site = JSON.parse(await readFile(path.join(root, 'build/site/extractor/extractor.json'), 'utf8'));
  if (!site.id.startsWith(builtIn)) throw new Error(`The site is built with the network ${site.id}, and the package is of ${builtIn}: leave out EYE.`);
  const sum = createHash('sha256')
    .update(await readFile(prior))
    .digest('hex');
  return recordModule(site, sum, Object.fromEntries(kinds.map(({ name, ...one }) => [name, one])));
}

async function types() {
  execFileSync('npx', ['--no-install', 'tsc', '-p', 'library/tsconfig.json', '--outDir', path.join(out, 'types')], {
    cwd: path.join(root, 'web'),
    stdio: 'inherit',
  });
  const shared = path.join(out, 'types/base/remote.d.ts'); // which all entries read: projects for Node.js alone have no lib dom
  await writeFile(shared, `/// <reference lib="dom" />\n${await readFile(shared, 'utf8')}`);
  await appendFile(path.join(out, 'types/library/element.d.ts'), ELEMENT);
  // In the tree they stand apart, where no browser fetches them.
  await appendFile(path.join(out, 'types/library/storage.d.ts'), "export * from './types.js';\n");
}

async function copy() {
  await cp(path.join(root, 'build/library.wasm'), path.join(out, 'metaqda.wasm'));
  await cp(path.join(root, 'build/site/metaqda.wasm'), path.join(out, 'storage.wasm'));
  await cp(prior, path.join(out, 'priors/efficientnet-lite0.safetensors'));
  await cp(path.join(root, 'web/prior/hands.safetensors'), path.join(out, 'priors/hands.safetensors'));
  for (const name of ['README.md', 'CHANGELOG.md']) await cp(path.join(library, name), path.join(out, name));
  for (const name of ['LICENSE', 'THIRD_PARTY.md']) await cp(path.join(root, name), path.join(out, name));
  await cp(path.join(root, 'build/site/extractor'), path.join(out, 'efficientnet-lite0'), { recursive: true, filter: (name) => !/\.(br|gz)$/.test(name) });
}

/** Names the graphs of networks so that no bundler (Parcel) makes modules of them. */
async function plainGraphs() {
  for (const folder of [builtIn, 'kinds/hands/hand', 'kinds/sounds/speech'])
    await rename(path.join(out, folder, 'model.json'), path.join(out, folder, 'model.json.txt'));
  let renamed = 0;
  for (const name of (await readdir(out)).filter((one) => one.endsWith('.js'))) {
    const text = await readFile(path.join(out, name), 'utf8');
    const plain = text.replace(/(new URL\("[^"]+\/model\.json)"/g, (_, address) => {
      renamed++;
      return `${address}.txt"`;
    });
    if (plain !== text) await writeFile(path.join(out, name), plain);
  }
  if (renamed !== 3) throw new Error(`${renamed} graphs of networks are named in the modules, and there are 3.`);
}

/** Entries in a folder as files too, for bundlers that do not read the exports of package.json (Parcel). */
async function asFiles() {
  await mkdir(path.join(out, 'extractors'));
  for (const [name, at] of Object.entries(manifest().exports)) {
    if (name.startsWith('./extractors/') && typeof at === 'object') await writeFile(path.join(out, `${name}.js`), `export * from '.${at.default}';\n`);
  }
}

function manifest() {
  const entry = (/** @type {string} */ name, folder = 'library') => ({ types: `./types/${folder}/${name}.d.ts`, default: `./${name}.js` });
  return {
    name: 'metaqda',
    version,
    description: 'Few-shot classification on the device: two to five examples of each thing, and how probable each of them is, or none of them',
    keywords: ['few-shot', 'classifier', 'enrolment', 'open-set', 'knn-classifier', 'embeddings', 'wasm'],
    license: 'Apache-2.0',
    ...Object.fromEntries(Object.entries({ repository, homepage, bugs }).filter(([, value]) => value)),
    type: 'module',
    sideEffects: ['./inline.js', './element.js', './*-thread.js', './*/worker.js', './kinds/*/worker.js'],
    engines: { node: '>=20' },
    exports: {
      '.': entry('index'),
      './inline': entry('inline'),
      './element': entry('element'),
      './knn-classifier': entry('knn-classifier'),
      './worker': entry('worker'),
      './worker-thread': './worker-thread.js',
      './storage': entry('storage'),
      './storage-thread': './storage-thread.js',
      './extractors': entry('extractors'),
      './extractors/efficientnet-lite0': entry('efficientnet-lite0'),
      './extractors/sounds': entry('sounds'),
      './extractors/hands': entry('hands'),
      './extractors/function': entry('function', 'extractor/own'),
      './metaqda.wasm': './metaqda.wasm',
      './storage.wasm': './storage.wasm',
      './priors/*': './priors/*',
      './package.json': './package.json',
    },
  };
}
