// @ts-check
/** The custom element, from the packed package, in Chromium with a camera that is made up. */
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { serveSite, visit } from '../browser/harness.js';
import { project, run } from './project.js';

const CAMERA = { flags: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'], context: { permissions: ['camera'] } };

test('one line of HTML is taught, answers, tells of it, undoes, and frees the camera when it leaves', async () => {
  const { folder, package: from } = project();
  const out = path.join(folder, 'site');
  cpSync(from, path.join(out, 'metaqda'), { recursive: true });
  writeFileSync(
    path.join(out, 'index.html'),
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>metaqda</title><link rel="icon" href="data:,"><script type="module" src="metaqda/element.js"></script><metaqda-classifier></metaqda-classifier>',
  );
  const site = await serveSite(out);
  try {
    await visit({ site, open: false, expect: [/requires 'TrustedScriptURL'/], ...CAMERA }, async ({ page }) => {
      await page.addInitScript(() => {
        const scope = /** @type {any} */ (globalThis);
        scope.told = [];
        for (const name of ['ready', 'example', 'answer', 'failed'])
          addEventListener(name, (event) => scope.told.push([name, /** @type {CustomEvent} */ (event).detail]));
      });
      await page.goto(`${site.origin}/`);
      const told = (/** @type {string} */ name) =>
        page.evaluate(
          (wanted) =>
            /** @type {any} */ (globalThis).told
              .filter((/** @type {[string, any]} */ [one]) => one === wanted)
              .map((/** @type {[string, any]} */ [, detail]) => detail),
          name,
        );
      const answer = page.locator('metaqda-classifier output');
      await answer.filter({ hasText: 'Show something' }).waitFor();
      for (const [i, label] of ['green', 'other'].entries()) {
        await page.getByLabel('What is it?').fill(label);
        // The label is that of the press, whatever is typed while the frames are embedded.
        await page.locator('metaqda-classifier').evaluate((one) => {
          const of = (/** @type {string} */ part) => /** @type {any} */ (one.shadowRoot?.querySelector(`[part=${part}]`));
          of('add').click();
          of('label').value = 'next';
        });
        await page.waitForFunction((n) => /** @type {any} */ (globalThis).told.filter((/** @type {any[]} */ [name]) => name === 'example').length === n, i + 1);
      }
      const element = page.locator('metaqda-classifier');
      const counts = () => element.evaluate((/** @type {any} */ one) => one.classifier.counts);
      assert.deepEqual(await counts(), { green: 3, other: 3 });
      await answer.filter({ hasText: /(green|other):? \d+ %|none of these/i }).waitFor();
      const examples = await told('example');
      assert.deepEqual(
        examples.map((/** @type {any} */ { label, ids }) => [label, ids.length]),
        [
          ['green', 3],
          ['other', 3],
        ],
      );
      const { probabilities, none } = (await told('answer')).at(-1);
      assert.ok(Math.abs(none + probabilities.green + (probabilities.other ?? 0) - 1) < 1e-9);
      const saved = await element.evaluate((/** @type {any} */ one) => Array.from(one.classifier.save()));
      // An error can be read, though answers go on.
      await page.getByLabel('What is it?').fill('none of these');
      await page.getByRole('button', { name: 'This is it' }).click();
      const [refused] = await page
        .waitForFunction(() => {
          const failed = /** @type {any} */ (globalThis).told.filter((/** @type {any[]} */ [name]) => name === 'failed');
          return failed.length > 0 && failed.map((/** @type {any[]} */ [, error]) => error.message);
        })
        .then((found) => found.jsonValue());
      const answered = (await told('answer')).length;
      await page.waitForFunction(
        (n) => /** @type {any} */ (globalThis).told.filter((/** @type {any[]} */ [name]) => name === 'answer').length > n + 2,
        answered,
      );
      assert.equal(await answer.textContent(), refused);
      await page.evaluate(() => {
        const scope = /** @type {any} */ (globalThis);
        scope.told = scope.told.filter((/** @type {any[]} */ [name]) => name !== 'failed');
      });
      const undo = page.getByRole('button', { name: 'Undo' });
      await undo.click();
      assert.equal((await counts()).other ?? 0, 0);
      // With nothing taught it asks for something again.
      await undo.click();
      await answer.filter({ hasText: 'Show something' }).waitFor();
      await page.locator('metaqda-classifier button:disabled', { hasText: 'Undo' }).waitFor();
      // What was saved comes back.
      await element.evaluate((/** @type {any} */ one, bytes) => one.open(new Uint8Array(bytes)), saved);
      assert.deepEqual(await counts(), { green: 3, other: 3 });
      await answer.filter({ hasText: /(green|other):? \d+ %|none of these/i }).waitFor();
      // A file that is opened during a burst gets the burst.
      await element.evaluate(async (/** @type {any} */ one, bytes) => {
        one.shadowRoot.querySelector('[part=label]').value = 'third';
        one.shadowRoot.querySelector('[part=add]').click();
        await one.open(new Uint8Array(bytes));
      }, saved);
      await page.waitForFunction(() =>
        /** @type {any} */ (globalThis).told.some((/** @type {any[]} */ [, detail]) => detail?.label === 'third' || detail?.code),
      );
      assert.deepEqual(await told('failed'), []);
      assert.deepEqual(await counts(), { green: 3, other: 3, third: 3 });
      // Its parts are styled from outside.
      assert.deepEqual(await element.evaluate((one) => [...(one.shadowRoot?.querySelectorAll('[part]') ?? [])].map((part) => part.getAttribute('part'))), [
        'video',
        'form',
        'label',
        'add',
        'undo',
        'answer',
      ]);
      const state = await element.evaluate((/** @type {any} */ one) => {
        const [track] = one.shadowRoot.querySelector('video').srcObject.getTracks();
        one.remove();
        return [track.readyState, one.classifier];
      });
      assert.deepEqual(state, ['ended', null]);
      // If it leaves while the camera starts, it has no classifier.
      const late = await page.evaluate(async () => {
        const media = HTMLMediaElement.prototype;
        const { play } = media;
        let go = () => {};
        const begun = new Promise((begin) => {
          media.play = () =>
            new Promise((resolve) => {
              go = resolve;
              begin(null);
            });
        });
        const one = /** @type {any} */ (document.createElement('metaqda-classifier'));
        let ready = false;
        one.addEventListener('ready', () => {
          ready = true;
        });
        document.body.append(one);
        await begun;
        one.remove();
        media.play = play;
        go();
        await new Promise((resolve) => {
          setTimeout(resolve);
        });
        const seen = [ready, one.classifier];
        document.body.append(one);
        return seen;
      });
      assert.deepEqual(late, [false, null]);
      // Back in the page it begins anew.
      await answer.filter({ hasText: 'Show something' }).waitFor();
      assert.deepEqual(await told('failed'), []);
      await page.evaluate(() => {
        for (const track of /** @type {any} */ (document.querySelector('metaqda-classifier')).shadowRoot.querySelector('video').srcObject.getTracks())
          track.stop();
      });
      await answer.filter({ hasText: 'The camera is gone: connect it and reload the page.' }).waitFor();
      // No more frames can be added then.
      assert.equal(await page.getByRole('button', { name: 'This is it' }).isDisabled(), true);
      // A second version of the module leaves the element as it is.
      assert.equal(
        await page.evaluate((again) => import(again).then(({ MetaqdaClassifier }) => typeof MetaqdaClassifier), '/metaqda/element.js?again'),
        'function',
      );
      // Where there is no camera, event and element say so, with the remedy, also under a policy that allows no markup.
      await page.evaluate(() => {
        const policy = Object.assign(document.createElement('meta'), { httpEquiv: 'Content-Security-Policy', content: "require-trusted-types-for 'script'" });
        document.head.append(policy);
        navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('Requested device not found', 'NotFoundError'));
        document.querySelector('metaqda-classifier')?.remove();
        document.body.append(document.createElement('metaqda-classifier'));
      });
      await answer.filter({ hasText: 'No camera was found: connect one and reload the page.' }).waitFor();
      assert.deepEqual(
        await page.evaluate(() => {
          const [, { code, message }] = /** @type {any} */ (globalThis).told.at(-1);
          return [code, message];
        }),
        ['missing', 'No camera was found: connect one and reload the page.'],
      );
    });
  } finally {
    await site.stop();
  }
});

test('a server may import the element', () => {
  const { folder } = project({ 'server.mjs': "import 'metaqda/element'; console.log(JSON.stringify('customElements' in globalThis));" });
  assert.equal(run(folder, 'server.mjs'), false);
});
