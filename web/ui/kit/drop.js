// @ts-check
/** Dropping files and folders on a part of the page, and pasting them. */
import { say, toast } from './announce.js';
import { counted } from './dom.js';
import { filesOf } from './folders.js';

/** @typedef {(file: File) => boolean} Wanted */

/** Whether files can be dropped and pasted: not on a touch screen. */
export const canDrop = () => !matchMedia('(pointer: coarse)').matches;

/**
 * Accepts files dropped on an element. It has the class `drop-target` while files hover.
 *
 * @param {HTMLElement} element
 * @param {(files: File[]) => void} onFiles
 * @param {{wanted: Wanted, other?: {type: string, take: (text: string) => void}}} options which files of folders; what else may be dropped
 */
export function dropZone(element, onFiles, { wanted, other }) {
  const takes = (/** @type {DragEvent} */ event) => carriesFiles(event) || Boolean(other && event.dataTransfer?.types.includes(other.type));
  let depth = 0; // enter and leave fire for every child crossed
  const mark = (/** @type {number} */ change) => {
    depth = Math.max(0, depth + change);
    element.classList.toggle('drop-target', depth > 0);
  };
  element.addEventListener('dragenter', (event) => {
    if (!takes(event)) return;
    event.preventDefault();
    mark(1);
  });
  element.addEventListener('dragleave', (event) => {
    if (takes(event)) mark(-1);
  });
  element.addEventListener('dragover', (event) => {
    if (!takes(event)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.dataTransfer) event.dataTransfer.dropEffect = carriesFiles(event) ? 'copy' : 'move';
  });
  element.addEventListener(
    'drop',
    () => {
      depth = 0;
      element.classList.remove('drop-target');
    },
    { capture: true },
  ); // also if a part of the element handles the drop
  element.addEventListener('drop', (event) => {
    if (!takes(event)) return;
    event.preventDefault();
    event.stopPropagation();
    if (carriesFiles(event)) void take(event, onFiles, wanted);
    else if (other) other.take(event.dataTransfer?.getData(other.type) ?? '');
  });
}

/** @param {DragEvent} event @param {(files: File[]) => void} onFiles @param {Wanted} wanted */
async function take({ dataTransfer }, onFiles, wanted) {
  const files = await read(dataTransfer, wanted);
  if (files.length) onFiles(files);
  else say('None of the dropped files can be used here.');
}

/** The wanted files of a drop or a clipboard. A notice names those that cannot be read. @param {DataTransfer|null} data @param {Wanted} wanted */
async function read(data, wanted) {
  /** @type {string[]} */
  const unread = [];
  const files = await filesOf(data, wanted, unread);
  const [first] = unread;
  const others = unread.length > 1 ? ` and ${counted(unread.length - 1, 'other')}` : '';
  if (first)
    toast({
      text: `“${first}”${others} could not be read and ${others ? 'were' : 'was'} left out: check that the browser may open it, then drop it again.`,
      key: 'unread',
    });
  return files;
}

/** @param {DragEvent} event */
function carriesFiles(event) {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

/** Whether the browser puts text into a field. Office adds a picture to the text that it copies. @param {Event} event @param {DataTransfer} data */
const intoField = ({ target }, data) => target instanceof HTMLInputElement && target.type === 'text' && data.types.includes('text/plain');

/**
 * Keeps a file that is dropped outside every target from replacing the page.
 *
 * @param {(files: File[]) => void} onFiles
 * @param {Wanted} wanted
 */
export function catchMisses(onFiles, wanted) {
  document.addEventListener('dragover', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = document.querySelector('dialog[open]') ? 'none' : 'copy';
  });
  document.addEventListener('drop', (event) => {
    if (event.defaultPrevented || !event.dataTransfer?.types.length || intoField(event, event.dataTransfer)) return;
    event.preventDefault();
    if (carriesFiles(event) && !document.querySelector('dialog[open]')) void take(event, onFiles, wanted);
  });
}

/**
 * Passes pasted files to the class that has the focus, else to recognition. Pasting text into a
 * field works as usual. While a dialog is open, files are not taken.
 *
 * @param {(files: File[], where: Element|null) => void} onFiles
 * @param {Wanted} wanted
 */
export function catchPaste(onFiles, wanted) {
  document.addEventListener('paste', (event) => {
    if (!event.clipboardData?.files.length || intoField(event, event.clipboardData)) return;
    event.preventDefault();
    if (document.querySelector('dialog[open]')) return;
    const where = document.activeElement;
    void read(event.clipboardData, wanted).then((files) => {
      if (files.length) onFiles(files, where);
    });
  });
}
