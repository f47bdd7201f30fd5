// @ts-check
/** "Use it": what was taught in the page runs elsewhere. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually, faults, offlineReady, recognise, sample, teach, visit } from '../harness.js';
import { answer, asked, assertNear, kept, opened, outOfSet, styles } from '../share/shared.js';
import * as ort from 'onnxruntime-web';
import sharp from 'sharp';
import { seeing } from '../extractor/film.js';
import { assertRounded, assertSize, choose, listed, ran, saved, teachThree, unpacked } from './used.js';
import { LONG } from '../../long.js';

/** Teaches, answers what the page says of some pictures, and saves a choice without a network. @param {string} name @param {{cut?: boolean}} [options] cut: false leaves the network */
async function made(name, { cut = true } = {}) {
  /** @type {Awaited<ReturnType<typeof answer>>[]} */
  const before = [];
  let file = '';
  await visit({ offline: true }, async ({ page, context }) => {
    await offlineReady(page);
    await teachThree(page);
    for (const picture of asked) before.push(await answer(page, picture));
    await context.setOffline(cut);
    file = await saved(page, name);
    await context.setOffline(false);
  });
  return { file, before };
}

/** With plain spaces, as a page shows it. @param {string|null} words */
const plain = (words) => words?.replaceAll(/\s+/g, ' ');

test('the button is there once something is taught, and its dialog can be read', () =>
  visit({}, async ({ page }) => {
    assert.equal(await page.getByRole('button', { name: 'Use it…' }).isVisible(), false);
    await teachThree(page);
    await page.getByRole('button', { name: 'Use it…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Use it' });
    await dialog.waitFor(); // it is fetched first, and Escape before that closes nothing
    assert.deepEqual(await faults(page), [], 'the choices');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    // The first time the connection is lost in the middle of a file.
    await page.evaluate(() => {
      const { fetch } = globalThis;
      globalThis.fetch = async () => {
        globalThis.fetch = fetch;
        return new Response(new ReadableStream({ start: (body) => body.error(new TypeError('network error')) }));
      };
    });
    await page.getByRole('button', { name: 'Use it…' }).click();
    await dialog.getByRole('button', { name: 'My own web page' }).click();
    await dialog.getByText('could not be fetched (no answer): connect to the network once and try again.').waitFor();
    await page.keyboard.press('Escape');
    await choose(page, 'My own web page');
    assert.deepEqual(await faults(page), [], 'one choice');
    await dialog.getByRole('button', { name: 'Other choices' }).click();
    assert.equal(await page.evaluate(() => document.activeElement?.querySelector('b')?.textContent), 'My own web page');
  }));

test('a program from a session of one class says that it does not compare pictures as the page does', () =>
  visit({}, async ({ page }) => {
    const text = 'It says how likely a picture is “Cat”. Only “A page”, with its pictures, compares a picture part by part.';
    await teach(page, 'Cat', styles);
    await (await choose(page, 'Python')).getByText(text).waitFor();
    await page.keyboard.press('Escape');
    await teach(page, 'Rocket', styles);
    assert.equal(await (await choose(page, 'Python')).getByText(text).count(), 0);
  }));

test('after a file was saved, its steps stay to be followed, and it can be saved again', () =>
  visit({}, async ({ page }) => {
    await teachThree(page);
    const dialog = await choose(page, 'Python');
    for (const button of ['Save the file', 'Save it again']) {
      await kept(page, button);
      await dialog.getByRole('button', { name: 'Save it again' }).waitFor();
      await dialog.getByText(/^“my-classes-python\.zip” was saved: /).waitFor();
      assert.ok(await dialog.getByText('Unpack the zip, and install numpy').isVisible());
    }
    assert.deepEqual(await faults(page), []);
    await dialog.getByRole('button', { name: 'Other choices' }).click();
    await dialog.getByRole('button', { name: 'Python' }).click();
    await dialog.getByText(/ has [\d.]+ [KM]B\.$/).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await dialog.getByRole('button', { name: 'Save the file' }).dblclick();
    await dialog.getByRole('button', { name: 'Save it again' }).waitFor(); // no other button came under the second press
  }));

test('a page is the file that Share makes', LONG, async () => {
  /** @type {Record<string, number>} */
  let before = {};
  let file = '';
  await visit({}, async ({ page }) => {
    await teachThree(page);
    before = await recognise(page, asked[1]);
    await page.getByRole('button', { name: 'Use it…' }).click();
    await page.getByRole('dialog', { name: 'Use it' }).getByRole('button', { name: 'A page' }).click();
    await page
      .getByRole('dialog', { name: 'Share' })
      .getByText(/^The file has/)
      .waitFor();
    file = await kept(page, 'Save the file');
  });
  assertSize('A page', file);
  await opened(file, async (page) => {
    assertNear(await recognise(page, asked[1]), before);
    assert.equal(await page.getByText('Use it').count(), 0);
  });
});

test('a web page of one’s own recognises as the page does, by picture and by camera', async () => {
  const { file, before } = await made('My own web page');
  const folder = unpacked(file);
  assertSize('My own web page', file);
  const html = readFileSync(path.join(folder, 'index.html'), 'utf8');
  assert.ok(html.split('\n').length < 64 && html.split('\n').every((line) => line.length <= 160), 'lines that can be read');
  assert.match(readFileSync(path.join(folder, 'README.txt'), 'utf8'), /1\. Unpack/);
  await ran(
    folder,
    async (page) => {
      await page.getByText('It knows Cat, Rocket, Banana.').waitFor();
      for (const [i, picture] of asked.entries()) {
        await page.getByLabel('A picture').setInputFiles(picture);
        await eventually(async () => assert.equal(plain(await page.locator('#answer').textContent()), plain(before[i].words)));
        assertRounded(await listed(page), before[i].numbers);
      }
      await page.getByLabel('A picture').setInputFiles({ name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
      await page.getByText('is not a picture this browser can read').waitFor();
      assert.deepEqual(await listed(page), {}, 'nothing is left of the answer before');
      await page.getByRole('button', { name: 'Camera' }).dblclick(); // asks once
      await page.locator('#all li').nth(3).waitFor();
      await page.getByRole('button', { name: 'Stop the camera' }).click();
      await page.getByText('The camera is off.').waitFor();
      const stream = await page.evaluateHandle(() => /** @type {{now?: MediaStream}} */ ({}));
      for (const stopped of ['by the button', 'by a file', 'by the device']) {
        await page.getByRole('button', { name: 'Camera' }).click();
        await page.getByRole('button', { name: 'Stop the camera' }).waitFor();
        await page.locator('#all li').nth(3).waitFor();
        assert.ok(Math.abs(Object.values(await listed(page)).reduce((a, b) => a + b) - 1) < 2.1e-3);
        await page.evaluate((kept) => {
          kept.now = /** @type {MediaStream} */ (document.querySelector('video')?.srcObject);
        }, stream);
        if (stopped === 'by the button') {
          await page.getByRole('button', { name: 'Stop the camera' }).click();
          await page.getByText('The camera is off.').waitFor();
          assert.deepEqual(await listed(page), {});
        } else if (stopped === 'by a file') {
          await page.getByLabel('A picture').setInputFiles(asked[0]);
          await eventually(async () => assertRounded(await listed(page), before[0].numbers));
        } else {
          await page.evaluate(({ now }) => now?.getVideoTracks()[0].dispatchEvent(new Event('ended')), stream);
          await page.getByText('The camera is gone.').waitFor();
        }
        assert.deepEqual(await page.evaluate(({ now }) => now?.getTracks().map(({ readyState }) => readyState), stream), ['ended'], stopped);
        assert.equal(await page.locator('video').isVisible(), false, stopped);
      }
      // A file that is chosen while the camera starts.
      await page.getByLabel('A picture').setInputFiles(asked[0]);
      await page.evaluate(() => {
        const { play } = HTMLMediaElement.prototype;
        HTMLMediaElement.prototype.play = function () {
          const playing = play.call(this);
          document.querySelector('input')?.dispatchEvent(new Event('change'));
          return playing;
        };
      });
      await page.getByRole('button', { name: 'Camera' }).click();
      await page.waitForTimeout(2000);
      assertRounded(await listed(page), before[0].numbers);
    },
    { flags: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'] },
  );
});

test('a sketch is told what comes and goes', LONG, async () => {
  const { file } = await made('A p5.js sketch', { cut: false });
  const folder = unpacked(file);
  assertSize('A p5.js sketch', file);
  // Both are there long enough to be sure of, one after the other, again and again.
  const film = await seeing(
    path.join(path.dirname(folder), 'two.y4m'),
    ['rocket', 'banana'].flatMap((name) => Array(8).fill(sample('noto', name))),
  );
  await ran(
    folder,
    async (page) => {
      for (const name of ['Rocket', 'Banana', 'Rocket']) {
        await page.waitForFunction(`seen.startsWith('${name}, ')`);
        const shade = await page.evaluate(`shade.toString('#rrggbb')`);
        const corner = await page.evaluate(`get(2, 2).slice(0, 3).map((v) => v.toString(16).padStart(2, '0')).join('')`);
        assert.equal(`#${corner}`, shade, 'the frame has the colour of the class');
      }
      await page.setViewportSize({ width: 390, height: 844 });
      const box = await page.locator('canvas').boundingBox();
      assert.deepEqual([box?.x, box?.width, box?.height], [0, 390, (390 * 480) / 640], 'on a phone all of it is there');
    },
    { flags: film },
  );
});

/** Lines of a program's answer. @param {string} text */
const printed = (text) =>
  Object.fromEntries(
    text
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => {
        const [, name, percent] = /** @type {RegExpExecArray} */ (/^(.*): ([\d.]+) %$/.exec(line));
        return [name, Number(percent) / 100];
      }),
  );

/** What the page says of the first picture that it was taught. @param {string} name of a choice, whose file is saved */
async function madeAsTaught(name) {
  /** @type {Awaited<ReturnType<typeof answer>>} */
  let before = { numbers: {}, words: '' };
  let file = '';
  await visit({}, async ({ page }) => {
    await teachThree(page);
    before = await answer(page, sample(styles[0], 'cat'));
    file = await saved(page, name);
  });
  assertSize(name, file);
  return { folder: unpacked(file), before };
}

test('Node.js answers as the page does, with nothing installed', async () => {
  const { folder, before } = await madeAsTaught('Node.js');
  const run = (/** @type {string[]} */ ...args) => {
    const [program, ...more] = args;
    return execFileSync(process.execPath, [path.join(folder, program), ...more], { cwd: '/', encoding: 'utf8', stdio: 'pipe' });
  };
  for (const [args, half] of /** @type {[string[], number][]} */ ([
    [['numbers.js'], 5.1e-5],
    [['numbers.js', path.join(folder, 'example.json')], 5.1e-5],
    [['recognise.js', sample(styles[0], 'cat')], 1e-3], // the network rounds a little differently on another machine
  ])) {
    const text = run(...args);
    assert.equal(plain(text.split('\n')[0]), plain(before.words));
    assertRounded(printed(text), before.numbers, half);
  }
  assert.match(plain(run('recognise.js', outOfSet).split('\n')[0]) ?? '', /none of these/i, 'a photograph, JPEG');
  for (const [args, told] of /** @type {[string[], RegExp][]} */ ([
    [['recognise.js'], /^Name a picture: node recognise\.js picture\.jpg\n$/],
    [['recognise.js', 'gone.jpg'], /^gone\.jpg cannot be read \(ENOENT.*\): .*\n$/],
    [['recognise.js', path.join(folder, 'README.txt')], /^.*README\.txt is no JPEG or PNG picture that can be read.*\n$/],
    [['numbers.js', 'gone.json'], /^gone\.json holds no numbers that can be read \(ENOENT.*\): .*\n$/],
    [['numbers.js', path.join(folder, 'README.txt')], /^.*README\.txt holds no numbers that can be read .*\n$/],
    [['numbers.js', path.join(folder, 'package.json')], /^.+\n$/],
  ])) {
    const { status, stderr, stdout } = spawnSync(process.execPath, [path.join(folder, args[0]), ...args.slice(1)], { cwd: '/', encoding: 'utf8' });
    assert.match(stderr, told);
    assert.deepEqual([status, stdout], [1, ''], args.join(' '));
  }
  for (const name of ['recognise.js', 'numbers.js']) assert.ok(readFileSync(path.join(folder, name), 'utf8').split('\n').length <= 15);
});

test('Python answers as the page does, with numpy alone', async (t) => {
  const python = ['python3', '/usr/bin/python3'].find((name) => spawnSync(name, ['-c', 'import numpy']).status === 0);
  if (!python) {
    t.skip('there is no numpy here');
    return;
  }
  const { folder, before } = await madeAsTaught('Python');
  for (const more of [[], [path.join(folder, 'example.json')]]) {
    /** @type {string} */
    const text = execFileSync(python, ['-B', path.join(folder, 'recognise.py'), ...more], { cwd: '/', encoding: 'utf8' });
    assert.equal(text.split('\n')[0], 'Cat');
    assertRounded(printed(text), before.numbers, 5.1e-5);
  }
});

test('ONNX files answer as the page does, from a picture and from the numbers of the extractor', async () => {
  const { file, before } = await made('A network for elsewhere');
  assertSize('A network for elsewhere', file);
  const folder = unpacked(file);
  ort.env.wasm.numThreads = 1;
  const [whole, head] = await Promise.all(
    ['picture', 'embedding'].map((name) => ort.InferenceSession.create(new Uint8Array(readFileSync(path.join(folder, `${name}.onnx`))))),
  );
  for (const [i, picture] of asked.entries()) {
    const {
      data,
      info: { width, height },
    } = await sharp(picture).flatten({ background: '#fff' }).toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
    const first = await whole.run({ picture: new ort.Tensor('uint8', new Uint8Array(data), [height, width, 3]) });
    const second = await head.run({ embedding: first.embedding });
    const { numbers } = before[i];
    for (const { probabilities, none } of [first, second]) {
      const got = {
        ...Object.fromEntries(['Cat', 'Rocket', 'Banana'].map((name, j) => [name, Number(probabilities.data[j])])),
        'None of these': Number(none.data[0]),
      };
      // Browsers decode JPEG a little differently from sharp.
      const near = picture === outOfSet ? 2e-3 : 1e-5;
      for (const [name, p] of Object.entries(got))
        assert.ok(Math.abs(p - numbers[name]) < near, `${path.basename(picture)}: ${name} ${p}, on the page ${numbers[name]}`);
    }
  }
});
