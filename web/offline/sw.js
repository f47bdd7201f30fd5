// @ts-check
/**
 * The service worker: after the first visit the page needs no network.
 *
 * The site assembler puts a line in front of this file that defines VERSION. So the worker's bytes change whenever any
 * file of the site does. Installing fetches what manifest.json lists into a cache of that version; a file whose sha256 the
 * former version already holds is copied, not fetched. Every file is compared with its sha256 first. So a half replaced
 * site is not installed, and the browser tries again later. Some files are kept only from their first use on: the
 * extractors of sounds and hands (kinds/, 5 MB), the runtimes of other extractors (networks/, 15 MB), and p5.js for
 * sketches (1 MB). A new version waits until the person agrees to it (message 'activate') or all tabs are closed.
 *
 * No tab gets files of two versions. Each keeps the version of its document, also if another tab
 * has started a newer one. The cache of a version records its tabs under .client/ID. A version's
 * cache is deleted once no tab uses it.
 *
 * The message {type: 'activate'} asks a waiting worker to take over.
 */

// @ts-expect-error the site assembler defines VERSION
const version = /** @type {string} */ (typeof VERSION === 'string' ? VERSION : 'development');
const PREFIX = 'metaqda-';
const cacheName = `${PREFIX}${version}`;

/**
 * The part of ServiceWorkerGlobalScope that this file uses (the DOM library has no types for it).
 * @typedef {Event & {waitUntil: (work: Promise<unknown>) => void}} LifeEvent
 * @typedef {LifeEvent & {request: Request, clientId?: string, resultingClientId?: string, respondWith: (answer: Promise<Response>) => void}} RequestEvent
 * @typedef {{path: string, bytes: number, sha256: string}} SiteFile
 * @typedef {object} Scope
 * @property {{claim: () => Promise<void>, matchAll: (options: {includeUncontrolled: boolean, type: string}) => Promise<{id: string}[]>}} clients
 * @property {() => Promise<void>} skipWaiting
 * @property {{scope: string, installing?: unknown, waiting?: unknown}} registration
 * @property {(type: string, listener: (event: any) => void) => void} addEventListener
 */
const worker = /** @type {Scope} */ (/** @type {unknown} */ (self));

worker.addEventListener('install', (/** @type {LifeEvent} */ event) => event.waitUntil(install()));
worker.addEventListener('activate', (/** @type {LifeEvent} */ event) => event.waitUntil(activate()));
worker.addEventListener('fetch', (/** @type {RequestEvent} */ event) => {
  if (mine(event.request)) event.respondWith(answer(event).catch(() => fetch(event.request))); // a browser that cannot read its caches
});
worker.addEventListener('message', (/** @type {MessageEvent} */ event) => {
  if (event.data?.type === 'activate') void worker.skipWaiting();
});

/** If one file fails, the installation fails and nothing is kept: the browser tries again later. */
async function install() {
  try {
    await fill();
  } catch (error) {
    await caches.delete(cacheName);
    throw error;
  }
}

/** Fills this version's cache. */
async function fill() {
  const response = await fetch(address('manifest.json'), { cache: 'no-cache' });
  if (!response.ok) throw new Error(`manifest.json: status ${response.status}`);
  const manifest = /** @type {{version: string, files: SiteFile[]}} */ (await response.clone().json());
  if (manifest.version !== version) throw new Error(`this is version ${version}, the site is ${manifest.version}`);
  const cache = await caches.open(cacheName);
  const known = await formerFiles();
  const wanted = manifest.files.filter((file) => !onDemand(file));
  // A few at a time: hundreds of requests at once starve a phone.
  const queue = wanted.values();
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (const file of queue) await keep(cache, file, known);
    }),
  );
  await keepUsed(cache, manifest.files, known);
  await cache.put(address('manifest.json'), response);
}

/** Whether a file is fetched on demand: those of other extractors and of sketches, except the record of each extractor. @param {SiteFile} file */
function onDemand({ path }) {
  return /^(networks|kinds)\/(?!\w+\/extractor\.json$)|\/p5\.min\.js$/.test(path);
}

/**
 * Keeps the files fetched on demand that pages of an older version have used. It fetches a file that
 * has changed, since its user may be offline later.
 *
 * @param {Cache} cache @param {SiteFile[]} files @param {Map<string, Cache>} known
 */
async function keepUsed(cache, files, known) {
  const former = await Promise.all((await formerCaches()).map((name) => caches.open(name)));
  for (const file of files.filter(onDemand)) {
    const used = await Promise.all(former.map((one) => one.match(address(file.path))));
    if (used.some(Boolean)) await keep(cache, file, known);
  }
}

/** The files of former versions, by path and hash. @returns {Promise<Map<string, Cache>>} */
async function formerFiles() {
  const known = new Map();
  for (const name of await formerCaches()) {
    const cache = await caches.open(name);
    for (const file of await filesOf(cache)) known.set(`${file.path} ${file.sha256}`, cache);
  }
  return known;
}

/** The files of a version. @param {Cache} cache @returns {Promise<SiteFile[]>} */
async function filesOf(cache) {
  const manifest = await (await cache.match(address('manifest.json')))?.json();
  return manifest?.files ?? [];
}

async function formerCaches() {
  return (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== cacheName);
}

/** Brings one file into the cache. @param {Cache} cache @param {SiteFile} file @param {Map<string, Cache>} known */
async function keep(cache, file, known) {
  const url = address(file.path);
  const former = await known.get(`${file.path} ${file.sha256}`)?.match(url);
  const response = former && (await isWhole(former, file)) ? former : await download(file);
  await cache.put(url, response);
}

/** Fetches a file and compares it with the manifest. @param {SiteFile} file @returns {Promise<Response>} */
async function download(file) {
  // no-cache revalidates: for files that the page has just fetched, the server answers without a
  // body. If a cache on the way has other bytes under the same tag, reload bypasses it.
  for (const mode of /** @type {const} */ (['no-cache', 'reload'])) {
    const response = await fetch(address(file.path), { cache: mode });
    if (!response.ok) throw new Error(`${file.path}: status ${response.status}`);
    if (await isWhole(response, file)) return response;
  }
  throw new Error(`${file.path} is not the file that the manifest of version ${version} lists`);
}

/**
 * Whether an answer has the bytes that the manifest lists. It can still be read.
 *
 * @param {Response} response
 * @param {SiteFile} file
 */
async function isWhole(response, file) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await response.clone().arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('') === file.sha256;
}

async function activate() {
  // Tabs that are older than any version belong to the first one.
  if ((await formerCaches()).length === 0) for (const { id } of await everyone()) await record(id, cacheName).catch(() => {});
  await tidy();
  await worker.clients.claim();
}

/** All tabs and workers. */
const everyone = () => worker.clients.matchAll({ includeUncontrolled: true, type: 'all' });

/** Whether former versions may still be there. */
let untidy = true;

/** Tabs that were answered, but are not among the clients before their document is there. @type {Set<string>} */
const coming = new Set();

/** Deletes former versions that no tab has come from. */
async function tidy() {
  const { installing, waiting } = worker.registration;
  if (installing || waiting) return; // a cache may be that of a newer version
  untidy = false;
  const clients = await everyone();
  for (const { id } of clients) coming.delete(id);
  const alive = new Set([...clients.map(({ id }) => id), ...coming].map((id) => address(clientPath(id))));
  const names = [cacheName, ...(await formerCaches())];
  for (const name of names) {
    const cache = await caches.open(name);
    const records = (await cache.keys()).map(({ url }) => url).filter((url) => url.startsWith(address(clientPath(''))));
    const gone = records.filter((url) => !alive.has(url));
    await Promise.all(gone.map((url) => cache.delete(url)));
    if (name === cacheName) continue;
    if (records.length > gone.length) untidy = true;
    else await caches.delete(name);
  }
}

/** @param {Request} request whether this worker answers it */
function mine(request) {
  return request.method === 'GET' && request.url.startsWith(worker.registration.scope);
}

/**
 * The cached file of the version that the tab came from, or else the network's
 * answer. Asking for any page gives the one page there is.
 *
 * @param {RequestEvent} event
 * @returns {Promise<Response>}
 */
async function answer(event) {
  const { request, clientId, resultingClientId } = event;
  const name = request.mode === 'navigate' ? await pageCache() : await cacheOf(clientId);
  if (resultingClientId) {
    cacheNames.set(resultingClientId, name);
    coming.add(resultingClientId);
  }
  const work = Promise.all([resultingClientId ? record(resultingClientId, name) : undefined, untidy ? tidy() : undefined]);
  event.waitUntil(work.catch(() => {})); // storage that is full keeps no record: the next start of this worker takes its own version
  const cache = name ? await caches.open(name) : null;
  const file = cache && (request.mode === 'navigate' ? await cachedPage(cache, request) : await cache.match(request, { ignoreSearch: true, ignoreVary: true }));
  return file || elsewhere(cache, request);
}

/**
 * The network's answer. A file of the version must have the bytes of the version.
 *
 * @param {Cache|null} cache
 * @param {Request} request
 * @returns {Promise<Response>}
 */
async function elsewhere(cache, request) {
  try {
    const url = new URL(request.url);
    const file = cache ? (await filesOf(cache)).find(({ path }) => address(path) === url.origin + url.pathname) : undefined;
    if (!file) return await fetch(request);
    const response = await download(file);
    if (cache && onDemand(file)) await cache.put(address(file.path), response.clone()).catch(() => {}); // storage that is full
    return response;
  } catch {
    const fallback = request.mode === 'navigate' ? await cache?.match(address('index.html'), { ignoreVary: true }) : undefined;
    return (
      fallback ??
      new Response('This file is not kept for offline use, and it cannot be fetched: there is no connection, or the site has another version.\n', {
        status: 504,
        headers: { 'Content-Type': 'text/plain; charset=utf-8' },
      })
    );
  }
}

/** The cache that each tab or worker is answered from; '' is the network. @type {Map<string, string>} */
const cacheNames = new Map();

/** The cache for a new tab: this version's, unless it is gone. */
async function pageCache() {
  const page = await (await caches.open(cacheName)).match(address('index.html'));
  return page ? cacheName : '';
}

/**
 * The cache of the version that a tab or worker came from. A tab that is older than any installed
 * version gets this version.
 *
 * @param {string} [client]
 */
async function cacheOf(client) {
  if (!client) return cacheName;
  let name = cacheNames.get(client);
  if (name !== undefined) return name;
  name = cacheName;
  for (const other of [cacheName, ...(await formerCaches())]) {
    const kept = await (await caches.open(other)).match(address(clientPath(client)));
    if (kept) name = await kept.text();
  }
  cacheNames.set(client, name);
  return name;
}

/** Remembers for the next start of this worker, or of a newer one. @param {string} client @param {string} name */
async function record(client, name) {
  await (await caches.open(name || cacheName)).put(address(clientPath(client)), new Response(name));
}

/** @param {string} client */
function clientPath(client) {
  return `.client/${client}`;
}

/**
 * The start page for its own address; other documents (notices) by their path.
 *
 * @param {Cache} cache
 * @param {Request} request
 */
function cachedPage(cache, request) {
  const home = new URL(request.url).pathname === new URL(worker.registration.scope).pathname;
  return cache.match(home ? address('index.html') : request, { ignoreSearch: true, ignoreVary: true });
}

/** @param {string} path relative to the site */
function address(path) {
  return new URL(path, worker.registration.scope).href;
}
