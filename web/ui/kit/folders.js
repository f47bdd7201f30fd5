// @ts-check
/** Reads files and their paths from a drop or a chosen folder, and copies files into folders or a zip. */
import { say } from './announce.js';
import { save } from './dom.js';
import { Zip } from './zip.js';

/** Compares names, with numbers by value. */
const { compare } = new Intl.Collator(undefined, { numeric: true });

/** Paths of dropped files. A file of a chosen folder has its webkitRelativePath instead. @type {WeakMap<File, string>} */
const paths = new WeakMap();

/** The path of a file, from its dropped or chosen folder on; for a single file its name. @param {File} file */
export function pathOf(file) {
  return paths.get(file) ?? (file.webkitRelativePath || file.name);
}

/**
 * The files of a drop or a clipboard, and the files in its folders at any depth. Files in folders count only if
 * they are wanted and not hidden. Text and links give no files.
 *
 * Call it while the event is handled: afterwards the browser clears the data.
 *
 * @param {DataTransfer|null} data
 * @param {(file: File) => boolean} wanted
 * @param {string[]} [unread] gets the paths of what cannot be read
 * @returns {Promise<File[]>}
 */
export function filesOf(data, wanted, unread = []) {
  const entries = [...(data?.items ?? [])].filter(({ kind }) => kind === 'file').map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  return Promise.all(
    entries.map((entry) => {
      if (!entry || entry instanceof File) return entry ? [entry] : [];
      return walk(entry, '', wanted, unread);
    }),
  ).then((found) => found.flat());
}

/**
 * @param {FileSystemEntry} entry
 * @param {string} folder with a slash at its end, empty at the top
 * @param {(file: File) => boolean} wanted
 * @param {string[]} unread
 * @returns {Promise<File[]>} in the order of their names
 */
async function walk(entry, folder, wanted, unread) {
  if (folder && hidden(entry.name)) return [];
  const path = folder + entry.name;
  if (entry.isFile) {
    const file = await fileOf(/** @type {FileSystemFileEntry} */ (entry));
    if (folder && !wanted(file ?? new File([], entry.name))) return [];
    if (!file) {
      unread.push(path);
      return [];
    }
    paths.set(file, path);
    return [file];
  }
  const children = await childrenOf(/** @type {FileSystemDirectoryEntry} */ (entry), () => unread.push(path));
  children.sort((a, b) => compare(a.name, b.name));
  const found = [];
  for (const child of children) found.push(...(await walk(child, `${path}/`, wanted, unread)));
  return found;
}

/** @param {string} name */
const hidden = (name) => name.startsWith('.') || /^(thumbs\.db|desktop\.ini)$/i.test(name);

/** @param {FileSystemFileEntry} entry @returns {Promise<File|null>} null where it cannot be read */
function fileOf(entry) {
  return new Promise((resolve) => {
    entry.file(resolve, () => resolve(null));
  });
}

/** @param {FileSystemDirectoryEntry} entry @param {() => void} onUnread called if it cannot be read @returns {Promise<FileSystemEntry[]>} */
async function childrenOf(entry, onUnread) {
  const reader = entry.createReader();
  const all = [];
  for (;;) {
    // A reader returns up to a hundred entries at a time, and none at the end.
    const some = await new Promise((/** @type {(some: FileSystemEntry[]) => void} */ resolve) => {
      reader.readEntries(resolve, () => {
        onUnread();
        resolve([]);
      });
    });
    if (!some.length) return all;
    all.push(...some);
  }
}

/** The files chosen in a field. Empties the field, so that the same files can be chosen again. @param {HTMLInputElement} field */
export function chosenIn(field) {
  const files = [...(field.files ?? [])];
  field.value = '';
  return files;
}

/** Takes the files chosen in a field. @param {HTMLInputElement} field @param {(files: File[]) => void} take */
export const onChosen = (field, take) => field.addEventListener('change', () => take(chosenIn(field)));

/**
 * The same for a field that chooses a folder. It takes the wanted files.
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

/** The wanted files of a chosen folder, without hidden ones, in the order of their paths. @param {Iterable<File>} files @param {(file: File) => boolean} wanted */
export function filesIn(files, wanted) {
  return [...files].filter((file) => wanted(file) && !pathOf(file).split('/').some(hidden)).sort((a, b) => byPath(pathOf(a), pathOf(b)));
}

/** Compares paths folder by folder, as a drop is read: a tab comes before all else, so “Cup” comes before “Cup 2”. @param {string} a @param {string} b */
export const byPath = (a, b) => compare(a.replaceAll('/', '\t'), b.replaceAll('/', '\t'));

/**
 * Makes a class of each folder that has items, with the folder's name. Folders of the same name become one class.
 * Items without a folder, and items in a folder above another one, belong to no class.
 *
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => string} path of an item
 * @returns {{classes: Map<string, T[]>, rest: T[]}}
 */
export function classesOf(items, path) {
  const folder = (/** @type {T} */ item) => path(item).split('/').slice(0, -1);
  // Folders above another folder with pictures.
  const above = new Set(items.flatMap((item) => folder(item).map((_, i, parts) => parts.slice(0, i).join('/'))));
  /** @type {Map<string, T[]>} */
  const classes = new Map();
  const rest = [];
  for (const item of items) {
    const parts = folder(item);
    const name = parts.at(-1) ?? '';
    if (!name || above.has(parts.join('/'))) rest.push(item);
    else classes.set(name, [...(classes.get(name) ?? []), item]);
  }
  return { classes, rest };
}

/**
 * The target of copies. `put` overwrites nothing: if another file has the name, the copy gets another name. It resolves
 * with whether it copied: a folder may have the same file already.
 *
 * @typedef {{name: string, put: (folder: string, file: File) => Promise<boolean>, end: () => Promise<void>}} Folders
 */

/** Whether this browser can write into a chosen folder. */
export const canWriteFolders = () => 'showDirectoryPicker' in globalThis;

/** Asks for a folder to copy into; null if the person chose none. @returns {Promise<Folders|null>} */
export async function chosenFolder() {
  try {
    const root = await /** @type {any} */ (globalThis).showDirectoryPicker({ mode: 'readwrite' });
    return { name: root.name, put: (folder, file) => copyInto(root, folder, file), end: async () => {} };
  } catch (error) {
    if (/** @type {Error} */ (error).name === 'AbortError') return null;
    throw error;
  }
}

/** Most bytes of files in a zip: its length has 32 bits, and the headers need some. */
const LARGEST_ZIP = 2 ** 32 - 2 ** 24;

/** A zip file to copy into; `end` saves it. @param {string} name of it @param {number} bytes of all files @returns {Promise<Folders>} */
export async function zippedFolders(name, bytes) {
  if (bytes > LARGEST_ZIP) throw new Error(`A zip file holds less than 4 GB and these files have ${(bytes / 2 ** 30).toFixed(1)} GB: choose fewer at a time.`);
  const zip = new Zip();
  const free = unique();
  return {
    name,
    put: (folder, file) => zip.add(free(`${folder}/${writable(file.name)}`), file).then(() => true),
    end: () => save(zip.end(), name),
  };
}

/** Copies a file that is not there yet, and resolves with whether it did. @param {FileSystemDirectoryHandle} root @param {string} folder @param {File} file */
async function copyInto(root, folder, file) {
  const into = await root.getDirectoryHandle(folder, { create: true });
  const name = await freeName(into, file);
  if (!name) return false;
  const handle = await into.getFileHandle(name, { create: true });
  try {
    const stream = await handle.createWritable();
    try {
      await stream.write(file);
      await stream.close();
    } catch (error) {
      await stream.abort().catch(() => {}); // it may have ended by itself
      throw error;
    }
  } catch (error) {
    await into.removeEntry(name).catch(() => {}); // it is empty
    const { message } = /** @type {Error} */ (error);
    throw new Error(`“${file.name}” could not be copied into “${folder}”: check that the folder has room and that the file is still there. (${message})`);
  }
  return true;
}

/** A name that nothing in the folder has; empty if the file is there already. @param {FileSystemDirectoryHandle} folder @param {File} file */
async function freeName(folder, file) {
  for (const one of numbered(writable(file.name))) {
    try {
      const there = await folder.getFileHandle(one);
      if (await alike(await there.getFile(), file)) return '';
    } catch (error) {
      const { name: why } = /** @type {Error} */ (error);
      if (why === 'NotFoundError') return one;
      if (why !== 'TypeMismatchError') throw error; // otherwise a folder has that name
    }
  }
  return '';
}

/** Whether two files have the same bytes. @param {File} a @param {File} b */
async function alike(a, b) {
  if (a.size !== b.size) return false;
  const [of, to] = (await Promise.all([a.arrayBuffer(), b.arrayBuffer()])).map((bytes) => new Uint8Array(bytes));
  return of.every((byte, i) => byte === to[i]);
}

/** Yields a name, then the name with 2, 3 and so on before its extension. @param {string} name */
function* numbered(name) {
  yield name;
  for (let n = 2; ; n++) yield name.replace(/(\.[^./]*)?$/, ` (${n})$1`);
}

/** Returns a function that makes each name unique, ignoring case. @returns {(name: string) => string} */
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

/** A unique folder name for each class. @param {string[]} classes names @returns {string[]} */
export const folderNames = (classes) => classes.map(writable).map(unique());

/** A name that is valid for files and folders on every system. @param {string} name */
export function writable(name) {
  const clean = name
    // biome-ignore lint/suspicious/noControlCharactersInRegex: no file name may have them
    .replace(/[\\/:*?"<>|\u0000-\u001f]/g, '_')
    .replace(/[. ]+$/, '')
    .replace(/^\.+/, '_')
    .replace(/^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i, '$1_'); // devices of Windows
  return clean || '_';
}
