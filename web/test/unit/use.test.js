// @ts-check
/** The choices of "Use it", as far as they need no browser. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import test from 'node:test';
import { aboutOf, choices } from '../../share/choices.js';
import { filled } from '../../share/packaged.js';
import { Blocks } from '../../share/scratch/blocks.js';

const programs = new URL('../../share/use/', import.meta.url);
const read = async (/** @type {string} */ name) => new Uint8Array(await readFile(new URL(name.replace(/^use\//, ''), programs)));

test('each choice is told in a sentence or two, and how to use it in three', () => {
  for (const choice of choices) {
    for (const kind of ['pictures', 'sounds', 'hands']) {
      const { what, how } = aboutOf(choice, { own: true, kind });
      assert.match(what, /^[A-Z].*\.$/, choice.name);
      assert.equal(how.length, choice.make ? 3 : 0, choice.name);
      for (const sentence of how) assert.ok(/^[A-Z].*\.$/.test(sentence) && sentence.split(' ').length <= 25, sentence);
      if (kind === 'sounds') assert.doesNotMatch([what, ...how].join(' '), /picture/, choice.name);
      assert.doesNotMatch([what, ...how].join(' '), /(another|other) feature extractor/, choice.name); // a session knows the numbers of its own alone
    }
  }
});

test('what cannot be made yet is said, and so is the way around', () => {
  const missing = (/** @type {string} */ id, /** @type {object} */ taught) =>
    choices.find((one) => one.id === id)?.missing?.(/** @type {any} */ ({ own: true, kind: 'pictures', ...taught })) ?? '';
  for (const id of ['web', 'p5', 'scratch']) {
    assert.equal(missing(id, {}), '');
    for (const kind of ['sounds', 'hands']) assert.equal(missing(id, { kind }), '');
    assert.match(missing(id, { own: false }), /your own extractor.*“A page”/);
  }
  for (const id of ['node', 'python', 'onnx']) assert.equal(missing(id, { own: false, kind: 'sounds' }), '');
});

test('names of people are text in a page, whatever they look like', async () => {
  const name = '</title><script>alert(1)</script> & $& TITLE ENTRY';
  const html = new TextDecoder().decode(await filled(read, 'page/index.html', { TITLE: name, ENTRY: 'hands', LOAD: 'loadExtractor()' }));
  assert.equal(html.match(/<script/g)?.length, 1);
  assert.ok(html.includes('<h1>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; $&amp; TITLE ENTRY</h1>'));
  assert.ok(html.includes("from './metaqda/hands.js'"));
});

test('programs have no place that nothing fills', async () => {
  const filling = /\b(TITLE|ENTRY|LOAD|HOW)\b/;
  for (const folder of await readdir(programs)) {
    for (const name of await readdir(new URL(`${folder}/`, programs))) {
      const text = await readFile(new URL(`${folder}/${name}`, programs), 'utf8');
      const left = text.replaceAll(new RegExp(filling, 'g'), '').match(/\b[A-Z]{4,}\b/g) ?? [];
      assert.deepEqual(
        left.filter((word) => !['CENTER', 'VIDEO', 'JSON', 'README', 'NOTICES', 'LICENSE', 'RGBA'].includes(word)),
        [],
        `${folder}/${name}`,
      );
    }
  }
});

/** Blocks of an extension, with what they ask for. @param {string} name of the session @param {object} [sense] */
function blocks(name, sense = {}) {
  const asked = { looks: 0, on: 0 };
  const given = {
    name: 'camera',
    see: 'see',
    on: async () => {
      asked.on++;
    },
    off: () => {
      asked.on = 0;
    },
    now: async () => asked.looks++,
    ...sense,
  };
  const watch = { here: /** @type {string|null} */ (null), next: () => {}, dispose: () => {} };
  const classifier = { watch: () => /** @type {any} */ (watch), embed: async () => [], predictSync: () => null };
  const made = new Blocks(/** @type {any} */ ({ BlockType: {}, ArgumentType: {} }), given, name, ['a'], async () => /** @type {any} */ (classifier));
  return { made, asked, classifier, watch };
}
/** Lets go on what waits for nothing. */
const idle = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

test('a camera that is turned off and on again looks no more often, and off means off while it opens', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { made, asked } = blocks('Mugs');
  for (let i = 0; i < 9; i++) for (const STATE of ['on', 'off']) await made.camera({ STATE });
  await made.camera({ STATE: 'on' });
  asked.looks = 0;
  t.mock.timers.tick(250);
  await idle();
  assert.equal(asked.looks, 1);

  let opened = () => {};
  const slow = blocks('Mugs', {
    on: () =>
      new Promise((/** @type {(value: void) => void} */ resolve) => {
        opened = () => {
          slow.asked.on++;
          resolve();
        };
      }),
  });
  const opening = slow.made.camera({ STATE: 'on' });
  await slow.made.camera({ STATE: 'off' });
  opened();
  await opening;
  assert.deepEqual(slow.asked, { looks: 0, on: 0 });
});

test('a camera whose first look fails is turned off', async () => {
  const { made, asked } = blocks('Mugs', { now: async () => Promise.reject(new Error('no network')) });
  await assert.rejects(made.camera({ STATE: 'on' }), /no network/);
  assert.equal(asked.on, 0);
});

test('what was here when the camera was turned off is not here when it is turned on again', async () => {
  const { made, classifier } = blocks('Mugs');
  classifier.watch = () => {
    const watch = {
      here: '',
      next: () => {
        watch.here = 'a';
      },
      dispose: () => {},
    };
    return watch;
  };
  await made.camera({ STATE: 'on' });
  assert.equal(made.when({ LABEL: 'a' }), true);
  await made.camera({ STATE: 'off' });
  const opening = made.camera({ STATE: 'on' });
  assert.equal(made.when({ LABEL: 'a' }), false, 'before the first look');
  await opening;
  assert.equal(made.when({ LABEL: 'a' }), true);
  await made.camera({ STATE: 'off' });
});

test('none of these comes once nothing has been here for a while', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const { made, watch } = blocks('Mugs');
  const when = () => made.when({ LABEL: 'None of these' });
  const pass = async (/** @type {number} */ milliseconds) => {
    for (let i = 0; i < milliseconds; i += 250) {
      t.mock.timers.tick(250);
      await idle();
    }
  };
  watch.here = 'a';
  await made.camera({ STATE: 'on' });
  await pass(3000);
  assert.equal(when(), false);
  watch.here = null;
  await pass(1000);
  assert.equal(when(), false, 'one label may follow another');
  await pass(1000);
  assert.equal(when(), true);
  watch.here = 'a';
  await pass(250);
  assert.equal(when(), false);
  watch.here = null;
  await pass(3000);
  await made.camera({ STATE: 'off' });
  assert.equal(when(), false);
});

test('extensions of sessions with other names have other ids, in letters and digits, and each stays the same', () => {
  const idOf = (/** @type {string} */ name) => blocks(name).made.getInfo().id;
  const ids = ['Чашки', '杯子', '瓶子', 'Mugs', 'Mugs!', 'mugs'].map(idOf);
  for (const id of ids) assert.match(id, /^metaqda[a-z0-9]+$/);
  assert.equal(new Set(ids).size, 6);
  assert.equal(idOf('杯子'), ids[1]);
});
