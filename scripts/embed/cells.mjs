// @ts-check
/**
 * Cells of pictures, and of the same pictures with a spot pasted onto them, for scripts/anomaly:
 *
 *     node scripts/embed/cells.mjs UNPACKED OUT SET[:CLASSES]...
 *
 * UNPACKED/SET/CLASS/PICTURE. It writes OUT/SET.json, OUT/SET.cells and OUT/SET.spots: float32,
 * picture by picture, of the first CLASSES classes. A spot is a piece of a picture of SPOTS, a fifth
 * of each side, at a random place. It is grey if the set is grey.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { decodePicture } from './decode.mjs';
import { loadExtractor } from './extractor.mjs';

const sharp = createRequire(new URL('../../web/package.json', import.meta.url))('sharp');
const [folder, out, ...sets] = process.argv.slice(2);
if (!sets.length) {
  console.error('Usage: node scripts/embed/cells.mjs UNPACKED OUT SET[:CLASSES]...');
  process.exit(2);
}
const SPOTS = ['canteen_food', 'game_sprites', 'textures_dtd10', 'chess_pieces'];
const SHARE = 5;

let state = 7;
const pick = (/** @type {number} */ n) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor(state / 2 ** 32 * n);
};

/** @param {string} set @returns {Promise<{label: string, file: string}[]>} */
async function picturesOf(set, most = Infinity) {
  const labels = (await readdir(path.join(folder, set))).sort().slice(0, most);
  const files = await Promise.all(labels.map((label) => readdir(path.join(folder, set, label))));
  return labels.flatMap((label, i) => files[i].sort().map((name) => ({ label, file: path.join(folder, set, label, name) })));
}

/** @param {string} file @param {string} from */
async function spotted(file, from) {
  const { data, info: { width, height } } = await sharp(file).toColourspace('srgb').flatten({ background: '#fff' }).png().toBuffer({ resolveWithObject: true });
  const [w, h] = [Math.round(width / SHARE), Math.round(height / SHARE)];
  const spot = sharp(from).flatten({ background: '#fff' }).resize(2 * w, 2 * h, { fit: 'fill' }).extract({ left: pick(w), top: pick(h), width: w, height: h });
  const { channels } = await sharp(data).stats();
  const grey = new Set(channels.slice(0, 3).map((/** @type {{sum: number}} */ { sum }) => sum)).size === 1;
  const input = await (grey ? spot.greyscale() : spot).png().toBuffer();
  return sharp(data).composite([{ input, left: pick(width - w), top: pick(height - h) }]).jpeg({ quality: 90 }).toBuffer();
}

const extractor = await loadExtractor();
/** @param {string | Buffer} picture */
async function cellsOf(picture) {
  const cells = await extractor.cells?.(await decodePicture(picture));
  if (!cells) throw new Error('This network has no cells.');
  return cells;
}
const spots = (await Promise.all(SPOTS.map((set) => picturesOf(set)))).flat();
await mkdir(out, { recursive: true });
for (const wanted of sets) {
  const [set, most] = wanted.split(':');
  const pictures = await picturesOf(set, most ? Number(most) : Infinity);
  /** @type {Buffer[][]} */
  const written = [[], []];
  let shape = { cells: 0, dimension: 0 };
  for (const { file } of pictures) {
    const found = [await cellsOf(file), await cellsOf(await spotted(file, spots[pick(spots.length)].file))];
    shape = { cells: found[0].values.length / found[0].embedding.length, dimension: found[0].embedding.length };
    found.forEach(({ values }, i) => written[i].push(Buffer.from(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))));
  }
  await writeFile(path.join(out, `${set}.cells`), Buffer.concat(written[0]));
  await writeFile(path.join(out, `${set}.spots`), Buffer.concat(written[1]));
  await writeFile(path.join(out, `${set}.json`), JSON.stringify({ labels: pictures.map(({ label }) => label), ...shape }));
}
