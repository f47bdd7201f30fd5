// @ts-check
/**
 * Notes long work in storage. If the page closes before the work ends, the next visit says so. Sorting is noted in
 * sessionStorage, which belongs to one tab. Adding is noted in localStorage, in an entry of this tab alone. The tab holds a
 * lock of the same name, so a note without a lock is of a tab that was closed.
 */
import { toast } from './announce.js';
import { noun } from './dom.js';

/** @typedef {'sorting'|'adding'} Work */

/** The sentence for each kind of work that was cut short. @type {Record<Work, () => string>} */
const CUT_SHORT = {
  sorting: () => `A reload does not keep the ${noun()}s that were being sorted: choose them again to go on. Your examples are kept.`,
  adding: () => `The page was closed or reloaded while ${noun()}s were being added. Those already added are kept: add the missing ones.`,
};

/** Removes outdated notices. @type {Partial<Record<Work, () => void>>} */
const told = {};
/** Removes the note about adding, if there is one. @type {(() => void)|null} */
let end = null;

/** @param {Work} what @param {boolean} underWay */
export function note(what, underWay) {
  told[what]?.();
  if (what === 'adding') return noteAdding(underWay);
  try {
    if (underWay) sessionStorage.setItem(what, 'open');
    else sessionStorage.removeItem(what);
  } catch {
    // Storage is forbidden: the next visit says nothing.
  }
}

/** @param {boolean} underWay */
function noteAdding(underWay) {
  if (!underWay) {
    end?.();
    end = null;
  }
  if (!underWay || end || !navigator.locks) return; // without locks nobody knows which tabs live
  const over = new Promise((resolve) => {
    end = () => resolve(null);
  });
  const key = `adding ${crypto.randomUUID()}`;
  const held = async () => {
    localStorage.setItem(key, 'open');
    await over;
    localStorage.removeItem(key);
  };
  void navigator.locks.request(key, held).catch(() => {}); // storage is forbidden
}

/** Says which work was cut short, unless its tab lives. Each note is told once and removed. */
export async function tellCutShort() {
  const tell = (/** @type {Work} */ what) => {
    told[what] = toast({ text: CUT_SHORT[what](), key: what });
  };
  try {
    if (sessionStorage.getItem('sorting')) {
      note('sorting', false);
      tell('sorting');
    }
    for (const key of Object.keys(localStorage).filter((one) => one.startsWith('adding'))) {
      await navigator.locks?.request(key, { ifAvailable: true }, (lock) => {
        if (!lock) return;
        localStorage.removeItem(key);
        tell('adding');
      });
    }
  } catch {
    // Storage is forbidden.
  }
}
