// @ts-check
/** Runs the programs of all entries in an environment, and notes the results for the table that table.js prints. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { visit } from '../../browser/harness.js';
import { LONG } from '../../long.js';
import { project, root } from '../project.js';
import { PROGRAMS, WANT } from './programs.js';
import { note } from './rows.js';

const FOLDERS = ['web/test/package/environments', 'web/test/package', 'web'].map((name) => path.join(root, name, 'node_modules'));

const HTML = (/** @type {string} */ src, head = '') =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>metaqda</title><link rel="icon" href="data:,">${head}<body><script type="module" src="${src}"></script>`;

/** The pages and modules of the programs. @param {Record<string, string>} [programs] @param {string} [head] */
export const pages = (programs = PROGRAMS, head) =>
  Object.fromEntries(
    Object.entries(programs).flatMap(([name, code]) => [
      [`${name}.js`, code],
      [`${name}.html`, HTML(`./${name}.js`, head)],
    ]),
  );

/** Runs a command of a recipe as a person would, with the tools that are installed for the tests. @param {string} command @param {string} cwd @returns {string} */
export function shell(command, cwd) {
  const places = FOLDERS.map((folder) => path.join(folder, '.bin'));
  const env = {
    ...process.env,
    PATH: [path.dirname(process.execPath), ...places, process.env.PATH].join(path.delimiter),
    CI: '1',
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
    NO_COLOR: '1',
    METAQDA_LONG: '',
  };
  try {
    return execFileSync('sh', ['-ec', command], { cwd, env, encoding: 'utf8', stdio: 'pipe', timeout: 280_000 });
  } catch (error) {
    const { stdout, stderr } = /** @type {any} */ (error);
    throw new Error(`${command}\n${stdout}\n${stderr}`);
  }
}

/** Whether a tool that the tests install is there. @param {string} name of its npm package */
export const installed = (name) => FOLDERS.some((folder) => existsSync(path.join(folder, name)));

/** Puts npm packages of the tests into a project. @param {string} folder @param {string[]} names */
export function link(folder, names) {
  for (const name of names) {
    const to = path.join(folder, 'node_modules', name);
    mkdirSync(path.dirname(to), { recursive: true });
    symlinkSync(path.join(/** @type {string} */ (FOLDERS.find((from) => existsSync(path.join(from, name)))), name), to);
  }
}

const TYPES = /** @type {Record<string, string>} */ ({
  html: 'text/html',
  js: 'text/javascript',
  mjs: 'text/javascript',
  css: 'text/css',
  json: 'application/json',
  wasm: 'application/wasm',
});

/** Serves a folder as any web server does. @param {string} folder @param {string} [policy] Content-Security-Policy @returns {Promise<import('../../browser/harness.js').Site>} */
export async function served(folder, policy) {
  const server = createServer(({ url = '/' }, response) => {
    const name = decodeURIComponent(url.replace(/\?.*/, '').replace(/\/$/, '/index.html'));
    const file = path.join(folder, name);
    if (!existsSync(file)) response.writeHead(404).end();
    else
      response
        .writeHead(200, {
          'content-type': TYPES[path.extname(name).slice(1)] ?? 'application/octet-stream',
          ...(policy && { 'content-security-policy': policy }),
        })
        .end(readFileSync(file));
  });
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    folder,
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Opens a page of a program and answers what it tells. @param {import('../../browser/harness.js').Site} site @param {string} name @param {Partial<import('../../browser/harness.js').VisitOptions>} [options] */
export async function told(site, name, options) {
  let result = '';
  await visit({ site, open: false, ...options }, async ({ page }) => {
    await page.goto(`${site.origin}/${name}`);
    await page.locator('body[data-result]').waitFor({ state: 'attached', timeout: 30_000 });
    result = (await page.locator('body').getAttribute('data-result')) ?? '';
  });
  return JSON.parse(result);
}

/** Fails where the package's README does not have a recipe. @param {string[]} recipe */
export function documented(recipe) {
  const readme = readFileSync(path.join(root, 'web/library/README.md'), 'utf8');
  for (const line of recipe) assert.ok(readme.includes(line), `web/library/README.md does not say: ${line}`);
}

/**
 * An environment of browsers: its command is run in a project with the programs, and what it wrote is opened in Chromium.
 *
 * @param {string} name
 * @param {object} options
 * @param {string} options.command as a person types it
 * @param {string} options.out folder that it writes
 * @param {Record<string, string>} [options.files] of the project, beside the programs and their pages
 * @param {string[]} [options.tools] npm packages that must be installed
 * @param {string[]} [options.linked] npm packages that the project itself imports
 * @param {boolean} [options.always] in `make test` too
 * @param {string} [options.policy] Content-Security-Policy of its pages
 * @param {(entry: string) => string} [options.page] where the page of an entry is
 * @param {string[]} [options.recipe] what the package's README must say of it
 */
export function environment(name, { command, out, files, tools = [], linked = [], always = false, policy, recipe = [], page = (entry) => `${entry}.html` }) {
  test(name, always ? {} : LONG, async (t) => {
    const missing = [...tools, ...linked].filter((tool) => !installed(tool));
    if (missing.length > 0) {
      for (const entry of Object.keys(WANT)) note({ environment: name, entry, result: 'not installed', command });
      t.skip(`not installed: ${missing.join(', ')}`);
      return;
    }
    documented(recipe);
    const { folder } = project({
      'package.json': JSON.stringify({ type: 'module', private: true, dependencies: { metaqda: '*', next: '*', react: '*', 'react-dom': '*' } }),
      ...pages(),
      ...files,
    });
    link(folder, linked);
    shell(command, folder);
    const site = await served(path.join(folder, out), policy);
    try {
      await every(name, command, (entry) => told(site, page(entry)));
    } finally {
      await site.stop();
    }
  });
}

/**
 * Runs all entries, notes what comes of each, and fails if one did.
 *
 * @param {string} name @param {string} command
 * @param {(entry: string) => Promise<object>} run
 * @param {Record<string, {want: object, note: string}>} [otherwise] entries that the environment refuses, and how
 */
export async function every(name, command, run, otherwise = {}) {
  /** @type {unknown[]} */
  const errors = [];
  for (const entry of Object.keys(WANT)) {
    try {
      assert.deepEqual(await run(entry), otherwise[entry]?.want ?? WANT[entry], `${name}, ${entry}`);
      note({ environment: name, entry, result: otherwise[entry]?.note ?? 'works', command });
    } catch (error) {
      errors.push(error);
      note({ environment: name, entry, result: 'FAILS', command });
    }
  }
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, `${name}: ${errors.map(String).join('\n')}`);
}
