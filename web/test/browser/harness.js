// @ts-check
/**
 * What every browser test needs: the built site behind its own server, a headless
 * Chromium, and a page whose complaints fail the test. Requests to any other
 * origin fail it too: those of the page are seen by the browser's own events, and
 * whatever else leaves the browser ends at a proxy that refuses and records it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium, firefox } from 'playwright-core';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').BrowserContext} BrowserContext */
/** @typedef {import('playwright-core').BrowserContextOptions} BrowserContextOptions */

export const root = fileURLToPath(new URL('../../../', import.meta.url));
export const siteFolder = process.env.METAQDA_SITE ?? path.join(root, 'build/site');

/** How long anything may take before a test fails, in milliseconds. */
export const PATIENCE = Number(process.env.METAQDA_PATIENCE ?? 30_000);

/** Headless Chromium as root in a container, silent towards its maker. */
export const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
  // The first line is of the browser's own surface, which it would have ready in a process more for each window; the
  // others are what Playwright switches off, for the last of two such flags counts alone.
  `--disable-features=${[
    'WebUIPreloading,PreloadTopChromeWebUI,PreloadTopChromeWebUILessNavigations,WebUIOmniboxPopup,InitialWebUI',
    'AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay',
    'MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,Translate,OptimizationHints,NetworkTimeServiceQuerying,PreconnectToSearch',
  ]}`,
];

/**
 * Hosts that the browser calls for itself, whatever it is told. A page that called
 * them would still be seen by the browser's own events.
 */
const HOUSEKEEPING = /^(https?:\/\/)?([\w-]+\.)*(google|googleapis|gvt1|gstatic|mozilla|firefox)\.(com|org|net)(:\d+)?(\/|$)/;

/** Where Chromium is looked for when the environment does not say. */
const PLACES = [
  '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** Whether the tests run in Firefox, see web/test/firefox/all.mjs. */
export const inFirefox = process.env.METAQDA_BROWSER === 'firefox';

/**
 * Firefox, which asks for nothing by itself, has what leaves it pass by a proxy.
 *
 * @param {URL} proxy
 */
const firefoxOptions = ({ hostname, port }) => ({
  executablePath: path.join(root, 'web/test/firefox/bidi.mjs'), channel: 'moz-firefox', timeout: PATIENCE,
  firefoxUserPrefs: {
    'app.update.enabled': false, 'browser.safebrowsing.downloads.remote.enabled': false, 'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false, 'dom.disable_open_during_load': false,
    'network.proxy.type': 1, 'network.proxy.http': hostname, 'network.proxy.http_port': Number(port), 'network.proxy.ssl': hostname, 'network.proxy.ssl_port': Number(port),
  },
});

/** @returns {string} */
export function chromiumPath() {
  const found = [process.env.CHROMIUM, ...PLACES].find((place) => place && existsSync(place));
  if (!found) throw new Error('No Chromium was found: install it, or name it in the environment variable CHROMIUM.');
  return found;
}

/**
 * The project's own server in front of a folder.
 *
 * @typedef {object} Site
 * @property {string} origin
 * @property {string} folder
 * @property {() => Promise<void>} stop ends the server; may be called twice
 */

/**
 * @param {string} [folder]
 * @param {string} [address] host:port; port 0 takes a free one
 * @returns {Promise<Site>}
 */
export async function serveSite(folder = siteFolder, address = '127.0.0.1:0') {
  const server = spawn(path.join(root, 'build/bin/serve'), ['-dir', folder, '-addr', address], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => { server.once('exit', resolve); });
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
    origin, folder,
    stop: async () => {
      server.kill('SIGTERM');
      await ended;
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

/**
 * A proxy through which nothing passes.
 *
 * @returns {Promise<{address: string, requests: string[], close: () => void}>}
 */
async function refuseAll() {
  /** @type {string[]} */
  const requests = [];
  const proxy = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.writeHead(403).end();
  });
  proxy.on('connect', (request, socket) => {
    socket.on('error', () => {}); // the browser may hang up first
    requests.push(request.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise((resolve) => { proxy.listen(0, '127.0.0.1', () => resolve(undefined)); });
  proxy.unref(); // a browser that failed to start must not keep the test running
  const { port } = /** @type {import('node:net').AddressInfo} */ (proxy.address());
  return { address: `http://127.0.0.1:${port}`, requests, close: () => proxy.close() };
}

/**
 * @typedef {object} Visit
 * @property {Page} page on the site and ready
 * @property {BrowserContext} context
 * @property {Site} site
 * @property {string[]} requested paths asked of the site, in order
 */

/**
 * @typedef {object} VisitOptions
 * @property {Site} [site] one of the test's own, left running; else the built site is served and stopped
 * @property {string} [profile] folder of a browser profile that is kept
 * @property {string[]} [flags] more flags for Chromium
 * @property {BrowserContextOptions} [context]
 * @property {string} [query] appended to the address
 * @property {boolean} [open] false leaves the page blank
 * @property {RegExp[]} [expect] complaints that the test provokes
 */

/**
 * A browser behind a proxy that refuses and records what it asks for.
 *
 * @typedef {Awaited<ReturnType<typeof launch>>} Launched
 */

/** @param {{profile?: string, flags?: string[], context?: BrowserContextOptions}} options */
async function launch({ profile, flags = [], context }) {
  const proxy = await refuseAll();
  const kind = inFirefox ? firefox : chromium;
  const launching = inFirefox ? firefoxOptions(new URL(proxy.address)) : {
    executablePath: chromiumPath(), timeout: PATIENCE,
    // Loopback addresses pass by the proxy by themselves; other ports of them are caught as other origins.
    args: [...FLAGS, `--proxy-server=${proxy.address}`, ...flags],
  };
  const whole = profile ? await kind.launchPersistentContext(profile, { ...launching, ...context }) : null;
  const browser = whole ? null : await kind.launch(launching);
  return {
    proxy, whole, browser,
    close: async () => {
      await (whole ?? browser)?.close();
      proxy.close();
    },
  };
}

/** The browser of all tests of a file that want no other: a process of it takes longer to start than most of them. @type {Promise<Launched>|null} */
let common = null;
after(async () => { await (await common)?.close(); });

/** @returns {Promise<Launched>} */
async function shared() {
  const now = await (common ??= launch({}));
  if (now.browser?.isConnected()) return now;
  await now.close(); // a test before this one ended it
  return (common = launch({}));
}

/**
 * Runs a test in a fresh context, without anything of another. Afterwards nothing may
 * have been complained of on the console, and nothing requested from elsewhere.
 *
 * @param {VisitOptions} options
 * @param {(visit: Visit) => Promise<void>} check
 */
export async function visit(options, check) {
  const site = options.site ?? await serveSite();
  const own = inFirefox || options.profile || options.flags;
  const launched = own ? await launch(options) : await shared();
  const before = launched.proxy.requests.length;
  const context = launched.whole ?? await /** @type {import('playwright-core').Browser} */ (launched.browser).newContext(options.context);
  const watch = observe(context, site.origin);
  try {
    context.setDefaultTimeout(PATIENCE);
    const page = context.pages()[0] ?? await context.newPage();
    if (options.open !== false) await open(page, site, options.query);
    await check({ page, context, site, requested: watch.requested });
    const expected = options.expect ?? [];
    assert.deepEqual(watch.complaints.filter((text) => !expected.some((pattern) => pattern.test(text))), [], 'complaints on the console');
  } catch (error) {
    for (const text of watch.complaints) console.error(`console: ${text}`);
    throw error;
  } finally {
    await context.close();
    if (own) await launched.close();
    if (!options.site) await site.stop();
  }
  const leaked = launched.proxy.requests.slice(before).filter((target) => !HOUSEKEEPING.test(target));
  assert.deepEqual([...watch.outside, ...leaked], [], 'requests to another origin');
}

/**
 * @param {BrowserContext} context
 * @param {string} origin
 */
function observe(context, origin) {
  /** @type {string[]} */
  const complaints = [];
  /** @type {string[]} */
  const outside = [];
  /** @type {string[]} */
  const requested = [];
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin === origin) requested.push(url.pathname);
    else if (!/^(blob|data|about|file):/.test(url.protocol)) outside.push(url.href);
  });
  // What the policy stops was never sent; the console complains of it all the same.
  context.on('requestfailed', (request) => {
    const at = outside.indexOf(request.url());
    if (at >= 0 && request.failure()?.errorText === 'csp') outside.splice(at, 1);
  });
  return { complaints, outside, requested };
}

/** Goes to the page and waits until it is ready. @param {Page} page @param {{origin: string}} site @param {string} [query] */
export async function open(page, site, query = '') {
  await page.goto(`${site.origin}/${query}`);
  await ready(page);
}

/** @param {Page} page */
export async function ready(page) {
  await page.locator('body[data-ready], #trouble:not([hidden])').first().waitFor({ state: 'attached' });
  assert.equal(await page.locator('#trouble').textContent(), '', 'the page started');
}

/** Waits until the service worker has everything. @param {Page} page */
export async function offlineReady(page) {
  await page.getByText('Works offline').waitFor();
}

/** @param {string} style @param {string} concept @returns {string} path of a sample picture */
export function sample(style, concept) {
  return path.join(siteFolder, 'samples', style, `${concept}.png`);
}

/** @param {Page} page @param {string} name */
export function card(page, name) {
  return page.locator('.card').filter({ has: page.getByRole('textbox', { name: `Name of the class ${name}`, exact: true }) });
}

/** @param {Page} page @param {string} name */
export async function addClass(page, name) {
  await page.getByRole('textbox', { name: 'Name of a new class' }).fill(name);
  await page.getByRole('button', { name: 'Add class' }).click();
  await card(page, name).waitFor();
}

/** Adds files to a class and waits until all are there. @param {Page} page @param {string} name @param {string[]} files */
export async function addPictures(page, name, files) {
  const before = await card(page, name).locator('.thumb').count();
  await page.getByLabel(`Add pictures to ${name}`, { exact: true }).setInputFiles(files);
  await card(page, name).locator('.thumb').nth(before + files.length - 1).waitFor();
}

/** Teaches a class with one sample of each style. @param {Page} page @param {string} name @param {string[]} styles */
export async function teach(page, name, styles) {
  await addClass(page, name);
  await addPictures(page, name, styles.map((style) => sample(style, name.toLowerCase())));
}

/** Recognises a file and answers the meters. @param {Page} page @param {string} file */
export async function recognise(page, file) {
  // Listened to from before, since what is said next may come right behind it.
  const said = page.evaluate(([text, patience]) => new Promise((resolve, reject) => {
    const status = /** @type {HTMLElement} */ (document.getElementById('status'));
    const tooLong = setTimeout(() => reject(new Error(`the page did not say “${text}”, but “${status.textContent}”`)), Number(patience));
    new MutationObserver((_, observer) => {
      if (!status.textContent?.includes(String(text))) return;
      observer.disconnect();
      clearTimeout(tooLong);
      resolve(null);
    }).observe(status, { childList: true, characterData: true, subtree: true });
  }), [`Recognised “${path.basename(file)}”.`, PATIENCE]);
  await page.getByLabel('Picture to recognise', { exact: true }).setInputFiles(file);
  await said;
  return meters(page);
}

/** @param {Page} page @param {string|RegExp} text */
export async function status(page, text) {
  await page.locator('#status').filter({ hasText: text }).waitFor();
}

/**
 * The prediction as a person with a screen reader gets it.
 *
 * @param {Page} page
 * @returns {Promise<Record<string, number>>}
 */
export async function meters(page) {
  const read = (/** @type {Element[]} */ all) => all.map((one) => [one.getAttribute('aria-label') ?? '', Number(one.getAttribute('aria-valuenow'))]);
  const rows = inFirefox // where a list of elements does not reach the function
    ? await page.evaluate(`(${read})([...document.querySelectorAll('#prediction [role=meter]')])`)
    : await page.getByRole('region', { name: 'Prediction' }).getByRole('meter').evaluateAll(read);
  return Object.fromEntries(rows);
}

/** @param {Record<string, number>} probabilities */
export function most(probabilities) {
  return Object.entries(probabilities).reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}

/**
 * The most probable class: without background knowledge a style that was not taught may
 * well be none of these.
 *
 * @param {Record<string, number>} probabilities
 */
export const likeliest = ({ 'None of these': _, ...classes }) => most(classes);

/** Fails unless these are probabilities. @param {Record<string, number>} probabilities */
export function assertProbabilities(probabilities) {
  const values = Object.values(probabilities);
  for (const value of values) assert.ok(value >= 0 && value <= 1, `${value} is no probability`);
  const sum = values.reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - 1) < 1e-6, `the meters sum to ${sum}`);
}

/**
 * Fails unless both say the same, up to the rounding of sums in another order.
 *
 * @param {Record<string, number>} got
 * @param {Record<string, number>} want
 * @param {string} [what]
 */
export function assertSame(got, want, what = 'the probabilities') {
  assert.deepEqual(Object.keys(got).sort(), Object.keys(want).sort(), what);
  for (const [name, p] of Object.entries(want)) assert.ok(Math.abs(got[name] - p) < 1e-10, `${what}: ${name} ${got[name]}, was ${p}`);
}

/** Opens the dialog of the sessions. @param {Page} page */
export async function sessionsOf(page) {
  const dialog = page.getByRole('dialog', { name: 'Sessions' });
  if (!await dialog.isVisible()) await page.getByRole('button', { name: /^Session:/ }).click();
  await dialog.waitFor();
  return dialog;
}

/** What the settings say about the prior in use. @param {Page} page */
export async function priorText(page) {
  const dialog = page.getByRole('dialog', { name: 'Settings' });
  if (!await dialog.isVisible()) await page.getByRole('button', { name: 'Settings' }).click();
  return dialog.getByText(/numbers per picture/).textContent();
}

/**
 * Another prior with the same numbers: one letter of a fact in its header differs.
 *
 * @param {Buffer} file
 */
export function touchPrior(file) {
  const changed = Buffer.from(file);
  const header = file.subarray(8, 8 + Number(file.readBigUInt64LE(0))).toString();
  const fact = /"fact[^"]*":"[^"]*[a-z](?=")/.exec(header);
  assert.ok(fact, `a fact to change in ${header.slice(0, 400)}`);
  const at = 8 + Buffer.byteLength(header.slice(0, fact.index + fact[0].length)) - 1;
  changed[at] = changed[at] === 0x7a ? 0x61 : changed[at] + 1;
  return changed;
}

/** @type {string|undefined} */
let axe;

/** What axe finds wrong, one line each. @param {Page} page @returns {Promise<string[]>} */
export async function faults(page) {
  axe ??= await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // Evaluated by the debugger: the page's policy rightly refuses foreign scripts.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const result = await /** @type {any} */ (window).axe.run(document, { resultTypes: ['violations'] });
    return result.violations.flatMap((/** @type {any} */ rule) =>
      rule.nodes.map((/** @type {any} */ node) => `${rule.id}: ${node.target} ${node.failureSummary}`));
  });
}
