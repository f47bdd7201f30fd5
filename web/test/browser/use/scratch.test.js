// @ts-check
/** The extension for Scratch, in scratch-vm of npm with a camera that shows pictures. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { temporaryFolder } from '../../temporary.js';
import { eventually, recognise, root, sample, visit } from '../harness.js';
import { ran, saved, teachThree } from './used.js';

/** @import {Page} from 'playwright-core' */

const machine = path.join(root, 'web/test/scratch/node_modules/scratch-vm/dist/web/scratch-vm.min.js');
const folder = temporaryFolder('scratch');

/** A PNG picture of the size of Scratch's camera. @param {string} file */
async function frame(file) {
  const to = path.join(folder, `${path.basename(path.dirname(file))}-${path.basename(file)}`);
  await sharp(file).resize(480, 360, { fit: 'contain', background: '#fff' }).flatten({ background: '#fff' }).png().toFile(to);
  return to;
}

/**
 * A project whose hat "when you see Rocket" adds one to a variable.
 *
 * @param {string} id of the extension
 */
const project = (id) => ({
  projectVersion: 3, // as its reader notes it
  targets: [{
    isStage: true, name: 'Stage', variables: { times: ['times', 0] }, lists: {}, broadcasts: {}, comments: {}, currentCostume: 0, costumes: [], sounds: [], volume: 100, layerOrder: 0, tempo: 60,
    blocks: {
      hat: { opcode: `${id}_when`, next: 'add', parent: null, inputs: { LABEL: [1, 'menu'] }, fields: {}, shadow: false, topLevel: true, x: 0, y: 0 },
      menu: { opcode: `${id}_menu_labels`, next: null, parent: 'hat', inputs: {}, fields: { labels: ['Rocket', null] }, shadow: true, topLevel: false },
      add: { opcode: 'data_changevariableby', next: null, parent: 'hat', inputs: { VALUE: [1, [4, '1']] }, fields: { VARIABLE: ['times', 'times'] }, shadow: false, topLevel: false },
    },
  }],
  monitors: [], extensions: [], meta: { semver: '3.0.0', vm: '2.3.0', agent: '' },
});

/** Calls a block as the machine does, and waits for its answer. @param {Page} page @param {string} opcode @param {object} [args] */
const call = (page, opcode, args = {}) => page.evaluate(async ([name, given]) => {
  const { vm, id } = /** @type {any} */ (globalThis);
  return vm.runtime.getOpcodeFunction(`${id}_${name}`)(given, {});
}, /** @type {const} */ ([opcode, args]));

/** Holds a picture before the camera. @param {Page} page @param {string} file */
const hold = async (page, file) => page.evaluate(async (text) => {
  const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${text}`)).blob(), { colorSpaceConversion: 'none', premultiplyAlpha: 'none' });
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d'));
  context.drawImage(bitmap, 0, 0);
  Object.assign(globalThis, { shown: context.getImageData(0, 0, bitmap.width, bitmap.height) });
}, readFileSync(file).toString('base64'));

test('the blocks answer as the page does, are told what comes, and can be taught', { skip: !existsSync(machine) && 'scratch-vm is not installed' }, async () => {
  const names = ['Cat', 'Rocket', 'Banana'];
  const asked = await Promise.all([sample('emojione', 'cat'), sample('noto', 'rocket'), sample('fxemoji', 'banana'), sample('noto', 'umbrella')].map(frame));
  /** @type {Record<string, number>[]} */
  const before = [];
  let file = '';
  await visit({}, async ({ page }) => {
    await teachThree(page);
    for (const picture of asked) before.push(await recognise(page, picture));
    file = await saved(page, 'Scratch');
  });
  console.log(`# ${path.basename(file)}: ${statSync(file).size} bytes`);
  const site = path.join(folder, 'site');
  mkdirSync(site);
  writeFileSync(path.join(site, 'extension.js'), readFileSync(file));
  writeFileSync(path.join(site, 'vm.js'), readFileSync(machine));
  writeFileSync(path.join(site, 'index.html'), '<!doctype html><link rel="icon" href="data:,"><script src="vm.js"></script>');
  await ran(site, async (page) => {
    const loaded = (/** @type {boolean} */ unsandboxed) => page.evaluate(async (free) => {
      const scope = /** @type {any} */ (globalThis);
      const vm = scope.vm ??= new scope.VirtualMachine();
      vm.setVideoProvider({ videoReady: true, enableVideo: async () => {}, disableVideo: () => {}, getFrame: (/** @type {{format: string}} */ { format }) => (format === 'image-data' ? scope.shown : null) });
      const register = (/** @type {any} */ extension) => {
        scope.id = extension.getInfo().id;
        vm.extensionManager._loadedExtensions.set(scope.id, vm.extensionManager._registerInternalExtension(extension));
      };
      // As TurboWarp hands it to an extension.
      scope.Scratch = { vm, BlockType: { COMMAND: 'command', REPORTER: 'reporter', HAT: 'hat' }, ArgumentType: { STRING: 'string' }, extensions: { unsandboxed: free, register } };
      await new Promise((resolve, reject) => {
        addEventListener('error', (event) => { event.preventDefault(); reject(new Error(event.message)); }, { once: true });
        document.head.append(Object.assign(document.createElement('script'), { src: 'extension.js', onload: resolve }));
      });
    }, unsandboxed);
    await assert.rejects(loaded(false), /Run extension without sandbox/);
    await loaded(true);
    assert.equal(await call(page, 'see'), '', 'before the camera is on');
    await hold(page, asked[0]);
    await call(page, 'camera', { STATE: 'on' });
    for (const [i, picture] of asked.entries()) {
      await hold(page, picture);
      await eventually(async () => {
        for (const name of [...names, 'None of these']) {
          const p = await call(page, 'probability', { LABEL: name });
          assert.ok(Math.abs(p / 100 - before[i][name]) < 1e-6, `${name} ${p / 100}, on the page ${before[i][name]}`);
        }
      });
      const seen = await call(page, 'see');
      assert.ok(Math.abs(await call(page, 'sure') / 100 - before[i][seen]) < 1e-6, seen);
    }
    // A script of the person's, run by the machine.
    await page.evaluate(async (json) => {
      const { vm } = /** @type {any} */ (globalThis);
      await vm.deserializeProject(JSON.parse(json), null); // without the costumes that a file must have
      vm.start();
    }, JSON.stringify(project(await page.evaluate('id'))));
    const times = () => page.evaluate(() => /** @type {any} */ (globalThis).vm.runtime.getTargetForStage().lookupVariableById('times').value);
    for (const count of [1, 2]) {
      await hold(page, asked[3]);
      await eventually(async () => assert.equal(await call(page, 'when', { LABEL: 'Rocket' }), false));
      await hold(page, asked[1]);
      await eventually(async () => assert.equal(Number(await times()), count));
    }
    await hold(page, asked[3]);
    for (let i = 0; i < 3; i++) await call(page, 'teach', { LABEL: 'Umbrella' });
    assert.equal(await call(page, 'see'), 'Umbrella');
    await call(page, 'camera', { STATE: 'off' });
    assert.equal(await call(page, 'see'), '');
  });
});
