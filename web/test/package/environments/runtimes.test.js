// @ts-check
/** The package in runtimes without a page: the programs print their results. Pictures are refused where nothing can read them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LONG } from '../../long.js';
import { project } from '../project.js';
import { documented, every, installed, shell } from './environment.js';
import { picturesProgram, PROGRAMS, storageProgram, WANT, workerProgram } from './programs.js';
import { note } from './rows.js';

const REFUSED = { want: { refused: 'unsupported' }, note: 'browsers only' };
const refusing = (/** @type {string} */ call) =>
  `${call}.then(() => ({}), ({ code }) => ({ refused: code })).then((result) => console.log(JSON.stringify(result)));`;

const programs = {
  ...PROGRAMS,
  pictures: `import { loadExtractor } from 'metaqda/extractors/efficientnet-lite0'; ${refusing('loadExtractor()')}`,
};
const kept = { want: { ...WANT.storage, kept: false }, note: 'works, in memory' };

/**
 * @param {string} name
 * @param {object} options
 * @param {string} [options.tool] npm package that has the runtime
 * @param {Record<string, string>} options.files
 * @param {(entry: string) => string} options.command
 * @param {string[]} [options.recipe] what the package's README must say of it
 * @param {Record<string, {want: object, note: string}>} [options.otherwise]
 */
function runtime(name, { tool, files, command, recipe = [], otherwise }) {
  test(name, tool ? LONG : {}, async (t) => {
    if (tool && !installed(tool)) {
      for (const entry of Object.keys(WANT)) note({ environment: name, entry, result: 'not installed', command: command('vectors') });
      t.skip(`not installed: ${tool}`);
      return;
    }
    documented(recipe);
    const { folder } = project(files);
    await every(name, Object.keys(WANT).map(command).join('\n'), async (entry) => JSON.parse(shell(command(entry), folder).trim().split('\n').at(-1) ?? ''), {
      pictures: REFUSED,
      storage: kept,
      ...otherwise,
    });
  });
}

const noWorkers = { want: REFUSED.want, note: 'no web workers there' };
const inNode = { ...programs, worker: `import { ClassifierWorker } from 'metaqda/worker'; ${refusing('(async () => new ClassifierWorker())()')}` };

runtime('Node.js', { command: (entry) => `node ${entry}.mjs`, otherwise: { worker: noWorkers }, files: named(inNode, 'mjs') });
// The programs wait at their top level, which scripts cannot.
const required = (/** @type {string} */ code) => `(async () => {${code.replace(/import (\{[^}]*\}) from ('[^']+');/g, 'const $1 = require($2);')}})();`;
runtime('Node.js, CommonJS', {
  command: (entry) => `node ${entry}.cjs`,
  otherwise: { worker: noWorkers },
  files: named(Object.fromEntries(Object.entries(inNode).map(([name, code]) => [name, required(code)])), 'cjs'),
});
runtime('Deno', {
  tool: 'deno',
  recipe: ['(`--allow-read`)', 'All three work in browsers and in [Deno]', 'loadExtractor({ worker: false })', 'Deno.exit()'],
  command: (entry) => `deno run --no-remote --allow-read ${entry}.js`,
  // Its workers lose the class of an ImageData; an open storage listens to tabs for as long as the program runs.
  otherwise: { pictures: { want: WANT.pictures, note: 'works, as ImageData' } },
  files: named({ ...programs, pictures: picturesProgram('{ worker: false }'), storage: `${PROGRAMS.storage}Deno.exit();` }, 'js'),
});
runtime('Bun', { tool: 'bun', command: (entry) => `bun ${entry}.js`, files: named(programs, 'js') });

// A compiled program has the files that it imports as such.
const ENGINE =
  "import engine from 'metaqda/metaqda.wasm' with { type: 'file' };\nimport { init } from 'metaqda';\nawait init({ wasm: await Bun.file(engine).bytes() });";
runtime('Bun, compiled', {
  tool: 'bun',
  recipe: ENGINE.split('\n'),
  command: (entry) => `bun build --compile ${entry}.js ./worker-thread.js ./storage-thread.js --outfile out/${entry}\ncd out && ./${entry}`,
  files: named(
    {
      ...programs,
      'worker-thread': "import 'metaqda/worker-thread';",
      'storage-thread': "import 'metaqda/storage-thread';",
      vectors: `${ENGINE}\n${PROGRAMS.vectors}`,
      worker: `${ENGINE}\n${workerProgram("{ worker: new Worker(new URL('./worker-thread.js', import.meta.url)), wasm: await WebAssembly.compile(await Bun.file(engine).bytes()) }")}`,
      storage: `${ENGINE}\nimport program from 'metaqda/storage.wasm' with { type: 'file' };\n${storageProgram("wasm: await Bun.file(program).bytes(), worker: () => new Worker(new URL('./storage-thread.js', import.meta.url))")}`,
    },
    'js',
  ),
});

test('Bun compiles metaqda/inline without further files', LONG, (t) => {
  if (!installed('bun')) return t.skip('not installed: bun');
  documented(['for vectors import `metaqda/inline`: it needs no files']);
  const program = `import { createClassifier } from 'metaqda/inline';
    const c = await createClassifier();
    await c.addExamples([[9, 1], [1, 9]], ['cup', 'pen']);
    console.log((await c.predict([8, 1])).label);`;
  const { folder } = project({ 'vectors.js': program });
  assert.match(shell('bun build --compile vectors.js --outfile out/vectors\nrm -r node_modules && cd out && ./vectors', folder), /^cup$/m);
});

/** @param {Record<string, string>} all @param {string} ending */
function named(all, ending) {
  return Object.fromEntries(Object.entries(all).map(([name, code]) => [`${name}.${ending}`, code]));
}
