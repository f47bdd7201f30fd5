// @ts-check
/**
 * What is noted of the sessions of a database outside of it, in a cache, where the loss of the database leaves it. The
 * engine says what and when (wasm/engine/persist.go). Where there are no caches nothing is noted.
 *
 * @param {string} name of the database
 */
export function marks(name) {
  const cache = async () => caches.open(`kept-sessions-${name}`);
  const address = (/** @type {string} */ id) => `/kept/${encodeURIComponent(id)}`;
  /** What is to be noted, by session. @type {Map<string, string>} */
  const waiting = new Map();
  let noting = false;
  const note = async () => {
    noting = true;
    try {
      const place = await cache();
      for (const [id, text] of waiting) { // and those that come meanwhile
        waiting.delete(id);
        await (text ? place.put(address(id), new Response(text)) : place.delete(address(id)));
      }
    } catch {} // there is no room for it, or no cache
    noting = false;
  };
  return {
    /** All of them, as a JSON array. */
    async all() {
      const place = await cache();
      const texts = (await place.keys()).map(async (key) => (await place.match(key))?.text());
      return `[${(await Promise.all(texts)).join(',')}]`;
    },
    /** Of what comes while one is being noted the last counts. @param {string} id @param {string} text empty to have none */
    set(id, text) {
      waiting.set(id, text);
      if (!noting) void note();
    },
  };
}
