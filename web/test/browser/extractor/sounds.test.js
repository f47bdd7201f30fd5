// @ts-check
/** Sounds: files, the microphone with Chromium's fake device, and what goes wrong. The sounds are made by rule. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { soundOf } from '../../extractors/sounds.js';
import { assertNear, opened, share } from '../share/shared.js';
import { FAKE } from './film.js';
import { addClass, card, eventually, likeliest, meters, most, offlineReady, open, ready, status, visit } from '../harness.js';
import { temporaryFolder } from '../../temporary.js';

/** @import {Page} from 'playwright-core' */

const folder = temporaryFolder('sounds');

/** A recording as a file to choose. @param {string} kind @param {number} recording @param {string} [name] */
const recording = (kind, recording, name = `${kind}-${recording}.wav`) => ({ name, mimeType: 'audio/wav', buffer: Buffer.from(soundOf(kind, recording)) });

/** @param {Page} page */
async function chooseSounds(page) {
  await page.getByRole('button', { name: 'Sounds', exact: true }).click();
  await status(page, 'This session is for sounds.');
}

/** @param {Page} page @param {string} name @param {string} kind @param {number[]} which */
async function teachSounds(page, name, kind, which) {
  await addClass(page, name);
  await page.getByLabel(`Add sounds to ${name}`, { exact: true }).setInputFiles(which.map((one) => recording(kind, one)));
  await card(page, name).locator('.thumb').nth(which.length - 1).waitFor();
}

/** @param {Page} page @param {string} kind @param {number} which */
async function ask(page, kind, which) {
  await page.getByLabel('Choose a sound', { exact: true }).setInputFiles(recording(kind, which));
  await status(page, `Recognised “${kind}-${which}.wav”.`);
  return most(await meters(page));
}

/** Six seconds of alarms and then three of organs: four pieces of two seconds. @param {Page} page @returns {Promise<string>} what is said of the whole */
async function askLong(page) {
  const parts = ['alarm', 'alarm', 'alarm', 'alarm', 'organ', 'organ'].map((kind) => Buffer.from(soundOf(kind, 2)).subarray(44));
  const header = Buffer.from(soundOf('alarm', 0)).subarray(0, 44);
  const length = parts.reduce((sum, { length: one }) => sum + one, 0);
  header.writeUInt32LE(36 + length, 4);
  header.writeUInt32LE(length, 40);
  await page.getByLabel('Choose a sound', { exact: true }).setInputFiles({ name: 'long.wav', mimeType: 'audio/wav', buffer: Buffer.concat([header, ...parts]) });
  await status(page, 'Recognised “long.wav”.');
  const pieces = page.getByRole('list', { name: 'Pieces of the recording' }).getByRole('button');
  assert.deepEqual(await pieces.evaluateAll((all) => all.map((one) => (one.getAttribute('aria-label') ?? '').replace(/ (> )?\d+ %$/, ''))).then((all) => all.slice(0, 3)),
    ['From 0:00: Alarm', 'From 0:02: Alarm', 'From 0:04: Alarm']);
  return (await page.locator('.whole').textContent() ?? '').replaceAll('\u00a0', ' ');
}

test('sounds from files are taught, recognised, played, corrected, undone, sorted, shared, and are there after a reload and offline', async () => {
  /** @type {Record<string, number>} */
  let before = {};
  let shared = '';
  await visit({ offline: true, flags: ['--autoplay-policy=no-user-gesture-required'] }, async ({ page, context, site }) => {
    await chooseSounds(page);
    await page.getByRole('button', { name: 'Add the class “Background”' }).click();
    await card(page, 'Background').waitFor();
    await page.getByLabel('Add sounds to Background', { exact: true }).setInputFiles([recording('hiss', 0), recording('hiss', 1)]);
    await card(page, 'Background').locator('.thumb').nth(1).waitFor();
    await teachSounds(page, 'Alarm', 'alarm', [0, 1]);
    await teachSounds(page, 'Organ', 'organ', [0, 1]);
    assert.equal(await ask(page, 'alarm', 2), 'Alarm');
    assert.equal(await ask(page, 'organ', 2), 'Organ');
    assert.equal(await ask(page, 'hiss', 2), 'Background');

    assert.match(await askLong(page), /^All of it: Alarm \d+ %, /);
    assert.equal(most(await meters(page)), 'Alarm');
    await page.getByRole('button', { name: /^From 0:06: / }).click();
    await page.getByRole('img', { name: 'long.wav, from 0:06' }).waitFor();
    await page.waitForFunction(() => document.querySelector('#correct')?.checkVisibility());
    assert.equal(likeliest(await meters(page)), 'Organ');
    assert.equal(await ask(page, 'alarm', 2), 'Alarm');
    assert.equal(await page.getByRole('list', { name: 'Pieces of the recording' }).count(), 0);

    await page.getByText('How good is it?').click();
    await page.getByText('Class by class').waitFor();
    await page.getByRole('button', { name: /^Session:/ }).click();
    await page.getByRole('button', { name: 'Save its sounds' }).waitFor();
    await page.keyboard.press('Escape');
    for (const part of ['#settings', '#sessions', '#goodness', '#why']) assert.doesNotMatch(await page.locator(part).textContent() ?? '', /picture/i, part);

    await page.evaluate(() => {
      const { play } = HTMLMediaElement.prototype;
      HTMLMediaElement.prototype.play = function () {
        this.addEventListener('playing', () => { document.body.dataset.played = String(this.duration); });
        return play.call(this);
      };
    });
    await card(page, 'Alarm').locator('.thumb-open').first().click();
    await page.waitForFunction(() => Math.abs(Number(document.body.dataset.played) - 1.5) < 0.01);
    await page.evaluate(() => { // one after the other, faster than they begin
      delete document.body.dataset.played;
      for (const key of ['ArrowRight', 'ArrowLeft', 'ArrowRight']) document.querySelector('#picture')?.dispatchEvent(new KeyboardEvent('keydown', { key }));
    });
    await page.locator('[data-played]').waitFor();
    assert.equal(await page.locator('#picture .error').textContent(), '');
    await page.keyboard.press('Escape');

    // What was asked last is taught as another class, and that is undone.
    await page.locator('#correct').getByRole('button', { name: 'Alarm', exact: true }).click();
    await card(page, 'Alarm').locator('.thumb').nth(2).waitFor();
    await page.keyboard.press('Control+z');
    await card(page, 'Alarm').locator('.thumb').nth(2).waitFor({ state: 'detached' });

    await offlineReady(page);
    await context.setOffline(true);
    await page.reload();
    await ready(page);
    await card(page, 'Organ').locator('.thumb').nth(1).waitFor();
    assert.equal(await page.getByLabel('Choose a sound', { exact: true }).count(), 1);
    assert.equal(await ask(page, 'organ', 2), 'Organ');
    await context.setOffline(false);

    await page.getByLabel('Choose a sound', { exact: true }).setInputFiles([recording('alarm', 3), recording('organ', 2), recording('alarm', 2)]);
    await status(page, /^3 sounds: 2 Alarm, 1 Organ\./);
    await page.locator('.sort-state').filter({ hasText: /^Judged together/ }).waitFor(); // others than those taught
    for (const shelf of [/^Alarm\s*2/, /^Organ\s*1/]) await page.locator('#sort').getByRole('button', { name: shelf }).first().waitFor();
    await page.evaluate(() => { URL.revokeObjectURL = (url) => { document.body.dataset.freed = url; }; });
    await page.locator('.shot').first().click();
    const heard = await page.locator('#viewer audio').getAttribute('src');
    await page.keyboard.press('Escape');
    await page.locator('#viewer audio').waitFor({ state: 'detached' });
    assert.equal(await page.locator('body').getAttribute('data-freed'), heard);

    // Another session may be of pictures again.
    await open(page, site);
    assert.equal(await page.getByLabel('Choose a sound', { exact: true }).count(), 1);
    assert.equal(await ask(page, 'organ', 2), 'Organ');
    before = await meters(page);
    shared = await share(page, { learn: true, pictures: true });
  });
  const file = path.join(folder, 'organ.wav');
  await writeFile(file, soundOf('organ', 2));
  const flags = [...FAKE, `--use-file-for-fake-audio-capture=${file}`];
  await opened(shared, async (page) => {
    const dropped = await page.evaluateHandle((text) => {
      const all = new DataTransfer();
      all.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], 'organ-2.wav', { type: 'audio/wav' }));
      return all;
    }, Buffer.from(soundOf('organ', 2)).toString('base64'));
    await page.dispatchEvent('#recognise', 'drop', { dataTransfer: dropped });
    await status(page, 'Recognised “organ-2.wav”.');
    assertNear(await meters(page), before);
    assert.match(await askLong(page), /^All of it: Alarm/);
    await page.getByText('What it was taught').click();
    await page.getByRole('button', { name: 'Sound 2 of Organ' }).click();
    await page.getByRole('group', { name: 'It is:' }).getByRole('button', { name: 'Organ' }).click();
    await page.getByText('Organ3 sounds').waitFor();
    await page.getByRole('button', { name: 'Live microphone' }).click();
    await page.getByRole('alert').filter({ hasText: 'lets no file use the microphone: choose sounds instead, or open this one by https' }).waitFor();
  }, { flags });
  await visit({ flags, open: false }, async ({ page, site }) => {
    await page.route(`${site.origin}/shared.html`, async (route) => route.fulfill({ body: await readFile(shared), contentType: 'text/html' }));
    await page.goto(`${site.origin}/shared.html`);
    await ready(page);
    await page.getByRole('button', { name: 'Live microphone' }).click();
    await page.locator('.meter-best[aria-label="Organ"]').waitFor();
  });
});

test('what is held is recorded in pieces, and recognised live; the microphone is let go', async () => {
  const file = path.join(folder, 'alarm.wav');
  await writeFile(file, soundOf('alarm', 0));
  await visit({ flags: [...FAKE, `--use-file-for-fake-audio-capture=${file}`] }, async ({ page }) => {
    await chooseSounds(page);
    await teachSounds(page, 'Organ', 'organ', [0, 1]);
    await addClass(page, 'Alarm');
    await page.getByRole('button', { name: 'Microphone for Alarm' }).click();
    const shutter = page.getByRole('button', { name: 'Hold to record Alarm' });
    await shutter.and(page.locator(':enabled')).waitFor();
    await shutter.hover();
    await page.mouse.down();
    await card(page, 'Alarm').locator('.thumb').nth(2).waitFor();
    await page.mouse.up();
    await page.getByRole('button', { name: 'Live microphone' }).click();
    await page.getByRole('meter', { name: 'Alarm' }).waitFor();
    await eventually(async () => assert.equal(most(await meters(page)), 'Alarm'));
    await page.waitForFunction(() => /** @type {HTMLMeterElement} */ (document.querySelector('[aria-label="Level of the microphone"]')).value > 0);
    await page.getByRole('button', { name: 'Live microphone' }).click();
    await status(page, /The microphone is off/);
  });
});

test('each thing that cannot be heard is told in a sentence', () => visit({}, async ({ page, context }) => {
  await chooseSounds(page);
  await addClass(page, 'Alarm');
  const cases = [
    [{ name: 'none.wav', mimeType: 'audio/wav', buffer: Buffer.alloc(0) }, /“none.wav” is empty/],
    [{ name: 'damaged.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('ID3 and nothing more') }, /“damaged.mp3” could not be read as a recording/],
    [{ name: 'film.mp4', mimeType: 'video/mp4', buffer: Buffer.from('film') }, /“film.mp4” is a video/],
    [{ name: 'letter.txt', mimeType: 'text/plain', buffer: Buffer.from('text') }, /“letter.txt” is not a recording/],
    [recordingOf(8000, 601), /“long.wav” is 10 minutes long, and at most 10 are read/],
  ];
  for (const [file, sentence] of cases) {
    await page.getByLabel('Add sounds to Alarm', { exact: true }).setInputFiles(/** @type {any} */ (file));
    await card(page, 'Alarm').locator('.error').filter({ hasText: /** @type {RegExp} */ (sentence) }).waitFor();
  }
  await page.getByLabel('Add sounds to Alarm', { exact: true }).setInputFiles(recordingOf(8000, 9));
  await card(page, 'Alarm').locator('.thumb').nth(3).waitFor();
  assert.equal(await card(page, 'Alarm').locator('.thumb').count(), 4, 'two seconds each');
  await page.getByLabel('Add sounds to Alarm', { exact: true }).setInputFiles(recordingOf(44_100, 3, 2));
  await card(page, 'Alarm').locator('.thumb').nth(4).waitFor();
  await context.clearPermissions();
  await page.getByRole('button', { name: 'Live microphone' }).click();
  await page.locator('#query-error').filter({ hasText: /^(The browser may not use the microphone|No microphone was found)/ }).waitFor();
}));

test('a microphone that is too loud, muted, frozen or taken away says so', async () => {
  const file = path.join(folder, 'loud.wav');
  await writeFile(file, recordingOf(48_000, 4, 1, 400).buffer);
  await visit({ flags: [...FAKE, `--use-file-for-fake-audio-capture=${file}`] }, async ({ page }) => {
    await page.evaluate(() => {
      const { mediaDevices } = navigator;
      const open = mediaDevices.getUserMedia.bind(mediaDevices);
      /** @type {any} */ (globalThis).given = {};
      mediaDevices.getUserMedia = async (wanted) => { const stream = await open(wanted); /** @type {any} */ (globalThis).given.track = stream.getTracks()[0]; return stream; };
      globalThis.AudioContext = class extends AudioContext { constructor() { super({ sampleRate: 44_100 }); /** @type {any} */ (globalThis).given.context = this; } };
    });
    await chooseSounds(page);
    await addClass(page, 'Alarm');
    const alarm = card(page, 'Alarm');
    const press = () => page.getByRole('button', { name: 'Microphone for Alarm' }).click();
    await press();
    await alarm.getByText('Too loud: go further from the microphone.').waitFor();
    const shutter = page.getByRole('button', { name: 'Hold to record Alarm' });
    await shutter.hover();
    await page.mouse.down();
    await alarm.locator('.thumb').first().waitFor();
    await page.mouse.up();
    await page.evaluate('given.track.enabled = false');
    await alarm.getByText('Nothing is heard: the microphone may be muted.').waitFor();
    await page.evaluate('given.context.suspend()');
    await alarm.locator('.error').filter({ hasText: 'The microphone gives no sound any more' }).waitFor();
    await press();
    await shutter.and(page.locator(':enabled')).waitFor();
    await page.evaluate("given.track.dispatchEvent(new Event('ended'))");
    await alarm.locator('.error').filter({ hasText: 'The microphone was disconnected' }).waitFor();
  });
});

/** A WAV file of 8 bits, a tone. @param {number} rate @param {number} seconds */
function recordingOf(rate, seconds, channels = 1, loud = 60) {
  const size = rate * seconds * channels;
  const bytes = Buffer.alloc(44 + size);
  bytes.write('RIFF', 0); bytes.writeUInt32LE(36 + size, 4); bytes.write('WAVEfmt ', 8); bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20); bytes.writeUInt16LE(channels, 22); bytes.writeUInt32LE(rate, 24); bytes.writeUInt32LE(rate * channels, 28); bytes.writeUInt16LE(channels, 32); bytes.writeUInt16LE(8, 34);
  bytes.write('data', 36); bytes.writeUInt32LE(size, 40);
  for (let i = 0; i < size; i++) bytes[44 + i] = 128 + Math.max(-128, Math.min(127, Math.round(loud * Math.sin(i / 30))));
  return { name: 'long.wav', mimeType: 'audio/wav', buffer: bytes };
}
