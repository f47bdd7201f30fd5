// @ts-check
/**
 * The service worker: after the first visit the page needs no network.
 *
 * The site assembler puts one line in front of this file that defines VERSION, so
 * that the worker's bytes change whenever any file of the site does. Installing
 * fetches what manifest.json lists into a cache of that version; a file whose
 * sha256 the former version already holds is copied, not fetched. A new version
 * waits until the person agrees to it (message 'activate') or all tabs are closed;
 * then the caches of former versions are deleted.
 *
 * Messages: {type: 'activate', id, args} asks a waiting worker to take over;
 * {type: 'version', id, args} is answered with {type: 'version', id, result}.
 */

// @ts-expect-error the site assembler defines VERSION
const version = /** @type {string} */ (typeof VERSION === 'string' ? VERSION : 'development');
const PREFIX = 'metaqda-';
const cacheName = `${PREFIX}${version}`;

/**
 * What this file uses of ServiceWorkerGlobalScope (the DOM library has no types for it).
 * @typedef {Event & {waitUntil: (work: Promise<unknown>) => void}} LifeEvent
 * @typedef {LifeEvent & {request: Request, respondWith: (answer: Promise<Response>) => void}} RequestEvent
 * @typedef {{path: string, bytes: number, sha256: string}} SiteFile
 * @typedef {object} Scope
 * @property {{claim: () => Promise<void>}} clients
 * @property {() => Promise<void>} skipWaiting
 * @property {{scope: string}} registration
 * @property {(type: string, listener: (event: any) => void) => void} addEventListener
 */
const worker = /** @type {Scope} */ (/** @type {unknown} */ (self));

worker.addEventListener('install', (/** @type {LifeEvent} */ event) => event.waitUntil(install()));
worker.addEventListener('activate', (/** @type {LifeEvent} */ event) => event.waitUntil(activate()));
worker.addEventListener('fetch', (/** @type {RequestEvent} */ event) => {
  if (mine(event.request)) event.respondWith(answer(event.request));
});
worker.addEventListener('message', (/** @type {MessageEvent} */ event) => {
  const { type, id } = event.data ?? {};
  if (type === 'activate') void worker.skipWaiting();
  else if (type === 'version') event.source?.postMessage({ type, id, result: version });
});

/** Fills this version's cache. Any failure fails the whole: the browser tries again later. */
async function install() {
  const response = await fetch(address('manifest.json'), { cache: 'no-cache' });
  if (!response.ok) throw new Error(`manifest.json: status ${response.status}`);
  const manifest = /** @type {{version: string, files: SiteFile[]}} */ (await response.clone().json());
  if (manifest.version !== version) throw new Error(`this is version ${version}, the site is ${manifest.version}`);
  const cache = await caches.open(cacheName);
  const known = await formerFiles();
  const wanted = manifest.files.filter(needed);
  // A few at a time: hundreds of requests at once starve a phone.
  const queue = wanted.values();
  await Promise.all(Array.from({ length: 6 }, async () => {
    for (const file of queue) await keep(cache, file, known);
  }));
  await cache.put(address('manifest.json'), response);
}

/** @param {SiteFile} file whether the page can ask for it while offline */
function needed(file) {
  return !file.path.startsWith('web/screenshot');
}

/**
 * The files of former versions, by path and hash.
 *
 * @returns {Promise<Map<string, Cache>>}
 */
async function formerFiles() {
  const known = new Map();
  for (const name of await formerCaches()) {
    const cache = await caches.open(name);
    const manifest = await (await cache.match(address('manifest.json')))?.json();
    for (const file of manifest?.files ?? []) known.set(`${file.path} ${file.sha256}`, cache);
  }
  return known;
}

async function formerCaches() {
  return (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== cacheName);
}

/**
 * Brings one file into the cache.
 *
 * @param {Cache} cache
 * @param {SiteFile} file
 * @param {Map<string, Cache>} known
 */
async function keep(cache, file, known) {
  const url = address(file.path);
  const former = await known.get(`${file.path} ${file.sha256}`)?.match(url);
  // no-cache revalidates: what the page itself has just fetched costs an empty answer.
  const response = former ?? await fetch(url, { cache: 'no-cache' });
  if (!response.ok) throw new Error(`${file.path}: status ${response.status}`);
  await cache.put(url, response);
}

async function activate() {
  await Promise.all((await formerCaches()).map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/** @param {Request} request whether this worker answers it */
function mine(request) {
  return request.method === 'GET' && request.url.startsWith(worker.registration.scope);
}

/**
 * The cached file, or else the network's answer. Asking for any page gives the
 * one page there is.
 *
 * @param {Request} request
 * @returns {Promise<Response>}
 */
async function answer(request) {
  const cache = await caches.open(cacheName);
  const file = request.mode === 'navigate' ? await cachedPage(cache, request) : await cache.match(request, { ignoreSearch: true, ignoreVary: true });
  if (file) return file;
  try {
    return await fetch(request);
  } catch {
    const fallback = request.mode === 'navigate' ? await cache.match(address('index.html'), { ignoreVary: true }) : undefined;
    return fallback ?? new Response('This file is not kept for offline use, and there is no connection.\n',
      { status: 504, headers: { 'Content-Type': 'text/plain; charset=utf-8' } });
  }
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
