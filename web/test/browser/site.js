// @ts-check
/** The built site behind its own server, and copies of it to be changed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));
export const siteFolder = process.env.METAQDA_SITE ?? path.join(root, 'build/site');

/** How long anything may take before a test fails, in milliseconds. */
export const PATIENCE = Number(process.env.METAQDA_PATIENCE ?? 60_000);

/** Whether the tests run in Firefox, see web/test/firefox/all.mjs. */
export const inFirefox = process.env.METAQDA_BROWSER === 'firefox';

/**
 * The project's own server in front of a folder.
 *
 * @typedef {object} Site
 * @property {string} origin
 * @property {string} folder
 * @property {() => Promise<void>} stop ends the server; may be called twice
 */

/** @param {string} [folder] @param {string} [address] host:port; port 0 takes a free one @returns {Promise<Site>} */
export async function serveSite(folder = siteFolder, address = '127.0.0.1:0') {
  // A server that outlives a killed test keeps the test's error stream open, and 'node --test' waits for that without end.
  const options = ['-dir', folder, '-addr', address, '-beside', `tests=${path.join(root, 'build/tests')}`, '-until-eof'];
  const server = spawn(path.join(root, 'build/bin/serve'), options, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => {
    server.once('exit', resolve);
  });
  const origin = await new Promise((resolve, reject) => {
    let text = '';
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`the server ended with status ${code}`)));
    server.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /http:\/\/[\w.:[\]-]+/.exec(text);
      if (found) resolve(found[0]);
    });
  });
  return {
    origin,
    folder,
    stop: async () => {
      server.kill('SIGTERM');
      await ended;
    },
  };
}

/**
 * The built site, of which so many bytes a second arrive. Chromium's own limit makes one load in some thirty stand still.
 *
 * @param {number} rate @returns {Promise<Site>}
 */
export async function serveSlowly(rate) {
  const site = await serveSite();
  const { hostname, port } = new URL(site.origin);
  let turn = Promise.resolve(); // all connections take turns
  const server = createServer((browser) => {
    const origin = connect(Number(port), hostname);
    for (const [one, other] of [
      [browser, origin],
      [origin, browser],
    ]) {
      one.on('error', () => other.destroy()).on('close', () => other.end());
    }
    browser.pipe(origin);
    origin.on('data', (chunk) => {
      origin.pause();
      turn = turn
        .then(() => wait((1000 * chunk.length) / rate))
        .then(() => {
          browser.write(chunk);
          origin.resume();
        });
    });
  });
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  return {
    ...site,
    origin: `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`,
    stop: async () => {
      server.close();
      await site.stop();
    },
  };
}

/** Copies the site, to change it without touching the build. @returns {Promise<{folder: string, remove: () => Promise<void>}>} */
export async function copySite() {
  const folder = await mkdtemp(path.join(tmpdir(), 'site-'));
  await cp(siteFolder, folder, { recursive: true });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/**
 * Changes one file of a site as a new build would: manifest and version follow.
 *
 * @param {string} folder
 * @param {string} name
 * @param {(content: Buffer) => Buffer} change
 * @returns {Promise<string>} the new version
 */
export async function changeFile(folder, name, change) {
  const content = change(await readFile(path.join(folder, name)));
  const manifest = JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8'));
  const entry = manifest.files.find((/** @type {{path: string}} */ file) => file.path === name);
  assert.ok(entry, `${name} is not in the manifest`);
  entry.bytes = content.length;
  entry.sha256 = createHash('sha256').update(content).digest('hex');
  manifest.version = createHash('sha256').update(JSON.stringify(manifest.files)).digest('hex').slice(0, 16);
  const worker = await readFile(path.join(folder, 'sw.js'), 'utf8');
  await replace(folder, name, content);
  await replace(folder, 'sw.js', worker.replace(/^const VERSION = .*$/m, `const VERSION = "${manifest.version}";`));
  await replace(folder, 'manifest.json', JSON.stringify(manifest));
  return manifest.version;
}

/** @param {string} folder @param {string} name @param {string|Buffer} content */
async function replace(folder, name, content) {
  for (const suffix of ['.br', '.gz']) await rm(path.join(folder, name + suffix), { force: true });
  await writeFile(path.join(folder, name), content);
}
