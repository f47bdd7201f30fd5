// @ts-check
/** Working offline by the service worker (sw.js), and finding new versions. */

/** Milliseconds between two checks for a new version. */
const HOUR = 3_600_000;

/** Milliseconds until a failed installation is tried again. They double each time, up to HOUR. */
const AGAIN = 60_000;

/**
 * Registers the service worker. Call it when the page is ready, so that filling
 * the cache does not compete with the first load.
 *
 * @param {object} options
 * @param {(text: string, reload: () => void) => void} options.offer a new version to the person, to be started by `reload`
 * @param {string} options.version of the site that this page was loaded from, '' where it is not known
 * @returns {Promise<boolean>} true once the page works offline, false where it never will
 */
export async function workOffline({ offer, version }) {
  const container = navigator.serviceWorker;
  if (!container) return false; // not a secure context, or a private window without workers
  const reload = () => location.reload();
  let asked = false;
  let controlled = container.controller !== null;
  // This comes before there is a worker, which would fetch these files anew.
  const loaded = controlled ? new Map() : await fingerprints();
  container.addEventListener('controllerchange', () => {
    if (asked) reload();
    else if (controlled) offer('Another tab has started a new version.', reload);
    else
      void ofAnother(version, loaded)
        .catch(() => false)
        .then((mixed) => {
          if (mixed) offer('A new version is ready.', reload);
        });
    controlled = true;
  });
  const take = (/** @type {ServiceWorker} */ waiting) => {
    asked = true;
    waiting.postMessage({ type: 'activate' });
  };
  await keepLooking(container, (waiting) => offer('A new version is ready.', () => take(waiting)));
  await container.ready;
  return true;
}

/**
 * The sha256 of the page, its style and its modules, by address, as the browser kept them. Files
 * that it did not keep are fetched anew, so they count as right. Programs are not checked, since
 * they are large, nor files that workers load themselves.
 *
 * @returns {Promise<Map<string, string>>}
 */
async function fingerprints() {
  const page = new URL(document.baseURI).href;
  const names = [page, ...performance.getEntriesByType('resource').map(({ name }) => name)];
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const name of new Set(names)) {
    const url = new URL(name);
    if (url.origin !== location.origin || (name !== page && !/\.(js|css)$/.test(url.pathname))) continue;
    const kept = await fetch(name, { cache: 'force-cache' }).catch(() => null);
    if (kept?.ok) found.set(name === page ? new URL('index.html', page).href : url.origin + url.pathname, await hash(kept));
  }
  return found;
}

/**
 * Whether this page, which was loaded without a worker, has a file of another version than the
 * worker has: the site may have been replaced while it was loaded.
 *
 * @param {string} version of the manifest that the page read, '' where it is not known
 * @param {Map<string, string>} loaded
 */
async function ofAnother(version, loaded) {
  const response = await fetch('manifest.json'); // from now on the worker's own
  const manifest = /** @type {{version: string, files: {path: string, sha256: string}[]}} */ (await response.json());
  return (
    (version !== '' && manifest.version !== version) ||
    manifest.files.some(({ path, sha256 }) => (loaded.get(new URL(path, document.baseURI).href) ?? sha256) !== sha256)
  );
}

/** @param {Response} response @returns {Promise<string>} its sha256 */
async function hash(response) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await response.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Registers the worker and looks for new ones: when the person returns to the tab after an hour,
 * and after a worker that could not be installed, such as while a site is being replaced.
 *
 * @param {ServiceWorkerContainer} container
 * @param {(waiting: ServiceWorker) => void} found
 */
async function keepLooking(container, found) {
  const register = () => container.register('sw.js', { updateViaCache: 'none' });
  /** @type {ServiceWorkerRegistration} */
  let registration;
  let last = Date.now();
  let wait = AGAIN;
  const look = async () => {
    last = Date.now();
    const { active, waiting, installing } = registration;
    // A first worker that could not be installed takes the registration with it.
    if (active || waiting || installing) await registration.update();
    else adopt(await register());
  };
  const lookLater = () => {
    setTimeout(() => look().catch(lookLater), wait);
    wait = Math.min(2 * wait, HOUR);
  };
  const follow = (/** @type {ServiceWorker} */ worker) => {
    worker.onstatechange = () => {
      if (worker.state === 'installed' && container.controller) found(worker);
      if (worker.state === 'redundant' && !installed.has(worker)) lookLater();
      if (worker.state !== 'redundant') installed.add(worker);
    };
  };
  /** @type {WeakSet<ServiceWorker>} */
  const installed = new WeakSet();
  const adopt = (/** @type {ServiceWorkerRegistration} */ one) => {
    registration = one;
    one.onupdatefound = () => {
      if (one.installing) follow(one.installing);
    };
    if (one.installing) follow(one.installing);
    if (one.waiting && container.controller) found(one.waiting);
  };
  adopt(await register());
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && Date.now() - last >= HOUR) look().catch(() => {}); // offline: there is nothing to look for
  });
}
