// @ts-check
/**
 * Renders the sample pictures: emoji in several art styles, PNG on white.
 *   node build/samples.mjs         the ones the page ships -> build/site/samples/STYLE/CONCEPT.png
 *   node build/samples.mjs --all   every concept           -> build/samples-all/CONCEPT/STYLE.png,
 *                                  a class a folder, as scripts/embed reads it
 * Both hold samples.json {styles, concepts}.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { allConcepts, shippedConcepts, styles } from '../samples/concepts.mjs';

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Edge of a picture and white margin on each side, in pixels. */
const edge = 192;
const margin = 12;

/**
 * @param {string} out folder to fill
 * @param {import('../samples/concepts.mjs').Concept[]} concepts
 * @param {(style: string, concept: string) => string} place path of a picture in the folder
 * @returns {Promise<number>} bytes of all pictures
 */
export async function buildSamples(out, concepts, place) {
  await rm(out, { recursive: true, force: true });
  let bytes = 0;
  for (const style of styles) {
    const set = JSON.parse(await readFile(path.join(web, `node_modules/@iconify-json/${style.id}/icons.json`), 'utf8'));
    for (const concept of concepts) {
      const png = await render(svgOf(set, concept.id));
      const file = path.join(out, place(style.id, concept.id));
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, png);
      bytes += png.length;
    }
  }
  await writeFile(path.join(out, 'samples.json'), JSON.stringify({ styles, concepts }) + '\n');
  return bytes;
}

/**
 * @param {any} set an icon set @param {string} name
 * @returns {string} a square SVG document with the icon in its middle
 */
function svgOf(set, name) {
  const icon = set.icons[name] ?? set.icons[set.aliases?.[name]?.parent];
  if (!icon) throw new Error(`The icon set '${set.prefix}' has no '${name}'; choose another concept.`);
  const { left = 0, top = 0, width = set.width ?? 16, height = set.height ?? 16 } = { ...set.info, ...icon };
  const side = Math.max(width, height);
  const pad = (side * margin) / (edge - 2 * margin);
  const box = [left - (side - width) / 2 - pad, top - (side - height) / 2 - pad, side + 2 * pad, side + 2 * pad];
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${edge}" height="${edge}" viewBox="${box.join(' ')}">${icon.body}</svg>`;
}

/** @param {string} svg @returns {Promise<Buffer>} */
function render(svg) {
  return sharp(Buffer.from(svg)).flatten({ background: 'white' }).toColourspace('srgb').png({ compressionLevel: 9, adaptiveFiltering: true }).toBuffer();
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const all = process.argv.includes('--all');
  const folder = path.join(web, all ? '../build/samples-all' : '../build/site/samples');
  const concepts = all ? allConcepts : shippedConcepts;
  const bytes = await buildSamples(folder, concepts, (style, concept) => (all ? `${concept}/${style}.png` : `${style}/${concept}.png`));
  console.log(`${concepts.length} concepts in ${styles.length} styles: ${bytes} bytes in ${path.relative(process.cwd(), folder)}`);
}
