// @ts-check
/**
 * Reads a session out of IndexedDB for the program, to which each record by itself would cost calls: pages of examples
 * become packs of bytes. The program's answer to a pack is in wasm/store/pack.go.
 *
 * A pack is a Uint8Array, in the byte order of the machine:
 *   Float64  how many examples there are
 *   Float64  for each of them how long its key is, its class, its group and its embedding in bytes, and its order
 *   bytes    the embeddings
 *   text     in ASCII: of each its key, its class and its group
 *
 * What is not an example as they are written now, or has other text, goes as it is.
 */
import { RemoteClient } from '../base/remote.js';

/** @typedef {{table: string, pack: Uint8Array<ArrayBuffer>, keys: string[], records: unknown[]}} Pack with records as they are and their keys */
/** @typedef {(pack: Pack|null) => void} Give takes what comes, or null, which is to begin anew */

/**
 * How many bytes of embeddings come in one answer, as far as the record before tells. Answers of some hundred kilobytes
 * take Chromium two to four times as long for each record, those of a tenth of this a little longer.
 */
const PAGE_BYTES = 96 << 10;
/** Pages have so many records: the first, and the most, which is that of a pack too. */
const FIRST_PAGE = 16;
const MOST_IN_ONE = 250;
/** A pack has about so many bytes. */
const PACK_BYTES = 256 << 10;
/** From so many pictures on another thread reads them, which takes longer to begin. */
const MANY = 2000;

const encoder = new TextEncoder();

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const answer = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result); // where the records are made, and where that may fail
  request.onerror = () => reject(request.error);
});

/**
 * What reads for a program.
 *
 * @param {string} name of the database
 * @param {() => Worker} [worker] of worker.js
 * @returns {(db: IDBDatabase, session: string, give: Give) => Promise<void>} given nothing where there is no such session
 */
export const reader = (name, worker) => async (db, session, give) => {
  if (worker && await answer(db.transaction('examples').objectStore('examples').index('session').count(session)) > MANY) {
    try {
      return await apart(worker, name, session, give);
    } catch {
      give(null); // it takes longer without
    }
  }
  await readSession(db, session, give);
};

/** @param {() => Worker} worker @param {string} name @param {string} session @param {Give} give */
async function apart(worker, name, session, give) {
  const client = new RemoteClient(worker(), { code: 'internal', died: (why) => why, onNews: (_, pack) => give(pack) });
  try {
    await client.ask('read', { name, session });
  } finally {
    client.close('it has read all');
  }
}

/** Reads in a worker. @param {string} name of a database that is there @param {string} session @param {Give} give */
export async function readFrom(name, session, give) {
  const request = indexedDB.open(name);
  request.onupgradeneeded = () => request.transaction?.abort(); // it has gone meanwhile
  const db = await answer(request);
  db.onversionchange = () => db.close();
  try {
    await readSession(db, session, give);
  } finally {
    db.close();
  }
}

/** @param {IDBDatabase} db @param {string} session @param {Give} give */
async function readSession(db, session, give) {
  const tables = ['sessions', 'classes', 'examples']; // in this order
  const transaction = db.transaction(tables);
  for (const table of tables) {
    const store = transaction.objectStore(table);
    const packer = new Packer(table, give);
    if (table === 'sessions') {
      const found = await answer(store.get(session));
      if (found === undefined) return;
      packer.add(session, found);
    } else await readTable(store, session, packer);
    packer.send();
  }
}

/**
 * All records of a session. A record whose id is not its key, which a page might leave out, is read by itself; those
 * without an id come last, for the index that makes pages has them not.
 *
 * @param {IDBObjectStore} store
 * @param {string} session
 * @param {Packer} packer
 */
async function readTable(store, session, packer) {
  const place = store.index('place');
  const end = [session, []]; // an array comes after all strings
  const alone = async (/** @type {IDBValidKey} */ key) => {
    const record = await answer(store.get(key));
    packer.add(key, record);
    return record;
  };
  const keys = await answer(place.getAllKeys(IDBKeyRange.bound([session], end, true, true)));
  /** Those of keys from one place to another, in pages, the next of which is on its way while one is packed. @param {number} from @param {number} to */
  const part = async (from, to) => {
    if (from === to) return;
    const last = to === keys.length ? end : [session, keys[to - 1]];
    const pageAfter = (/** @type {unknown[]} */ key, /** @type {number} */ most) => {
      if (indexedDB.cmp(key, last) >= 0) return Promise.resolve([]);
      const page = answer(place.getAll(IDBKeyRange.bound(key, last, true), most));
      page.catch(() => {}); // who waits for it is told
      return page;
    };
    let size = FIRST_PAGE;
    for (let at = from, page = pageAfter(from ? [session, keys[from - 1]] : [session], size); at < to;) {
      const records = await page;
      const wrong = records.findIndex((record, i) => record.id !== keys[at + i]);
      const right = wrong < 0 ? records.length : wrong;
      const more = right > 0 && right === size;
      if (more) page = pageAfter([session, keys[at + right - 1]], size = sizeAfter(records[right - 1]));
      for (const record of records.slice(0, right)) packer.add(keys[at++], record);
      if (!more && at < to) page = pageAfter([session, (await alone(keys[at++])).id], size);
    }
  };
  const half = keys.length >> 1;
  await Promise.all([part(0, half), part(half, keys.length)]); // so that one is on its way whenever one has come
  if (await answer(store.index('session').count(session)) === keys.length) return;
  const got = new Set(keys);
  for (const key of await answer(store.index('session').getAllKeys(session))) if (!got.has(key)) await alone(key);
}

/** How many records to ask for after one like this. @param {Record<string, unknown>} record */
function sizeAfter(record) {
  let bytes = 0;
  for (const name in record) if (record[name] instanceof Uint8Array) bytes += /** @type {Uint8Array} */ (record[name]).length;
  return Math.max(1, Math.min(MOST_IN_ONE, Math.floor(PAGE_BYTES / (bytes + 1))));
}

/** Makes packs of records. */
export class Packer {
  #numbers = [0];
  /** @type {Uint8Array[]} */
  #embeddings = [];
  #bytes = 0;
  #text = '';
  /** @type {string[]} */
  #keys = [];
  /** @type {unknown[]} */
  #records = [];

  /** @param {string} table @param {Give} give */
  constructor(table, give) {
    this.table = table;
    this.give = give;
  }

  /** @param {IDBValidKey} key @param {any} record */
  add(key, record) {
    if (typeof key !== 'string') return; // which nothing here writes
    const { id, class: of, order, embedding, thumbnail, group = '' } = record ?? {};
    if (this.table === 'examples' && id === key && embedding instanceof Uint8Array && Number.isFinite(order) && thumbnail === undefined && isAscii(key) && isAscii(of) && isAscii(group)) {
      this.#numbers[0]++;
      this.#numbers.push(key.length, of.length, group.length, embedding.length, order);
      this.#text += key + of + group;
      this.#embeddings.push(embedding);
      this.#bytes += embedding.length + 8 * 5;
    } else {
      this.#keys.push(key);
      this.#records.push(record);
    }
    if (this.#bytes >= PACK_BYTES || this.#numbers[0] + this.#keys.length === MOST_IN_ONE) this.send();
  }

  /** Hands out what there is. */
  send() {
    const [numbers, keys, records] = [this.#numbers, this.#keys, this.#records];
    if (numbers[0] + keys.length === 0) return;
    const parts = [new Uint8Array(Float64Array.from(numbers).buffer), ...this.#embeddings, encoder.encode(this.#text)];
    const pack = new Uint8Array(parts.reduce((n, { length }) => n + length, 0));
    let at = 0;
    for (const part of parts) {
      pack.set(part, at);
      at += part.length;
    }
    [this.#numbers, this.#embeddings, this.#bytes, this.#text, this.#keys, this.#records] = [[0], [], 0, '', [], []];
    this.give({ table: this.table, pack, keys, records });
  }
}

const ASCII = /^[\0-\x7f]*$/;
const isAscii = (/** @type {unknown} */ text) => typeof text === 'string' && ASCII.test(text);
