// @ts-check
/**
 * Builds the reference, static files without a program, into build/docs:
 *   index.html, core/index.html, ...   the documents (.md) of the tree, each where it stands; README.md is index.html
 *   package/                           the npm package, by TypeDoc from the packed types
 *   go/core/lda.html, ...              the Go packages, from go doc -all
 *   source/core/lda/burst.go.html      the files that documents link to, with numbered lines
 *
 *   node web/build/docs/docs.mjs       (after make package)
 *
 * It ends with an error if a relative link of a page leads nowhere.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
// @ts-ignore: of this folder's own packages
import MarkdownIt from 'markdown-it';
// @ts-ignore: of this folder's own packages
import { Application } from 'typedoc';
import { document, escaped, goPage, slug } from './pages.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const out = path.join(root, 'build/docs');
const run = (/** @type {string} */ program, /** @type {string[]} */ ...args) =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
const tracked = run('git', 'ls-files', '--cached', '--others', '--exclude-standard')
  .trim()
  .split('\n')
  .filter((name) => existsSync(path.join(root, name)));
const documents = tracked.filter((name) => /\.md$/.test(name) && !/TEMPLATE|template/.test(name));
const packages = run('go', 'list', './core/...')
  .trim()
  .split('\n')
  .map((name) => name.replace(/^metaqda\//, ''));

/** The written files, relative to build/docs. @type {Map<string, string>} */
const written = new Map();

/** @param {string} name @param {string} title @param {string} body HTML */
function write(name, title, body) {
  const text = document(title, body, path.posix.relative(path.posix.dirname(name), '.') || '.');
  mkdirSync(path.dirname(path.join(out, name)), { recursive: true });
  writeFileSync(path.join(out, name), text);
  written.set(name, text);
}

/** Where the page of a document is. @param {string} name */
const pageOf = (name) => name.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html');

/** The page of a file or folder of the tree. It makes the page if there is none. @param {string} name @returns {string} */
function target(name) {
  const absolute = path.join(root, name);
  if (documents.includes(name)) return pageOf(name);
  if (!existsSync(absolute)) throw new Error(`There is no ${name}.`);
  if (statSync(absolute).isDirectory()) {
    const readme = path.posix.join(name, 'README.md');
    if (packages.includes(name)) return `go/${name}.html`;
    if (documents.includes(readme)) return pageOf(readme);
    const files = tracked.filter((file) => file.startsWith(`${name}/`));
    if (!written.has(`source/${name}/index.html`)) write(`source/${name}/index.html`, name, `<h1>${escaped(name)}</h1><pre>${escaped(files.join('\n'))}</pre>`);
    return `source/${name}/index.html`;
  }
  if (/\.(png|webp|svg|safetensors)$/.test(name)) {
    mkdirSync(path.dirname(path.join(out, name)), { recursive: true });
    cpSync(absolute, path.join(out, name));
    return name;
  }
  const page = `source/${name}.html`;
  if (!written.has(page)) {
    const lines = readFileSync(absolute, 'utf8').trimEnd().split('\n');
    write(
      page,
      name,
      `<h1>${escaped(name)}</h1><pre class="source">${lines.map((line, i) => `<span id="L${i + 1}">${escaped(line)}</span>`).join('\n')}</pre>`,
    );
  }
  return page;
}

/** The line of a file that declares a name, or else the first that has it. @param {string} file @param {string} name */
function lineOf(file, name) {
  const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
  const declares = new RegExp(
    `^\\s*(export |async )*(func|type|const|var|function|class|def|let)\\b.*\\b${name}\\b|@typedef.*\\b${name}\\b|^\\s+${name}\\b.*=`,
  );
  const at = lines.findIndex((line) => declares.test(line));
  return 1 + (at >= 0 ? at : lines.findIndex((line) => new RegExp(`\\b${name}\\b`).test(line)));
}

/** @param {string} name of a document */
function guide(name) {
  const markdown = new MarkdownIt({ html: true });
  const from = path.posix.dirname(pageOf(name));
  /** @param {string} address @param {string} [symbol] that the link is about */
  const moved = (address, symbol) => {
    const [file, fragment] = address.split('#');
    if (/^[a-z]+:/.test(address) || !file) return address;
    const there = path.posix.join(path.posix.dirname(name), file).replace(/\/$/, '');
    const page = target(there);
    const place = fragment ?? (symbol && /^source\/.*\.\w+\.html$/.test(page) ? `L${lineOf(there, symbol)}` : '');
    return (path.posix.relative(from, page) || path.posix.basename(page)) + (place ? `#${place}` : '');
  };
  const tokens = markdown.parse(readFileSync(path.join(root, name), 'utf8'), {});
  for (const [i, token] of tokens.entries()) {
    if (token.type === 'heading_open') token.attrSet('id', slug(tokens[i + 1].content));
    for (const [k, child] of (token.children ?? []).entries()) {
      const symbol = token.children[k + 1]?.type === 'code_inline' ? /(\w+)$/.exec(token.children[k + 1].content)?.[1] : undefined;
      if (child.type === 'link_open') child.attrSet('href', moved(child.attrGet('href'), symbol));
      if (child.type === 'image') child.attrSet('src', moved(child.attrGet('src')));
    }
  }
  const title = tokens.find((/** @type {any} */ { type }) => type === 'inline')?.content ?? name;
  write(pageOf(name), title, markdown.renderer.render(tokens, markdown.options, {}));
}

async function reference() {
  const built = path.join(root, 'build/package');
  const { version, exports } = JSON.parse(readFileSync(path.join(built, 'package.json'), 'utf8'));
  const entries = /** @type {[string, {types?: string}][]} */ (Object.entries(exports)).filter(([, { types }]) => types);
  const all = entries.map(([, { types }]) => path.join(built, /** @type {string} */ (types)));
  const config = path.join(built, 'tsconfig.json');
  writeFileSync(
    config,
    JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2023', 'dom', 'dom.iterable'],
        types: [],
        skipLibCheck: true,
      },
      files: all,
    }),
  );
  try {
    const app = await Application.bootstrap({
      name: `metaqda ${version}`,
      entryPoints: all,
      tsconfig: config,
      readme: path.join(built, 'README.md'),
      basePath: path.join(built, 'types'),
      disableSources: true,
      excludeInternal: true,
      hideGenerator: true,
      githubPages: false,
      skipErrorChecking: true,
      logLevel: 'Error',
      navigationLinks: { Guides: '../index.html', Go: '../go/index.html' },
    });
    const project = await app.convert();
    if (!project) throw new Error('TypeDoc found nothing to document.');
    for (const child of project.children ?? []) {
      // TypeDoc names entries after their files
      const [entry] = entries.find(([, { types }]) => types?.replace(/^\.\/types\/|(\/index)?\.d\.ts$/g, '') === child.name) ?? [];
      if (!entry) throw new Error(`No entry of the package has the types ${child.name}.`);
      child.name = entry.replace('.', 'metaqda');
    }
    await app.generateDocs(project, path.join(out, 'package'));
    if (app.logger.hasErrors()) throw new Error('TypeDoc reported the errors above.');
  } finally {
    rmSync(config);
  }
}

/** Throws for a relative link that leads nowhere. */
function check() {
  for (const [name, text] of written) {
    for (const [, address] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      const [file, fragment] = address.replaceAll('&amp;', '&').split('#');
      if (/^[a-z]+:/.test(address)) continue;
      const there = file ? path.posix.join(path.posix.dirname(name), file) : name;
      if (!existsSync(path.join(out, there))) throw new Error(`${name} links to ${address}, which is not there.`);
      const page = written.get(there);
      if (fragment && page && !page.includes(` id="${decodeURIComponent(fragment)}"`))
        throw new Error(`${name} links to ${address}, a place that is not there.`);
    }
  }
}

rmSync(out, { recursive: true, force: true });
await reference();
for (const name of packages) write(`go/${name}.html`, `Package ${name}`, goPage(name, run('go', 'doc', '-all', `./${name}`)));
write('go/index.html', 'Go packages', `<h1>Go packages</h1><ul>${packages.map((name) => `<li><a href="${name}.html">${name}</a></li>`).join('')}</ul>`);
for (const name of documents) guide(name);
check();
console.log(`build/docs: ${documents.length} documents, ${packages.length} Go packages, ${written.size} pages beside those of TypeDoc`);
