// @ts-check
/**
 * The prior that ships in a person's hands: taught as people teach, by holding the
 * button, by one picture, by a few; asked about what was taught and about what was
 * not. Drawings are those of the samples; photographs lie beside the clone, where
 * they do, as ../shared/pictures/NAME.tar of folders NAME/CLASS.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { buildSamples } from '../../build/samples.mjs';
import { allConcepts } from '../../samples/concepts.mjs';
import { addClass, addPictures, card, open, recognise, root, sample, serveSite, status, visit } from './harness.js';
import { LONG } from '../long.js';

/** Classes of a set that are taught, and the pictures of each that are looked at. */
const CLASSES = 12;
const PICTURES = 12;
/** Classes whose first picture is also held before the camera. */
const HELD = 6;

/** From here on the verdict says "Almost certainly". */
const NEARLY_SURE = 0.97;

/** @typedef {{name: string, classes: string[][]}} PictureSet paths of pictures, by class */

const shared = process.env.METAQDA_PICTURES ?? path.join(root, '../shared/pictures');

/** @type {string} */
let folder;
/** @type {import('./harness.js').Site} */
let site;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hands-'));
  site = await serveSite();
});
after(async () => {
  await site.stop();
  await rm(folder, { recursive: true, force: true });
});

/** @param {string} name @param {string} place folder of folders @returns {Promise<PictureSet>} */
async function setOf(name, place) {
  const classes = (await readdir(place, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort();
  const step = Math.max(1, Math.floor(classes.length / CLASSES));
  const chosen = classes.filter((_, i) => i % step === 0).slice(0, CLASSES);
  return { name, classes: await Promise.all(chosen.map(async (one) =>
    (await readdir(path.join(place, one))).sort().slice(0, PICTURES).map((file) => path.join(place, one, file)))) };
}

async function drawings() {
  const place = path.join(folder, 'drawings');
  const step = Math.floor(allConcepts.length / CLASSES);
  await buildSamples(place, allConcepts.filter((_, i) => i % step === 0), (style, concept) => `${concept}/${style}.png`);
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
 * @param {{classes: string[][], held: number}} plan addresses of pictures, by class
 */
async function measure({ classes, held }) {
  const { loadEngine } = await import(/** @type {any} */ ('/web/library/storage.js'));
  const { loadExtractor } = await import(/** @type {any} */ ('/web/extractor/index.js'));
  const { files } = await (await fetch('/manifest.json')).json();
  const engine = await loadEngine({ base: `${location.origin}/` });
  await engine.usePrior({ url: '/prior.safetensors', sha256: files.find((/** @type {{path: string}} */ f) => f.path === 'prior.safetensors').sha256 });
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
    context.drawImage(bitmap, shift() + width * (1 - scale) / 2, shift() + height * (1 - scale) / 2, width * scale, height * scale);
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
      const { id } = await engine.addClass(`class ${k}`);
      ids.push(id);
      for (const x of rows) await engine.addExample(id, x, null);
    }
    await ask(ids);
    for (const id of ids) await engine.removeClass(id);
  };
  const score = () => ({ asked: 0, right: 0, none: 0, surelyNone: 0 });
  /** @param {ReturnType<typeof score>} sum @param {Float32Array} x @param {number} k */
  const ask = async (sum, x, k) => {
    const { classes, none } = await engine.probabilities(x);
    sum.asked++;
    sum.right += classes.every((/** @type {any} */ c, /** @type {number} */ i) => i === k || c.probability < classes[k].probability) ? 1 : 0;
    sum.none += none > 0.5 ? 1 : 0;
    sum.surelyNone += none > 0.99 ? 1 : 0;
  };

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
  const unknowns = [];
  /** @type {number[]} */
  const seconds = [];
  let above = 0;
  for (const [k, rows] of pictures.entries()) {
    await session([rows.slice(0, 1)], async () => {
      const of = async (/** @type {Float32Array} */ x) => (await engine.probabilities(x)).classes[0].probability;
      const own = [];
      for (const x of rows.slice(1)) own.push(await of(x));
      const foreign = [];
      for (const [j, other] of pictures.entries()) if (j !== k) foreign.push(await of(other[1]), await of(other[2]));
      for (const p of own) above += foreign.filter((q) => q < p).length / foreign.length;
      seconds.push(...own);
      unknowns.push(...foreign);
    });
  }

  // Four classes of three pictures.
  const four = score();
  for (let draw = 0; draw < classes.length; draw++) {
    const chosen = [0, 1, 2, 3].map((i) => (draw + i * (1 + draw % 2)) % classes.length);
    const from = draw % 3;
    await session(chosen.map((k) => pictures[k].slice(from, from + 3)), async () => {
      for (const [i, k] of chosen.entries()) {
        for (const [n, x] of pictures[k].entries()) if (n < from || n >= from + 3) await ask(four, x, i);
      }
    });
  }
  return { hold, unknowns, seconds, above: above / seconds.length, four };
}

/** @param {number[]} all */
const mean = (all) => all.reduce((a, b) => a + b, 0) / all.length;

/** @param {PictureSet} set */
async function hands(set) {
  /** @type {Awaited<ReturnType<typeof measure>>|undefined} */
  let result;
  await visit({ site, open: false, expect: [/favicon/] }, async ({ page }) => {
    await page.route('**/pictures/*/*', async (route) => {
      const [k, i] = new URL(route.request().url()).pathname.split('/').slice(-2).map(Number);
      await route.fulfill({ body: await readFile(set.classes[k][i]) });
    });
    await page.goto(`${site.origin}/LICENSE.txt`);
    result = await page.evaluate(measure, { classes: set.classes.map((files, k) => files.map((_, i) => `/pictures/${k}/${i}`)), held: HELD });
  });
  assert.ok(result);
  const { hold: { many, once, bursts }, unknowns, seconds, above, four } = result;
  return {
    held: { right: many.right / many.asked, none: many.none / many.asked, bursts: Math.max(...bursts.map((b) => b.length)) },
    once: { right: once.right / once.asked, none: once.none / once.asked },
    unknown: { most: Math.max(...unknowns), mean: mean(unknowns), above9: unknowns.filter((p) => p > 0.9).length / unknowns.length },
    second: { mean: mean(seconds), aboveUnknown: above },
    four: { right: four.right / four.asked, none: four.none / four.asked, surelyNone: four.surelyNone / four.asked },
  };
}

/**
 * Prints what was measured and asks that it be as good as it was, with a margin.
 *
 * @param {PictureSet} set
 * @param {{held: number, four: number}} right the least share of right answers
 */
async function judge(set, right) {
  const { held, once, unknown, second, four } = await hands(set);
  console.log(`# ${set.name}: ${JSON.stringify({ held, once, unknown, second, four }, (_, v) => (typeof v === 'number' ? Number(v.toFixed(3)) : v))}`);
  assert.ok(held.bursts <= 3, 'frames of one picture are one burst, or a few');
  assert.ok(held.right >= right.held, `held: ${held.right} right`);
  assert.ok(held.right >= once.right - 0.05, `held: ${held.right} right, of one picture each ${once.right}`);
  assert.ok(held.none <= 0.2 && held.none <= once.none + 0.06, `held: ${held.none} none of these, of one picture each ${once.none}`);
  assert.ok(unknown.most < NEARLY_SURE, `one class of one picture: an unknown thing is almost certainly it, with ${unknown.most}`);
  assert.ok(unknown.above9 <= 0.04, `one class of one picture: ${unknown.above9} of the unknowns are it with more than 0.9`);
  assert.ok(second.mean > unknown.mean && second.aboveUnknown >= 0.7, `its second picture is above an unknown thing in ${second.aboveUnknown}`);
  assert.ok(four.surelyNone <= 0.02 && four.none <= 0.15, `four classes of three: ${four.none} wrongly none, ${four.surelyNone} at > 99 %`);
  assert.ok(four.right >= right.four, `four classes of three: ${four.right} right`);
}

// Measured, in percent (held, and of one picture each: 14 and 10 frames of one
// picture of two classes, asked about the others; then as the tests have it):
//
//	                held right  none | one right  none |  unknown most  mean  > 0.9 | second mean  above | four right  none  > 99 %
//	drawings              94.0   2.0 |      96.0   2.0 |          92.2  66.5    0.8 |        85.6   88.7 |       91.0   6.9     0.0
//	flowers17             88.2   3.2 |      87.0   2.4 |          93.5  65.3    1.9 |        82.4   88.4 |       91.7   3.5     0.0
//	corel1k               89.7   2.3 |      91.2   0.0 |          89.6  48.8    0.0 |        79.7   94.5 |       93.1   0.3     0.0
//	canteen_food          66.5   7.7 |      64.8   7.9 |          87.1  63.9    0.0 |        74.2   79.4 |       72.9   0.5     0.0
//
// One class of one picture begins at 80 %, what the setting leaves for it.
test('in a person\'s hands: drawings in six styles', { timeout: 300_000 }, async () => judge(await drawings(), { held: 0.9, four: 0.85 }));

for (const [name, right] of Object.entries({
  flowers17: { held: 0.8, four: 0.85 }, corel1k: { held: 0.82, four: 0.87 }, canteen_food: { held: 0.6, four: 0.6 },
})) {
  const there = existsSync(path.join(shared, `${name}.tar`));
  console.log(`# the photographs ${name} ${there ? 'lie beside the clone and are asked too' : 'do not lie beside the clone (../shared/pictures) and are left out'}`);
  test(`in a person's hands: photographs, ${name}`, { timeout: 300_000, skip: there ? false : 'not beside the clone', ...LONG }, async () =>
    judge(await photographs(name), right));
}

// One picture of each of ten classes: whatever the ten show, nine are unknown.
test('in a person\'s hands: one photograph says little of nine others', { timeout: 120_000, ...LONG }, async () => {
  const place = path.join(root, 'testdata/parity');
  const files = (await readdir(place)).filter((name) => name.endsWith('.jpg')).sort();
  await visit({ site }, async ({ page }) => {
    await addClass(page, 'Thing');
    await addPictures(page, 'Thing', [path.join(place, files[0])]);
    const probabilities = [];
    for (const file of files.slice(1)) probabilities.push((await recognise(page, path.join(place, file))).Thing);
    console.log(`# one photograph taught, nine others: ${probabilities.map((p) => p.toFixed(2)).join(', ')}`);
    assert.ok(Math.max(...probabilities) <= 0.9, `${Math.max(...probabilities)}`);
    assert.doesNotMatch(await page.locator('#verdict').innerText(), /Almost certainly/);
  });
});

/**
 * Frames of a hand that is not quite still, drawn in the page.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} file
 * @param {number} count
 */
async function framesOf(page, file, count) {
  const source = (await readFile(file)).toString('base64');
  const pictures = await page.evaluate(async ([source, count]) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(source), (c) => c.charCodeAt(0))]));
    const { width, height } = bitmap;
    const all = [];
    for (let i = 0; i < count; i++) {
      const canvas = Object.assign(document.createElement('canvas'), { width, height });
      const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
      context.filter = `brightness(${1 + 0.04 * Math.sin(5 * i)})`;
      context.fillStyle = '#fff';
      context.fillRect(0, 0, width, height);
      const scale = 1 + 0.03 * Math.sin(3 * i);
      context.drawImage(bitmap, 2 * Math.sin(7 * i) + width * (1 - scale) / 2, 2 * Math.cos(7 * i) + height * (1 - scale) / 2, width * scale, height * scale);
      all.push(canvas.toDataURL('image/png').slice('data:image/png;base64,'.length));
    }
    return all;
  }, /** @type {const} */ ([source, count]));
  return pictures.map((text, i) => ({ name: `frame-${i}.png`, mimeType: 'image/png', buffer: Buffer.from(text, 'base64') }));
}

test('the card says how many pictures are nearly the same, as long as it matters', LONG, () => visit({ site }, async ({ page, site: { origin } }) => {
  await addClass(page, 'Banana');
  const box = card(page, 'Banana');
  const hint = box.locator('.card-hint');
  assert.equal(await hint.getAttribute('aria-live'), 'polite', 'what is said here is announced');
  const others = ['twemoji', 'openmoji', 'fluent-emoji-flat', 'emojione'].map((style) => sample(style, 'banana'));
  await addPictures(page, 'Banana', others);
  assert.equal(await hint.innerText(), '');
  await page.getByLabel('Add pictures to Banana', { exact: true }).setInputFiles(await framesOf(page, sample('noto', 'banana'), 8));
  await box.getByText('12 pictures').waitFor();
  const said = '8 of these 12 are nearly the same picture: turn it, or change the background.';
  await hint.getByText(said, { exact: true }).waitFor();

  await box.getByRole('button', { name: 'Remove picture 12 of Banana' }).click();
  await box.getByText('11 pictures').waitFor();
  await hint.getByText('7 of these 11').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await hint.getByText(said, { exact: true }).waitFor();
  await status(page, 'Undone: remove a picture from Banana.'); // and stored
  await open(page, { origin });
  await hint.getByText(said, { exact: true }).waitFor();
  for (let left = 11; left >= 8; left--) {
    await box.getByRole('button', { name: `Remove picture ${left + 1} of Banana` }).click();
    await box.getByText(`${left} pictures`).waitFor();
  }
  await hint.getByText('nearly the same').waitFor({ state: 'detached' });
  assert.equal(await hint.innerText(), '');
}));
