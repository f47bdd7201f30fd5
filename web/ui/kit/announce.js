// @ts-check
/** A status line, and notices that stay until they are dismissed. The status line covers nothing. Only the newest notice may cover a part of the page. */
import { byId, el } from './dom.js';
import { html, icon, nodesOf, nothing } from './view.js';

/** Milliseconds for which the status line is shown. A screen reader finds it later too. */
const SHOWN = 9000;

/** @type {ReturnType<typeof setTimeout>|undefined} */
let fading;

/**
 * Says one sentence in the live region of the page.
 *
 * @param {string} text
 * @param {{seen?: boolean, beside?: boolean}} [options] `seen`: the page shows the text already, so only screen readers need it;
 *   `beside`: the sentence now shown stays, and the text is added for screen readers
 */
export function say(text, { seen = false, beside = false } = {}) {
  const status = byId('status', HTMLElement);
  if (beside && !status.classList.contains('quiet')) {
    status.querySelector('span')?.remove();
    status.append(el('span', { class: 'vh' }, ` ${text}`)); // this alone is read aloud: the other sentence was
    return;
  }
  if (status.textContent !== text) status.textContent = text;
  status.title = text;
  status.classList.toggle('quiet', text === '' || seen);
  clearTimeout(fading);
  fading = setTimeout(() => status.classList.add('quiet'), SHOWN);
}

/**
 * Moves the status line and the notices into an open dialog, because a dialog covers the rest of the page. Hides a sentence
 * that is older than the dialog or the last press in it: it may no longer be true.
 */
export function sayInDialogs() {
  const status = byId('status', HTMLElement);
  const fade = () => {
    if (status.closest('dialog')) status.classList.add('quiet');
  };
  for (const type of ['click', 'input', 'change']) document.addEventListener(type, fade, { capture: true });
  const homes = ['status', 'toasts']
    .map((id) => byId(id, HTMLElement))
    .map((element) => ({ element, place: element.parentElement, next: element.nextSibling }));
  new MutationObserver(() => {
    const open = [...document.querySelectorAll('dialog[open]')].at(-1);
    for (const { element, place, next } of homes) {
      if (open && element.parentElement !== open) {
        open.append(element);
        fade();
      } else if (!open && element.parentElement !== place) place?.insertBefore(element, next);
    }
  }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['open'] });
}

/**
 * Shows a notice until it is dismissed. It replaces a notice with the same key. The newest notice stays in view. In
 * a low window everything scrolls, so there the status line may have to say the text too.
 *
 * @param {{text: string, key?: string, passing?: boolean, action?: string, onAction?: () => void, onDismiss?: () => void}} notice
 *   `passing`: it closes when another session is opened
 * @returns {() => void} closes it
 */
export function toast({ text, key = '', passing = false, action, onAction, onDismiss }) {
  const toasts = byId('toasts', HTMLElement);
  if (key) toasts.querySelector(`[data-key="${CSS.escape(key)}"]`)?.remove();
  const close = () => box.remove();
  const press = (/** @type {(() => void)|undefined} */ then) => () => {
    close();
    then?.();
  };
  const box = el(
    'div',
    { class: 'toast', 'data-key': key, 'data-passing': passing },
    nodesOf(html`<p role="status">${text}</p>
      ${action ? html`<button class="button primary" type="button" @click=${press(onAction)}>${action}</button>` : nothing}
      <button class="button quiet square" type="button" aria-label="Dismiss" @click=${press(onDismiss)}>${icon('close')}</button>`),
  );
  toasts.append(box);
  if (box.getBoundingClientRect().bottom < 60) say(text);
  return close;
}

/** Closes the notices about the session that was open. */
export function closePassing() {
  for (const one of document.querySelectorAll('[data-passing]')) one.remove();
}

/** Shows or hides a sentence in an alert element. @param {HTMLElement} element @param {string} text empty hides it */
export function complain(element, text) {
  element.textContent = text;
  element.hidden = text === '';
}
