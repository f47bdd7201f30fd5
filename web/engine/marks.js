// @ts-check
/** Milliseconds to wait for the marks. A cache that does not answer must not keep the page from starting. */
const PATIENCE = 6000;

/**
 * Marks of the sessions of a database, in a cache, where they survive the loss of the database. The engine
 * writes them (wasm/engine/persist.go). Without the Cache API there are none.
 *
 * @param {string} name of the database
 */
export function marks(name) {
  const cache = async () => caches.open(`kept-sessions-${name}`);
  const address = (/** @type {string} */ id) => `/kept/${encodeURIComponent(id)}`;
  /** Marks to be written, by session. @type {Map<string, string>} */
  const waiting = new Map();
  let writing = false;
  const write = async () => {
    writing = true;
    try {
      const place = await cache();
      for (const [id, text] of waiting) {
        // also marks added meanwhile
        waiting.delete(id);
        await (text ? place.put(address(id), new Response(text)) : place.delete(address(id)));
      }
    } catch {} // no space, or no cache
    writing = false;
  };
  return {
    /** All marks, as a JSON array. */
    async all() {
      const late = new Promise((_, reject) => {
        AbortSignal.timeout(PATIENCE).addEventListener('abort', reject);
      });
      const read = cache().then(async (place) => Promise.all((await place.keys()).map(async (key) => (await place.match(key))?.text())));
      return `[${(await Promise.race([read, late])).join(',')}]`;
    },
    /** Writes a mark. While one is being written, only the last new mark of each session waits. @param {string} id @param {string} text empty removes the mark */
    set(id, text) {
      waiting.set(id, text);
      if (!writing) void write();
    },
  };
}
