// @ts-check
/**
 * The recipe of sounds against what numpy and TensorFlow Lite say of a signal given by a formula.
 * Where recordings lie beside the clone (../shared), it is checked against their embeddings too.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { builtKinds, loadExtractor } from '../../../../scripts/embed/extractor.mjs';
import { decodeSound } from '../../../../scripts/embed/hear.mjs';
import { decodeNPZ } from '../../../../scripts/embed/npz.mjs';
import { filesOf, listed, loadNetworks } from '../../../extractor/networks.js';
import { drawnSpectrum, embedSound } from '../../../extractor/sounds/recipe.js';
import { resample } from '../../../extractor/sounds/resample.js';
import { htkBank, melSpectra, slaneyBank } from '../../../extractor/sounds/spectra.js';
import { kinds, soundOf } from '../../extractors/sounds.js';
import { wordOf } from '../../extractors/words.js';
import { cosine } from '../../../ui/kinds/pictures/pace.js';
import { temporaryFolder } from '../../temporary.js';
import { LONG } from '../../long.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const shared = path.join(root, '../shared');
const oracle = JSON.parse(await readFile(path.join(root, 'testdata/extractor/sounds.json'), 'utf8'));
const signal = Float32Array.from({ length: 24_000 }, (_, i) => {
  const t = i / 16_000;
  return 0.2 * Math.sin(2 * Math.PI * (200 * t + 300 * t * t)) * (0.5 + 0.5 * Math.sin(6 * Math.PI * t)) + 0.05 * Math.sin(3000 * Math.PI * t);
});

test('the spectra of both networks are those that numpy computes', () => {
  const magnitudes = melSpectra(signal, htkBank(64, 125, 7500), { power: 1 });
  const powers = melSpectra(signal, slaneyBank(32, 60, 3800), { power: 2, lead: 56 });
  assert.equal(magnitudes.length, oracle.frames);
  for (const [row, expected] of /** @type {const} */ ([
    [magnitudes[40], oracle.htk],
    [powers[40], oracle.slaney],
  ])) {
    assert.equal(row.length, expected.length);
    const largest = Math.max(...expected);
    row.forEach((value, band) => assert.ok(Math.abs(value - expected[band]) < 2e-5 * largest, `band ${band}: ${value}, not ${expected[band]}`));
  }
});

for (const rate of [48_000, 44_100, 22_050, 8000, 11_025]) {
  test(`${rate} samples a second become 16,000, and what lies above is gone`, () => {
    const tone = (/** @type {number} */ hertz, /** @type {number} */ at, /** @type {number} */ n) =>
      Float32Array.from({ length: n }, (_, i) => Math.sin((2 * Math.PI * hertz * i) / at));
    const middle = (/** @type {Float32Array} */ samples) => samples.subarray(2000, 10_000);
    const got = middle(resample(tone(1000, rate, rate), rate, 16_000));
    const expected = middle(tone(1000, 16_000, 16_000));
    assert.ok(got.every((value, i) => Math.abs(value - expected[i]) < 2e-3));
    if (rate > 32_000) assert.ok(middle(resample(tone(11_000, rate, rate), rate, 16_000)).every((value) => Math.abs(value) < 2e-3));
    assert.ok(middle(resample(new Float32Array(rate).fill(0.5), rate, 16_000)).every((value) => Math.abs(value - 0.5) < 1e-6));
  });
}

test('the speech embedding is that of the network before it was turned into 8 bits; silence, clipping and one sample give numbers', async () => {
  const { speech } = await networks();
  const share = async (/** @type {Float32Array} */ samples) => embedSound({ speech }, samples);
  const similarity = cosine(await share(signal), oracle.speech);
  assert.ok(similarity > 0.998, String(similarity));
  for (const samples of [new Float32Array(16_000), new Float32Array(1), Float32Array.from({ length: 16_000 }, (_, i) => (i % 50 < 25 ? 1 : -1))]) {
    const embedding = await share(samples);
    assert.ok(embedding.length === 96 && embedding.every(Number.isFinite));
  }
});

test('half an hour of sound is embedded and drawn, too', LONG, () => {
  const long = new Float32Array(1800 * 16_000).fill(0.1);
  const run = () => [new Float32Array(96).fill(1), new Float32Array(1)];
  assert.equal(embedSound({ speech: { run }, yamnet: { run } }, long).length, 1120);
  assert.equal(drawnSpectrum(long).frames, 179_998);
});

test('a WAV file is read; what is no sound, or none that is known, is refused by a sentence', async () => {
  const { samples, rate } = await decodeSound(soundOf('organ', 0));
  assert.deepEqual([samples.length, rate], [24_000, 16_000]);
  for (const file of [new Uint8Array(0), new Uint8Array(100), new TextEncoder().encode('OggS, not at all')]) await assert.rejects(decodeSound(file));
});

/** A chunk of a WAV file, with the byte that fills an odd one. @param {string} id @param {Buffer} content */
const chunk = (id, content) =>
  Buffer.concat([Buffer.from(`${id}....`), content, Buffer.alloc(content.length % 2)])
    .fill(content.length & 255, 4, 5)
    .fill(content.length >> 8, 5, 6)
    .fill(0, 6, 8);

test('WAV files of every usual form are read, as browsers scale them', async () => {
  const odd = chunk('LIST', Buffer.from('odd'));
  const facts = chunk('fact', Buffer.alloc(4));
  const plain = { format: 1, bits: 16, channels: 1, header: 16, before: /** @type {Buffer[]} */ ([]) };
  const forms = [
    plain,
    { ...plain, bits: 8 },
    { ...plain, bits: 24, channels: 2 },
    { ...plain, bits: 32, before: [odd] },
    { ...plain, before: [odd] },
    { ...plain, format: 3, bits: 32, header: 18, before: [facts] },
    { ...plain, format: 3, bits: 64, header: 18, before: [facts] },
    { ...plain, bits: 24, header: 40 },
    { ...plain, format: 3, bits: 32, channels: 2, header: 40, before: [odd] },
  ];
  for (const { format, bits, channels, header, before } of forms) {
    const said = `format ${format}, ${bits} bits, ${channels} channels, a header of ${header}`;
    const fmt = Buffer.alloc(header);
    const block = (channels * bits) / 8;
    fmt.writeUInt16LE(header === 40 ? 0xfffe : format, 0);
    fmt.writeUInt16LE(channels, 2);
    fmt.writeUInt32LE(8000, 4);
    fmt.writeUInt32LE(8000 * block, 8);
    fmt.writeUInt16LE(block, 12);
    fmt.writeUInt16LE(bits, 14);
    if (header === 40) fmt.writeUInt16LE(format, 24);
    const values = [0.5, -0.5, 0.25, -1];
    const data = Buffer.alloc(values.length * block);
    for (const [i, value] of values.entries()) {
      for (let c = 0; c < channels; c++) {
        const at = i * block + (c * bits) / 8;
        if (format === 3) data[bits === 32 ? 'writeFloatLE' : 'writeDoubleLE'](value, at);
        else if (bits === 8) data[at] = 128 + 128 * value;
        else data.writeIntLE(value * 2 ** (bits - 1), at, bits / 8);
      }
    }
    const file = Buffer.concat([Buffer.from('RIFF....WAVE'), chunk('fmt ', fmt), ...before, chunk('data', data), odd]);
    const { samples, rate } = await decodeSound(new Uint8Array(file));
    assert.deepEqual([[...samples], rate], [values, 8000], said);
  }
});

const yamnet = path.join(root, 'build/site/kinds/sounds/yamnet');
const missing = !existsSync(path.join(shared, 'extractors/parity-sounds.npz'))
  ? 'the recordings do not lie beside the clone'
  : !existsSync(yamnet) && 'the site is built without YAMNet';

test('recordings are embedded as where the recipe was found', { skip: missing }, async (t) => {
  const { embed } = await loadExtractor(builtKinds.sounds);
  const expected = decodeNPZ(await readFile(path.join(shared, 'extractors/parity-sounds.npz')));
  const folder = temporaryFolder('sounds');
  for (const set of ['esc10', 'digits']) {
    execFileSync('tar', ['xf', path.join(shared, `sounds/${set}.tar`), '-C', folder]);
    const classes = (await readdir(path.join(folder, set))).sort();
    const [ofYamnet, ofSpeech] = [[], []].map(() => /** @type {number[]} */ ([]));
    for (const [i, name] of classes.entries()) {
      const [first] = (await readdir(path.join(folder, set, name))).sort();
      const embedding = await embed(new Uint8Array(await readFile(path.join(folder, set, name, first))));
      const part = (/** @type {string} */ network, /** @type {number} */ size) => expected[`${set}_${network}`].data.subarray(size * i, size * (i + 1));
      ofYamnet.push(cosine(embedding.subarray(0, 1024), part('yamnet', 1024)));
      ofSpeech.push(cosine(embedding.subarray(1024), part('speech', 96)));
    }
    t.diagnostic(`${set}: YAMNet ${ofYamnet.map((value) => value.toFixed(4)).join(' ')}; speech ${ofSpeech.map((value) => value.toFixed(4)).join(' ')}`);
    // One recording's patches lie at the bound of 20 dB; where spoken digits are laid over noise, that was random there.
    assert.ok(ofYamnet.filter((value) => value > 0.999).length >= classes.length - 1);
    assert.ok(ofSpeech.filter((value) => value > (set === 'digits' ? 0.98 : 0.999)).length >= classes.length - 1);
  }
});

test('without YAMNet words are embedded, and other sounds are refused', async () => {
  const {
    wasm,
    networks: { speech },
  } = await filesOfSounds();
  const { embed } = await (await import(pathToFileURL(path.join(builtKinds.sounds, 'start.js')).href)).start({
    id: 'sounds-1-speech',
    wasm,
    networks: { speech },
  });
  for (const word of ['satu', 'tomo', 'baki', 'pedu']) {
    for (let i = 0; i < 4; i++) assert.equal((await embed(await decodeSound(wordOf(word, i)))).length, 96);
  }
  let refused = 0;
  for (const kind of Object.keys(kinds)) {
    await embed(await decodeSound(soundOf(kind, 0))).catch((/** @type {any} */ error) => {
      assert.deepEqual([error.code, error.message], ['no-speech', 'I can only compare single spoken words here: record or choose one word.']);
      refused++;
    });
  }
  assert.ok(refused >= 20, `${refused} of ${Object.keys(kinds).length}`);
});

/** The built networks of sounds, as they are fetched. @returns {Promise<any>} */
async function filesOfSounds() {
  const place = builtKinds.sounds;
  const record = JSON.parse(await readFile(path.join(place, 'extractor.json'), 'utf8'));
  const contents = await Promise.all(
    [record.program, ...listed(record)].map(async ({ name }) => new Uint8Array(await readFile(path.join(place, name))).buffer),
  );
  return filesOf(record, contents.slice(1), contents[0]);
}

/** @returns {Promise<any>} */
async function networks() {
  const { createNetwork } = await import(pathToFileURL(path.join(builtKinds.sounds, 'runtime.js')).href);
  return loadNetworks(createNetwork, await filesOfSounds());
}
