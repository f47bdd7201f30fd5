// @ts-check
/**
 * What is noted of the sessions of a database outside of it, in a cache, where the loss of the database leaves it. The
 * engine says what and when (wasm/engine/marks.go). Where there are no caches nothing is noted.
 *
 * @param {string} name of the database
 */
export function marks(name) {
  const cache = async () => caches.open(`kept-sessions-${name}`);
  const address = (/** @type {string} */ id) => `/kept/${encodeURIComponent(id)}`;
  return {
    /** All of them, as a JSON array. */
    async all() {
      const place = await cache();
      const texts = (await place.keys()).map(async (key) => (await place.match(key))?.text());
      return `[${(await Promise.all(texts)).join(',')}]`;
    },
    /** @param {string} id @param {string} text empty to have none */
    set(id, text) {
      void cache().then((place) => /** @type {Promise<unknown>} */ (text ? place.put(address(id), new Response(text)) : place.delete(address(id)))).catch(() => {});
    },
  };
}
