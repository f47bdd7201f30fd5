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
  /** @type {Promise<unknown> | undefined} the last session that is being opened */
  let opening;
  for (const name of OPENING) {
    const open = storage[name];
    storage[name] = (/** @type {unknown[]} */ ...args) => {
      const before = opening ? [opening, ...calls] : [...calls];
      const opened = before.length ? Promise.allSettled(before).then(() => open(...args)) : open(...args);
      opening = opened;
      const end = () => {
        if (opening === opened) opening = undefined;
      };
      opened.then(end, end);
      return opened;
    };
  }
  return (call) => {
    const called = opening ? Promise.allSettled([opening]).then(call) : call();
    calls.add(called);
    const end = () => calls.delete(called);
    called.then(end, end);
    return called;
  };
}
