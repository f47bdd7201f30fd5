// @ts-check
/**
 * What every browser test needs: the built site behind its own server, a headless Chromium, and a
 * page whose complaints fail the test. Requests to any other origin fail it too: the browser's own
 * events tell those of the page. Whatever else leaves the browser ends at a proxy, which refuses
 * and records it.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after } from 'node:test';
import { chromium, firefox } from 'playwright-core';
import { noteSaid, open } from './page.js';
import { inFirefox, PATIENCE, root, serveSite } from './site.js';

export * from './page.js';
export * from './site.js';

/** @import {BrowserContext, BrowserContextOptions, Page} from 'playwright-core' */
/** @import {Site} from './site.js' */

/** Headless Chromium as root in a container, silent towards its maker. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  // Fewer functions are compiled a second time, for speed. That saves an eighth of a processor's time.
  '--js-flags=--wasm-tiering-budget=100000000',
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
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * Firefox, which asks for nothing by itself, has what leaves it pass by a proxy.
 *
 * @param {URL} proxy @param {string} [downloadsPath]
 */
const firefoxOptions = ({ hostname, port }, downloadsPath) => ({
  executablePath: path.join(root, 'web/test/firefox/bidi.mjs'),
  channel: 'moz-firefox',
  timeout: PATIENCE,
  downloadsPath,
  firefoxUserPrefs: {
    'app.update.enabled': false,
    'browser.safebrowsing.downloads.remote.enabled': false,
    'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false,
    'dom.disable_open_during_load': false,
    'network.proxy.type': 1,
    'network.proxy.http': hostname,
    'network.proxy.http_port': Number(port),
    'network.proxy.ssl': hostname,
    'network.proxy.ssl_port': Number(port),
  },
});

/** @returns {string} */
export function chromiumPath() {
  const found = [process.env.CHROMIUM, ...PLACES].find((place) => place && existsSync(place));
  if (!found) throw new Error('No Chromium was found: install it, or name it in the environment variable CHROMIUM.');
  return found;
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
  await new Promise((resolve) => {
    proxy.listen(0, '127.0.0.1', () => resolve(undefined));
  });
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
 * @property {string} [downloads] folder where Firefox puts files
 * @property {BrowserContextOptions} [context]
 * @property {boolean} [offline] has the service worker installed, which takes two seconds of a processor
 * @property {string} [query] appended to the address
 * @property {boolean} [open] false leaves the page blank
 * @property {RegExp[]} [expect] complaints that the test provokes
 */

/**
 * A browser behind a proxy that refuses and records what it asks for.
 *
 * @typedef {Awaited<ReturnType<typeof launch>>} Launched
 */

/** @param {VisitOptions} options */
async function launch({ profile, downloads, flags = [], ...options }) {
  const proxy = await refuseAll();
  const kind = inFirefox ? firefox : chromium;
  const launching = inFirefox
    ? firefoxOptions(new URL(proxy.address), downloads)
    : {
        executablePath: chromiumPath(),
        timeout: PATIENCE,
        handleSIGTERM: false, // else a test that is told to end goes on
        // Loopback addresses pass by the proxy by themselves; other ports of them are caught as other origins.
        args: [...FLAGS, `--proxy-server=${proxy.address}`, ...flags],
      };
  const whole = profile ? await kind.launchPersistentContext(profile, { ...launching, ...contextOf(options) }) : null;
  const browser = whole ? null : await kind.launch(launching);
  return {
    proxy,
    whole,
    browser,
    close: async () => {
      await (whole ?? browser)?.close();
      proxy.close();
    },
  };
}

/** @param {VisitOptions} options @returns {BrowserContextOptions} */
const contextOf = ({ context }) => ({ ...context });

/** Takes service workers away from a page, as some private windows do. Playwright's own way leaves the page asking for them. */
function withoutWorkers() {
  Object.defineProperty(Navigator.prototype, 'serviceWorker', { value: undefined });
}

/** The browser of all tests of a file that want no other: a process of it takes longer to start than most of them. @type {Promise<Launched>|null} */
let common = null;
after(async () => {
  await (await common)?.close();
});

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
  const site = options.site ?? (await serveSite());
  const own = inFirefox || options.profile || options.flags;
  const launched = own ? await launch(options) : await shared();
  const before = launched.proxy.requests.length;
  const context = launched.whole ?? (await /** @type {import('playwright-core').Browser} */ (launched.browser).newContext(contextOf(options)));
  const watch = observe(context, site.origin);
  try {
    context.setDefaultTimeout(PATIENCE);
    await context.addInitScript(noteSaid);
    if (!options.offline) await context.addInitScript(withoutWorkers);
    const page = context.pages()[0] ?? (await context.newPage());
    if (options.open !== false) await open(page, site, options.query);
    await check({ page, context, site, requested: watch.requested });
    const expected = options.expect ?? [];
    assert.deepEqual(
      watch.complaints.filter((text) => !expected.some((pattern) => pattern.test(text))),
      [],
      'complaints on the console',
    );
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

/** @param {BrowserContext} context @param {string} origin */
function observe(context, origin) {
  /** @type {string[]} */
  const complaints = [];
  /** @type {string[]} */
  const outside = [];
  /** @type {string[]} */
  const requested = [];
  context.on('console', (message) => {
    const { url } = message.location();
    const icon = url === `${origin}/favicon.ico`; // Chromium with windows looks for one where a tab shows a bare file
    if (message.type() === 'error' && !icon) complaints.push(`${message.text()} (${url})`);
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
