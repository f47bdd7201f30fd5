// @ts-check
/**
 * scripts/networks makes of MobileNetV2's original what answers as that does. The original and
 * its answers lie beside the clone in ../shared/extractors, or nowhere.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildExtractor } from '../../../build/extractor.mjs';
import { decodePicture } from '../../../../scripts/embed/decode.mjs';
import { loadExtractor } from '../../../../scripts/embed/extractor.mjs';
import { decodeNPZ } from '../../../../scripts/embed/npz.mjs';
import { cosine } from '../../../ui/kinds/pictures/pace.js';
import { temporaryFolder } from '../../temporary.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const photographs = path.join(root, 'testdata/parity');
const shared = path.join(root, '../shared/extractors');
const original = path.join(shared, 'tf2_mobilenet_v2_1.0_224_ptq.tflite');
const python = process.env.PYTHON ?? 'python3';
const numpy = spawnSync(python, ['-c', 'import numpy']).status === 0;
const convert = (/** @type {string[]} */ ...args) =>
  execFileSync(python, ['-B', path.join(root, 'scripts/networks'), ...args], { encoding: 'utf8', stdio: 'pipe' });

const temporary = temporaryFolder('networks');

const missing = !numpy ? `there is no numpy for ${python}` : !existsSync(original) && 'the original does not lie beside the clone (../shared/extractors)';

test('MobileNetV2 converted answers as its original', { skip: missing }, async (t) => {
  const network = path.join(temporary, 'mobilenet-v2');
  convert('mobilenet-v2', '--from', original, '--out', network);
  const built = path.join(temporary, 'extractor');
  await buildExtractor(built, network);
  const extractor = await loadExtractor(built);
  const { embeddings } = decodeNPZ(await readFile(path.join(shared, 'parity-mobilenetv2.npz')));
  const names = (await readdir(photographs)).filter((name) => name.endsWith('.jpg')).sort();
  assert.deepEqual(embeddings.shape, [names.length, 1280]);
  let worst = 1;
  for (const [i, name] of names.entries()) {
    const similarity = cosine(await extractor.embed(await decodePicture(path.join(photographs, name))), embeddings.data.subarray(1280 * i, 1280 * (i + 1)));
    assert.ok(similarity > 0.9999, `${name}: ${similarity}`);
    worst = Math.min(worst, similarity);
  }
  t.diagnostic(`smallest cosine similarity ${worst.toFixed(8)}`);
});

test('another file than the original is refused, and nothing is written', { skip: !numpy && missing }, async () => {
  const other = path.join(temporary, 'other.tflite');
  await writeFile(other, 'TFL3');
  const out = path.join(temporary, 'nothing');
  assert.throws(() => convert('mobilenet-v2', '--from', other, '--out', out), /the original has the sha256 [0-9a-f]{64}, not 5d313724/);
  assert.ok(!existsSync(out));
});

/** `make run` before it builds. @param {string} out where YAMNet is to be @param {string[]} variables */
function tryEars(out, ...variables) {
  const { status, stdout, stderr } = spawnSync('make', ['try-ears', `EARS=${out}`, `PYTHON=${python}`, ...variables], { cwd: root, encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('make run goes on without YAMNet where there is no Python or another file, and says so in one line', async () => {
  const other = path.join(temporary, 'another.tflite');
  await writeFile(other, 'TFL3');
  const said = "make: YAMNet could not be added ('make ears' says why): this site recognises spoken words only\n";
  for (const variable of ['PYTHON=no-such-python', ...(numpy ? [`YAMNET=${other}`] : [])]) {
    assert.deepEqual(tryEars(path.join(temporary, 'no-ears'), variable), { status: 0, stdout: '', stderr: said }, variable);
  }
});

const yamnet = path.join(shared, 'yamnet_spectra_in.tflite');

test('make run adds YAMNet once', { skip: !numpy ? missing : !existsSync(yamnet) && 'YAMNet does not lie beside the clone' }, () => {
  const out = path.join(temporary, 'ears');
  assert.deepEqual(tryEars(out, `YAMNET=${yamnet}`), { status: 0, stdout: 'make: YAMNet was added: this site recognises sounds of every kind\n', stderr: '' });
  assert.deepEqual(tryEars(out, 'PYTHON=no-such-python'), { status: 0, stdout: '', stderr: '' });
});

test('a server that does not answer is given up', { skip: spawnSync(python, ['-c', '']).status !== 0 && `there is no ${python}` }, async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    silent.once('listening', resolve);
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (silent.address());
  const program = `import sys; sys.path.insert(0, 'scripts/networks'); import original; original.PATIENCE = .1; original.download('http://127.0.0.1:${port}/')`;
  const { status, stderr } = spawnSync(python, ['-B', '-c', program], { cwd: root, encoding: 'utf8', env: { ...process.env, no_proxy: '*' } });
  silent.close();
  assert.equal(status, 1);
  assert.match(stderr, /no answer in 0.1 s|timed out/);
});
