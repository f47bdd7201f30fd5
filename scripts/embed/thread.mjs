// @ts-check
/** One thread of the pool: loads the extractor and embeds the files that it is sent. */
import { parentPort, workerData } from 'node:worker_threads';
import { decodePicture } from './decode.mjs';
import { loadExtractor } from './extractor.mjs';

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
const { embed, id, sha256, dimension } = await loadExtractor(workerData);

port.on('message', async (/** @type {string} */ file) => {
  const pixels = await decodePicture(file).catch((/** @type {Error} */ error) => error);
  if (pixels instanceof Error) {
    port.postMessage({ why: pixels.message.split('\n')[0].trim() || 'no reason given' });
    return;
  }
  const embedding = await embed(pixels);
  port.postMessage({ embedding }, [/** @type {ArrayBuffer} */ (embedding.buffer)]);
});
port.postMessage({ extractor: { id, sha256, dimension } });
