// @ts-check
/** The pictures of a folder, their classes, and the splits of the classes. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Complaint } from './complaint.mjs';

/** @typedef {{file: string, label: number, group: number}} Picture pictures of one group show one thing */
/**
 * @typedef {{pictures: {file: string}[], facts: {classes?: string[], splits?: Splits, files?: string[]},
 *   arrays: Record<string, {shape: number[], data: Int32Array}>}} Listed what goes beside the embeddings of the pictures
 */
/** @typedef {{train: string[], val: string[], test: string[]}} Splits */

/**
 * A picture in a class folder is its own group. The pictures of a subfolder are one group.
 * @param {string} folder one subfolder per class
 * @returns {Promise<{classes: string[], pictures: Picture[], grouped: boolean}>} both in the order
 *   of their names; grouped where some class has a subfolder
 */
export async function listPictures(folder) {
  const classes = (await entries(folder)).filter((entry) => entry.isDirectory()).map(({ name }) => name).sort();
  if (classes.length === 0) throw new Complaint(`'${folder}' has no subfolders; put the pictures of each class into one of its own, or say --unlabelled for pictures to be sorted.`);
  /** @type {Picture[]} */
  const pictures = [];
  let [group, grouped] = [0, false];
  for (const [label, name] of classes.entries()) {
    const inside = path.join(folder, name);
    for (const files of await listGroups(inside)) {
      grouped ||= path.dirname(files[0]) !== inside;
      pictures.push(...files.map((file) => ({ file, label, group })));
      group++;
    }
  }
  return { classes, pictures, grouped };
}

/**
 * The pictures directly in a folder, without known classes.
 * @param {string} folder
 * @returns {Promise<Listed>} in the order of their names
 */
export async function listUnlabelled(folder) {
  const inside = await entries(folder);
  const deeper = inside.find((entry) => entry.isDirectory());
  if (deeper) throw new Complaint(`'${path.join(folder, deeper.name)}' is a folder; put unlabelled pictures into '${folder}' itself.`);
  if (inside.length === 0) throw new Complaint(`The folder '${folder}' has no pictures; add some.`);
  const files = inside.map(({ name }) => name).sort();
  return { pictures: files.map((name) => ({ file: path.join(folder, name) })), facts: { files }, arrays: {} };
}

/** @param {string} folder of one class @returns {Promise<string[][]>} the files of each group */
async function listGroups(folder) {
  const inside = (await entries(folder)).sort((a, b) => (a.name < b.name ? -1 : 1));
  if (inside.length === 0) throw new Complaint(`The class folder '${folder}' has no pictures; add some or remove it.`);
  return Promise.all(inside.map((entry) => {
    const place = path.join(folder, entry.name);
    return entry.isDirectory() ? listBurst(place) : [place];
  }));
}

/** @param {string} folder of one burst */
async function listBurst(folder) {
  const inside = await entries(folder);
  const deeper = inside.find((entry) => entry.isDirectory());
  if (deeper) throw new Complaint(`The folder '${path.join(folder, deeper.name)}' lies too deep; put its pictures into '${folder}'.`);
  if (inside.length === 0) throw new Complaint(`The folder '${folder}' has no pictures; add some or remove it.`);
  return inside.map(({ name }) => path.join(folder, name)).sort();
}

/** @param {string} folder */
async function entries(folder) {
  try {
    return (await readdir(folder, { withFileTypes: true })).filter(({ name }) => !name.startsWith('.'));
  } catch {
    throw new Complaint(`The folder '${folder}' cannot be read; check its name.`);
  }
}

/**
 * @param {string | undefined} file
 * @param {string} split that all classes are in without a file
 * @param {string[]} classes
 * @returns {Promise<Splits>}
 */
export async function readSplits(file, split, classes) {
  if (!['train', 'val', 'test'].includes(split)) throw new Complaint(`There is no split '${split}'; choose train, val or test.`);
  if (file === undefined) return { train: [], val: [], test: [], [split]: classes };
  /** @type {any} */
  let given;
  try {
    given = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new Complaint(`The splits in '${file}' cannot be read (${/** @type {Error} */ (error).message}); see --help for their form.`);
  }
  const { train = [], val = [], test = [] } = given ?? {};
  if (![train, val, test].every(Array.isArray)) {
    throw new Complaint(`The splits in '${file}' are not three lists train, val and test; see --help for their form.`);
  }
  checkCover(file, [...train, ...val, ...test], classes);
  return { train, val, test };
}

/** @param {string} file @param {unknown[]} named @param {string[]} classes */
function checkCover(file, named, classes) {
  const seen = new Set();
  for (const name of named) {
    if (!classes.includes(/** @type {string} */ (name))) throw new Complaint(`'${file}' names the class '${name}', which has no folder; remove it.`);
    if (seen.has(name)) throw new Complaint(`'${file}' names the class '${name}' twice; keep it in one split.`);
    seen.add(name);
  }
  const missing = classes.find((name) => !seen.has(name));
  if (missing !== undefined) throw new Complaint(`'${file}' leaves out the class '${missing}'; put it into one split.`);
}
