// @ts-check
/**
 * Builds what "Share" puts a file together from, into build/site/share:
 *   page.html     the page with its style and its program inside, without blocks
 *   notices.txt   whose works a shared file carries, and their licences
 *
 * Beside them lies engine.wasm, that of the npm package.
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
import { slimTfjs } from './slim-tfjs.mjs';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const root = path.dirname(web);
const out = path.resolve(process.argv[2] ?? path.join(root, 'build/site/share'));

await mkdir(out, { recursive: true });
await writeFile(path.join(out, 'page.html'), await page());
await writeFile(path.join(out, 'notices.txt'), await notices());

async function page() {
  const [text, style, program, sprite] = await Promise.all([readFile(path.join(web, 'share/page/page.html'), 'utf8'), bundledStyle(), bundledProgram(), icons()]);
  const policy = `default-src 'none'; script-src ${hash(program)} 'wasm-unsafe-eval'; style-src ${hash(style)}; img-src blob:; media-src blob: mediastream:; `
    + "worker-src blob:; connect-src 'none'; base-uri 'none'; form-action 'none'";
  if (/<\/script|<!--/i.test(program) || /<\/style/i.test(style)) throw new Error('The program or the style would end its element early.');
  /** @type {Record<string, string>} */
  const parts = { POLICY: policy, STYLE: style, SPRITE: sprite, PROGRAM: program };
  return text.replaceAll(/\b(POLICY|STYLE|SPRITE|PROGRAM)\b/g, (name) => parts[name]);
}

/** @param {string} text */
function hash(text) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

async function bundledProgram() {
  const { outputFiles: [{ text }] } = await build({
    entryPoints: [path.join(web, 'share/page/main.js')],
    bundle: true, format: 'iife', minify: true, write: false, target: 'es2022', legalComments: 'eof', logLevel: 'warning',
    // The same text runs in a page and in its worker, and has no address.
    define: { process: 'undefined', __filename: 'undefined', __dirname: 'undefined', 'import.meta.url': 'undefined' },
    plugins: [written(), slimTfjs()],
  });
  return text;
}

async function bundledStyle() {
  const files = ['ui/style.css', 'ui/sort.css', 'share/page/page.css'].map((name) => `@import "./${name}";`).join('\n');
  const { outputFiles: [{ text }] } = await build({
    stdin: { contents: files, resolveDir: web, loader: 'css' }, bundle: true, minify: true, write: false, target: 'es2022', logLevel: 'warning',
  });
  return text;
}

/** Those of the page that this one uses. */
async function icons() {
  const index = await readFile(path.join(root, 'index.html'), 'utf8');
  return ['plus', 'close', 'picture', 'camera', 'switch'].map((name) => {
    const found = new RegExp(`<symbol id="icon-${name}".*?</symbol>`).exec(index);
    if (!found) throw new Error(`index.html draws no icon ${name}`);
    return found[0];
  }).join('');
}

/** THIRD_PARTY.md without what a shared file does not carry, and the licence of metaqda. */
async function notices() {
  const all = await readFile(path.join(root, 'THIRD_PARTY.md'), 'utf8');
  const modules = execFileSync('go', ['list', '-deps', '-f', '{{with .Module}}{{.Path}}{{end}}', './wasm/library'],
    { cwd: root, encoding: 'utf8', env: { ...process.env, GOOS: 'js', GOARCH: 'wasm' } }).split('\n');
  const foreign = (/** @type {string} */ row) => {
    const named = [...row.matchAll(/`((?:[\w-]+\.)+[a-z]+\/[^`]+)`/g)].map(([, name]) => name);
    return named.length > 0 && !named.some((name) => modules.includes(name));
  };
  const engine = section(all, '### Engine').split('\n').filter((row) => !foreign(row)).join('\n');
  return [
    'This file carries metaqda, under the Apache License 2.0, and the works of others below. The texts of all licences follow.',
    section(all, '### Feature extractor'), engine, section(all, '## Licence texts'), await readFile(path.join(root, 'LICENSE'), 'utf8'),
  ].join('\n\n');
}

/** @param {string} text @param {string} heading how it begins */
function section(text, heading) {
  const from = text.indexOf(`\n${heading}`);
  if (from < 0) throw new Error(`THIRD_PARTY.md has no part ${heading}`);
  const rest = text.slice(from + 1);
  const to = rest.slice(1).search(/\n##/);
  return (to < 0 ? rest : rest.slice(0, to + 1)).trim();
}
