// @ts-check
/** Ways for pictures to come in, and pictures that are none. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import sharp from 'sharp';
import { sortState } from './many.js';
import { addClass, card, eventually, holdPictures, meters, most, sample, status, visit } from './harness.js';

/** @import {Page} from 'playwright-core' */

/** Dispatches a drop or a paste that carries files. @param {Page} page @param {string} selector @param {'drop'|'paste'} type @param {string[]} paths */
async function hand(page, selector, type, paths) {
  const files = await Promise.all(
    paths.map(async (path) => ({
      name: path.split('/').slice(-2).join('-'),
      base64: (await readFile(path)).toString('base64'),
    })),
  );
  await page
    .locator(selector)
    .first()
    .evaluate(
      (target, { files, type }) => {
        const data = new DataTransfer();
        for (const { name, base64 } of files) {
          data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name, { type: 'image/png' }));
        }
        const options = { bubbles: true, cancelable: true };
        if (type === 'drop') {
          for (const step of ['dragenter', 'dragover', 'drop']) target.dispatchEvent(new DragEvent(step, { ...options, dataTransfer: data }));
        } else {
          target.dispatchEvent(new ClipboardEvent('paste', { ...options, clipboardData: data }));
        }
      },
      { files, type },
    );
}

test('files dropped on a card teach it, files dropped elsewhere are recognised; a pasted one goes to the class that has the focus, or is recognised', () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Cat');
    await addClass(page, 'Rocket');
    for (const name of ['cat', 'rocket']) {
      await hand(
        page,
        `.card:has([aria-label="Name of the class ${name[0].toUpperCase()}${name.slice(1)}"])`,
        'drop',
        ['noto', 'twemoji', 'openmoji'].map((style) => sample(style, name)),
      );
    }
    await card(page, 'Cat').getByText('3 pictures').waitFor();
    await card(page, 'Rocket').getByText('3 pictures').waitFor();
    await hand(page, '#stage', 'drop', [sample('emojione', 'rocket')]);
    await status(page, 'Recognised “emojione-rocket.png”.');
    assert.equal(most(await meters(page)), 'Rocket');
    assert.equal(await page.locator('.drop-target').count(), 0);
    await hand(page, 'footer', 'drop', [sample('noto', 'cat')]);
    await status(page, 'Recognised “noto-cat.png”.');

    await page.getByLabel('Add pictures to Cat', { exact: true }).focus();
    await hand(page, 'body', 'paste', [sample('noto', 'cat')]);
    await card(page, 'Cat').getByText('4 pictures').waitFor();
    await page.getByRole('button', { name: 'Settings' }).focus();
    await hand(page, 'body', 'paste', [sample('twemoji', 'cat')]);
    await status(page, 'Recognised “twemoji-cat.png”.');
    await card(page, 'Cat').getByText('4 pictures').waitFor();

    await page.getByRole('button', { name: 'Settings' }).click();
    await hand(page, 'body', 'paste', [sample('noto', 'rocket')]);
    await hand(page, 'body', 'drop', [sample('noto', 'rocket')]);
    await page.keyboard.press('Escape');
    await hand(page, 'body', 'paste', [sample('openmoji', 'rocket')]);
    await status(page, 'Recognised “openmoji-rocket.png”.');
    const said = await page.evaluate(() => /** @type {any} */ (globalThis).said.join());
    assert.doesNotMatch(said, /noto-rocket/, 'a file is not recognised behind a dialog');
  }));

test('text goes into a field, also if a picture of it was copied with it, as Office does', () =>
  visit({}, async ({ page }) => {
    const left = await page.getByRole('textbox', { name: 'Name of a new class' }).evaluate((field) => {
      const [text, both] = [new DataTransfer(), new DataTransfer()];
      for (const data of [text, both]) data.items.add('Cat', 'text/plain');
      both.items.add(new File(['x'], 'image.png', { type: 'image/png' }));
      const options = { bubbles: true, cancelable: true };
      return [new ClipboardEvent('paste', { ...options, clipboardData: both }), new DragEvent('drop', { ...options, dataTransfer: text })].map((event) =>
        field.dispatchEvent(event),
      );
    });
    assert.deepEqual(left, [true, true], 'the browser inserts what is pasted, and what is dropped');
    assert.ok(await page.locator('#query-error').isHidden());
  }));

test('the file that is asked about is shown itself, a drawing as its pixels, and no address of a picture is left', () =>
  visit({}, async ({ page }) => {
    await page.evaluate(() => {
      const live = /** @type {Map<string, Blob>} */ (new Map());
      const { createObjectURL, revokeObjectURL } = URL;
      URL.createObjectURL = (made) => {
        const url = createObjectURL.call(URL, made);
        live.set(url, /** @type {Blob} */ (made));
        return url;
      };
      URL.revokeObjectURL = (url) => {
        live.delete(url);
        revokeObjectURL.call(URL, url);
      };
      /** @type {any} */ (globalThis).live = live;
    });
    const shown = () =>
      page.evaluate(() => {
        const image = /** @type {HTMLImageElement} */ (document.querySelector('#query-picture'));
        const { live } = /** @type {{live: Map<string, Blob>}} */ (/** @type {any} */ (globalThis));
        const blob = live.get(image.src);
        return { file: blob instanceof File ? blob.name : '', live: live.size, complete: image.complete, width: image.naturalWidth };
      });
    const ask = async (/** @type {{name: string, mimeType: string, buffer: Buffer}} */ file) => {
      await page.getByLabel('Choose a picture', { exact: true }).setInputFiles(file);
      await status(page, `Recognised “${file.name}”.`);
      await eventually(async () => assert.ok((await shown()).complete));
      return shown();
    };
    const large = await sharp({ create: { width: 900, height: 30, channels: 3, background: '#b00' } })
      .png()
      .toBuffer();
    assert.deepEqual(await ask({ name: 'large.png', mimeType: 'image/png', buffer: large }), { file: 'large.png', live: 1, complete: true, width: 900 });
    const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="960" height="30"><rect width="960" height="30"/></svg>';
    assert.deepEqual(await ask({ name: 'drawing.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(drawing) }), {
      file: '',
      live: 1,
      complete: true,
      width: 480,
    });
    assert.equal((await ask({ name: 'again.png', mimeType: 'image/png', buffer: large })).live, 1);
    await page.getByRole('button', { name: 'Clear the picture' }).click();
    await eventually(async () => assert.equal((await shown()).live, 0));
  }));

test('files that are no pictures are named in one sentence each, and the others go on', () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Cat');
    const png = await readFile(sample('noto', 'cat'));
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles([
      { name: 'good.png', mimeType: 'image/png', buffer: png },
      { name: 'torn.png', mimeType: 'image/png', buffer: png.subarray(0, 40) },
      { name: 'IMG_1.heic', mimeType: 'image/heic', buffer: Buffer.from('....ftypheic') },
      { name: 'void.jpg', mimeType: 'image/jpeg', buffer: Buffer.alloc(0) },
      {
        name: 'fine.svg',
        mimeType: 'image/svg+xml',
        buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="3"/></svg>'),
      },
    ]);
    await card(page, 'Cat').getByText('2 pictures').waitFor();
    const alert = card(page, 'Cat').getByRole('alert');
    await alert.filter({ hasText: '“torn.png” could not be read as a picture' }).waitFor();
    const text = await alert.textContent();
    assert.match(text ?? '', /“IMG_1\.heic” is a HEIC picture, which this browser cannot open/);
    assert.match(text ?? '', /“void\.jpg” is empty/);
    await status(page, '2 pictures added to “Cat”.');

    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles([
      {
        name: 'page.svg',
        mimeType: 'image/svg+xml',
        buffer: Buffer.from(
          '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><foreignObject width="9" height="9"><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject></svg>',
        ),
      },
      {
        name: 'bomb.png',
        mimeType: 'image/png',
        buffer: Buffer.concat([png.subarray(0, 16), Buffer.from([0, 0, 0x4e, 0x20, 0, 0, 0x4e, 0x20]), png.subarray(24)]),
      },
    ]);
    await alert.filter({ hasText: '“bomb.png” has 20000 × 20000 pixels, and this page reads at most 120 million' }).waitFor();
    assert.match((await alert.textContent()) ?? '', /“page\.svg” contains HTML \(foreignObject\).*save it as PNG/);

    await page.getByLabel('Choose a picture', { exact: true }).setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
    await page.getByRole('alert').filter({ hasText: '“notes.txt” is not a picture' }).waitFor();

    const goOn = await holdPictures(page, 0); // one that takes long
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles({ name: 'large.png', mimeType: 'image/png', buffer: png });
    await status(page, 'Adding “large.png” …');
    await goOn();
    await status(page, '1 picture added to “Cat”.');
  }));

test('a batch shows how far it is and can be cancelled, and undone while it is under way', () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Cat');
    const files = Array.from({ length: 40 }, (_, i) => sample(['noto', 'twemoji', 'openmoji', 'fxemoji'][i % 4], 'cat'));
    const buffers = await Promise.all(files.map(async (file, i) => ({ name: `${i}.png`, mimeType: 'image/png', buffer: await readFile(file) })));
    const goOn = await holdPictures(page, 5);
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles(buffers);
    const box = card(page, 'Cat');
    await box.getByText(/^\d+ of 40$/).waitFor();
    await box.getByRole('progressbar', { name: 'Adding pictures to Cat' }).waitFor();
    await box.getByRole('button', { name: 'Cancel' }).click();
    await goOn();
    const shown = Number(/\d+/.exec(await status(page, /^Cancelled: \d+ pictures? added to “Cat”\.( \d of them (was|were) there already\.)?$/)));
    assert.ok(shown >= 1 && shown < 40, `${shown} added`);
    const all = () => eventually(async () => assert.equal(await box.locator('.thumb').count(), shown));
    await all();

    const more = await holdPictures(page, 5);
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles(buffers);
    await box.getByText(`${shown + 5} pictures`).waitFor();
    // A change meanwhile is a step of its own.
    await box.locator('.thumb-remove').first().click();
    await page.locator('#undo-button').and(page.getByTitle('Undo: remove a picture from Cat')).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await status(page, 'Undone: remove a picture from Cat.');
    await box.getByText(`${shown + 5} pictures`).waitFor();
    await box.getByRole('progressbar', { name: 'Adding pictures to Cat' }).waitFor();
    await page.locator('#undo-button').and(page.getByTitle('Undo: add 5 pictures to Cat')).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await more();
    await status(page, /^Undone: add \d pictures to Cat\.$/);
    await box.getByText(`${shown} picture`).waitFor();
    await box.locator('progress').waitFor({ state: 'detached' });
    await all();

    const rest = await holdPictures(page, 5);
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles(buffers);
    await box.getByText(`${shown + 5} pictures`).waitFor();
    const bin = page.getByRole('button', { name: 'Delete Cat' });
    await bin.click();
    await bin.click(); // once more, as nothing has happened yet
    await rest();
    const gone = Number(/\d+/.exec(await status(page, /^Deleted “Cat” with \d+ pictures\.$/)));
    await page.getByRole('button', { name: 'Undo' }).click();
    await status(page, 'Undone: remove Cat.');
    assert.ok(gone > shown, `${gone} pictures`);
    await box.getByText(`${gone} pictures`).waitFor();
  }));

// In a tab that nobody sees browsers let timers run, frames be drawn and canvases of the page be encoded once a second,
// or later: here not at all.
test('a tab behind another adds pictures, and sorts them, without a timer, a frame or a canvas of its own', () =>
  visit({}, async ({ page }) => {
    await addClass(page, 'Cat');
    const files = ['noto', 'twemoji', 'openmoji', 'emojione', 'fxemoji'].flatMap((style) =>
      ['cat', 'rocket', 'banana', 'umbrella'].map((concept) => sample(style, concept)),
    );
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles(files.slice(0, 1)); // so that all is warm
    await card(page, 'Cat').getByText('1 picture').waitFor();
    const size = await card(page, 'Cat')
      .locator('.thumb-picture')
      .first()
      .evaluate(async (image) => {
        if (!(image instanceof HTMLImageElement)) throw new Error('no image');
        await image.decode();
        return [image.naturalWidth, image.naturalHeight];
      });
    assert.equal(Math.max(...size), 192, 'a small picture is kept as it is');
    await page.evaluate(() => {
      const never = () => 0;
      Object.assign(globalThis, { setTimeout: never, requestAnimationFrame: never, requestIdleCallback: never });
      HTMLCanvasElement.prototype.toBlob = never;
      OffscreenCanvas.prototype.convertToBlob = () => new Promise(never);
    });
    await page.getByLabel('Add pictures to Cat', { exact: true }).setInputFiles(files.slice(1));
    await card(page, 'Cat').getByText(`${files.length} pictures`).waitFor();
    await page
      .getByLabel('Choose a picture', { exact: true })
      .setInputFiles(['noto', 'twemoji', 'emojione', 'fxemoji'].flatMap((style) => ['penguin', 'bicycle'].map((concept) => sample(style, concept))));
    await sortState(page, /^Compared part by part/);
  }));
