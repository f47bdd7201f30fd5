// @ts-check
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { buildSamples } from '../../build/samples.mjs';
import { drawLesson, pictureURL } from '../../samples/catalog.js';
import { allConcepts, shippedConcepts, styles } from '../../samples/concepts.js';
import { decodePicture } from '../../../scripts/embed/decode.mjs';

const catalog = { styles, concepts: shippedConcepts, folder: 'http://localhost/samples/' };

/** A repeatable stand-in for Math.random. @param {number} seed */
function seeded(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

test('every style draws every shipped concept, opaque on white, and no two alike', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'samples-'));
  try {
    const concepts = shippedConcepts.slice(0, 4);
    await buildSamples(folder, concepts, (style, concept) => `${style}/${concept}.png`);
    const written = JSON.parse(await readFile(path.join(folder, 'samples.json'), 'utf8'));
    assert.deepEqual(written, { styles, concepts });
    const seen = new Set();
    for (const style of styles) {
      for (const concept of concepts) {
        const { data, width, height } = await decodePicture(path.join(folder, style.id, `${concept.id}.png`));
        const name = `${style.id}/${concept.id}`;
        assert.deepEqual([width, height], [192, 192], name);
        assert.deepEqual([...data.slice(0, 4)], [255, 255, 255, 255], name);
        const inked = data.filter((value, i) => i % 4 !== 3 && value < 200).length;
        assert.ok(inked > 192 * 192 * 3 * 0.02, `${name}: ${inked}`);
        seen.add(Buffer.from(data).toString('base64'));
      }
    }
    assert.equal(seen.size, styles.length * concepts.length);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('an icon that a style does not draw stops the build by name', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'samples-'));
  try {
    await assert.rejects(buildSamples(folder, [{ id: 'no-such-icon', name: '' }], (s, c) => `${s}/${c}`), /has no 'no-such-icon'/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('there are enough concepts, each once, and every art style tells its licence and author', async () => {
  assert.ok(allConcepts.length >= 40 && styles.length >= 4);
  assert.equal(new Set(allConcepts.map(({ id }) => id)).size, allConcepts.length);
  const notices = await readFile(new URL('../../../THIRD_PARTY.md', import.meta.url), 'utf8');
  for (const { id, name, author, licence, url } of styles) {
    const line = notices.split('\n').find((text) => text.includes(`@iconify-json/${id}\``)) ?? '';
    for (const fact of [name, author, licence, url]) assert.ok(line.includes(fact), `THIRD_PARTY.md lacks '${fact}' for ${id}`);
  }
});

test('a lesson asks in a style it did not teach, about classes it taught', () => {
  for (let seed = 1; seed < 50; seed++) {
    const { classes, questions, stranger } = drawLesson(catalog, { ways: 5, shots: 3, random: seeded(seed) });
    assert.equal(classes.length, 5);
    assert.deepEqual(questions.map(({ name }) => name), classes.map(({ name }) => name));
    const styleOf = (/** @type {string} */ url) => new URL(url).pathname.split('/')[2];
    const taught = new Set(classes.flatMap(({ pictures }) => pictures.map(styleOf)));
    assert.equal(taught.size, 3);
    const asked = new Set([...questions, stranger].map(({ picture }) => styleOf(picture)));
    assert.equal(asked.size, 1);
    assert.ok(!taught.has([...asked][0]));
    assert.ok(!classes.some(({ name }) => name === stranger.name));
  }
});

test('the same random numbers draw the same lesson, others another', () => {
  const draw = (/** @type {number} */ seed) => drawLesson(catalog, { random: seeded(seed) });
  assert.deepEqual(draw(7), draw(7));
  assert.notDeepEqual(draw(7), draw(8));
});

test('a lesson larger than the catalog is refused with the limits', () => {
  assert.throws(() => drawLesson(catalog, { ways: shippedConcepts.length }), /samples for 15 classes of 5 pictures/);
  assert.throws(() => drawLesson(catalog, { shots: styles.length }), /asked for 5 of 6/);
});

test('pictures lie beside the catalog', () => {
  assert.equal(pictureURL(catalog, 'noto', 'cat'), 'http://localhost/samples/noto/cat.png');
});
