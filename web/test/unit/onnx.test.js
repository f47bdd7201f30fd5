// @ts-check
/** A classifier as an ONNX file, in ONNX Runtime for JavaScript and for Python, beside the classifier itself. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import * as ort from 'onnxruntime-web';
import sharp from 'sharp';
import { onnxOf } from '../../share/onnx.js';
import { furthest, ofPictures, ofVectors, prior, root, runtime } from '../onnx.js';
import { temporaryFolder } from '../temporary.js';

ort.env.wasm.numThreads = 1;
/** Both runtimes are asked the same. @type {Promise<import('../onnx.js').Case>|undefined} */
let pictures;
const python = path.join(root, 'build/venv/bin/python'); // 'make test-python' makes it

/** What ONNX Runtime for Python answers. @param {import('../onnx.js').Case} of @returns {Promise<(asked: import('../onnx.js').Asked) => Promise<import('../onnx.js').Answer>>} */
async function inPython({ bytes, asked }) {
  const folder = temporaryFolder('onnx');
  writeFileSync(path.join(folder, 'model.onnx'), bytes);
  asked.forEach(({ data }, i) => writeFileSync(path.join(folder, `${i}`), data));
  const shapes = asked.map(({ input, type, dims }) => [input, type, dims]);
  const answers = JSON.parse(execFileSync(python, ['-B', '-c', PROGRAM, folder, JSON.stringify(shapes)], { encoding: 'utf8', maxBuffer: 2 ** 26 }));
  return async (one) => answers[asked.indexOf(one)];
}

const PROGRAM = `
import json, sys
import numpy, onnxruntime
folder, shapes = sys.argv[1], json.loads(sys.argv[2])
session, answers = onnxruntime.InferenceSession(folder + '/model.onnx'), []
for i, (name, kind, dims) in enumerate(shapes):
    p, none = session.run(['probabilities', 'none'], {name: numpy.fromfile(f'{folder}/{i}', kind).reshape(dims)})
    answers.append({'probabilities': p.ravel().tolist(), 'none': float(none.ravel()[0])})
print(json.dumps(answers))`;

/** @returns {string | false} why there is nothing to test with */
function missing() {
  try {
    execFileSync(python, ['-B', '-c', 'import onnxruntime'], { stdio: 'pipe' });
    return false;
  } catch {
    return 'ONNX Runtime for Python is missing: make test-python';
  }
}

for (const [name, options, shots, change] of /** @type {[string, any, number, ((x: Float32Array) => Float32Array)?][]} */ ([
  ['with the prior of pictures, one example of each', { prior }, 1],
  ['with the prior of pictures, five examples of each', { prior }, 5],
  ['without a prior', {}, 3],
  ['without a prior, of 40 numbers', {}, 3, (x) => x.slice(0, 40)],
  ['standardised, of 12 columns', { scale: 'standardise' }, 5, (x) => x.slice(0, 12)],
])) {
  test(`ONNX Runtime answers as the classifier does: ${name}`, async () => {
    const asked = await ofVectors(options, shots, change);
    const most = await furthest(asked, await runtime(ort, asked.bytes));
    console.log(`# ${name}: ${most.toExponential(1)} at most`);
    assert.ok(most < 1e-5, `${most}`);
  });
}

test('from a picture of any size ONNX Runtime answers as extractor and classifier do', async () => {
  const asked = await (pictures ??= ofPictures());
  const most = await furthest(asked, await runtime(ort, asked.bytes));
  console.log(`# ${asked.asked.length} pictures: ${most.toExponential(1)} at most, ${asked.bytes.length} bytes`);
  assert.ok(most < 1e-5, `${most}`);
});

test('ONNX Runtime for Python answers as the classifier does, from vectors and from pictures', { skip: missing() }, async () => {
  for (const asked of [await ofVectors({ prior }, 5), await (pictures ??= ofPictures())]) {
    const most = await furthest(asked, await inPython(asked));
    console.log(`# Python, ${asked.asked.length} of ${asked.asked[0].input}: ${most.toExponential(1)} at most`);
    assert.ok(most < 1e-5, `${most}`);
  }
});

test('the lines of Python in README.txt read a picture upright and over white, as the page does', { skip: missing() }, async () => {
  const readme = await readFile(path.join(root, 'web/share/use/onnx/README.txt'), 'utf8');
  const lines = readme.split('\n').filter((line) => line.startsWith('  '));
  const folder = temporaryFolder('lines');
  // In place of the runtime: says what it is given.
  writeFileSync(
    path.join(folder, 'onnxruntime.py'),
    `import types
class InferenceSession:
    def __init__(self, name): pass
    def run(self, outputs, given):
        print([*given['picture'].shape], given['picture'].dtype, given['picture'].ravel().tolist())
        return 1, 0
    def get_modelmeta(self): return types.SimpleNamespace(custom_metadata_map={'classes': '[]'})
`,
  );
  const two = sharp(Buffer.from([9, 9, 9, 200, 200, 200]), { raw: { width: 2, height: 1, channels: 3 } });
  const clear = sharp(Buffer.from([0, 0, 0, 0, 0, 0, 0, 255]), { raw: { width: 2, height: 1, channels: 4 } });
  for (const [content, expected] of /** @type {[Buffer, string][]} */ ([
    [await two.withMetadata({ orientation: 6 }).png().toBuffer(), '[2, 1, 3] uint8 [9, 9, 9, 200, 200, 200]'],
    [await clear.png().toBuffer(), '[1, 2, 3] uint8 [255, 255, 255, 0, 0, 0]'],
  ])) {
    writeFileSync(path.join(folder, 'picture.jpg'), content);
    const text = execFileSync(python, ['-B', '-c', lines.map((line) => line.slice(2)).join('\n')], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, PYTHONPATH: folder },
    });
    assert.equal(text.split('\n')[0], expected);
  }
});

test('other files are refused', () => {
  assert.throws(() => onnxOf(new Uint8Array(prior)), /not the numbers of a classifier/);
});
