// @ts-check
/** Dropping files on a part of the page, and pasting them. */

/**
 * The files in a drop or a clipboard; none for text, links and the like.
 *
 * @param {DataTransfer|null} data
 * @returns {File[]}
 */
export function filesOf(data) {
  return data ? [...data.files] : [];
}

/**
 * Lets files be dropped on an element; `drop-target` is on it while they hover.
 *
 * @param {HTMLElement} element
 * @param {(files: File[]) => void} onFiles
 */
export function dropZone(element, onFiles) {
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
  element.addEventListener('drop', (event) => {
    depth = 0;
    element.classList.remove('drop-target');
    const files = filesOf(event.dataTransfer);
    if (!files.length) return;
    event.preventDefault();
    event.stopPropagation();
    onFiles(files);
  });
}

/** @param {DragEvent} event */
function carriesFiles(event) {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

/**
 * A file dropped beside every target must not replace the page by itself.
 *
 * @param {Document} page
 * @param {() => void} onMiss
 */
export function catchMisses(page, onMiss) {
  page.addEventListener('dragover', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = 'none';
  });
  page.addEventListener('drop', (event) => {
    if (event.defaultPrevented || !event.dataTransfer?.types.length) return;
    event.preventDefault();
    onMiss();
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
    const files = filesOf(event.clipboardData);
    if (!files.length) return;
    event.preventDefault();
    onFiles(files, page.activeElement);
  });
}
