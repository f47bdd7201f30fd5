// @ts-check
/** Taking home what was taught as a folder of pictures, in a zip file. Fetched when it is asked for. */
import { save } from '../kit/dom.js';
import { writable } from '../kit/folders.js';
import { withThumbnails } from '../kit/thumbnails.js';
import { zipSync } from '../kit/zip.js';

/**
 * Saves a zip file with a folder for each class that holds its pictures, as large as they are kept.
 *
 * @param {import('../../library/types.js').Engine} engine
 * @param {string} [only] the id of a class; all of them if left out
 * @returns {Promise<{file: string, pictures: number}>}
 */
export async function savePictures(engine, only) {
  const { state, classes } = await engine.changes(0);
  const some = (classes ?? []).filter(({ id, examples }) => examples.length && (!only || id === only));
  /** @type {Record<string, Uint8Array>} */
  const files = {};
  const folders = new Set();
  for (const { name, examples } of await withThumbnails(engine, some)) {
    let folder = writable(name);
    for (let n = 2; folders.has(folder.toLowerCase()); n++) folder = `${writable(name)} (${n})`;
    folders.add(folder.toLowerCase());
    examples.forEach(({ thumbnail }, i) => {
      if (thumbnail?.length) files[`${folder}/${String(i + 1).padStart(4, '0')}.${endingOf(thumbnail)}`] = thumbnail;
    });
  }
  const pictures = Object.keys(files).length;
  if (!pictures) throw new Error('There are no pictures to save: teach some first.');
  const file = `${writable(only ? some[0].name : state.sessionName)}.zip`;
  await save(zipSync(files, { level: 0 }), file); // pictures are packed in themselves
  return { file, pictures };
}

/** @param {Uint8Array} picture encoded */
const endingOf = ([first]) => ({ 0x89: 'png', 0x52: 'webp' }[first] ?? 'jpg');
