// @ts-check
/**
 * Does the map of where an answer comes from point at the thing? Pictures of one set are pasted at a
 * random place of photographs of another one; the highest place of the map ought to lie on them.
 * 'make pointing' runs it: node web/test/bench/pointing.mjs FOLDER [COMPOSITES]
 *
 * FOLDER/SET/CLASS/PICTURE. Five classes of five pictures are taught, and one picture of each is
 * pasted, at a half and at a third of each side. Beside the map: the middle of the picture, and
 * covering one 36th after the other with grey. That runs the network 36 times more, so only the first
 * composites are covered.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { decodePicture } from '../../../scripts/embed/decode.mjs';
import { loadExtractor } from '../../../scripts/embed/extractor.mjs';
import { FINE, mapOf } from '../../ui/recognise/map.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { createClassifier } = await import(pathToFileURL(path.join(root, 'build/package/index.js')).href);
const [folder, wanted = '500'] = process.argv.slice(2);
const THINGS = ['caltech101', 'chess_pieces', 'playing_cards', 'coil17', 'canteen_food', 'leafsnap20', 'game_sprites', 'flowers17'];
const GROUNDS = ['scenes15', 'corel1k'];
const [WAY, SHOT] = [5, 5];
/** Composites of both sizes that are covered, too. */
const COVERED = 120;
const prior = path.join(root, 'web/prior/default.safetensors');

/** Pictures of each class. @param {string} set @returns {Promise<string[][]>} */
async function classesOf(set) {
  const all = await readdir(path.join(folder, set), { recursive: true, withFileTypes: true });
  /** @type {Map<string, string[]>} */
  const classes = new Map();
  for (const entry of all) {
    if (!entry.isFile()) continue;
    const name = path.relative(path.join(folder, set), entry.parentPath).split(path.sep)[0];
    classes.set(name, [...(classes.get(name) ?? []), path.join(entry.parentPath, entry.name)]);
  }
  return [...classes.values()].map((files) => files.sort());
}

/** @param {number} seed */
function random(seed) {
  let state = seed;
  return (/** @type {number} */ n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** The first n of a shuffled copy. @template T @param {T[]} all @param {number} n @param {(n: number) => number} pick */
function drawn(all, n, pick) {
  const left = [...all];
  return Array.from({ length: n }, () => left.splice(pick(left.length), 1)[0]);
}

/** @param {import('sharp').Sharp} picture */
const plain = (picture) => picture.autoOrient().toColourspace('srgb').flatten({ background: '#fff' });

const extractor = await loadExtractor();
const cellsOf = /** @type {NonNullable<typeof extractor.cells>} */ (extractor.cells);
const look = async (/** @type {import('../../../scripts/embed/extractor.mjs').Pixels} */ pixels) =>
  /** @type {import('../../extractor/session.js').Cells} */ (await cellsOf(pixels));
const grounds = (await Promise.all(GROUNDS.map(classesOf))).flat(2);
/** Counts by size and by what points. @type {Record<string, Record<string, {on: number, of: number}>>} */
const hits = {};
let [asked, right, explained] = [0, 0, 0];

for (let task = 0; asked < Number(wanted); task++) {
  const pick = random(task + 1);
  const classes = drawn(
    (await classesOf(THINGS[task % THINGS.length])).filter(({ length }) => length > SHOT),
    WAY,
    pick,
  );
  const c = await createClassifier({ prior: await readFile(prior) });
  /** @type {string[]} */
  const queries = [];
  for (const [label, files] of classes.entries()) {
    const [query, ...shown] = drawn(files, SHOT + 1, pick);
    for (const file of shown) await c.addExample(await extractor.embed(await decodePicture(file)), String(label));
    queries.push(query);
  }
  for (const [label, query] of queries.entries())
    for (const share of [2, 3]) {
      const ground = plain(sharp(grounds[pick(grounds.length)]));
      const {
        data: below,
        info: { width, height },
      } = await ground.png().toBuffer({ resolveWithObject: true });
      const [w, h] = [Math.floor(width / share), Math.floor(height / share)];
      const [left, top] = [pick(width - w), pick(height - h)];
      const thing = await plain(sharp(query)).resize(w, h, { fit: 'fill' }).png().toBuffer();
      const pixels = await decodePicture(
        await sharp(below)
          .composite([{ input: thing, left, top }])
          .png()
          .toBuffer(),
      );
      const cells = await look(pixels);
      const { label: taken } = c.predictSync(cells.embedding);
      const begun = performance.now();
      const { views, score } = c.explain(cells, { label: taken });
      explained += performance.now() - begun;
      const values = (/** @type {import('../../library/index.js').Explanation['views']} */ all) => all.flatMap((view) => [...view.values]);
      const other = Object.entries(c.predictSync(cells.embedding).probabilities)
        .filter(([name]) => name !== taken)
        .sort((a, b) => /** @type {number} */ (b[1]) - /** @type {number} */ (a[1]))[0][0];
      // How much less speaks for the class with a 36th of the picture covered.
      const covered = [];
      for (let i = 0; i < 36 && asked < COVERED; i++) {
        const data = Uint8Array.from(pixels.data);
        for (let y = Math.floor((Math.floor(i / 6) * height) / 6); y < Math.floor(((Math.floor(i / 6) + 1) * height) / 6); y++) {
          for (let x = Math.floor(((i % 6) * width) / 6); x < Math.floor((((i % 6) + 1) * width) / 6); x++)
            data.fill(127, 4 * (y * width + x), 4 * (y * width + x) + 3);
        }
        covered.push(score - c.explain(await look({ ...pixels, data }), { label: taken }).score);
      }
      const whole = [{ x: 0, y: 0, width: 1, height: 1, rows: 6, columns: 6 }];
      /** @type {Record<string, number[]>} */
      const points = {
        'map, against none of them': highest(mapOf(values(views), cells.views)),
        'map, against the next class': highest(mapOf(values(c.explain(cells, { label: taken, against: other }).views), cells.views)),
        ...(covered.length ? { 'covering, 36 runs': highest(mapOf(covered, whole)) } : {}),
        'the middle': [0.5, 0.5],
      };
      const counts = (hits[`1/${share * share} of the area`] ??= {});
      for (const [name, [x, y]] of Object.entries(points)) {
        const count = (counts[name] ??= { on: 0, of: 0 });
        count.on += Number(x * width >= left && x * width < left + w && y * height >= top && y * height < top + h);
        count.of++;
      }
      right += Number(taken === String(label));
      asked++;
    }
  c.dispose();
}

/** Where the map is highest, in shares of width and height. @param {Float64Array} map */
function highest(map) {
  const at = map.indexOf(Math.max(...map));
  return [((at % FINE) + 0.5) / FINE, (Math.floor(at / FINE) + 0.5) / FINE];
}

console.log(`${asked} composites; the answer is right in ${((100 * right) / asked).toFixed(1)} %; explain takes ${(explained / asked).toFixed(2)} ms`);
console.log('\n| the highest place lies on the thing, % | ' + Object.keys(hits).join(' | ') + ' |\n|---|' + '---|'.repeat(Object.keys(hits).length));
for (const name of Object.keys(Object.values(hits)[0])) {
  const share = Object.values(hits).map(({ [name]: { on, of } }) => `${((100 * on) / of).toFixed(1)} of ${of}`);
  console.log(`| ${name} | ${share.join(' | ')} |`);
}
