// @ts-check
/** Records long work in storage. If the page closes before the work ends, the next visit says so. */
import { toast } from './announce.js';
import { noun } from './dom.js';

/** The sentence for each kind of work, and its storage: sessionStorage for sorting, localStorage for teaching. */
const CUT_SHORT = {
  sorting: {
    place: () => sessionStorage,
    text: () => `A reload does not keep the ${noun()}s that were being sorted: choose them again to go on. Your examples are kept.`,
  },
  adding: {
    place: () => localStorage,
    text: () => `The page was closed or reloaded while ${noun()}s were being added. Those already added are kept: add the others again.`,
  },
};

/** Releases the locks that tell other tabs about work in this one. @type {Partial<Record<keyof typeof CUT_SHORT, () => void>>} */
const held = {};
/** Removes outdated notices. @type {typeof held} */
const told = {};

/** @param {keyof typeof CUT_SHORT} what @param {boolean} underWay */
export function note(what, underWay) {
  told[what]?.();
  try {
    const place = CUT_SHORT[what].place();
    if (underWay) place.setItem(what, 'open');
    else place.removeItem(what);
  } catch {
    // Storage is forbidden: the next visit says nothing.
  }
  held[what]?.();
  const over = new Promise((resolve) => {
    held[what] = () => resolve(null);
  });
  if (underWay) void navigator.locks?.request(what, { mode: 'shared' }, () => over).catch(() => {});
}

/** Says which work was cut short, unless it runs in another tab. */
export async function tellCutShort() {
  const others = (await navigator.locks?.query().catch(() => null))?.held ?? [];
  for (const [what, { place, text }] of /** @type {[keyof typeof CUT_SHORT, typeof CUT_SHORT['adding']][]} */ (Object.entries(CUT_SHORT))) {
    try {
      if (!place().getItem(what) || (place() === localStorage && others.some(({ name }) => name === what))) continue;
    } catch {
      return;
    }
    note(what, false);
    told[what] = toast({ text: text(), key: what });
  }
}
