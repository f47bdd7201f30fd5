// @ts-check
/** The recipe of hands: its network against TensorFlow Lite, what is cut out against a picture given by a formula, and emoji. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createHands } from '../../../extractor/hands/session.js';
import test from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { decodePicture } from '../../../../scripts/embed/decode.mjs';
import { builtKinds, loadExtractor } from '../../../../scripts/embed/extractor.mjs';
import { cut, EDGE, SIZE } from '../../../extractor/hands/recipe.js';
import { handOf, styles } from '../../extractors/hands.js';
import { cosine } from '../../../ui/kinds/pictures/pace.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** @param {string} style @param {string} id @param {Parameters<typeof handOf>[2]} [options] */
const picture = async (style, id, options) => decodePicture(await handOf(style, id, options));

test('the network of 8 bits answers as its original of half floats', async () => {
  const oracle = JSON.parse(await readFile(path.join(root, 'testdata/extractor/hands.json'), 'utf8'));
  const folder = path.join(builtKinds.hands, 'hand');
  const {
    program,
    networks: { hand: manifest },
  } = JSON.parse(await readFile(path.join(builtKinds.hands, 'extractor.json'), 'utf8'));
  const bytes = async (/** @type {string} */ name) => new Uint8Array(await readFile(name)).buffer;
  const contents = new Map(
    await Promise.all(manifest.files.map(async (/** @type {{name: string}} */ { name }) => [name, await bytes(path.join(folder, name))])),
  );
  const { createNetwork } = await import(pathToFileURL(path.join(builtKinds.hands, 'runtime.js')).href);
  const network = await createNetwork({ manifest, contents, wasm: await bytes(path.join(builtKinds.hands, program.name)) });
  const signal = Float32Array.from({ length: 3 * SIZE * SIZE }, (_, at) => {
    const [c, j, i] = [at % 3, Math.floor(at / 3) % SIZE, Math.floor(at / (3 * SIZE))];
    return 0.5 + 0.25 * Math.sin(i / 9 + c) + 0.25 * Math.cos(j / (7 + c));
  });
  const [numbers, landmarks, [there], [right]] = network.run(signal);
  assert.ok(cosine(numbers, oracle.embedding) > 0.99, String(cosine(numbers, oracle.embedding)));
  assert.ok(Math.max(...oracle.landmarks.map((/** @type {number} */ value, /** @type {number} */ i) => (i % 3 < 2 ? Math.abs(value - landmarks[i]) : 0))) < 12);
  assert.ok(Math.abs(1 / (1 + Math.exp(-there)) - oracle.there) < 0.05 && Math.abs(1 / (1 + Math.exp(-right)) - oracle.right) < 0.15, `${there} ${right}`);
});

test('what is in a box is cut out where the box is: of any size, turned and mirrored', () => {
  const [width, height] = [800, 400];
  const data = new Float32Array(3 * EDGE * EDGE); // red grows to the right, green down, as shares of the picture
  for (let at = 0; at < EDGE * EDGE; at++) data.set([(255 * ((at % EDGE) + 0.5)) / EDGE, (255 * (Math.floor(at / EDGE) + 0.5)) / EDGE, 0], 3 * at);
  for (const [angle, mirrored] of /** @type {const} */ ([
    [0, false],
    [0.6, false],
    [-2, true],
  ])) {
    for (const side of [40, 250]) {
      const cutOut = cut({ data, width, height }, { x: 420, y: 190, side, angle, mirrored });
      for (const [u, v] of [
        [10, 10],
        [200, 30],
        [112, 215],
      ]) {
        const [across, down] = [((u + 0.5) / SIZE - 0.5) * side * (mirrored ? -1 : 1), ((v + 0.5) / SIZE - 0.5) * side];
        const expected = [
          (420 + Math.cos(angle) * across - Math.sin(angle) * down) / width,
          (190 + Math.sin(angle) * across + Math.cos(angle) * down) / height,
        ];
        expected.forEach((value, c) => assert.ok(Math.abs(cutOut[3 * (SIZE * v + u) + c] - value) < 1e-3, `${angle} ${side} ${u} ${v}`));
      }
    }
  }
  assert.ok(
    cut({ data, width, height }, { x: 0, y: 0, side: 2000, angle: 1, mirrored: false }).every((value) => value >= 0 && value <= 1),
    'beyond the picture its edge goes on',
  );
});

test('hands in other styles, mirrored and small are nearest to the same sign, left and right apart where that is asked for; what is no hand is refused', async () => {
  const { embed, sha256 } = await loadExtractor(builtKinds.hands);
  const signs = ['raised-hand', 'index-pointing-up', 'victory-hand'];
  const taught = await Promise.all(signs.map(async (id) => embed(await picture(styles[0], id))));
  const nearest = (/** @type {Float32Array} */ embedding) =>
    signs[taught.map((one) => cosine(one, embedding)).reduce((best, value, i, all) => (value > all[best] ? i : best), 0)];
  for (const id of signs) {
    for (const [style, options] of /** @type {[string, object][]} */ ([
      [styles[2], {}],
      [styles[3], {}],
      [styles[0], { mirrored: true }],
      [styles[0], { width: 480 }],
    ])) {
      assert.equal(nearest(await embed(await picture(style, id, options))), id, `${style} ${JSON.stringify(options)}`);
    }
  }
  const apart = await loadExtractor(builtKinds.hands, { variant: 'handedness' });
  const sides = await Promise.all([false, true].map(async (mirrored) => apart.embed(await picture(styles[0], signs[0], { mirrored }))));
  for (const mirrored of [false, true]) {
    const [same, other] = mirrored ? [...sides].reverse() : sides;
    const asked = await apart.embed(await picture(styles[2], signs[0], { mirrored }));
    assert.ok(
      cosine(asked, same) > cosine(asked, other) + 0.05,
      `a ${mirrored ? 'mirrored' : 'plain'} hand is nearer to one of the same side where left and right are told apart`,
    );
  }
  assert.notEqual(apart.sha256, sha256);
  await assert.rejects(embed(await picture(styles[0], 'sun')), { code: 'no-hand' });
  await assert.rejects(embed({ data: new Uint8Array(4).fill(255), width: 1, height: 1 }), { code: 'no-hand' });
});

test('a picture that was decoded for a look is closed, also where it cannot be read', async (t) => {
  const world = /** @type {any} */ (globalThis);
  const before = {
    ImageBitmap: world.ImageBitmap,
    ImageData: world.ImageData,
    createImageBitmap: world.createImageBitmap,
    OffscreenCanvas: world.OffscreenCanvas,
  };
  t.after(() => Object.assign(world, before));
  let open = 0;
  class Bitmap {
    width = 2;
    height = 2;
    close() {
      open--;
    }
  }
  let broken = false;
  const context = { clearRect() {}, drawImage() {}, getImageData: () => ({ data: new Uint8ClampedArray(16) }) };
  Object.assign(world, {
    ImageBitmap: Bitmap,
    ImageData: class {},
    createImageBitmap: async () => {
      open++;
      return new Bitmap();
    },
    OffscreenCanvas: class {
      getContext() {
        return broken ? null : context;
      }
    },
  });
  const run = () => [new Float32Array(672).fill(1), new Float32Array(63), new Float32Array([9]), new Float32Array([1])];
  const { embed } = await createHands(async () => ({ run, close() {} }), {
    id: 'hands-1',
    networks: { hand: /** @type {any} */ ({}) },
    wasm: new ArrayBuffer(0),
  });
  await embed(new Blob(['a picture']));
  assert.equal(open, 0);
  broken = true;
  await assert.rejects(embed(new Blob(['a picture'])), /no canvas/);
  assert.equal(open, 0);
});
