// @ts-check
/** Working offline by the service worker (sw.js), and finding new versions. */

/** Between two looks for a new version, in milliseconds. */
const HOUR = 3_600_000;

/**
 * Registers the service worker. Call it when the page is ready, so that filling
 * the cache does not compete with the first load.
 *
 * @param {object} options
 * @param {(text: string, reload: () => void) => void} options.offer a new version to the person, to be started by `reload`
 * @returns {Promise<boolean>} true once the page works offline, false where it never will
 */
export async function workOffline({ offer }) {
  const container = navigator.serviceWorker;
  if (!container) return false; // not a secure context, or a private window without workers
  const reload = () => location.reload();
  let asked = false;
  let controlled = container.controller !== null;
  container.addEventListener('controllerchange', () => {
    if (asked) reload();
    else if (controlled) offer('Another tab has started a new version.', reload);
    controlled = true;
  });
  const take = (/** @type {ServiceWorker} */ waiting) => {
    asked = true;
    waiting.postMessage({ type: 'activate', id: 1, args: [] });
  };
  const registration = await container.register('sw.js', { updateViaCache: 'none' });
  const watch = () => {
    const { waiting, installing } = registration;
    if (waiting && container.controller) offer('A new version is ready.', () => take(waiting));
    installing?.addEventListener('statechange', watch);
  };
  registration.addEventListener('updatefound', watch);
  watch();
  lookForUpdates(registration);
  await container.ready;
  return true;
}

/**
 * Asks for a new version when the person comes back to the tab after an hour.
 *
 * @param {ServiceWorkerRegistration} registration
 */
function lookForUpdates(registration) {
  let last = Date.now();
  document.addEventListener('visibilitychange', () => {
    if (document.hidden || Date.now() - last < HOUR) return;
    last = Date.now();
    registration.update().catch(() => {}); // offline: there is nothing to look for
  });
}
