// @ts-check
/** Milliseconds to wait for the notes. A cache that does not answer must not keep the page from starting. */
const PATIENCE = 6000;

/**
 * Notes about the sessions of a database, in a cache, where they survive the loss of the database. The engine
 * writes them (wasm/engine/persist.go). Without the Cache API there are none.
 *
 * @param {string} name of the database
 */
export function marks(name) {
  const cache = async () => caches.open(`kept-sessions-${name}`);
  const address = (/** @type {string} */ id) => `/kept/${encodeURIComponent(id)}`;
  /** Notes to be written, by session. @type {Map<string, string>} */
  const waiting = new Map();
  let noting = false;
  const note = async () => {
    noting = true;
    try {
      const place = await cache();
      for (const [id, text] of waiting) {
        // also notes added meanwhile
        waiting.delete(id);
        await (text ? place.put(address(id), new Response(text)) : place.delete(address(id)));
      }
    } catch {} // no space, or no cache
    noting = false;
  };
  return {
    /** All notes, as a JSON array. */
    async all() {
      const late = new Promise((_, reject) => {
        AbortSignal.timeout(PATIENCE).addEventListener('abort', reject);
      });
      const read = cache().then(async (place) => Promise.all((await place.keys()).map(async (key) => (await place.match(key))?.text())));
      return `[${(await Promise.race([read, late])).join(',')}]`;
    },
    /** Writes a note. While one is being written, only the last new note of each session is kept. @param {string} id @param {string} text empty removes the note */
    set(id, text) {
      waiting.set(id, text);
      if (!noting) void note();
    },
  };
}
