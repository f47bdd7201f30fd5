// @ts-check
/** Keeps the focus in place when the focused element disappears. Otherwise it would fall to the beginning of the page. */

/** Whether an element may have the focus. It needs no layout, since it runs at every change. @param {Element} element */
const there = (element) => element.isConnected && !element.matches(':disabled') && !element.closest('[hidden], [inert], dialog:not([open])');

/** If the focused element is removed, hidden or disabled, its nearest ancestor that can have the focus gets it. */
export function keepFocus() {
  /** The element that had the focus last, its ancestors from the nearest one, and the page's main part. @type {HTMLElement[]} */
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
      if (document.activeElement === one) break; // an element without a box takes no focus
    }
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ['hidden', 'disabled', 'inert', 'open'] });
}
