// @ts-check
/** The examples as a zip file with a folder for each class. */
import { folderNames, writable, zippedFolders } from '../kit/folders.js';
import { withThumbnails } from '../kit/thumbnails.js';

/**
 * Saves a zip file with a folder of pictures or sounds for each class. Pictures have the size in which they are kept.
 *
 * @param {import('../../library/types.js').Engine} engine
 * @param {import('../kinds/index.js').Kind} kind
 * @param {string} [only] the id of a class; all of them if left out
 * @returns {Promise<{file: string, pictures: number}>}
 */
export async function savePictures(engine, kind, only) {
  const { state, classes } = await engine.changes(0);
  const some = (classes ?? []).filter(({ id, examples }) => examples.length && (!only || id === only));
  if (!some.length) throw new Error(`There are no ${kind.one}s to save: teach some first.`);
  const file = `${writable(only ? some[0].name : state.sessionName)}.zip`;
  const zip = await zippedFolders(file, 0);
  const folders = folderNames(some.map(({ name }) => name));
  let pictures = 0;
  for (const [k, { examples }] of (await withThumbnails(engine, some)).entries()) {
    for (const [i, { thumbnail }] of examples.entries()) {
      if (!thumbnail?.length) continue;
      const bytes = new Uint8Array(await kind.fileOf(thumbnail, '').arrayBuffer());
      await zip.put(folders[k], new File([bytes], `${String(i + 1).padStart(4, '0')}.${endingOf(bytes)}`));
      pictures++;
    }
  }
  if (!pictures) throw new Error(`There are no ${kind.one}s to save: teach some first.`);
  await zip.end();
  return { file, pictures };
}

/** The extension of a PNG, JPEG, WebP or WAV file. The last two begin with RIFF. @param {Uint8Array} file */
const endingOf = (file) => ({ 0x89: 'png', 0x52: file[9] === 0x41 ? 'wav' : 'webp' })[file[0]] ?? 'jpg';
