// @ts-check
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, readdir, rename, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { before } from 'node:test';
import { fileURLToPath } from 'node:url';
import jpeg from 'jpeg-js';
import sharp from 'sharp';
import { buildExtractor } from '../../../build/extractor.mjs';
import { decodePicture } from '../../../../scripts/embed/decode.mjs';
import { loadExtractor } from '../../../../scripts/embed/extractor.mjs';
import { listPictures } from '../../../../scripts/embed/folder.mjs';
import { decodeNPZ, encodeNPZ } from '../../../../scripts/embed/npz.mjs';
import { temporaryFolder } from '../../temporary.js';
import { LONG } from '../../long.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const parity = path.join(root, 'testdata/parity');
const temporary = temporaryFolder('embed');
const built = path.join(temporary, 'extractor');
before(() => buildExtractor(built));

/** @param {string[]} args @returns {Promise<{code: number, stdout: string, stderr: string}>} */
function embed(...args) {
  return new Promise((resolve) => {
    execFile(process.execPath, [path.join(root, 'scripts/embed/embed.mjs'), ...args], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

/** Two classes of two pictures. @param {string} name */
async function pictureFolder(name) {
  const folder = path.join(temporary, name);
  const files = { insect: ['ant_image_0011.jpg', 'tick_image_0006.jpg'], bird: ['ibis_image_0036.jpg', 'gerenuk_image_0029.jpg'] };
  for (const [label, pictures] of Object.entries(files)) {
    await mkdir(path.join(folder, label), { recursive: true });
    for (const picture of pictures) await copyFile(path.join(parity, picture), path.join(folder, label, picture));
  }
  await writeFile(path.join(folder, 'insect', '.hidden'), 'not a picture');
  return folder;
}

test('a folder of classes becomes embeddings, labels and their facts', async () => {
  const folder = await pictureFolder('good');
  const splits = path.join(temporary, 'splits.json');
  await writeFile(splits, JSON.stringify({ train: ['insect'], test: ['bird'] }));
  const out = path.join(temporary, 'good.npz');
  const { code, stderr } = await embed(folder, '--out', out, '--splits', splits, '--extractor', built);
  assert.equal(code, 0, stderr);
  const { embeddings, labels } = decodeNPZ(new Uint8Array(await readFile(out)));
  const facts = JSON.parse(await readFile(out.replace('.npz', '.json'), 'utf8'));
  const extractor = await loadExtractor(built);
  assert.deepEqual(facts, {
    name: 'good',
    dimension: 1280,
    classes: ['bird', 'insect'],
    splits: { train: ['insect'], val: [], test: ['bird'] },
    extractor: extractor.id,
    extractor_sha256: extractor.sha256,
  });
  assert.deepEqual(labels, { shape: [4], data: Int32Array.of(0, 0, 1, 1) });
  assert.deepEqual(embeddings.shape, [4, 1280]);
  const tick = await extractor.embed(await decodePicture(path.join(parity, 'tick_image_0006.jpg')));
  assert.deepEqual(embeddings.data.slice(3 * 1280), tick);
});

test('a folder of unlabelled pictures becomes embeddings and the names of their files', async () => {
  const folder = path.join(await pictureFolder('unlabelled'), 'bird');
  const out = path.join(temporary, 'unlabelled.npz');
  const { code, stderr } = await embed(folder, '--unlabelled', '--out', out, '--extractor', built);
  assert.equal(code, 0, stderr);
  const arrays = decodeNPZ(new Uint8Array(await readFile(out)));
  assert.deepEqual(Object.keys(arrays), ['embeddings']);
  assert.deepEqual(arrays.embeddings.shape, [2, 1280]);
  const extractor = await loadExtractor(built);
  assert.deepEqual(arrays.embeddings.data.slice(1280), await extractor.embed(await decodePicture(path.join(parity, 'ibis_image_0036.jpg'))));
  assert.deepEqual(JSON.parse(await readFile(out.replace('.npz', '.json'), 'utf8')), {
    name: 'unlabelled',
    dimension: 1280,
    files: ['gerenuk_image_0029.jpg', 'ibis_image_0036.jpg'],
    extractor: extractor.id,
    extractor_sha256: extractor.sha256,
  });
  for (const [args, say] of /** @type {[string[], RegExp][]} */ ([
    [[path.dirname(folder), '--unlabelled'], /bird' is a folder; put unlabelled pictures into/],
    [[folder, '--unlabelled', '--split', 'test'], /have no splits; leave out/],
  ])) {
    const result = await embed(...args, '--out', out, '--extractor', built);
    assert.equal(result.code, 2);
    assert.match(result.stderr, say);
  }
});

test('the result does not depend on the number of threads', LONG, async () => {
  const folder = await pictureFolder('threads');
  const files = await Promise.all(
    ['1', '2', '3', '9'].map(async (workers) => {
      const out = path.join(temporary, `threads-${workers}.npz`);
      const { code, stderr } = await embed(folder, '--out', out, '--extractor', built, '--workers', workers);
      assert.equal(code, 0, stderr);
      return readFile(out);
    }),
  );
  for (const file of files) assert.deepEqual(file, files[0]);
});

test('of several pictures that cannot be read the first is named, whichever thread finds it', async () => {
  const folder = await pictureFolder('several');
  for (const name of ['bird/ibis_image_0036.jpg', 'insect/ant_image_0011.jpg', 'insect/tick_image_0006.jpg']) await truncate(path.join(folder, name), 3000);
  for (const workers of ['1', '2', '4']) {
    const { code, stderr } = await embed(folder, '--out', path.join(temporary, 'x.npz'), '--extractor', built, '--workers', workers);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /^'.*ibis_image_0036\.jpg' is none of the pictures/);
  }
});

test('subfolders of a class are groups, also those of one picture, a picture beside them is one of its own', async () => {
  const folder = await pictureFolder('bursts');
  assert.equal((await listPictures(folder)).grouped, false);
  for (const burst of ['b', 'j']) await mkdir(path.join(folder, 'insect', burst));
  for (const file of ['b/2.jpg', 'b/1.jpg', 'j/1.jpg']) await copyFile(path.join(parity, 'ant_image_0011.jpg'), path.join(folder, 'insect', file));
  await writeFile(path.join(folder, 'insect/b/.hidden'), 'not a picture');
  const out = path.join(temporary, 'bursts.npz');
  const { code, stderr } = await embed(folder, '--out', out, '--extractor', built);
  assert.equal(code, 0, stderr);
  const { labels, groups } = decodeNPZ(new Uint8Array(await readFile(out)));
  assert.deepEqual(labels, { shape: [7], data: Int32Array.of(0, 0, 1, 1, 1, 1, 1) });
  // bird/gerenuk, bird/ibis; insect/ant, insect/b/1, insect/b/2, insect/j/1, insect/tick
  assert.deepEqual(groups, { shape: [7], data: Int32Array.of(0, 1, 2, 3, 3, 4, 5) });
  const { pictures } = await listPictures(folder);
  assert.deepEqual(pictures.map(({ file }) => path.relative(folder, file)).slice(2), [
    'insect/ant_image_0011.jpg',
    'insect/b/1.jpg',
    'insect/b/2.jpg',
    'insect/j/1.jpg',
    'insect/tick_image_0006.jpg',
  ]);
  await mkdir(path.join(temporary, 'single/insect'), { recursive: true });
  await rename(path.join(folder, 'insect/j'), path.join(temporary, 'single/insect/j'));
  const single = await listPictures(path.join(temporary, 'single'));
  assert.deepEqual([single.pictures.map(({ group }) => group), single.grouped], [[0], true]);
});

/** What is wrong with a folder, the sentence for it, and how it comes about: files that are written, folders, splits, other arguments. @type {Record<string, [RegExp, (folder: string) => Promise<unknown>, string[]?]>} */
const refusals = {
  'a text file among the pictures': [
    /bird\/notes\.txt' is none of the pictures .*take it out/,
    (folder) => writeFile(path.join(folder, 'bird/notes.txt'), 'hello'),
  ],
  'a picture cut short': [
    /tick_image_0006\.jpg' is none of the pictures .*repair it/,
    (folder) => truncate(path.join(folder, 'insect/tick_image_0006.jpg'), 3000),
  ],
  'an empty class': [/'.*empty' has no pictures; add some or remove it/, (folder) => mkdir(path.join(folder, 'empty'))],
  'an empty burst': [/'.*bird\/empty' has no pictures; add some or remove it/, (folder) => mkdir(path.join(folder, 'bird/empty'))],
  'a folder within a burst': [
    /'.*bird\/one\/two' lies too deep; put its pictures into '.*bird\/one'/,
    (folder) => mkdir(path.join(folder, 'bird/one/two'), { recursive: true }),
  ],
  'a split with a class that is not there': [
    /names the class 'fish', which has no folder/,
    (folder) => writeFile(path.join(folder, 'splits.json'), '{"train": ["fish"]}'),
  ],
  'a split that leaves a class out': [/leaves out the class 'insect'/, (folder) => writeFile(path.join(folder, 'splits.json'), '{"train": ["bird"]}')],
  'a class in two splits': [
    /names the class 'bird' twice/,
    (folder) => writeFile(path.join(folder, 'splits.json'), '{"train": ["bird"], "test": ["bird", "insect"]}'),
  ],
  'an extractor that was not built': [/cannot be loaded .*run 'make build' first/, async () => {}, ['--extractor', path.join(temporary, 'none')]],
};
for (const [name, [sentence, spoil, more = []]] of Object.entries(refusals)) {
  test(`${name}: one sentence, status 2 and nothing written`, async () => {
    const folder = await pictureFolder(name.replace(/\W+/g, '-'));
    await spoil(folder);
    const target = await mkdtemp(path.join(temporary, 'out-'));
    const splits = existsSync(path.join(folder, 'splits.json')) ? ['--splits', path.join(folder, 'splits.json')] : [];
    const { code, stdout, stderr } = await embed(folder, '--out', path.join(target, 'x.npz'), '--extractor', built, '--quiet', ...splits, ...more);
    assert.equal(code, 2, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, sentence);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
    assert.deepEqual(await readdir(target), []);
  });
}

test('wrong arguments are explained', async () => {
  assert.match((await embed('--help')).stdout, /^Usage: /);
  for (const args of [
    [],
    ['a', 'b', '--out', 'x.npz'],
    ['a'],
    ['a', '--out', 'x.txt'],
    ['a', '--out', 'x.npz', '--what'],
    ['a', '--out', 'x.npz', '--workers', '0'],
    ['a', '--out', 'x.npz', '--workers', 'two'],
  ]) {
    const { code, stderr } = await embed(...args);
    assert.equal(code, 2);
    assert.match(stderr, /see --help\.$/m);
  }
  assert.match((await embed(path.join(temporary, 'nowhere'), '--out', 'x.npz')).stderr, /cannot be read; check its name/);
});

test('a file that is read is not written over', async () => {
  const folder = await pictureFolder('kept');
  const splits = path.join(temporary, 'kept.json');
  const text = JSON.stringify({ train: ['insect'], test: ['bird'] });
  await writeFile(splits, text);
  const { code, stderr } = await embed(folder, '--out', path.join(temporary, 'kept.npz'), '--splits', splits, '--extractor', built);
  assert.equal(await readFile(splits, 'utf8'), text);
  assert.equal(code, 2);
  assert.match(stderr, /kept\.json' is read and would be written over; choose another --out\.$/m);
});

test('grey, transparent and turned pictures decode as a browser shows them', async () => {
  const grey = await decodePicture(path.join(parity, 'ant_image_0011.jpg'));
  assert.deepEqual([grey.width, grey.height, grey.data.length], [300, 200, 4 * 300 * 200]);
  for (let i = 0; i < grey.data.length; i += 4) {
    assert.ok(grey.data[i] === grey.data[i + 1] && grey.data[i] === grey.data[i + 2] && grey.data[i + 3] === 255);
  }
  const rgba = { raw: { width: 2, height: 1, channels: /** @type {4} */ (4) } };
  const png = await sharp(Uint8Array.of(255, 0, 0, 128, 0, 0, 255, 255), rgba)
    .png()
    .toBuffer();
  assert.deepEqual([...(await decodePicture(png)).data], [255, 0, 0, 128, 0, 0, 255, 255]);
  const turned = await sharp(Uint8Array.of(9, 9, 9, 255, 200, 200, 200, 255), rgba)
    .withMetadata({ orientation: 8 })
    .png()
    .toBuffer();
  const upright = await decodePicture(turned);
  assert.deepEqual([upright.width, upright.height, upright.data[0], upright.data[4]], [1, 2, 200, 9]);
});

test('npz files are repeatable and come back as they were', () => {
  const arrays = {
    embeddings: { shape: [2, 3], data: Float32Array.of(1, -2.5, 3e-8, 4, 5, 6e30) },
    labels: { shape: [2], data: Int32Array.of(7, -1) },
  };
  const bytes = encodeNPZ(arrays);
  assert.deepEqual(decodeNPZ(bytes), arrays);
  assert.deepEqual(encodeNPZ(arrays), bytes);
});

test('an embedding is the mean of the cells of its views, which know where they look', async () => {
  const extractor = await loadExtractor(built);
  const pixels = await decodePicture(path.join(parity, 'tick_image_0006.jpg'));
  const cells = /** @type {import('../../../extractor/session.js').Cells} */ (await extractor.cells?.(pixels));
  assert.deepEqual(cells.embedding, await extractor.embed(pixels), 'the same as without cells');
  const n = cells.values.length / cells.embedding.length;
  assert.equal(
    n,
    cells.views.reduce((sum, { rows, columns }) => sum + rows * columns, 0),
  );
  cells.embedding.forEach((value, i) => {
    let sum = 0;
    for (let c = 0; c < n; c++) sum += cells.values[c * cells.embedding.length + i];
    assert.ok(Math.abs(sum / n - value) < 1e-5, `number ${i}: ${sum / n} in place of ${value}`);
  });
  const [whole, middle] = cells.views;
  assert.deepEqual([whole.x, whole.y, whole.width, whole.height], [0, 0, 1, 1]);
  const side = Math.min(pixels.width, pixels.height);
  assert.ok(Math.abs(middle.width * pixels.width - 0.7 * side) <= 1 && Math.abs(middle.height * pixels.height - 0.7 * side) <= 1, `${JSON.stringify(middle)}`);
  assert.ok(Math.abs(middle.x + middle.width / 2 - 0.5) < 0.01 && Math.abs(middle.y + middle.height / 2 - 0.5) < 0.01, 'in the middle');
});

test('what changes in one corner of a picture changes the cells there most', async () => {
  const extractor = await loadExtractor(built);
  const pixels = await decodePicture(path.join(parity, 'tick_image_0006.jpg'));
  const data = Uint8Array.from(pixels.data);
  for (let y = 0; y < pixels.height / 3; y++)
    for (let x = 0; x < pixels.width / 3; x++) data.fill(0, 4 * (y * pixels.width + x), 4 * (y * pixels.width + x) + 3);
  const [before, after] = [await extractor.cells?.(pixels), await extractor.cells?.({ ...pixels, data })];
  const { rows, columns } = /** @type {any} */ (before).views[0];
  const d = /** @type {any} */ (before).embedding.length;
  const change = Array.from({ length: rows * columns }, (_, c) => {
    let sum = 0;
    for (let i = c * d; i < (c + 1) * d; i++) sum += Math.abs(/** @type {any} */ (before).values[i] - /** @type {any} */ (after).values[i]);
    return sum;
  });
  const most = change.indexOf(Math.max(...change));
  assert.ok(Math.floor(most / columns) < rows / 2 && most % columns < columns / 2, `row ${Math.floor(most / columns)}, column ${most % columns}`);
});

test('a JPEG of four inks has the colours that browsers give it', async () => {
  const [width, height] = [48, 32];
  const pixels = Uint8Array.from({ length: 3 * width * height }, (_, i) => [4 * (((i / 3) % width) | 0), 7 * Math.floor(i / 3 / width), 128][i % 3]);
  const file = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .toColourspace('cmyk')
    .jpeg({ quality: 95 })
    .toBuffer();
  const shown = jpeg.decode(file, { useTArray: true }).data; // Chromium's differ by 0.07 in the mean
  const { data } = await decodePicture(file);
  const apart = Array.from(data, (value, i) => Math.abs(value - shown[i]));
  assert.ok(apart.reduce((sum, value) => sum + value) / apart.length < 1);
});
