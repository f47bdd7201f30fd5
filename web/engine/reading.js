// @ts-check
/**
 * Reads a session from IndexedDB for the program. Handing over each record would cost several calls, so pages of examples
 * become packs of bytes. wasm/store/pack.go reads the packs.
 *
 * A pack is a Uint8Array, in the byte order of the machine:
 *   Float64  number of examples
 *   Float64  for each example: the lengths in bytes of key, class, group and embedding, and its order
 *   bytes    the embeddings
 *   text     in ASCII: key, class and group of each example
 *
 * Records of an older form, or with other text, are handed over as they are.
 */
import { RemoteClient } from '../base/remote.js';

/** @typedef {{table: string, pack: Uint8Array<ArrayBuffer>, keys: string[], records: unknown[]}} Pack records: those not in the bytes; keys: theirs */
/** @typedef {(pack: Pack|null) => void} Give takes the next pack; null means that reading starts again */

/**
 * Bytes of embeddings in one page, estimated by the record before. In Chromium, pages of some hundred kilobytes take two
 * to four times as long per record; pages of a tenth of this take a little longer.
 */
const PAGE_BYTES = 96 << 10;
/** Records of the first page; most records of a page or a pack. */
const FIRST_PAGE = 16;
const MOST_IN_ONE = 250;
/** Bytes of a pack, about. */
const PACK_BYTES = 256 << 10;
/** From this number of pictures on a worker reads them. It takes longer to start. */
const MANY = 2000;

const encoder = new TextEncoder();

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const answer = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result); // the records are decoded here, which may fail
  request.onerror = () => reject(request.error);
});

/**
 * Returns a function that reads sessions for the program.
 *
 * @param {string} name of the database
 * @param {() => Worker} [worker] of worker.js
 * @returns {(db: IDBDatabase, session: string, give: Give) => Promise<void>} gives nothing if there is no such session
 */
export const reader = (name, worker) => async (db, session, give) => {
  if (worker && await answer(db.transaction('examples').objectStore('examples').index('session').count(session)) > MANY) {
    try {
      return await apart(worker, name, session, give);
    } catch {
      give(null); // read here, which takes longer
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
  request.onupgradeneeded = () => request.transaction?.abort(); // the database was deleted meanwhile
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
 * Reads all records of a session. A page might leave out a record whose id is not its key: such records are read one by
 * one. Records without an id are not in the index of the pages, so they come last.
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
  /** Reads the records of a range of keys in pages. The next page is read while one is packed. @param {number} from @param {number} to */
  const part = async (from, to) => {
    if (from === to) return;
    const last = to === keys.length ? end : [session, keys[to - 1]];
    const pageAfter = (/** @type {unknown[]} */ key, /** @type {number} */ most) => {
      if (indexedDB.cmp(key, last) >= 0) return Promise.resolve([]);
      const page = answer(place.getAll(IDBKeyRange.bound(key, last, true), most));
      page.catch(() => {}); // the one who awaits it gets the error
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
  await Promise.all([part(0, half), part(half, keys.length)]); // so that a page is always being read
  if (await answer(store.index('session').count(session)) === keys.length) return;
  const got = new Set(keys);
  for (const key of await answer(store.index('session').getAllKeys(session))) if (!got.has(key)) await alone(key);
}

/** Number of records to read next, by the size of this one. @param {Record<string, unknown>} record */
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
    if (typeof key !== 'string') return; // nothing here writes such keys
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

  /** Hands out the pack so far. */
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
