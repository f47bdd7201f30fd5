// @ts-check
/** What is under way and a reload cuts short, noted in the tab: the page says so when it is back. */
import { toast } from './announce.js';
import { one } from './dom.js';

/** What is said of it. @type {Record<'sorting' | 'adding', () => string>} */
const CUT_SHORT = {
  sorting: () => `The ${one()}s that were being sorted are not kept over a reload: choose them again to go on. What was taught is kept.`,
  adding: () => `The reload came while ${one()}s were being added. Those that had been are kept: add the others again.`,
};

/** @param {keyof typeof CUT_SHORT} what @param {boolean} underWay */
export function note(what, underWay) {
  try {
    if (underWay) sessionStorage.setItem(what, 'open');
    else sessionStorage.removeItem(what);
  } catch {
    // Storage that is forbidden: a reload then says nothing of it.
  }
}

/** Says after a reload what it cut short. */
export function tellCutShort() {
  for (const what of /** @type {(keyof typeof CUT_SHORT)[]} */ (Object.keys(CUT_SHORT))) {
    try {
      if (!sessionStorage.getItem(what)) continue;
    } catch {
      return;
    }
    note(what, false);
    toast({ text: CUT_SHORT[what](), key: what });
  }
}
