// @ts-check
/** Files that come in folders: what is in a drop, where it lay, and copies sorted into folders. */
import { say } from './announce.js';

/** By name, as people count. */
const { compare } = new Intl.Collator(undefined, { numeric: true });

/** Where files lay below what was dropped or chosen. @type {WeakMap<File, string>} */
const paths = new WeakMap();

/** The path of a file below the folder that it came with, its name where it came alone. @param {File} file */
export function pathOf(file) {
  return paths.get(file) ?? (file.webkitRelativePath || file.name);
}

/**
 * The files in a drop or a clipboard, those of folders at any depth included; none for
 * text, links and the like. Of folders only what is wanted is taken, and nothing hidden.
 *
 * Must be called while the event is handled: later the browser has nothing left of it.
 *
 * @param {DataTransfer|null} data
 * @param {(file: File) => boolean} wanted
 * @returns {Promise<File[]>}
 */
export function filesOf(data, wanted) {
  const entries = [...data?.items ?? []].filter(({ kind }) => kind === 'file')
    .map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  return Promise.all(entries.map((entry) => {
    if (!entry || entry instanceof File) return entry ? [entry] : [];
    return walk(entry, '', wanted);
  })).then((found) => found.flat());
}

/**
 * @param {FileSystemEntry} entry
 * @param {string} folder with a slash at its end, empty at the top
 * @param {(file: File) => boolean} wanted
 * @returns {Promise<File[]>} in the order of their names
 */
async function walk(entry, folder, wanted) {
  if (folder && hidden(entry.name)) return [];
  const path = folder + entry.name;
  if (entry.isFile) {
    const file = await fileOf(/** @type {FileSystemFileEntry} */ (entry));
    if (!file || folder && !wanted(file)) return [];
    paths.set(file, path);
    return [file];
  }
  const children = await childrenOf(/** @type {FileSystemDirectoryEntry} */ (entry));
  children.sort((a, b) => compare(a.name, b.name));
  const found = [];
  for (const child of children) found.push(...await walk(child, `${path}/`, wanted));
  return found;
}

/** @param {string} name */
const hidden = (name) => name.startsWith('.') || /^(thumbs\.db|desktop\.ini)$/i.test(name);

/** @param {FileSystemFileEntry} entry @returns {Promise<File|null>} null where it cannot be read */
function fileOf(entry) {
  return new Promise((resolve) => { entry.file(resolve, () => resolve(null)); });
}

/** @param {FileSystemDirectoryEntry} entry @returns {Promise<FileSystemEntry[]>} */
async function childrenOf(entry) {
  const reader = entry.createReader();
  const all = [];
  for (;;) {
    // A reader answers a hundred at a time, and none at the end.
    const some = await new Promise((/** @type {(some: FileSystemEntry[]) => void} */ resolve) => {
      reader.readEntries(resolve, () => resolve([]));
    });
    if (!some.length) return all;
    all.push(...some);
  }
}

/**
 * Takes what is chosen in a field for files, which is empty again at once, so that the same can be chosen again.
 *
 * @param {HTMLInputElement} field @param {(files: File[]) => void} take
 */
export function onChosen(field, take) {
  field.addEventListener('change', () => {
    const files = [...field.files ?? []];
    field.value = '';
    take(files);
  });
}

/**
 * The same of a field for a folder, of which what is wanted is taken.
 *
 * @param {HTMLInputElement} field @param {() => {one: string, claims: (file: File) => boolean}} kind that is wanted now @param {(files: File[]) => void} take at least one
 */
export function onFolder(field, kind, take) {
  onChosen(field, (all) => {
    const { one, claims } = kind();
    const files = filesIn(all, claims);
    if (files.length) take(files);
    else say(`There are no ${one}s in that folder.`);
  });
}

/** The files of a folder that was chosen, without what is hidden. @param {Iterable<File>} files @param {(file: File) => boolean} wanted */
export function filesIn(files, wanted) {
  return [...files].filter((file) => wanted(file) && !pathOf(file).split('/').some(hidden))
    .sort((a, b) => compare(pathOf(a), pathOf(b)));
}

/**
 * What classes folders stand for: each folder that holds pictures is one, by its name.
 * Pictures beside folders of pictures belong to none, nor do those that came alone.
 *
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => string} path of an item
 * @returns {{classes: Map<string, T[]>, rest: T[]}}
 */
export function classesOf(items, path) {
  const folder = (/** @type {T} */ item) => path(item).split('/').slice(0, -1);
  // Folders that are above another one with pictures.
  const above = new Set(items.flatMap((item) => folder(item).map((_, i, parts) => parts.slice(0, i).join('/'))));
  /** @type {Map<string, T[]>} */
  const classes = new Map();
  const rest = [];
  for (const item of items) {
    const parts = folder(item);
    const name = parts.at(-1) ?? '';
    if (!name || above.has(parts.join('/'))) rest.push(item);
    else classes.set(name, [...classes.get(name) ?? [], item]);
  }
  return { classes, rest };
}

/** Whether this browser can write into a folder that a person chooses. */
export function canWriteFolders() {
  return 'showDirectoryPicker' in globalThis;
}

/** Lets the person choose a folder to write to; null where they chose none. @returns {Promise<FileSystemDirectoryHandle|null>} */
export async function chooseFolder() {
  try {
    return await /** @type {any} */ (globalThis).showDirectoryPicker({ mode: 'readwrite' });
  } catch (error) {
    if (/** @type {Error} */ (error).name === 'AbortError') return null;
    throw error;
  }
}

/**
 * Copies a file into a folder of a folder. Nothing that is there is overwritten: the
 * copy gets another name.
 *
 * @param {FileSystemDirectoryHandle} root
 * @param {string} folder
 * @param {File} file
 */
export async function copyInto(root, folder, file) {
  const into = await root.getDirectoryHandle(writable(folder), { create: true });
  const handle = await into.getFileHandle(await freeName(into, writable(file.name)), { create: true });
  const stream = await handle.createWritable();
  await stream.write(file);
  await stream.close();
}

/** @param {FileSystemDirectoryHandle} folder @param {string} name */
async function freeName(folder, name) {
  for (let n = 1; ; n++) {
    const one = n === 1 ? name : name.replace(/(\.[^.]*)?$/, ` (${n})$1`);
    try {
      await folder.getFileHandle(one);
    } catch (error) {
      const { name: why } = /** @type {Error} */ (error);
      if (why === 'NotFoundError') return one;
      if (why !== 'TypeMismatchError') throw error; // a folder of that name
    }
  }
}

/** A name that every system takes for a file or a folder. @param {string} name */
export function writable(name) {
  const clean = name.replace(/[\\/:*?"<>|\u0000-\u001f]/g, '_').replace(/[. ]+$/, '').replace(/^\.+/, '_');
  return clean || '_';
}
