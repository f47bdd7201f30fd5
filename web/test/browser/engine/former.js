// @ts-check
/** Databases as former versions of the page wrote them, and records of a log by hand. */

/** @import {Page} from 'playwright-core' */

/**
 * Puts a database of version 7 in the place of the page's, with what a function returns in the page: [table, key, value],
 * some at a time. The database of an engine that runs is let go.
 *
 * @template T
 * @param {Page} page
 * @param {(given: T) => AsyncGenerator<[string, unknown, unknown][]>} records runs in the page
 * @param {T} given
 */
export const writeFormer = (page, records, given) => page.evaluate(`(${write})(${records}, ${JSON.stringify(given)})`);

/** Runs in the page. @param {(given: any) => AsyncGenerator<[string, unknown, unknown][]>} records @param {unknown} given */
async function write(records, given) {
  const answer = (/** @type {IDBRequest} */ request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  await answer(indexedDB.deleteDatabase('metaqda'));
  const request = indexedDB.open('metaqda', 7);
  request.onupgradeneeded = () => {
    const db = request.result;
    for (const name of ['sessions', 'priors', 'meta', 'thumbnails', 'steps']) db.createObjectStore(name);
    for (const name of ['classes', 'examples']) {
      const store = db.createObjectStore(name);
      store.createIndex('session', 'session');
      store.createIndex('place', ['session', 'id']);
      if (name === 'classes') store.createIndex('name', ['session', 'name']);
      else store.createIndex('class', 'class');
    }
  };
  const db = await answer(request);
  for await (const some of records(given)) {
    const t = db.transaction([...db.objectStoreNames], 'readwrite');
    for (const [table, key, value] of some) t.objectStore(table).put(value, key);
    await new Promise((resolve, reject) => {
      t.oncomplete = resolve;
      t.onerror = () => reject(t.error);
    });
  }
  db.close();
}

/**
 * Appends a step that edits the head of each session, as another tab would.
 *
 * @param {Page} page
 * @param {Record<string, unknown>} edit
 */
export const appendEdit = (page, edit) =>
  page.evaluate(async (edit) => {
    const answer = (/** @type {IDBRequest} */ request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const db = await answer(indexedDB.open('metaqda'));
    const store = db.transaction('log', 'readwrite').objectStore('log');
    const last = new Map((await answer(store.getAllKeys())).map((/** @type {[string, number]} */ key) => [key[0], key]));
    for (const [session, n] of last.values()) {
      const bytes = await answer(store.get([session, n]));
      let at = 4,
        length = 0; // of the text, in groups of seven bits
      for (let shift = 0; ; shift += 7) {
        length |= (bytes[at] & 127) << shift;
        if (bytes[at++] < 128) break;
      }
      const { After } = JSON.parse(new TextDecoder().decode(bytes.subarray(at, at + length)));
      const text = new TextEncoder().encode(JSON.stringify({ Edit: edit, After: { ...After, ...edit } }));
      const record = [0, 0, 0, 0];
      for (let n = text.length; ; n >>= 7) {
        record.push(n > 127 ? (n & 127) | 128 : n);
        if (n < 128) break;
      }
      record.push(...text, 0); // no examples
      while (record.length % 4) record.push(0);
      const rest = Uint8Array.from(record.slice(4));
      let sum = BigInt(rest.length);
      const mix = (/** @type {bigint} */ value) => {
        sum = BigInt.asUintN(64, (sum ^ value) * 0x9e3779b97f4a7c15n);
        sum ^= sum >> 32n;
      };
      const whole = rest.length & ~7;
      for (let i = 0; i < whole; i += 8) mix(new DataView(rest.buffer).getBigUint64(i, true));
      for (const byte of rest.subarray(whole)) mix(BigInt(byte));
      record.splice(0, 4, ...[0n, 8n, 16n, 24n].map((shift) => Number((sum >> shift) & 255n)));
      await answer(store.put(Uint8Array.from(record), [session, n + 1]));
    }
    db.close();
  }, edit);
