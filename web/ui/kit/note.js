// @ts-check
/** What is under way and the end of a page cuts short, noted beside it: the page says so when it is back. */
import { toast } from './announce.js';
import { noun } from './dom.js';

/** What is said of it, and where it is noted: pictures to be sorted are gone with their tab, what is taught is there in the next one. */
const CUT_SHORT = {
  sorting: { place: () => sessionStorage, text: () => `The ${noun()}s that were being sorted are not kept over a reload: choose them again to go on. What was taught is kept.` },
  adding: { place: () => localStorage, text: () => `The page was closed or reloaded while ${noun()}s were being added. Those already added are kept: add the others again.` },
};

/** Lets go of what says to other tabs that it is under way here. @type {Partial<Record<keyof typeof CUT_SHORT, () => void>>} */
const held = {};
/** Takes the notices away that are out of date. @type {typeof held} */
const told = {};

/** @param {keyof typeof CUT_SHORT} what @param {boolean} underWay */
export function note(what, underWay) {
  told[what]?.();
  try {
    const place = CUT_SHORT[what].place();
    if (underWay) place.setItem(what, 'open');
    else place.removeItem(what);
  } catch {
    // Storage that is forbidden: a reload then says nothing of it.
  }
  held[what]?.();
  const over = new Promise((resolve) => { held[what] = () => resolve(null); });
  if (underWay) void navigator.locks?.request(what, { mode: 'shared' }, () => over).catch(() => {});
}

/** Says what the end of the page cut short, unless it is under way in another tab. */
export async function tellCutShort() {
  const others = (await navigator.locks?.query().catch(() => null))?.held ?? [];
  for (const [what, { place, text }] of /** @type {[keyof typeof CUT_SHORT, typeof CUT_SHORT['adding']][]} */ (Object.entries(CUT_SHORT))) {
    try {
      if (!place().getItem(what) || place() === localStorage && others.some(({ name }) => name === what)) continue;
    } catch {
      return;
    }
    note(what, false);
    told[what] = toast({ text: text(), key: what });
  }
}
