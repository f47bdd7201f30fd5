// @ts-check
/** The camera, with Chromium's fake device playing a video of sample pictures. */
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { FAKE, seeing } from './extractor/film.js';
import { addClass, card, holdPictures, meters, most, recognise, sample, status, teach, visit } from './harness.js';
import { LONG } from '../long.js';
import { temporaryFolder } from '../temporary.js';

const folder = temporaryFolder('camera');

test('the live camera recognises what it sees, and a second choice moves what the first taught while that is before it', async () => {
  const flags = await seeing(path.join(folder, 'rocket.y4m'), [sample('emojione', 'rocket')]);
  await visit({ flags }, async ({ page }) => {
    await teach(page, 'Cat', ['noto', 'twemoji', 'openmoji']);
    await teach(page, 'Rocket', ['noto', 'twemoji', 'openmoji']);
    const button = page.getByRole('button', { name: 'Live camera' });
    await button.click();
    await page.getByRole('meter', { name: 'Rocket' }).waitFor();
    assert.equal(most(await meters(page)), 'Rocket');
    const video = page.getByLabel('Camera', { exact: true });
    assert.ok(await video.evaluate((one) => one instanceof HTMLVideoElement && one.muted && one.playsInline && one.isConnected));
    const press = (/** @type {string} */ name) => page.locator('#correct').getByRole('button', { name, exact: true }).click();
    const counts = (/** @type {Record<string, number>} */ all) =>
      Promise.all(Object.entries(all).map(([name, n]) => card(page, name).getByText(`${n} pictures`).waitFor()));
    const shown = (/** @type {RegExp} */ text) => page.locator('#status:not(.quiet)').filter({ hasText: text }).waitFor();
    await press('Cat');
    await shown(/^Taught as “Cat”\./);
    await page.locator('.meter-best[aria-label="Cat"]').waitFor();
    await page.evaluate(async () => {
      // what was done is seen beside the answer that it changed, which is heard
      const { say } = await import(`${location.origin}/tests/modules.js`);
      say('Done.');
      say('Cat: 97 %.', { seen: true, beside: true });
    });
    await shown(/^Done\. .*Cat.*\s%/);
    assert.deepEqual(
      await page.evaluate("[said.includes(' Cat: 97 %.'), document.querySelector('#status').ariaAtomic]"), // the next answer may have come
      [true, 'false'],
      'a screen reader hears the answer alone',
    );
    await press('Rocket');
    await shown(/^Moved a picture from “Cat” to “Rocket”\./);
    await counts({ Cat: 3, Rocket: 4 });
    await press('Rocket');
    await shown(/^It is taught as “Rocket” already\./);
    await page.evaluate(async () => {
      // something else is before the camera
      const { createImageBitmap } = globalThis;
      const other = await createImageBitmap(await (await fetch('samples/emojione/cat.png')).blob());
      Object.assign(globalThis, {
        createImageBitmap: (/** @type {any[]} */ ...given) => createImageBitmap(given[0] instanceof HTMLVideoElement ? other : given[0], ...given.slice(1)),
      });
    });
    await press('Cat');
    await shown(/^Taught as “Cat”\./);
    await counts({ Cat: 4, Rocket: 4 });
    await press('None of these');
    await shown(/^It is no longer taught as “Cat”\./);
    await counts({ Cat: 3, Rocket: 4 });
    const track = await video.evaluateHandle((one) => /** @type {MediaStream} */ (/** @type {HTMLVideoElement} */ (one).srcObject).getVideoTracks()[0]);
    await button.click();
    await video.waitFor({ state: 'detached' });
    assert.equal(await track.evaluate((one) => one.readyState), 'ended', 'the camera is switched off');
    const goOn = await holdPictures(page, 0);
    await button.click();
    await shown(/^Recognising what the camera sees/);
    await button.click();
    await page.locator('#status:empty').waitFor({ state: 'attached' }); // it no longer recognises
    await goOn();
    await page.setViewportSize({ width: 844, height: 390 }); // a phone on its side
    await button.click();
    await page.getByRole('meter').first().waitFor();
    const [picture, answer] = [await still(video), await still(page.locator('#verdict'))];
    assert.ok(
      [picture, answer].every(({ y, height }) => y >= 0 && y + height <= 390),
      `the live picture and its answer are in sight together: ${JSON.stringify([picture, answer])}`,
    );
  });
});

test('what is said of a camera that may not be used is gone once one is used elsewhere', async () => {
  const flags = await seeing(path.join(folder, 'cat.y4m'), [sample('emojione', 'cat')]);
  await visit({ flags }, async ({ page }) => {
    await page.evaluate(() => {
      // a browser with windows asks a person, one without them has nobody to ask
      const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getUserMedia = async (wanted) => {
        if (document.title !== 'allowed') throw new DOMException('Permission denied', 'NotAllowedError');
        return open(wanted);
      };
    });
    await addClass(page, 'Cat');
    const [taught, live] = [page.getByRole('button', { name: 'Camera for Cat' }), page.getByRole('button', { name: 'Live camera' })];
    const [there, here] = [card(page, 'Cat').getByRole('alert'), page.locator('#query-error')].map((one) => one.filter({ hasText: 'allow it for this page' }));
    await taught.click();
    await there.waitFor();
    await live.click();
    await here.waitFor();
    await there.waitFor({ state: 'hidden' });
    await page.evaluate(() => {
      document.title = 'allowed';
    });
    await taught.click();
    await page.getByRole('button', { name: 'Hold to capture Cat' }).and(page.locator(':enabled')).waitFor();
    await here.waitFor({ state: 'hidden' });
  });
});

test('holding the button captures again and again, by mouse and by keyboard; the button stays where it is meanwhile, and what it took is taken back in one go', async () => {
  const flags = await seeing(
    path.join(folder, 'mixed.y4m'),
    ['noto', 'twemoji', 'openmoji', 'fxemoji'].map((style) => sample(style, 'banana')),
  );
  await visit({ flags }, async ({ page }) => {
    await addClass(page, 'Banana');
    const box = card(page, 'Banana');
    const toggle = page.getByRole('button', { name: 'Camera for Banana' });
    await toggle.click();
    const shutter = page.getByRole('button', { name: 'Hold to capture Banana' });
    await shutter.and(page.locator(':enabled')).waitFor();
    await shutter.hover();
    const middle = async () => {
      // a pressed button is drawn a little smaller, about its middle
      const { x, y, width, height } = await still(shutter);
      return [x + width / 2, y + height / 2].map(Math.round);
    };
    const before = await middle();
    await page.mouse.down();
    await box.locator('.thumb').nth(8).waitFor();
    assert.deepEqual(await middle(), before);
    await page.getByLabel('Add pictures to Banana', { exact: true }).setInputFiles(sample('emojione', 'banana'));
    await status(page, '1 picture added to “Banana”.');
    await page.mouse.up();
    const took = async () => Number(/\d+/.exec(await status(page, /^Took \d+ pictures of “Banana”\.$/)));
    const byMouse = await took();
    assert.ok(byMouse > 8);
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.click();
    await status(page, 'Undone: add a picture to Banana.'); // the file, which is a step of its own

    await shutter.focus();
    await page.keyboard.down('Space');
    await box
      .locator('.thumb')
      .nth(byMouse + 1)
      .waitFor();
    await page.keyboard.up('Space');
    const byKey = await took();
    const goOn = await holdPictures(page, 0); // however long it is until the key is let go
    await shutter.press('Enter');
    await goOn();
    await status(page, 'Took a picture of “Banana”.'); // a short press takes one
    await box.getByText(`${byMouse + byKey + 1} pictures`, { exact: true }).waitFor();
    await recognise(page, sample('emojione', 'banana'));
    assert.equal(await box.locator('.capture-count').getAttribute('aria-live'), null, 'a screen reader hears the sum alone, not five counts a second');
    await undo.click();
    await status(page, 'Undone: add a picture to Banana.');
    for (const n of [byKey, byMouse]) {
      await undo.click();
      await status(page, `Undone: add ${n} pictures to Banana.`);
    }
    await box.getByText('No pictures yet').waitFor();
    await box.getByText(/\d+ pictures? taken/).waitFor({ state: 'detached' });
    const tell = (/** @type {string} */ type) =>
      box.locator('video').evaluate((video, event) => /** @type {any} */ (video).srcObject.getTracks()[0].dispatchEvent(new Event(event)), type);
    await tell('mute'); // another program has it
    const note = box.getByText('The camera gives no picture: another program may be using it.');
    await note.waitFor();
    await shutter.press('Enter');
    await tell('unmute');
    await note.waitFor({ state: 'hidden' });
    assert.equal(await box.locator('.thumb').count(), 0, 'the last frame is not taught as a new one');
    await toggle.click();
    await box.locator('video').waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 640, height: 360 }); // a phone on its side
    await toggle.click();
    await shutter.and(page.locator(':enabled')).waitFor();
    const [frame, button] = [await still(box.locator('video')), await still(shutter)];
    assert.ok(
      frame.y >= 0 && Math.max(frame.y + frame.height, button.y + button.height) <= 360,
      `the picture and its button are in sight: ${JSON.stringify([frame, button])}`,
    );
  });
});

test('one press after the other, with the hand kept still, each takes a picture, on a laptop and on a phone', LONG, () =>
  visit({ flags: FAKE }, async ({ page }) => {
    for (const name of ['Banana', 'Cup', 'Lemon']) await addClass(page, name);
    for (const [name, viewport] of Object.entries({ Lemon: { width: 1280, height: 800 }, Cup: { width: 390, height: 844 } })) {
      await page.setViewportSize(viewport);
      // As who sees that button at the lower edge, and what comes below it not at all.
      const open = page.getByRole('button', { name: `Camera for ${name}` });
      await open.evaluate((button) => button.scrollIntoView({ block: 'end', behavior: 'instant' }));
      await open.press('Enter');
      const shutter = page.getByRole('button', { name: `Hold to capture ${name}` });
      await shutter.and(page.locator(':enabled')).waitFor();
      await page.waitForFunction(() => document.activeElement?.matches('.shutter')); // which is what is pressed next
      await page.locator('video').nth(1).waitFor({ state: 'detached' }); // only one part of the page has the camera
      const box = await still(shutter);
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      const taken = card(page, name).locator('.capture-count');
      for (const said of ['1 picture taken', '2 pictures taken', '3 pictures taken']) {
        const goOn = await holdPictures(page, 0);
        await page.mouse.down();
        await page.mouse.up();
        await goOn();
        await taken.getByText(said).waitFor();
      }
      assert.deepEqual(await still(shutter), box, 'nothing moved');
      await status(page, new RegExp(`^Took (a picture|\\d pictures) of “${name}”\\.$`)); // presses close to each other are one
      const said = await page.locator('#status').boundingBox();
      assert.ok(said && (box.y + box.height <= said.y || said.y + said.height <= box.y), 'what is said is beside what takes the pictures');
    }
  }),
);

for (const [width, height] of [
  [1280, 800],
  [390, 844],
  [320, 200],
]) {
  // the last is the first at 400 %
  test(`live, the answer is in sight and no notice covers it: ${width} by ${height}`, LONG, () =>
    visit({ flags: FAKE, context: { viewport: { width, height }, reducedMotion: 'reduce' } }, async ({ page }) => {
      await teach(page, 'Cat', ['noto']);
      await page.getByRole('button', { name: /^Live/ }).click();
      await page.getByRole('meter').first().waitFor();
      const look = () =>
        page.evaluate(() => {
          const rect = (/** @type {string} */ one) => /** @type {Element} */ (document.querySelector(one)).getBoundingClientRect();
          const { left, top, width, height } = rect('#verdict');
          const seen = [0.02, 0.5, 0.98].map(
            (part) => document.elementFromPoint(left + 20, top + part * height)?.closest('#verdict, #toasts, .bar, .query, .jump, #status')?.id,
          );
          const fixed = [...document.querySelectorAll('body *')]
            .filter((one) => ['fixed', 'sticky'].includes(getComputedStyle(one).position) && one.id !== 'recognise')
            .map((one) => one.getBoundingClientRect())
            .reduce((sum, { top, bottom }) => sum + Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0)), 0);
          return { seen, verdict: width, live: rect('#live').width, panel: rect('.panel').width, fixed, height: innerHeight };
        });
      const before = await look();
      // Two notices arrive, longer than most.
      const notice = await page.evaluate(async () => {
        const { toast } = await import(`${location.origin}/tests/modules.js`);
        for (const key of ['one', 'two'])
          toast({ key, text: `The page’s background knowledge could not be fetched. ${'That of the last visit is in use. '.repeat(3)}`, action: 'Try again' });
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame); // what is read keeps its place
        const { top, bottom } = /** @type {Element} */ (document.querySelector('.toast:last-child')).getBoundingClientRect();
        return { top, bottom, header: /** @type {Element} */ (document.querySelector('.bar')).getBoundingClientRect().bottom };
      });
      if (width < 600 && height > 420)
        assert.ok(notice.top >= notice.header && notice.bottom < height, `the newest notice is in sight: ${JSON.stringify(notice)}`);
      for (const [when, now] of Object.entries({ before, after: await look() })) {
        assert.deepEqual(now.seen, ['verdict', 'verdict', 'verdict'], `${when} the notices`);
        if (height === 200) assert.ok(now.fixed <= 0.2 * now.height, `${now.fixed} of ${now.height} pixels stand still`);
        if (width < 600) assert.ok(now.live >= 0.85 * now.panel, `the live picture has ${now.live} of ${now.panel} pixels`);
      }
    }),
  );
}

/** Where something is once it has not moved for ten frames. @param {import('playwright-core').Locator} locator */
const still = (locator) =>
  locator.evaluate(async (element) => {
    let { x, y, width, height } = element.getBoundingClientRect();
    for (let frames = 0; frames < 10; frames++) {
      await new Promise(requestAnimationFrame);
      const now = element.getBoundingClientRect();
      if (now.x !== x || now.y !== y) frames = 0;
      ({ x, y, width, height } = now);
    }
    return { x, y, width, height };
  });

test('without a camera a sentence says so', LONG, () =>
  visit({}, async ({ page }) => {
    await page.getByRole('button', { name: 'Live camera' }).click();
    await page.getByRole('alert').filter({ hasText: 'No camera was found: connect one, or add pictures from files.' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Live camera' }).getAttribute('aria-pressed'), 'false');
  }),
);

test('where the camera is refused a sentence says how to allow it', () =>
  visit({}, async ({ page }) => {
    await page.evaluate(() => {
      // as a browser does; one without windows has nobody to ask
      navigator.mediaDevices.getUserMedia = async () => {
        throw new DOMException('Permission denied', 'NotAllowedError');
      };
    });
    await addClass(page, 'Cat');
    await page.getByRole('button', { name: 'Camera for Cat' }).click();
    await card(page, 'Cat').getByRole('alert').filter({ hasText: 'The browser may not use the camera: allow it for this page' }).waitFor();
    await card(page, 'Cat').locator('video').waitFor({ state: 'detached' });
  }));
