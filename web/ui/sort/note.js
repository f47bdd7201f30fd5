// @ts-check
/** That pictures are being sorted, noted in the tab: a reload forgets them and says so. */
import { toast } from '../kit/announce.js';

/** Where it is noted. */
const NOTE = 'sorting';

/** @param {boolean} open whether pictures are being sorted */
export function noteOpen(open) {
  try {
    if (open) sessionStorage.setItem(NOTE, 'open');
    else sessionStorage.removeItem(NOTE);
  } catch {
    // Storage that is forbidden: a reload then says nothing of it.
  }
}

/** Says after a reload that what was being sorted is gone. */
export function tellGone() {
  try {
    if (!sessionStorage.getItem(NOTE)) return;
  } catch {
    return;
  }
  noteOpen(false);
  toast({ text: 'The pictures that were being sorted are not kept over a reload: choose them again to go on. What was taught is kept.', key: 'sorting' });
}
