#!/usr/bin/env node
// @ts-check
/**
 * Makes near-copies for measurements: frames of pictures, as a hand-held camera takes them, and of
 * sounds, as a microphone records them again:
 *   node scripts/embed/frames.mjs FOLDER OUT
 *
 * FOLDER holds one subfolder per class. OUT gets CLASS/PICTURE/N.jpg, or N.wav, for at most CLASSES
 * classes of PICTURES pictures each. Pictures of the first half get FRAMES frames, the others get one.
 * The first frame is the picture. The next frames are up to 3 % shifted, 6 % nearer, 3 degrees
 * turned, and 10 % brighter or darker. A sound begins up to .1 s later and is up to twice as loud or
 * half as loud. It has noise 40 dB below its mean power. The same folder gives the same frames.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { decodeSound } from './hear.mjs';

const load = createRequire(new URL('../../web/package.json', import.meta.url));
const sharp = load('sharp');
const wav = load('node-wav');
const CLASSES = 8;
const PICTURES = 12;
const FRAMES = 6;
const MARGIN = 0.2; // of the longer side, mirrored, so that no frame has an empty corner

const [folder, out] = process.argv.slice(2);
if (!out) {
  console.error('Usage: node scripts/embed/frames.mjs FOLDER OUT');
  process.exit(2);
}
let state = 1;
/** Mulberry32, in [-1, 1). */
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1;
}

/** Lists at most `most` names in a folder, at equal steps of the sorted list. @param {string} dir @param {number} most */
async function some(dir, most) {
  const all = (await readdir(dir)).sort();
  return all.filter((_, i) => Math.floor((i * most) / all.length) !== Math.floor(((i - 1) * most) / all.length)).slice(0, most);
}

/** Writes a picture as the camera may take it a moment later. @param {string} file @param {string} to */
async function frame(file, to) {
  const { data, info: { width, height } } = await sharp(file).autoOrient().removeAlpha().toColourspace('srgb').toBuffer({ resolveWithObject: true });
  const margin = Math.round(MARGIN * Math.max(width, height));
  const wide = await sharp(data).extend({ top: margin, bottom: margin, left: margin, right: margin, extendWith: 'mirror' }).toBuffer();
  const share = 1 / (1 + 0.03 * (1 + random()));
  const turned = await sharp(wide).rotate(3 * random()).modulate({ brightness: 1 + 0.1 * random() }).toBuffer({ resolveWithObject: true });
  const size = { width: Math.round(share * width), height: Math.round(share * height) };
  const left = Math.round((turned.info.width - size.width) / 2 + 0.03 * width * random());
  const top = Math.round((turned.info.height - size.height) / 2 + 0.03 * height * random());
  await sharp(turned.data).extract({ left, top, ...size }).resize(width, height, { fit: 'fill' }).jpeg({ quality: 90 }).toFile(to);
}

/** @param {Float32Array} samples @param {number} rate in hertz @param {string} to */
async function writeSound(samples, rate, to) {
  await writeFile(to, wav.encode([samples], { sampleRate: rate, float: true, bitDepth: 32 }));
}

/** Writes a sound as a microphone may record it again: later, louder or softer, with noise. @param {Float32Array} samples @param {number} rate @param {string} to */
async function again(samples, rate, to) {
  const late = Math.round(0.05 * rate * (1 + random()));
  const gain = 2 ** random();
  const noise = 0.01 * Math.sqrt(3 * samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
  await writeSound(Float32Array.from({ length: samples.length + late }, (_, i) => gain * ((samples[i - late] ?? 0) + noise * random())), rate, to);
}

for (const name of await some(folder, CLASSES)) {
  for (const [k, picture] of (await some(path.join(folder, name), PICTURES)).entries()) {
    const to = path.join(out, name, picture.replace(/\.\w+$/, ''));
    await mkdir(to, { recursive: true });
    const file = path.join(folder, name, picture);
    const frames = k < PICTURES / 2 ? FRAMES : 1;
    if (/\.(ogg|mp3|wav)$/i.test(file)) {
      const { samples, rate } = await decodeSound(await readFile(file));
      await writeSound(samples, rate, path.join(to, '0.wav'));
      for (let n = 1; n < frames; n++) await again(samples, rate, path.join(to, `${n}.wav`));
      continue;
    }
    await sharp(file).autoOrient().removeAlpha().jpeg({ quality: 90 }).toFile(path.join(to, '0.jpg'));
    for (let n = 1; n < frames; n++) await frame(file, path.join(to, `${n}.jpg`));
  }
}
