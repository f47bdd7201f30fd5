// @ts-check
/** "Use it" of a session of sounds: a web page, a sketch and blocks for Scratch, with the networks of sounds that the site has. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../temporary.js';
import { chooseSounds, dense, every, one, recording, teachSounds } from '../extractor/ears.js';
import { FAKE } from '../extractor/film.js';
import { eventually, meters, status, visit } from '../harness.js';
import { call, loaded, machine, scratchSite } from './scratch.js';
import { assertRounded, listed, ran, saved, unpacked } from './used.js';
import { LONG } from '../../long.js';

const folder = temporaryFolder('use-sounds');
/** Everyday sounds too, where the site tells them apart. @type {[name: string, kind: string][]} */
const TAUGHT = [['Baki', 'baki'], ['Pedu', 'pedu'], ...(every ? [/** @type {[string, string]} */ (['Beeps', 'low beeps'])] : [])];

/** Flags of a Chromium whose microphone hears a word again and again. @param {string} word */
function hearing(word) {
  const file = path.join(folder, `${word}.wav`);
  writeFileSync(file, dense([word, word, word]));
  return [...FAKE, `--use-file-for-fake-audio-capture=${file}`, '--autoplay-policy=no-user-gesture-required'];
}

/** Teaches sounds, answers what the page says of others, and saves choices. @param {string[]} names of the choices */
async function made(...names) {
  /** @type {Record<string, number>[]} */
  const before = [];
  /** @type {string[]} */
  const files = [];
  await visit({}, async ({ page }) => {
    await chooseSounds(page);
    for (const [name, kind] of TAUGHT) await teachSounds(page, name, kind, [0, 1]);
    for (const [, kind] of TAUGHT) {
      await page.getByLabel(`Choose a ${one}`, { exact: true }).setInputFiles(recording(kind, 2));
      await status(page, `Recognised “${kind}-2.wav”.`);
      before.push(await meters(page));
    }
    for (const name of names) files.push(await saved(page, name));
  });
  return { before, files };
}

test('a web page and a sketch recognise sounds as the page does, from files and from the microphone', LONG, async () => {
  const {
    before,
    files: [web, sketch],
  } = await made('My own web page', 'A p5.js sketch');
  const site = unpacked(web);
  assert.equal(existsSync(path.join(site, 'metaqda/kinds/sounds/yamnet')), every);
  assert.ok(readFileSync(path.join(site, 'index.html'), 'utf8').split('\n').length < 64);
  assert.deepEqual(readdirSync(site).sort(), ['README.txt', 'index.html', 'metaqda', 'prior.safetensors', 'session.safetensors']);
  await ran(
    site,
    async (page) => {
      await page.getByText(`It knows ${TAUGHT.map(([name]) => name).join(', ')}.`).waitFor();
      for (const [i, [, kind]] of TAUGHT.entries()) {
        await page.getByLabel('A recording').setInputFiles(recording(kind, 2));
        await eventually(async () => assertRounded(await listed(page), before[i]));
      }
      await page.getByLabel('A recording').setInputFiles({ name: 'broken.wav', mimeType: 'audio/wav', buffer: Buffer.from('no sound') });
      await page.getByText('This sound cannot be read').waitFor();
      assert.deepEqual(await listed(page), {});
      await page.getByRole('button', { name: 'Microphone' }).dblclick(); // asks once
      await page.locator('#answer', { hasText: /(probably|certainly) Pedu/i }).waitFor();
      await page.getByRole('button', { name: 'Stop the microphone' }).click();
      await page.getByText('The microphone is off.').waitFor();
      assert.deepEqual(await listed(page), {}, 'nothing is left of the answer before');
    },
    { flags: hearing('pedu') },
  );
  await ran(
    unpacked(sketch),
    async (page) => {
      await page.waitForFunction(`heard === 'Click here to begin'`);
      await page.locator('canvas').click();
      await page.waitForFunction(`heard.startsWith('Baki, ')`);
      assert.equal(
        await page.evaluate(`'#' + get(2, 2).slice(0, 3).map((v) => v.toString(16).padStart(2, '0')).join('')`),
        await page.evaluate(`shade.toString('#rrggbb')`),
      );
    },
    { flags: hearing('baki') },
  );
});

test('the blocks for Scratch hear, are told what comes, and can be taught', {
  skip: !existsSync(machine) && 'scratch-vm is not installed',
  ...LONG,
}, async () => {
  const {
    files: [file],
  } = await made('Scratch');
  await ran(
    scratchSite(path.join(folder, 'scratch'), file),
    async (page) => {
      await loaded(page);
      assert.deepEqual(await page.evaluate(() => /** @type {any} */ (globalThis).info.blocks.map((/** @type {{text: string}} */ { text }) => text)), [
        'turn microphone [STATE]',
        'what do you hear',
        'how sure (%)',
        'how probable is [LABEL] (%)',
        'when you hear [LABEL]',
        'teach this as [LABEL]',
      ]);
      assert.equal(await call(page, 'see'), '', 'before the microphone is on');
      await call(page, 'camera', { STATE: 'on' });
      await eventually(async () => assert.equal(await call(page, 'see'), 'Pedu'));
      assert.ok((await call(page, 'sure')) > 34);
      await eventually(async () => assert.equal(await call(page, 'when', { LABEL: 'Pedu' }), true));
      const sum = await page.evaluate(
        (labels) => {
          // at once: it goes on hearing
          const { extension } = /** @type {any} */ (globalThis);
          return labels.reduce((all, LABEL) => all + extension.probability({ LABEL }), 0);
        },
        [...TAUGHT.map(([name]) => name), 'None of these'],
      );
      assert.ok(Math.abs(sum - 100) < 1e-6, `${sum}`);
      await call(page, 'teach', { LABEL: 'Again' });
      assert.ok((await page.evaluate(() => /** @type {any} */ (globalThis).extension.labels())).includes('Again'));
      await call(page, 'camera', { STATE: 'off' });
      assert.equal(await call(page, 'see'), '');
    },
    { flags: hearing('pedu') },
  );
});
