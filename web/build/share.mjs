// @ts-check
/**
 * Builds the parts of the files that "Share" makes, into build/site/share:
 *   page.html     the page with its style and its program inside, without blocks
 *   page.txt      whose works a shared file carries, and their licences
 * and the same for sounds and hands and for extractors other than the page's own, for each
 * runtime, where files are fetched only when they are asked for:
 *   kinds/KIND/share.html, share.txt; in networks/ share-tfjs-graph.html, share-tfjs-graph.txt, share-onnx.html, share-onnx.txt
 *
 * Beside page.html lies engine.wasm, that of the npm package.
 *
 * The policy of the page names program and style by their hashes and allows nothing
 * else, the network least of all.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { written } from './written.mjs';
import { quietTfjs, slimTfjs } from './slim-tfjs.mjs';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const root = path.dirname(web);
const site = path.resolve(process.argv[2] ?? path.join(root, 'build/site'));

/**
 * @typedef {object} Variant of the page
 * @property {string} to where page and notices go, without what their names end in
 * @property {string} kind
 * @property {string} runtime the module that runs the network
 * @property {() => import('esbuild').Plugin} plugin for that
 * @property {string} [thread] what else the policy lets run: the audio thread's program, which the page's own makes a file of
 * @property {string[]} from parts of THIRD_PARTY.md
 * @property {RegExp} carries matches rows of these that apply to this file
 */

const [own, kinds, others] = ['### Feature extractor', '### Extractors of sounds and hands', '### Runtimes of other extractors'];
/** @type {Variant[]} */
const variants = [
  { to: 'share/page', kind: 'pictures', runtime: 'runtime.mjs', plugin: slimTfjs, from: [own], carries: /./ },
  { to: 'kinds/sounds/share', kind: 'sounds', runtime: 'runtime.mjs', plugin: slimTfjs, thread: ' blob:', from: [own, kinds], carries: /tfjs|`long`|sounds\// },
  { to: 'kinds/hands/share', kind: 'hands', runtime: 'runtime.mjs', plugin: slimTfjs, from: [own, kinds], carries: /tfjs|`long`|hands\// },
  { to: 'networks/share-tfjs-graph', kind: 'pictures', runtime: 'own/graphs.mjs', plugin: quietTfjs, from: [own, others], carries: /tfjs|`long`|`seedrandom`/ },
  { to: 'networks/share-onnx', kind: 'pictures', runtime: 'own/onnx.mjs', plugin: quietTfjs, from: [others], carries: /onnxruntime|its repository/ },
];

const index = await readFile(path.join(root, 'index.html'), 'utf8');

for (const variant of variants) {
  const to = path.join(site, variant.to);
  await mkdir(path.dirname(to), { recursive: true });
  await writeFile(`${to}.html`, await page(variant));
  await writeFile(`${to}.txt`, await notices(variant));
}

/** @param {Variant} variant */
async function page(variant) {
  const { thread = '' } = variant;
  const [text, style, program] = await Promise.all([readFile(path.join(web, 'share/page/page.html'), 'utf8'), bundledStyle(), bundledProgram(variant)]);
  const policy =
    `default-src 'none'; script-src ${hash(program)} 'wasm-unsafe-eval'${thread}; style-src ${hash(style)}; img-src blob:; media-src blob: mediastream:; ` +
    "worker-src blob:; connect-src 'none'; base-uri 'none'; form-action 'none'";
  if (/<\/script|<!--/i.test(program) || /<\/style/i.test(style)) throw new Error('The program or the style would end its element early.');
  /** @type {Record<string, string>} */
  const parts = { POLICY: policy, STYLE: style, SPRITE: icons(), RECOGNISE: recognising(), PROGRAM: program };
  return text.replaceAll(/\b(POLICY|STYLE|SPRITE|RECOGNISE|PROGRAM)\b/g, (name) => parts[name]);
}

/** @param {string} text */
function hash(text) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** @param {Variant} variant */
async function bundledProgram({ kind, runtime, plugin }) {
  const listener = await readFile(path.join(web, 'ui/kinds/sounds/worklet.js'), 'utf8');
  const {
    outputFiles: [{ text }],
  } = await build({
    entryPoints: [path.join(web, 'share/page/main.js')],
    bundle: true,
    format: 'iife',
    minify: true,
    write: false,
    target: 'es2022',
    legalComments: 'eof',
    logLevel: 'warning',
    // The same text runs in a page and in its worker, and has no address.
    define: { process: 'undefined', __filename: 'undefined', __dirname: 'undefined', 'import.meta.url': 'undefined' },
    plugins: [
      written(),
      plugin(),
      {
        name: 'kind',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /\/kinds\/pictures\.js$/ }, () => ({ path: path.join(web, 'share/page/kinds', `${kind}.js`) }));
          onResolve({ filter: /^\.\/runtime\.js$|\/extractor\/runtime\.mjs$/ }, () => ({ path: path.join(web, 'extractor', runtime) }));
          onLoad({ filter: /\/sounds\/program\.js$/ }, () => ({
            contents: `export const program = () => URL.createObjectURL(new Blob([${JSON.stringify(listener)}], { type: 'text/javascript' }));`,
          }));
        },
      },
    ],
  });
  return text;
}

async function bundledStyle() {
  const files = ['ui/style.css', 'ui/dialogs.css', 'ui/sort.css', 'ui/then/then.css', 'share/page/page.css'].map((name) => `@import "./${name}";`).join('\n');
  const {
    outputFiles: [{ text }],
  } = await build({
    stdin: { contents: files, resolveDir: web, loader: 'css' },
    bundle: true,
    minify: true,
    write: false,
    target: 'es2022',
    logLevel: 'warning',
  });
  return text;
}

/** The page's icons that this file uses. */
function icons() {
  return ['plus', 'close', 'picture', 'camera', 'hand', 'sound', 'microphone', 'switch', 'undo']
    .map((name) => {
      const found = new RegExp(`<symbol id="icon-${name}".*?</symbol>`).exec(index);
      if (!found) throw new Error(`index.html draws no icon ${name}`);
      return found[0];
    })
    .join('');
}

/** The recognising part of the page, without sorting, samples, taught examples and "Use it". */
function recognising() {
  const [found] = /<section id="recognise"[\s\S]*?<\/section>(?=\n<\/main>)/.exec(index) ?? [];
  if (!found) throw new Error('index.html has no section #recognise at the end of its main part');
  return [
    / *<label class="[^"]*folder-button.*<\/label>\n/,
    / *<div id="sample-queries"[\s\S]*?<\/div>\n/,
    / *<section id="why".*<\/section>\n/,
    / *<p id="use".*<\/p>\n/,
    / multiple/,
  ].reduce((text, out) => text.replace(out, ''), found);
}

/** THIRD_PARTY.md without the parts that a shared file does not contain, and the licence of metaqda. @param {Variant} variant */
async function notices({ from, carries }) {
  const all = await readFile(path.join(root, 'THIRD_PARTY.md'), 'utf8');
  const modules = execFileSync('go', ['list', '-deps', '-f', '{{with .Module}}{{.Path}}{{end}}', './wasm/library'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, GOOS: 'js', GOARCH: 'wasm' },
  }).split('\n');
  const foreign = (/** @type {string} */ row) => {
    const named = [...row.matchAll(/`((?:[\w-]+\.)+[a-z]+\/[^`]+)`/g)].map(([, name]) => name);
    return named.length > 0 && !named.some((name) => modules.includes(name));
  };
  const extractor = from.map((heading) => carried(section(all, heading), carries));
  const engine = section(all, '### Engine')
    .split('\n')
    .filter((row) => !foreign(row))
    .join('\n');
  return [
    'This file carries metaqda, under the Apache License 2.0, and the works of others below. The texts of all licences follow.',
    ...extractor,
    engine,
    section(all, '## Licence texts'),
    await readFile(path.join(root, 'LICENSE'), 'utf8'),
  ].join('\n\n');
}

/**
 * A part with only those rows of its table that contain one of these names. The text below the
 * table stays only if all rows stay.
 *
 * @param {string} text @param {RegExp} names
 */
function carried(text, names) {
  const lines = text.split('\n');
  const rows = lines.filter((line) => line.startsWith('|')).slice(2);
  const kept = rows.filter((row) => names.test(row));
  if (kept.length === rows.length) return text;
  const [heading, ...head] = lines.slice(0, lines.indexOf(rows[0]));
  return [heading.replace(/ \(.*/, ''), ...head, ...kept].join('\n');
}

/** @param {string} text @param {string} heading how it begins */
function section(text, heading) {
  const from = text.indexOf(`\n${heading}`);
  if (from < 0) throw new Error(`THIRD_PARTY.md has no part ${heading}`);
  const rest = text.slice(from + 1);
  const to = rest.slice(1).search(/\n##/);
  return (to < 0 ? rest : rest.slice(0, to + 1)).trim();
}
