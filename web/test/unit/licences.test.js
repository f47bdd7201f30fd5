// @ts-check
/** What others made and the page ships stands in the notices. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { kindBundles } from '../../build/kinds.mjs';
import { networkBundles } from '../../build/networks.mjs';
import { pageBundles } from '../../build/page.mjs';
import { slimTfjs } from '../../build/slim-tfjs.mjs';

const web = fileURLToPath(new URL('../../', import.meta.url));

/** The packages whose code ends up in the bundles that the site serves. @returns {Promise<string[]>} */
async function bundled() {
  const common = /** @type {const} */ ({
    bundle: true,
    format: 'esm',
    minify: true,
    target: 'es2022',
    write: false,
    metafile: true,
    absWorkingDir: web,
    outdir: 'out',
    logLevel: 'silent',
  });
  const results = await Promise.all([
    build({
      ...common,
      entryPoints: ['extractor/runtime.mjs'],
      define: { process: 'undefined', __filename: 'undefined', __dirname: 'undefined' },
      plugins: [slimTfjs()],
    }),
    build({ ...common, entryPoints: ['extractor/worker.mjs'], external: ['./runtime.js'] }),
    build({ ...networkBundles, ...common }),
    build({ ...kindBundles, ...common }),
    build({ ...pageBundles(path.dirname(path.resolve(web))), ...common }),
    build({ ...common, entryPoints: ['share/node/pictures.js'], platform: 'node' }),
  ]);
  const inputs = results
    .flatMap(({ metafile }) => Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs)))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  const names = inputs.map(([file]) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file)?.[1]).filter((name) => name !== undefined);
  return [...new Set([...names, 'p5'])].sort(); // p5 as it is, by web/build/use.mjs
}

test('every npm package whose code is served stands in the notices with its version and licence', async () => {
  const names = await bundled();
  assert.ok(names.includes('@tensorflow/tfjs-core'), `${names}`);
  const served = (await readFile(path.join(web, '../THIRD_PARTY.md'), 'utf8')).split('## Used to build and test only')[0];
  for (const name of names) {
    const { version, license } = JSON.parse(await readFile(path.join(web, 'node_modules', name, 'package.json'), 'utf8'));
    const row = served.split('\n').find((line) => line.includes(`\`${name}\` ${version}`));
    assert.ok(row, `${name} ${version} (${license}) is served and not named`);
    assert.ok(row.includes(license), `${name} is under ${license}: ${row}`);
  }
});
