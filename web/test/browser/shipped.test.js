// @ts-check
/**
 * The prior that ships: taught as people teach, by holding the button, by one picture,
 * by a few; asked about what was taught and about what was not. Drawings are those of the samples; photographs lie beside the clone, where
 * they do, as ../shared/pictures/NAME.tar of folders NAME/CLASS.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { buildSamples } from '../../build/samples.mjs';
import { allConcepts } from '../../samples/concepts.mjs';
import { LONG } from '../long.js';
import { temporaryFolder } from '../temporary.js';
import { blank } from './engine/blank.js';
import { root } from './harness.js';

/** Classes of a set that are taught, and the pictures of each that are looked at. */
const CLASSES = 12;
const PICTURES = 12;
/** Classes whose first picture is also held before the camera. */
const HELD = 6;

/** @typedef {{name: string, classes: string[][]}} PictureSet paths of pictures, by class */

const shared = process.env.METAQDA_PICTURES ?? path.join(root, '../shared/pictures');

const folder = temporaryFolder('shipped');

/** @param {string} name @param {string} place folder of folders @returns {Promise<PictureSet>} */
async function setOf(name, place) {
  const classes = (await readdir(place, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  const step = Math.max(1, Math.floor(classes.length / CLASSES));
  const chosen = classes.filter((_, i) => i % step === 0).slice(0, CLASSES);
  return {
    name,
    classes: await Promise.all(
      chosen.map(async (one) =>
        (await readdir(path.join(place, one)))
          .sort()
          .slice(0, PICTURES)
          .map((file) => path.join(place, one, file)),
      ),
    ),
  };
}

async function drawings() {
  const place = path.join(folder, 'drawings');
  const step = Math.floor(allConcepts.length / CLASSES);
  await buildSamples(
    place,
    allConcepts.filter((_, i) => i % step === 0),
    (style, concept) => `${concept}/${style}.png`,
  );
  return setOf('drawings', place);
}

/** @param {string} name */
async function photographs(name) {
  await promisify(execFile)('tar', ['xf', path.join(shared, `${name}.tar`), '-C', folder]);
  return setOf(name, path.join(folder, name));
}

/**
 * Runs in a page of its own: teaches and asks as the tests below say.
 *
 * @param {{classes: string[][], held: number, compare: boolean}} plan addresses of pictures, by class; compare: with the hand-crafted prior too
 */
async function measure({ classes, held, compare }) {
  Object.defineProperty(globalThis, 'indexedDB', { value: undefined }); // to store what is taught takes longer than all the rest
  const { loadEngine, loadExtractor, teach } = await import(/** @type {any} */ ('/tests/modules.js'));
  const { files } = await (await fetch('/manifest.json')).json();
  const engine = await loadEngine({ base: `${location.origin}/` });
  const extractor = await loadExtractor({});
  let seed = 11;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const between = (/** @type {number} */ low, /** @type {number} */ high) => low + (high - low) * random();
  const load = async (/** @type {string} */ url) => createImageBitmap(await (await fetch(url)).blob());

  /** A frame of a hand that is not quite still, in light that is not quite even. @param {ImageBitmap} bitmap @param {number} i */
  const frame = (bitmap, i) => {
    const { width, height } = bitmap;
    const canvas = new OffscreenCanvas(width, height);
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d'));
    context.filter = `brightness(${between(0.95, 1.05)})`;
    context.fillStyle = '#fff';
    context.fillRect(0, 0, width, height);
    const scale = i ? between(0.97, 1.03) : 1;
    const shift = () => (i ? Math.round(between(1, 3)) * (random() < 0.5 ? 1 : -1) : 0);
    context.drawImage(bitmap, shift() + (width * (1 - scale)) / 2, shift() + (height * (1 - scale)) / 2, width * scale, height * scale);
    return canvas.transferToImageBitmap();
  };

  /** @type {Float32Array[][]} */
  const pictures = [];
  /** @type {Float32Array[][]} */
  const frames = [];
  for (const [k, urls] of classes.entries()) {
    pictures.push([]);
    for (const [i, url] of urls.entries()) {
      const bitmap = await load(url);
      if (i === 0 && k < held) {
        frames.push([]);
        for (let n = 0; n < 14; n++) frames[k].push(await extractor.embed(frame(bitmap, n)));
      }
      pictures[k].push(await extractor.embed(bitmap));
    }
  }

  /** Teaches classes, asks, and forgets them. @param {Float32Array[][]} taught @param {(ids: string[]) => Promise<void>} ask */
  const session = async (taught, ask) => {
    const ids = [];
    for (const [k, rows] of taught.entries()) {
      const label = `class ${k}`;
      ids.push(label);
      await engine.stored((/** @type {any} */ all) => all.addClass(label));
      for (const x of rows) await teach(engine, {}, () => label, { thumbnail: async () => null, close: () => {} }, x);
    }
    await ask(ids);
    for (const label of ids) await engine.stored((/** @type {any} */ all) => all.removeClass(label));
  };
  const score = () => ({ asked: 0, right: 0, none: 0, surelyNone: 0, loss: 0 });
  /** @param {ReturnType<typeof score>} sum @param {Float32Array} x @param {number} k */
  const ask = async (sum, x, k) => {
    const { probabilities, none } = await engine.taught.predict(x);
    sum.asked++;
    sum.right += Object.keys(probabilities).every((label) => label === `class ${k}` || probabilities[label] < probabilities[`class ${k}`]) ? 1 : 0;
    sum.none += none > 0.5 ? 1 : 0;
    sum.surelyNone += none > 0.99 ? 1 : 0;
    sum.loss -= Math.log(Math.max(probabilities[`class ${k}`] / (1 - none), 1e-12));
  };

  /** Classes of so many pictures each, asked about their others. @param {ReturnType<typeof score>} sum @param {Float32Array[][]} chosen @param {number} shot */
  const taught = (sum, chosen, shot) =>
    session(
      chosen.map((rows) => rows.slice(0, shot)),
      async () => {
        for (const [i, rows] of chosen.entries()) for (const x of rows.slice(shot)) await ask(sum, x, i);
      },
    );
  const shuffled = (/** @type {any[]} */ all) =>
    all
      .map((one) => ({ one, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ one }) => one);
  const episodes = Array.from({ length: compare ? 40 : 0 }, () => shuffled(pictures).slice(0, 5).map(shuffled));
  /** Five classes of one, two and three pictures, the same ones each time. */
  const fives = async () => {
    const sums = [score(), score(), score()];
    for (const [i, sum] of sums.entries()) for (const chosen of episodes) await taught(sum, chosen, i + 1);
    return sums;
  };
  const crafted = await fives();
  await engine.usePrior({ url: '/prior.safetensors', sha256: files.find((/** @type {{path: string}} */ f) => f.path === 'prior.safetensors').sha256 });

  // Held: two classes of frames of one picture each, and the same of that picture alone.
  const hold = { many: score(), once: score(), bursts: /** @type {number[][]} */ ([]) };
  for (let a = 0; a < held; a++) {
    for (let b = 0; b < held; b++) {
      if (a === b) continue;
      const others = async (/** @type {ReturnType<typeof score>} */ sum) => {
        for (const x of pictures[a].slice(1)) await ask(sum, x, 0);
        for (const x of pictures[b].slice(1)) await ask(sum, x, 1);
      };
      await session([frames[a], frames[b].slice(0, 10)], async () => {
        hold.bursts.push(...(await engine.state()).classes.map((/** @type {any} */ c) => c.bursts));
        await others(hold.many);
      });
      await session([frames[a].slice(0, 1), frames[b].slice(0, 1)], () => others(hold.once));
    }
  }

  // One class of one picture.
  /** @type {number[]} */
  const outOfSet = [];
  /** @type {number[]} */
  const seconds = [];
  let above = 0;
  for (const [k, rows] of pictures.entries()) {
    await session([rows.slice(0, 1)], async () => {
      const of = async (/** @type {Float32Array} */ x) => (await engine.taught.predict(x)).probabilities['class 0'];
      const own = [];
      for (const x of rows.slice(1)) own.push(await of(x));
      const foreign = [];
      for (const [j, other] of pictures.entries()) if (j !== k) foreign.push(await of(other[1]), await of(other[2]));
      for (const p of own) above += foreign.filter((q) => q < p).length / foreign.length;
      seconds.push(...own);
      outOfSet.push(...foreign);
    });
  }

  const learned = await fives();

  // Four classes of three pictures.
  const four = score();
  for (let draw = 0; draw < classes.length; draw++) {
    const from = draw % 3;
    const chosen = [0, 1, 2, 3].map((i) => pictures[(draw + i * (1 + (draw % 2))) % classes.length]);
    await taught(
      four,
      chosen.map((rows) => [...rows.slice(from), ...rows.slice(0, from)]),
      3,
    );
  }
  return { hold, outOfSet, seconds, above: above / seconds.length, four, crafted, learned };
}

/** @param {number[]} all */
const mean = (all) => all.reduce((a, b) => a + b, 0) / all.length;

/** @param {PictureSet} set */
async function measured(set) {
  /** @type {Awaited<ReturnType<typeof measure>>|undefined} */
  let result;
  await blank(async ({ page }) => {
    await page.route('**/pictures/*/*', async (route) => {
      const [k, i] = new URL(route.request().url()).pathname.split('/').slice(-2).map(Number);
      await route.fulfill({ body: await readFile(set.classes[k][i]) });
    });
    result = await page.evaluate(measure, {
      classes: set.classes.map((files, k) => files.map((_, i) => `/pictures/${k}/${i}`)),
      held: HELD,
      compare: !LONG.skip,
    });
  });
  assert.ok(result);
  const {
    hold: { many, once, bursts },
    outOfSet,
    seconds,
    above,
    four,
    crafted,
    learned,
  } = result;
  return {
    held: { right: many.right / many.asked, none: many.none / many.asked, bursts: Math.max(...bursts.map((b) => b.length)) },
    once: { right: once.right / once.asked, none: once.none / once.asked },
    outOfSet: { most: Math.max(...outOfSet), mean: mean(outOfSet), above9: outOfSet.filter((p) => p > 0.9).length / outOfSet.length },
    second: { mean: mean(seconds), aboveOutOfSet: above },
    four: { right: four.right / four.asked, none: four.none / four.asked, surelyNone: four.surelyNone / four.asked },
    crafted,
    learned,
  };
}

/**
 * Prints what was measured and asks that it be as good as it was, with a margin.
 *
 * @param {PictureSet} set
 * @param {{held: number, four: number, loss: number}} right the least share of right answers, and the most loss beside that of the hand-crafted prior
 */
async function judge(set, right) {
  const { held, once, outOfSet, second, four, crafted, learned } = await measured(set);
  console.log(`# ${set.name}: ${JSON.stringify({ held, once, outOfSet, second, four }, (_, v) => (typeof v === 'number' ? Number(v.toFixed(3)) : v))}`);
  assert.equal(held.bursts, 1, 'frames of one picture are one burst');
  assert.ok(held.right >= right.held, `held: ${held.right} right`);
  assert.ok(held.right >= once.right - 0.05, `held: ${held.right} right, of one picture each ${once.right}`);
  assert.ok(held.none <= once.none + 0.03, `held: ${held.none} none of these, of one picture each ${once.none}`);
  assert.ok(outOfSet.above9 <= 0.15, `one class of one picture: ${outOfSet.above9} of those out of set are it with more than 0.9`);
  assert.ok(second.mean > outOfSet.mean && second.aboveOutOfSet >= 0.7, `its second picture is above a thing of no class in ${second.aboveOutOfSet}`);
  assert.ok(four.surelyNone <= 0.02 && four.none <= 0.15, `four classes of three: ${four.none} wrongly none, ${four.surelyNone} at > 99 %`);
  assert.ok(four.right >= right.four, `four classes of three: ${four.right} right`);
  for (const [i, { asked, right: others, loss }] of crafted.entries()) {
    if (!asked) continue; // only where both are compared
    const told = `five classes of ${i + 1}: ${learned[i].right} right and loss ${learned[i].loss.toFixed(1)}, by the hand-crafted prior ${others} and ${loss.toFixed(1)}`;
    console.log(`# ${told}`);
    assert.ok(learned[i].right >= 0.98 * others && learned[i].loss < right.loss * loss, told);
  }
}

// Measured, in percent (held, and of one picture each: 14 and 10 frames of one picture of two
// classes, each taken by one press, asked about the others; then as the tests have it):
//
//	                held right  none | one right  none |  unknown most  mean  > 0.9 | second mean  above | four right  none  > 99 %
//	drawings              94.0   6.7 |      94.0   9.3 |          93.5  42.5    0.4 |        77.5   92.0 |       95.1   9.0     0.0
//	flowers17             86.8   2.1 |      87.0   1.8 |          97.3  62.8    9.5 |        84.6   91.5 |       93.8   8.1     0.0
//	corel1k               94.4   6.7 |      95.2   6.1 |          72.1  29.4    0.0 |        75.7   98.3 |       98.3   5.8     0.0
//	canteen_food          75.9  25.2 |      74.5  27.6 |          93.5  44.3    0.4 |        62.0   84.7 |       80.6   7.6     0.0
//
// One class of one picture begins at 80 %, what the setting leaves for it.
// TestShippedPriorOnEmoji asks it about drawings, too, in Go.
test('the shipped prior on drawings in six styles', { timeout: 300_000, ...LONG }, async () => judge(await drawings(), { held: 0.9, four: 0.9, loss: 1.05 })); // with three examples a class the hand-crafted prior does as well here

for (const [name, right] of Object.entries({
  flowers17: { held: 0.83, four: 0.9, loss: 0.8 },
  corel1k: { held: 0.92, four: 0.95, loss: 0.8 },
  canteen_food: { held: 0.7, four: 0.75, loss: 0.95 },
})) {
  const there = existsSync(path.join(shared, `${name}.tar`));
  console.log(
    `# the photographs ${name} ${there ? 'lie beside the clone and are asked too' : 'do not lie beside the clone (../shared/pictures) and are left out'}`,
  );
  test(`the shipped prior on photographs, ${name}`, { timeout: 300_000, skip: there ? false : 'not beside the clone', ...LONG }, async () =>
    judge(await photographs(name), right),
  );
}
