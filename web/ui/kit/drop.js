// @ts-check
/** Dropping files and folders on a part of the page, and pasting them. */
import { say } from './announce.js';
import { filesOf } from './folders.js';

/**
 * Lets files be dropped on an element; `drop-target` is on it while they hover.
 *
 * @param {HTMLElement} element
 * @param {(files: File[]) => void} onFiles
 * @param {(file: File) => boolean} [wanted] which files of folders, pictures if left out
 */
export function dropZone(element, onFiles, wanted) {
  let depth = 0; // enter and leave fire for every child crossed
  const mark = (/** @type {number} */ change) => {
    depth = Math.max(0, depth + change);
    element.classList.toggle('drop-target', depth > 0);
  };
  element.addEventListener('dragenter', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    mark(1);
  });
  element.addEventListener('dragleave', (event) => { if (carriesFiles(event)) mark(-1); });
  element.addEventListener('dragover', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
  });
  element.addEventListener('drop', () => {
    depth = 0;
    element.classList.remove('drop-target');
  }, { capture: true }); // also where a part of the element takes the drop
  element.addEventListener('drop', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    void take(event, onFiles, wanted);
  });
}

/** @param {DragEvent} event @param {(files: File[]) => void} onFiles @param {(file: File) => boolean} [wanted] */
async function take({ dataTransfer }, onFiles, wanted) {
  const files = await filesOf(dataTransfer, wanted);
  if (files.length) onFiles(files);
  else say(`There are no ${wanted ? 'files' : 'pictures'} in what was dropped.`);
}

/** @param {DragEvent} event */
function carriesFiles(event) {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

/**
 * What is dropped beside every target must not replace the page by itself.
 *
 * @param {Document} page
 * @param {(files: File[]) => void} onFiles
 */
export function catchMisses(page, onFiles) {
  page.addEventListener('dragover', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = page.querySelector('dialog[open]') ? 'none' : 'copy';
  });
  page.addEventListener('drop', (event) => {
    if (event.defaultPrevented || !event.dataTransfer?.types.length) return;
    event.preventDefault();
    if (carriesFiles(event) && !page.querySelector('dialog[open]')) void take(event, onFiles);
  });
}

/**
 * Hands pasted files to whoever is asked for: the class that has the focus, or
 * else recognition. Text pasted into a field is left alone.
 *
 * @param {Document} page
 * @param {(files: File[], where: Element|null) => void} onFiles
 */
export function catchPaste(page, onFiles) {
  page.addEventListener('paste', (event) => {
    if (!event.clipboardData?.files.length) return;
    event.preventDefault();
    const where = page.activeElement;
    void filesOf(event.clipboardData).then((files) => { if (files.length) onFiles(files, where); });
  });
}
