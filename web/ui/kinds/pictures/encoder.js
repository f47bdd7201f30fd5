// @ts-check
/**
 * JPEG encoding in a worker. A canvas in a window encodes in idle time, which a background tab has about once a
 * second.
 */
import { RemoteClient } from '../../../base/remote.js';

/** Milliseconds to wait for the worker: starting takes a moment, encoding a few milliseconds. */
const PATIENCE = 10_000;

/** The worker; null if there is none, or if it has failed. @type {RemoteClient|null|undefined} */
let client;

/**
 * @param {ImageBitmap} picture stays usable
 * @param {{width: number, height: number}} size of the result, in pixels
 * @returns {Promise<Uint8Array|null>} null if the window has to encode
 */
export async function encodeInWorker(picture, size) {
  if (client === undefined) client = start();
  if (!client) return null;
  try {
    // The picture is reduced first: otherwise a photograph of fifty megapixels would be copied
    // whole.
    const small = await createImageBitmap(picture, { resizeWidth: size.width, resizeHeight: size.height, resizeQuality: 'high' });
    return await client.ask('encode', { picture: small, size }, [small]);
  } catch {
    client?.close('The worker that encodes pictures has failed.'); // another call may have closed it already
    client = null;
    return null;
  }
}

function start() {
  try {
    return new RemoteClient(new Worker(new URL('./encoder-worker.js', import.meta.url), { type: 'module', name: 'encoder' }), {
      code: 'encoder-failed',
      died: (why) => `The worker that encodes pictures stopped: ${why}.`,
      patience: PATIENCE,
    });
  } catch {
    return null;
  }
}
