// @ts-check
/** Files that come in folders: what is in a drop, where it lay, and copies in folders or in a zip. */
import { say } from './announce.js';
import { save } from './dom.js';

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

/**
 * Where files are copied to, each into a folder. `put` overwrites nothing: a copy gets another name where its own is taken.
 *
 * @typedef {{name: string, put: (folder: string, file: File) => Promise<void>, end: () => Promise<void>}} Folders
 */

/** Whether this browser can write into a folder that a person chooses. */
export const canWriteFolders = () => 'showDirectoryPicker' in globalThis;

/** Lets the person choose a folder to copy into; null where they chose none. @returns {Promise<Folders|null>} */
export async function chosenFolder() {
  try {
    const root = await /** @type {any} */ (globalThis).showDirectoryPicker({ mode: 'readwrite' });
    return { name: root.name, put: (folder, file) => copyInto(root, folder, file), end: async () => {} };
  } catch (error) {
    if (/** @type {Error} */ (error).name === 'AbortError') return null;
    throw error;
  }
}

/** A zip file has 32 bits for its length; the headers of many files have room in the rest. */
const LARGEST_ZIP = 2 ** 32 - 2 ** 24;

/** A zip file to copy into, which `end` saves. @param {string} name of it @param {number} bytes of all files @returns {Promise<Folders>} */
export async function zippedFolders(name, bytes) {
  if (bytes > LARGEST_ZIP) throw new Error(`A zip file holds 4 GB and these files have ${(bytes / 2 ** 30).toFixed(1)} GB: choose fewer at a time.`);
  const zip = new (await import('./zip.js')).Zip();
  const free = unique();
  return {
    name,
    put: (folder, file) => zip.add(free(`${folder}/${writable(file.name)}`), file),
    end: () => save(zip.end(), name),
  };
}

/** @param {FileSystemDirectoryHandle} root @param {string} folder @param {File} file */
async function copyInto(root, folder, file) {
  const into = await root.getDirectoryHandle(folder, { create: true });
  const handle = await into.getFileHandle(await freeName(into, writable(file.name)), { create: true });
  const stream = await handle.createWritable();
  await stream.write(file);
  await stream.close();
}

/** @param {FileSystemDirectoryHandle} folder @param {string} name */
async function freeName(folder, name) {
  for (const one of numbered(name)) {
    try {
      await folder.getFileHandle(one);
    } catch (error) {
      const { name: why } = /** @type {Error} */ (error);
      if (why === 'NotFoundError') return one;
      if (why !== 'TypeMismatchError') throw error; // a folder of that name
    }
  }
  return name;
}

/** A name, then the same with 2, 3 and so on before its ending. @param {string} name */
function* numbered(name) {
  yield name;
  for (let n = 2; ; n++) yield name.replace(/(\.[^./]*)?$/, ` (${n})$1`);
}

/** Makes names differ, in more than upper and lower case. @returns {(name: string) => string} */
function unique() {
  const given = new Set();
  return (name) => {
    for (const one of numbered(name)) {
      const { size } = given;
      if (given.add(one.normalize().toLowerCase()).size > size) return one;
    }
    return name;
  };
}

/** The names of folders for these classes, each of its own. @param {string[]} classes names @returns {string[]} */
export const folderNames = (classes) => classes.map(writable).map(unique());

/** A name that every system takes for a file or a folder. @param {string} name */
export function writable(name) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no file name may have them
  const clean = name.replace(/[\\/:*?"<>|\u0000-\u001f]/g, '_').replace(/[. ]+$/, '').replace(/^\.+/, '_');
  return clean || '_';
}
