// @ts-check
/** Taking home what was taught as a folder of files, in a zip file. Fetched when it is asked for. */
import { save } from '../kit/dom.js';
import { writable } from '../kit/folders.js';
import { withThumbnails } from '../kit/thumbnails.js';
import { zipSync } from '../kit/zip.js';

/**
 * Saves a zip file with a folder for each class that holds its pictures, as large as they are kept, or its sounds.
 *
 * @param {import('../../library/types.js').Engine} engine
 * @param {import('../kinds/index.js').Kind} kind
 * @param {string} [only] the id of a class; all of them if left out
 * @returns {Promise<{file: string, pictures: number}>}
 */
export async function savePictures(engine, kind, only) {
  const { state, classes } = await engine.changes(0);
  const some = (classes ?? []).filter(({ id, examples }) => examples.length && (!only || id === only));
  /** @type {Record<string, Uint8Array>} */
  const files = {};
  const folders = new Set();
  for (const { name, examples } of await withThumbnails(engine, some)) {
    let folder = writable(name);
    for (let n = 2; folders.has(folder.toLowerCase()); n++) folder = `${writable(name)} (${n})`;
    folders.add(folder.toLowerCase());
    for (const [i, { thumbnail }] of examples.entries()) {
      if (!thumbnail?.length) continue;
      const bytes = new Uint8Array(await kind.kept(thumbnail, '').arrayBuffer());
      files[`${folder}/${String(i + 1).padStart(4, '0')}.${endingOf(bytes)}`] = bytes;
    }
  }
  const pictures = Object.keys(files).length;
  if (!pictures) throw new Error(`There are no ${kind.one}s to save: teach some first.`);
  const file = `${writable(only ? some[0].name : state.sessionName)}.zip`;
  await save(zipSync(files, { level: 0 }), file); // pictures are packed in themselves
  return { file, pictures };
}

/** Of a PNG, JPEG, WebP or WAV file; the last two begin with RIFF. @param {Uint8Array} file */
const endingOf = (file) => ({ 0x89: 'png', 0x52: file[9] === 0x41 ? 'wav' : 'webp' }[file[0]] ?? 'jpg');
