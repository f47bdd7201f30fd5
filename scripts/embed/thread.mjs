// @ts-check
/** One thread of the pool: loads the extractor and embeds the files that it is sent. */
import { readFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { decodePicture } from './decode.mjs';
import { loadExtractor } from './extractor.mjs';

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
const { embed, id, sha256, dimension, takes } = await loadExtractor(workerData.place, workerData);

/** The input of the extractor from a file. @param {string} file */
const inputOf = async (file) => (takes === 'file' ? new Uint8Array(await readFile(file)) : decodePicture(file));

port.on('message', async (/** @type {string} */ file) => {
  try {
    const embedding = await embed(await inputOf(file));
    port.postMessage({ embedding }, [/** @type {ArrayBuffer} */ (embedding.buffer)]);
  } catch (error) {
    port.postMessage({ empty: ['no-hand', 'no-speech'].includes(/** @type {any} */ (error)?.code), why: String(/** @type {any} */ (error)?.message ?? error).split('\n')[0].trim() || 'no reason given' });
  }
});
port.postMessage({ extractor: { id, sha256, dimension } });
