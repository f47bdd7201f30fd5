// @ts-check
/** Methods of a storage that open another session. */
const OPENING = ['newSession', 'openSession', 'deleteSession', 'importSession'];

/**
 * Ties each call to the session that is open at its turn: another session is opened after the calls before, and before
 * the calls after.
 *
 * @param {Record<string, any>} storage whose methods in OPENING wait from now on
 * @returns {<T>(call: () => Promise<T>) => Promise<T>} makes a call at once, or once the session is open
 */
export function turns(storage) {
  /** @type {Set<Promise<unknown>>} */
  const calls = new Set();
  /** The end of the last opening, until the calls that wait for it begin. @type {Promise<unknown> | undefined} */
  let opening;
  for (const name of OPENING) {
    const open = storage[name];
    storage[name] = (/** @type {unknown[]} */ ...args) => {
      const before = opening ? [opening, ...calls] : [...calls];
      const opened = before.length ? Promise.allSettled(before).then(() => open(...args)) : open(...args);
      const over = Promise.allSettled([opened]);
      opening = over;
      void over.then(() => {
        if (opening === over) opening = undefined;
      });
      return opened;
    };
  }
  return (call) => {
    const called = opening ? opening.then(call) : call();
    calls.add(called);
    const end = () => calls.delete(called);
    called.then(end, end);
    return called;
  };
}
