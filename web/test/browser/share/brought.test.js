// @ts-check
/** One file with an extractor that a person brought. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { nsfwjs, textDirection } from '../../extractors/networks.js';
import { LONG } from '../../long.js';
import { assertProbabilities, offlineReady, recognise, sample, teach, teachNew, visit } from '../harness.js';
import { answer, asked, assertNear, bring, command, folder, kept, opened, share, styles } from './shared.js';

/** @type {[string, typeof nsfwjs, {id: string, large: boolean, licence: RegExp, carries: string[], not: string[]}][]} */
const brought = [
  [
    'a TensorFlow.js graph',
    nsfwjs,
    {
      id: 'nsfwjs-mobilenetv2-224@4.4.0',
      large: false,
      licence: /MIT, Copyright Infinite Red/,
      carries: ['@tensorflow/tfjs-core', 'XNNPACK'],
      not: ['efficientnet-lite0', 'onnxruntime'],
    },
  ],
  [
    'an ONNX network',
    textDirection,
    {
      id: 'ppocr-direction-192@2.0',
      large: true,
      licence: /Apache-2\.0, Copyright PaddlePaddle Authors/,
      carries: ['onnxruntime-web', 'Protocol Buffers'],
      not: ['efficientnet-lite0', 'tensorflow'],
    },
  ],
];

for (const [name, make, { id, large, licence, carries, not }] of brought) {
  test(`${name} that was brought goes along in the file, which answers as the page does, learns, and is written anew`, {
    timeout: 240_000,
    ...LONG,
  }, async () => {
    const manifest = await make(path.join(folder, id));
    /** @type {Awaited<ReturnType<typeof answer>>[]} */
    const before = [];
    let file = '';
    let session = '';
    let prior = '';
    await visit({}, async ({ page }) => {
      await bring(page, manifest);
      for (const taught of ['Cat', 'Rocket', 'Banana']) await teach(page, taught, styles);
      for (const picture of asked) before.push(await answer(page, picture));
      if (large) {
        // As if more went along: of these networks none makes a file too large for a mail.
        const parts = '**/networks/share-onnx.txt';
        await page.route(parts, async (route) => route.fulfill({ body: `${await (await route.fetch()).text()}${randomBytes(13_000_000).toString('hex')}` }));
        await page.getByRole('button', { name: /^Session:/ }).click();
        await page.getByRole('button', { name: 'Share…' }).click();
        const dialog = page.getByRole('dialog', { name: 'Share' });
        await dialog.getByText(/^The file has 2\d\.\d MB\. That is too large for most e-mail\.$/).waitFor();
        await dialog.getByRole('button', { name: /^Save 2\d\.\d MB all the same$/ }).waitFor();
        await page.keyboard.press('Escape');
        await page.keyboard.press('Escape');
        await page.unroute(parts);
      }
      file = await share(page, { learn: true });
      await page.getByRole('button', { name: /^Session:/ }).click();
      session = await kept(page, 'Save this session');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Settings' }).click();
      prior = await kept(page, 'Save background knowledge');
    });
    const text = await readFile(file, 'utf8');
    console.log(`# ${name}: ${text.length} bytes`);
    assert.ok(large || text.length < 12e6, `${text.length} bytes`);

    // What the command writes is opened for one of the two.
    const other = path.join(folder, `${id}.html`);
    const written = spawnSync('node', [command, '--classifier', session, '--prior', prior, '--extractor', manifest, '--out', other], { encoding: 'utf8' });
    assert.equal(written.status, 0, written.stderr);
    assert.doesNotMatch(written.stderr, /too large/);

    for (const which of large ? [file, other] : [file]) {
      await opened(which, async (page) => {
        for (const [i, picture] of asked.entries()) {
          const { numbers, words } = await answer(page, picture);
          assertProbabilities(numbers);
          assertNear(numbers, before[i].numbers);
          assert.equal(words, before[i].words);
        }
        assert.equal(await page.locator('body').getAttribute('data-place'), 'worker');
        await page.getByRole('button', { name: 'About this file' }).click();
        const about = page.getByRole('dialog', { name: 'About this file' });
        await about.getByText(`the engine, the feature extractor “${id}”`).waitFor();
        await about.getByText(licence).waitFor();
        const notices = (await about.getByLabel('Licences').textContent()) ?? '';
        for (const work of carries) assert.ok(notices.includes(work), work);
        for (const work of not) assert.ok(!notices.includes(work), work);
      });
    }

    /** @type {Record<string, number>} */
    let taught = {};
    await opened(file, async (page) => {
      await recognise(page, sample('emojione', 'umbrella'));
      await teachNew(page, page.getByRole('group', { name: 'It is:' }), 'Umbrella');
      taught = await recognise(page, sample('noto', 'umbrella'));
      file = await kept(page, 'Save as a new file like this one');
    });
    await opened(file, async (page) => assertNear(await recognise(page, sample('noto', 'umbrella')), taught));
  });
}

test('an extractor that is larger than a file may be is refused before anything of it is read', { timeout: 120_000, ...LONG }, async () => {
  const manifest = await textDirection(path.join(folder, 'large'));
  await visit({}, async ({ page }) => {
    await bring(page, manifest);
    await teach(page, 'Cat', styles);
    // As if 130 MB had been brought, which takes a test too long.
    await page.evaluate(async () => {
      const cache = await caches.open('kept-extractors');
      const [at] = (await cache.keys()).filter(({ url }) => url.endsWith('/manifest.json'));
      const facts = await (await cache.match(at))?.json();
      facts.files[0].bytes = 130e6;
      await cache.put(at, new Response(JSON.stringify(facts)));
    });
    await page.getByRole('button', { name: /^Session:/ }).click();
    await page.getByRole('button', { name: 'Share…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share' });
    await dialog
      .getByRole('alert')
      .filter({ hasText: 'The extractor “ppocr-direction-192@2.0” has 130.0 MB, and one file holds at most 64 MB: save the session instead' })
      .waitFor();
    assert.equal(await dialog.getByRole('button', { name: /^Save/ }).isDisabled(), true);
  });
});

test('after an extractor was brought sharing needs no network either', { timeout: 120_000, ...LONG }, () =>
  visit({ offline: true }, async ({ page, context }) => {
    await offlineReady(page);
    await bring(page, await textDirection(path.join(folder, 'offline')));
    await teach(page, 'Cat', styles);
    await page.evaluate(async () => {
      while (!((await caches.match('networks/share-onnx.html')) && (await caches.match('networks/share-onnx.txt')))) await new Promise(requestAnimationFrame);
    });
    await context.setOffline(true);
    const file = await share(page);
    await context.setOffline(false);
    assert.match(await readFile(file, 'utf8'), /id="block-file-0"/);
  }),
);
