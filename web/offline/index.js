// @ts-check
/** Working offline, and telling the person about a new version. */
import { toast } from '../ui/announce.js';
import { byId } from '../ui/dom.js';

/** Between two looks for a new version, in milliseconds. */
const HOUR = 3_600_000;

/**
 * Registers the service worker. Call it when the page is ready, so that filling
 * the cache does not compete with the first load.
 *
 * @param {{container?: ServiceWorkerContainer, reload?: () => void}} [scope] replaced in tests
 */
export async function workOffline({ container = navigator.serviceWorker, reload = () => location.reload() } = {}) {
  if (!container) return; // not a secure context, or a private window without workers
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
  byId('offline', HTMLElement).hidden = false;
}

/** @param {string} text @param {() => void} onAction */
function offer(text, onAction) {
  toast({ text, key: 'update', action: 'Reload', onAction, stay: true });
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
