// @ts-check
/** Keeps the focus near what had it and has gone. Else it falls to the beginning of the page, and who sees nothing is lost. */

/** Whether an element may have the focus. It asks for no layout, since it is asked at every change. @param {Element} element */
const there = (element) => element.isConnected && !element.matches(':disabled') && !element.closest('[hidden], [inert], dialog:not([open])');

/** Once what has the focus is removed, hidden or disabled, the nearest element around it that is left gets the focus. */
export function keepFocus() {
  /** What had the focus last, what is around it from the nearest on, and the page's main part. @type {HTMLElement[]} */
  let last = [];
  document.addEventListener('focusin', ({ target }) => {
    last = [];
    for (let one = target; one instanceof HTMLElement && one !== document.body; one = one.parentElement) last.push(one);
    last.push(...document.querySelectorAll('main'));
  });
  new MutationObserver(() => {
    const now = document.activeElement;
    if (!last.length || (now !== document.body && now !== last[0]) || there(last[0])) return;
    for (const one of last.filter(there)) {
      if (!one.hasAttribute('tabindex')) one.tabIndex = -1;
      one.focus({ preventScroll: true });
      if (document.activeElement === one) break; // what has no box takes none
    }
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ['hidden', 'disabled', 'inert', 'open'] });
}
