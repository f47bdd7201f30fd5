// @ts-check
/**
 * Small helpers to build and find elements. Text always goes in as text, never as markup. A shared file's worker
 * evaluates this module too, where there is no document: so it does not import view.js.
 */
import { nextTask } from '../../base/task.js';

/**
 * Makes an element. Keys that start with `on` add listeners, `class` sets the class
 * list, true and false set and leave out an attribute, all others are attributes.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string|number|boolean|EventListener>} [attributes]
 * @param {...(Node|string|null)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false) element.setAttribute(key, String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/**
 * The element with this id. Throws if the page has none.
 *
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`page: index.html lacks #${id}`);
  return element;
}

/**
 * One of the icons drawn in index.html, hidden from assistive technology: the
 * control around it carries the name.
 *
 * @param {string} name
 */
export function icon(name) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(space, 'use');
  use.setAttribute('href', `#icon-${name}`);
  svg.append(use);
  return svg;
}

let example = 'picture';

/** The word for one example of the open session; the plural has an s. */
export const noun = () => example;

/** @param {string} word */
export const capital = (word) => word[0].toUpperCase() + word.slice(1);

/** The active and the passive verb of live recognition: sees and seen, or hears and heard. */
let senses = ['sees', 'seen'];

export const sees = () => senses[0];
export const seen = () => senses[1];

/** Sets the word for an example, and the words of its sense. @param {string} name @param {string[]} words */
export const setWords = (name, words) => {
  [example, senses] = [name, words];
};

/** "1 picture", "2 pictures". @param {number} count @param {string} word @param {string} [many] */
export function counted(count, word, many = `${word}s`) {
  return `${count} ${count === 1 ? word : many}`;
}

/** Ends a name of right-to-left letters with a mark. Without it, a number after the name would stand on the other side. @param {string} name */
export const marked = (name) => (/\p{Script=Hebrew}|\p{Script=Arabic}/u.test(name) ? `${name}\u200e` : name);

/** The text that is being typed into a field, else its value: the field may be drawn again meanwhile. @param {string} id of the field @param {string|number} value */
export function typedOr(id, value) {
  const at = document.activeElement;
  return at instanceof HTMLInputElement && at.id === id ? at.value : String(value);
}

/** Whether a key is held with another that makes it the browser's own, such as Alt and left for back. @param {KeyboardEvent} event */
export const isShortcut = ({ altKey, ctrlKey, metaKey }) => altKey || ctrlKey || metaKey;

/** A name as the engine escapes it, with its quotation marks, and with what joins letters and emoji. @param {string} name */
const plain = (name) => name.replace(/\\(?:(["\\])|[uU](200[cd]|000e00..))/g, (_, mark, code) => mark ?? String.fromCodePoint(parseInt(code, 16)));

/** The sentence to show for an error, with a full stop, and curly quotes in place of straight ones. @param {unknown} error */
export function sentence(error) {
  if (error instanceof Error && error.message)
    return capital(error.message)
      .replace(/(?<=^|[ (])"((?:[^"\\]|\\.)*)"/g, (_, name) => `“${plain(name)}”`)
      .replace(/(?<![.!?…])$/, '.');
  return String(error) || 'Something went wrong. Reload the page and try again.';
}

/**
 * The title row of a dialog with its close button. A press outside the dialog
 * closes it too.
 *
 * @param {HTMLDialogElement} dialog
 * @param {string} id of the title
 * @param {string} title
 */
export function dialogHead(dialog, id, title) {
  // A press that begins and ends outside the box of the dialog closes it. The gaps inside belong to
  // the dialog, too.
  const outside = (/** @type {MouseEvent} */ { target, clientX: x, clientY: y }) => {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    return target === dialog && (x < left || x > right || y < top || y > bottom);
  };
  let began = false;
  dialog.onpointerdown = (event) => {
    began = outside(event);
  };
  dialog.onclick = (event) => {
    if (began && outside(event) && event.detail < 2) dialog.close(); // the second click of a double click was meant for the button that opened it
  }; // these replace the listeners when a dialog is filled again
  return el(
    'div',
    { class: 'dialog-head' },
    el('h2', { id }, title),
    el('button', { class: 'button quiet square', type: 'button', 'aria-label': 'Close', onclick: () => dialog.close() }, icon('close')),
  );
}

/** Bytes per piece: the browser copies each piece. */
const PIECE = 4 << 20;

/** Passes bytes to the browser piece by piece. @param {Uint8Array} content */
export async function blobOf(content) {
  /** @type {Blob[]} */
  const pieces = [];
  for (let at = 0; at < content.length; at += PIECE) {
    if (at) await nextTask();
    pieces.push(new Blob([/** @type {BlobPart} */ (content.subarray(at, at + PIECE))]));
  }
  return new Blob(pieces, { type: 'application/octet-stream' });
}

/**
 * Offers a file as a download. Pass a Blob right after a press: browsers block a download that comes
 * seconds later.
 *
 * @param {Uint8Array|Blob} content @param {string} name
 */
export async function save(content, name) {
  const blob = content instanceof Blob ? content : await blobOf(content);
  const url = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }));
  const link = el('a', { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  // A started download no longer needs the URL.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
