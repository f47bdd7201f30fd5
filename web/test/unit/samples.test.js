// @ts-check
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { buildSamples } from '../../build/samples.mjs';
import { allConcepts, shippedConcepts, styles } from '../../samples/concepts.mjs';
import { decodePicture } from '../../../scripts/embed/decode.mjs';
import { temporaryFolder } from '../temporary.js';

test('every style draws every shipped concept, opaque on white, and no two alike', async () => {
  const folder = temporaryFolder('samples');
  const concepts = shippedConcepts;
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
});

test('an icon that a style does not draw stops the build by name', async () => {
  await assert.rejects(
    buildSamples(temporaryFolder('samples'), [{ id: 'no-such-icon', name: '' }], (s, c) => `${s}/${c}`),
    /has no 'no-such-icon'/,
  );
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
