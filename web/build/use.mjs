// @ts-check
/**
 * Builds the parts of the folders that "Use it" in the page makes, into build/site/use:
 *   metaqda/*.js   entries of the npm package with the chunks that they share
 *   use.json       {version, network, modules}: of the package; whether its network is the site's; what each entry imports
 *   p5/p5.min.js, p5-license.txt   p5.js, of npm
 *   python/metaqda.py   the module of the Python package that needs numpy alone
 *   node/pictures.js   the extractor of pictures for Node.js
 *   scratch/pictures.js, sounds.js, hands.js   extensions for TurboWarp without what was taught
 *   and the programs of web/share/use, as they are
 * Engine, networks and notices come from where the site has them already.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleEntries, recordModule } from './entries.mjs';
import { builtIn } from './extractor.mjs';
import { slimTfjs } from './slim-tfjs.mjs';
import { written } from './written.mjs';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** How the extractor for Node.js is bundled. @type {import('esbuild').BuildOptions} */
const nodeBundle = {
  entryPoints: [path.join(web, 'share/node/pictures.js')],
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  legalComments: 'eof',
  logLevel: 'warning',
  banner: {
    js: `// Inside: pngjs 7.0.0 (MIT, Copyright 2015 Luke Page & Original Contributors, 2012 Kuba Niegowski), and
// jpeg-js 0.4.4 (BSD-3-Clause, Copyright 2014 Eugene Ware; its decoder Apache-2.0, Copyright 2011 notmasteryet).
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);`,
  },
};
const site = path.resolve(process.argv[2] ?? path.join(web, '../build/site'));
const out = path.join(site, 'use');
const record = async (/** @type {string} */ folder) => JSON.parse(await readFile(path.join(site, folder, 'extractor.json'), 'utf8'));

const pictures = await record('extractor');
const [sounds, hands] = await Promise.all(['sounds', 'hands'].map((kind) => record(`kinds/${kind}`)));
const sum = createHash('sha256')
  .update(await readFile(path.join(web, 'prior/default.safetensors')))
  .digest('hex');

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const entries = ['index', builtIn, 'hands', 'sounds'];
const { metafile } = await bundleEntries(
  Object.fromEntries(entries.map((name) => [name, `library/${name}.js`])),
  path.join(out, 'metaqda'),
  async () => recordModule(pictures, sum, { sounds, hands }),
  { minify: true, legalComments: 'eof', metafile: true },
);
const outputs = Object.fromEntries(
  Object.entries(metafile?.outputs ?? {}).map(([name, { imports }]) => [
    path.basename(name),
    imports.filter(({ external, kind }) => !external && kind === 'import-statement').map((one) => path.basename(one.path)),
  ]),
);
const { version } = JSON.parse(await readFile(path.join(web, 'package.json'), 'utf8'));
await writeFile(
  path.join(out, 'use.json'),
  `${JSON.stringify({ version, network: pictures.id.startsWith(builtIn), modules: Object.fromEntries(entries.map((name) => [name, imported(`${name}.js`)])) })}\n`,
);
await cp(path.join(web, 'share/use'), out, { recursive: true });
await cp(path.join(web, '../scripts/python/metaqda/exported.py'), path.join(out, 'python/metaqda.py'));
for (const [name, from] of [
  ['p5.min.js', 'lib/p5.min.js'],
  ['p5-license.txt', 'license.txt'],
])
  await cp(path.join(web, 'node_modules/p5', from), path.join(out, 'p5', name));

await mkdir(path.join(out, 'scratch'), { recursive: true });
for (const kind of ['pictures', 'sounds', 'hands']) await writeFile(path.join(out, `scratch/${kind}.js`), await extension(kind));

await build({ ...nodeBundle, outdir: path.join(out, 'node') });

/** An extension is one script. Its worker runs the same program, so the program is a function. @param {string} kind */
async function extension(kind) {
  const {
    outputFiles: [{ text }],
  } = await build({
    stdin: { contents: "import { begin } from './main.js';\nbegin({ Scratch, blocks, about, source });", resolveDir: path.join(web, 'share/scratch') },
    bundle: true,
    format: 'iife',
    minify: true,
    write: false,
    target: 'es2022',
    legalComments: 'eof',
    logLevel: 'warning',
    define: { process: 'undefined', __filename: 'undefined', __dirname: 'undefined', 'import.meta.url': 'undefined' },
    plugins: [
      written(),
      slimTfjs(),
      {
        name: 'scratch',
        setup({ onResolve }) {
          onResolve({ filter: /\/kinds\/pictures\.js$/ }, () => ({ path: path.join(web, 'share/scratch/kinds', `${kind}.js`) }));
          onResolve({ filter: /^\.\/runtime\.js$/ }, () => ({ path: path.join(web, 'extractor/runtime.mjs') }));
        },
      },
    ],
  });
  return `(function (Scratch) {
const program = function (Scratch, blocks, about, source) {
${text}};
program(Scratch, METAQDA_BLOCKS, METAQDA_ABOUT, \`(\${program})()\`);
})(Scratch);
`;
}

/** A module with all that it imports. @param {string} name @param {Set<string>} [found] @returns {string[]} */
function imported(name, found = new Set()) {
  if (!found.has(name)) {
    found.add(name);
    for (const next of outputs[name]) imported(next, found);
  }
  return [...found];
}
