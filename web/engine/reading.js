// @ts-check
/**
 * Reads a session out of IndexedDB for the program, to which each record by itself would cost calls: pages of records
 * become packs of bytes. The program's answer to a pack is in wasm/store/pack.go.
 *
 * A pack is a Uint8Array, in the byte order of the machine:
 *   Float64  how many records, how many bytes of text
 *   Float64  for each record its row: how many bytes of text its key has, then for each field what it is and a number:
 *            0 not there; 1 a string of so many bytes; 2 a number; 3 a truth; 4 so many bytes; 5 the record has
 *            something else in a field and is the next of `odd`
 *   bytes    the fields that are bytes
 *   text     in UTF-8: of each record its key, then its fields that are strings
 */
import { RemoteClient } from '../base/remote.js';

/** @typedef {{table: string, pack: Uint8Array<ArrayBuffer>, odd: unknown[]}} Pack `odd` are records as they are */
/** @typedef {(pack: Pack|null) => void} Give takes what comes, or null, which is to begin anew */
/** @typedef {{session: string, fields: Record<string, string[]>}} Wanted the names of fields by table: sessions, classes, examples */

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
const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // which is kept

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
 * @returns {(db: IDBDatabase, wanted: Wanted, give: Give) => Promise<void>} given nothing where there is no such session
 */
export const reader = (name, worker) => async (db, wanted, give) => {
  if (worker && await answer(db.transaction('examples').objectStore('examples').index('session').count(wanted.session)) > MANY) {
    try {
      return await apart(worker, name, wanted, give);
    } catch {
      give(null); // it takes longer without
    }
  }
  await readSession(db, wanted, give);
};

/** @param {() => Worker} worker @param {string} name @param {Wanted} wanted @param {Give} give */
async function apart(worker, name, wanted, give) {
  const client = new RemoteClient(worker(), { code: 'internal', died: (why) => why, onNews: (_, pack) => give(pack) });
  try {
    await client.ask('read', { name, wanted });
  } finally {
    client.close('it has read all');
  }
}

/** Reads in a worker. @param {string} name of a database that is there @param {Wanted} wanted @param {Give} give */
export async function readFrom(name, wanted, give) {
  const request = indexedDB.open(name);
  request.onupgradeneeded = () => request.transaction?.abort(); // it has gone meanwhile
  const db = await answer(request);
  db.onversionchange = () => db.close();
  try {
    await readSession(db, wanted, give);
  } finally {
    db.close();
  }
}

/** @param {IDBDatabase} db @param {Wanted} wanted @param {Give} give */
async function readSession(db, { session, fields }, give) {
  const tables = ['sessions', 'classes', 'examples']; // in this order
  const transaction = db.transaction(tables);
  for (const table of tables) {
    const store = transaction.objectStore(table);
    const packer = new Packer(table, fields[table], give);
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
    const pageAfter = (/** @type {unknown[]} */ key, /** @type {number} */ size) => {
      if (indexedDB.cmp(key, last) >= 0) return Promise.resolve([]);
      const page = answer(place.getAll(IDBKeyRange.bound(key, last, true), size));
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
  #numbers = [0, 0];
  /** @type {Uint8Array[]} */
  #arrays = [];
  #bytes = 0;
  #text = '';
  /** @type {unknown[]} */
  #odd = [];

  /** @param {string} table @param {readonly string[]} names of its fields @param {Give} give */
  constructor(table, names, give) {
    this.table = table;
    this.names = names;
    this.give = give;
  }

  /** @param {IDBValidKey} key @param {unknown} record */
  add(key, record) {
    if (typeof key !== 'string') return; // which nothing here writes
    const numbers = this.#numbers;
    numbers[0] += 1;
    numbers.push(this.#string(key));
    const fields = typeof record === 'object' && record !== null && !Array.isArray(record) ? /** @type {Record<string, unknown>} */ (record) : null;
    if (!fields || !this.names.every((name) => known(fields[name]))) {
      this.#odd.push(record);
      for (let i = 0; i < this.names.length; i++) numbers.push(5, 0);
    } else for (const name of this.names) {
      const v = fields[name];
      if (typeof v === 'string') numbers.push(1, this.#string(v));
      else if (typeof v === 'number') numbers.push(2, v);
      else if (typeof v === 'boolean') numbers.push(3, Number(v));
      else if (v instanceof Uint8Array) {
        numbers.push(4, v.length);
        this.#arrays.push(v);
        this.#bytes += v.length;
      } else numbers.push(0, 0);
    }
    if (this.#bytes + 8 * numbers.length >= PACK_BYTES || numbers[0] === MOST_IN_ONE) this.send();
  }

  /** Takes text and returns its bytes. @param {string} text */
  #string(text) {
    if (ASCII.test(text)) {
      this.#text += text;
      return text.length;
    }
    const bytes = encoder.encode(text);
    this.#text += decoder.decode(bytes); // half a character at its end does not join the half at the next one's beginning
    return bytes.length;
  }

  /** Hands out what there is. */
  send() {
    const numbers = this.#numbers;
    if (numbers[0] === 0) return;
    const text = encoder.encode(this.#text);
    numbers[1] = text.length;
    const pack = new Uint8Array(8 * numbers.length + this.#bytes + text.length);
    new Float64Array(pack.buffer, 0, numbers.length).set(numbers);
    let at = 8 * numbers.length;
    for (const array of [...this.#arrays, text]) {
      pack.set(array, at);
      at += array.length;
    }
    const odd = this.#odd;
    [this.#numbers, this.#arrays, this.#bytes, this.#text, this.#odd] = [[0, 0], [], 0, '', []];
    this.give({ table: this.table, pack, odd });
  }
}

const ASCII = /^[\0-\x7f]*$/;

/** Whether a pack can have it in a field. @param {unknown} v */
function known(v) {
  return v === undefined || v === null || typeof v === 'string' || typeof v === 'boolean' || Number.isFinite(v) || v instanceof Uint8Array;
}
