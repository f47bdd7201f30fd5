// @ts-check
/**
 * Notes about the sessions of a database, kept in a cache: they outlive the loss of the database. The engine writes them
 * (wasm/engine/persist.go). Without the Cache API nothing is noted.
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
        // and those added meanwhile
        waiting.delete(id);
        await (text ? place.put(address(id), new Response(text)) : place.delete(address(id)));
      }
    } catch {} // no space, or no cache
    noting = false;
  };
  return {
    /** All of them, as a JSON array. */
    async all() {
      const place = await cache();
      const texts = (await place.keys()).map(async (key) => (await place.match(key))?.text());
      return `[${(await Promise.all(texts)).join(',')}]`;
    },
    /** While a note is being written only the last new one is kept. @param {string} id @param {string} text empty removes the note */
    set(id, text) {
      waiting.set(id, text);
      if (!noting) void note();
    },
  };
}
