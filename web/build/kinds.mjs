// @ts-check
/**
 * Builds the extractors of the other kinds, sounds and hands, each into its own folder in build/site/kinds:
 *   KIND/NETWORK/model.json, weights.bin   its networks, as scripts/networks made them
 *   KIND/worker.js, start.js               the worker that speaks the message envelope, and its recipe
 *   KIND/runtime.js                        exports the runtime of extractor/, which all kinds share
 *   KIND/extractor.json                    what it is, with its identity and the sizes of its files
 * YAMNet is included if `make ears` has made it.
 */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { identityWith } from '../extractor/networks.js';
import { sha256 } from '../extractor/manifest.js';
import * as hands from '../extractor/hands/recipe.js';
import * as sounds from '../extractor/sounds/recipe.js';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const ears = path.join(web, '../build/ears');

/** @typedef {{name: string, dimension: number, id: string, recipe: string, variants?: Record<string, string>, networks: Record<string, string>}} Kind variants: their recipes, which are also their ids; networks: their folders */

/** The sources of the bundles, for the test that reads their licences. @type {import('esbuild').BuildOptions} */
export const kindBundles = {
  entryPoints: ['sounds', 'hands'].flatMap((name) => [
    { in: path.join(web, `extractor/${name}/start.mjs`), out: `kinds/${name}/start` },
    { in: path.join(web, 'extractor/kinds/worker.mjs'), out: `kinds/${name}/worker` },
  ]),
  bundle: true,
  format: 'esm',
  minify: true,
  target: 'es2022',
  legalComments: 'eof',
  logLevel: 'warning',
  external: ['./runtime.js', './start.js'],
};

/** @param {boolean} yamnet @returns {Kind[]} */
const kindsOf = (yamnet) => [
  {
    name: 'sounds',
    id: `${sounds.recipe}${yamnet ? '' : '-speech'}`,
    recipe: sounds.recipe,
    dimension: sounds.sizes.speech + (yamnet ? sounds.sizes.yamnet : 0),
    networks: { ...(yamnet && { yamnet: path.join(ears, 'yamnet') }), speech: path.join(web, 'extractor/speech-embedding') },
  },
  {
    name: 'hands',
    id: hands.recipe,
    recipe: hands.recipe,
    variants: { handedness: hands.handed },
    dimension: hands.dimension,
    networks: { hand: path.join(web, 'extractor/hand-landmark') },
  },
];

/**
 * @param {string} out folder of the site or of the npm package @param {string} extractor the folder in it of the built extractor of pictures
 * @param {boolean} yamnet whether YAMNet reads sounds too
 * @returns {Promise<(import('../extractor/networks.js').Recorded & {name: string})[]>}
 */
export async function buildKinds(out, extractor, yamnet) {
  const kinds = kindsOf(yamnet);
  const { program } = JSON.parse(await readFile(path.join(out, extractor, 'extractor.json'), 'utf8'));
  await rm(path.join(out, 'kinds'), { recursive: true, force: true });
  await build({ ...kindBundles, outdir: out });
  return Promise.all(
    kinds.map(async ({ name, id, recipe, variants = {}, dimension, networks }) => {
      const folder = path.join(out, 'kinds', name);
      /** @type {Buffer<ArrayBuffer>[]} */
      const contents = [];
      const manifests = await Promise.all(
        Object.entries(networks).map(async ([network, from]) => [network, JSON.parse(await readFile(path.join(from, 'manifest.json'), 'utf8'))]),
      );
      for (const [network, { files }] of manifests) {
        await mkdir(path.join(folder, network), { recursive: true });
        for (const file of files) {
          const from = path.join(networks[network], file.name);
          const content = await readFile(from);
          if ((await sha256(content)) !== file.sha256)
            throw new Error(`${from} is not the file of its manifest: take both from one version of the repository.`);
          await writeFile(path.join(folder, network, file.name), content);
          contents.push(content);
        }
      }
      await writeFile(path.join(folder, 'runtime.js'), `export * from '../../${extractor}/runtime.js';\n`);
      const identity = (/** @type {string} */ by) => identityWith(contents, { recipe: by, networks: Object.keys(networks) });
      const others = await Promise.all(Object.entries(variants).map(async ([variant, by]) => [variant, { id: by, sha256: await identity(by) }]));
      const record = {
        id,
        sha256: await identity(recipe),
        ...(others.length && { variants: Object.fromEntries(others) }),
        dimension,
        networks: Object.fromEntries(manifests),
        program: { ...program, name: `../../${extractor}/${program.name}` },
      };
      await writeFile(path.join(folder, 'extractor.json'), JSON.stringify(record, null, 1) + '\n');
      return { name, ...record };
    }),
  );
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const site = path.resolve(process.argv[2] ?? path.join(web, '../build/site'));
  const yamnet = await stat(path.join(ears, 'yamnet/manifest.json')).then(
    () => true,
    () => false,
  );
  for (const { name, id, dimension, networks } of await buildKinds(site, 'extractor', yamnet))
    console.log(`${name}: ${id}, ${dimension} numbers of ${Object.keys(networks).join(' and ')}`);
}
