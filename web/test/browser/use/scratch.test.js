// @ts-check
/** The extension for Scratch, in scratch-vm of npm with a camera that shows pictures. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../temporary.js';
import { eventually, recognise, sample, visit } from '../harness.js';
import { call, frame, hold, loaded, machine, scratchSite } from './scratch.js';
import { assertSize, ran, saved, teachThree } from './used.js';

const folder = temporaryFolder('scratch');

/**
 * A project whose hat "when you see Rocket" adds one to a variable.
 *
 * @param {string} id of the extension
 */
const project = (id) => ({
  projectVersion: 3, // as its reader notes it
  targets: [
    {
      isStage: true,
      name: 'Stage',
      variables: { times: ['times', 0] },
      lists: {},
      broadcasts: {},
      comments: {},
      currentCostume: 0,
      costumes: [],
      sounds: [],
      volume: 100,
      layerOrder: 0,
      tempo: 60,
      blocks: {
        hat: { opcode: `${id}_when`, next: 'add', parent: null, inputs: { LABEL: [1, 'menu'] }, fields: {}, shadow: false, topLevel: true, x: 0, y: 0 },
        menu: { opcode: `${id}_menu_labels`, next: null, parent: 'hat', inputs: {}, fields: { labels: ['Rocket', null] }, shadow: true, topLevel: false },
        add: {
          opcode: 'data_changevariableby',
          next: null,
          parent: 'hat',
          inputs: { VALUE: [1, [4, '1']] },
          fields: { VARIABLE: ['times', 'times'] },
          shadow: false,
          topLevel: false,
        },
      },
    },
  ],
  monitors: [],
  extensions: [],
  meta: { semver: '3.0.0', vm: '2.3.0', agent: '' },
});

test('the blocks answer as the page does, are told what comes, and can be taught', {
  skip: !existsSync(machine) && 'scratch-vm is not installed',
}, async () => {
  const names = ['Cat', 'Rocket', 'Banana'];
  const asked = await Promise.all([sample('emojione', 'cat'), sample('noto', 'rocket'), sample('fxemoji', 'banana'), sample('noto', 'umbrella')].map(frame));
  const files = asked.map((png, i) => {
    const to = path.join(folder, `asked-${i}.png`);
    writeFileSync(to, png);
    return to;
  });
  /** @type {Record<string, number>[]} */
  const before = [];
  let file = '';
  await visit({}, async ({ page }) => {
    await teachThree(page);
    for (const one of files) before.push(await recognise(page, one));
    file = await saved(page, 'Scratch');
  });
  assertSize('Scratch', file);
  await ran(scratchSite(path.join(folder, 'site'), file), async (page) => {
    await assert.rejects(loaded(page, false), /Run extension without sandbox/);
    await loaded(page);
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
      assert.ok(Math.abs((await call(page, 'sure')) / 100 - before[i][seen]) < 1e-6, seen);
    }
    // A script of the person's, run by the machine.
    await page.evaluate(
      async (json) => {
        const { vm } = /** @type {any} */ (globalThis);
        await vm.deserializeProject(JSON.parse(json), null); // without the costumes that a file must have
        vm.start();
      },
      JSON.stringify(project(await page.evaluate('id'))),
    );
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
