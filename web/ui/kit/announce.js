// @ts-check
/** What the page says: a status line, toasts with an action, and the undo they offer. */
import { byId, el, icon } from './dom.js';

/** How long a toast stays, in milliseconds, unless it is hovered or focused. */
const STAY = 12000;

/** How long the status line is shown, in milliseconds; who reads by ear finds it later too. */
const SHOWN = 9000;

/** @type {ReturnType<typeof setTimeout>|undefined} */
let fading;

/**
 * Says one sentence in the live region at the foot of the page.
 *
 * @param {string} text
 * @param {{seen?: boolean}} [options] `seen`: it stands on the page already, so that only those who hear the page need it
 */
export function say(text, { seen = false } = {}) {
  const status = byId('status', HTMLElement);
  if (status.textContent !== text) status.textContent = text;
  status.classList.toggle('quiet', text === '' || seen);
  clearTimeout(fading);
  fading = setTimeout(() => status.classList.add('quiet'), SHOWN);
}

/**
 * Keeps what is said before whatever dialog is open, where all else is behind it and
 * cannot be pressed.
 */
export function sayBeforeDialogs() {
  const notices = byId('notices', HTMLElement);
  const home = /** @type {HTMLElement} */ (notices.parentElement);
  const next = notices.nextSibling;
  // So much room a dialog leaves below it while there is a notice.
  new ResizeObserver(() => document.documentElement.style.setProperty('--notices', `${notices.offsetHeight}px`)).observe(notices);
  new MutationObserver(() => {
    const open = [...document.querySelectorAll('dialog[open]')].at(-1);
    if (open && notices.parentElement !== open) open.append(notices);
    else if (!open && notices.parentElement !== home) home.insertBefore(notices, next);
  }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['open'] });
}

/**
 * Shows a notice at the foot of the page. A toast with the same key replaces its
 * predecessor. Notices with `stay` remain until they are dismissed.
 *
 * @param {{text: string, key?: string, action?: string, shortcut?: string, onAction?: () => void, stay?: boolean}} notice
 * @returns {() => void} closes it
 */
export function toast({ text, key = '', action, shortcut = '', onAction, stay = false }) {
  const toasts = byId('toasts', HTMLElement);
  if (key) toasts.querySelector(`[data-key="${CSS.escape(key)}"]`)?.remove();
  const close = () => {
    clearTimeout(timer);
    box.remove();
  };
  const box = el('div', { class: 'toast', 'data-key': key },
    el('p', { role: 'status' }, text),
    action
      ? el('button', { class: 'button primary', type: 'button', 'aria-keyshortcuts': shortcut || false, onclick: () => { close(); onAction?.(); } }, action)
      : null,
    el('button', { class: 'button quiet square', type: 'button', 'aria-label': 'Dismiss', onclick: close }, icon('close')));
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  const arm = () => { if (!stay) timer = setTimeout(close, STAY); };
  for (const type of ['pointerenter', 'focusin']) box.addEventListener(type, () => clearTimeout(timer));
  for (const type of ['pointerleave', 'focusout']) box.addEventListener(type, () => { clearTimeout(timer); arm(); });
  toasts.append(box);
  arm();
  return close;
}

/**
 * The last things that can be undone, newest last. Offering one shows a toast;
 * Ctrl+Z or Command+Z takes back the newest even after its toast has gone.
 */
export class UndoStack {
  /** @type {{text: string, undo: () => Promise<unknown>, close: () => void}[]} */
  #steps = [];
  /** @type {Promise<unknown>} */
  #expected = Promise.resolve();

  /**
   * Notes that something is being done that will offer to be undone: the page may show it
   * before that, and who takes it back then means it and not what was done before.
   *
   * @template T
   * @param {Promise<T>} work
   * @returns {Promise<T>} the same
   */
  expect(work) {
    this.#expected = Promise.allSettled([this.#expected, work]);
    return work;
  }

  /**
   * @param {string} text what was done
   * @param {() => Promise<unknown>} undo takes it back and leaves the focus where it makes sense
   */
  offer(text, undo) {
    const step = { text, undo, close: () => {} };
    this.#steps.push(step);
    step.close = toast({ text, key: 'undo', action: 'Undo', shortcut: 'Control+Z Meta+Z', onAction: () => void this.#take(step) });
  }

  /** Takes back the newest step, if there is one. */
  async undo() {
    for (let expected; expected !== this.#expected;) await (expected = this.#expected);
    const step = this.#steps.at(-1);
    if (step) await this.#take(step);
  }

  /** Forgets everything: after another session was opened nothing can be taken back. */
  clear() {
    for (const step of this.#steps) step.close();
    this.#steps = [];
  }

  /** @param {{text: string, undo: () => Promise<unknown>, close: () => void}} step */
  async #take(step) {
    const at = this.#steps.indexOf(step);
    if (at < 0) return;
    this.#steps.splice(at, 1);
    step.close();
    await step.undo();
  }
}

/**
 * Shows or hides a sentence in an alert element.
 *
 * @param {HTMLElement} element
 * @param {string} text empty hides it
 */
export function complain(element, text) {
  element.textContent = text;
  element.hidden = text === '';
}
