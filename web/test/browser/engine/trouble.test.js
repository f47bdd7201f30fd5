// @ts-check
/** The engine by itself where its storage is damaged, held back, gone, full or missing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LONG } from '../../long.js';
import { writeFormer } from './former.js';
import { blank, DIMENSION, run, site, start } from './blank.js';

/** @import {Page} from 'playwright-core' */

/** What an engine whose storage fails still does. @param {Page} page @param {RegExp} message */
async function worksInMemory(page, message) {
  const { probabilities, state } = await run(page, `await teach(['cat', 'dog']); return { probabilities: await ask(), state: await engine.state() }`);
  assert.equal(state.storage.kept, false);
  assert.match(state.storage.message, message);
  assert.ok(probabilities.probabilities.cat > probabilities.probabilities.dog);
}

test('a database that another tab holds back is complete once it is let go', LONG, () =>
  blank(async ({ page }) => {
    await run(
      page,
      `
    globalThis.held = await new Promise((resolve) => {
      const r = indexedDB.open('metaqda', 1);
      r.onsuccess = () => resolve(r.result);
      r.onupgradeneeded = () => {
        for (const name of ['sessions', 'priors', 'meta']) r.result.createObjectStore(name);
        for (const name of ['classes', 'examples']) r.result.createObjectStore(name).createIndex('session', 'session');
      };
    });`,
    );
    await start(page);
    await worksInMemory(page, /does not answer.*close other tabs/);
    const found = await run(
      page,
      `
    held.close();
    const db = await new Promise((resolve) => { const r = indexedDB.open('metaqda'); r.onsuccess = () => resolve(r.result); });
    const found = [...db.objectStoreNames];
    db.close();
    return found;`,
    );
    assert.deepEqual(found, ['classes', 'damaged', 'examples', 'log', 'meta', 'priors', 'sessions', 'snapshots', 'thumbnails']);
  }),
);

test('records of a former version that are damaged are set aside, named and exportable, and the rest works', () =>
  blank(async ({ page }) => {
    await start(page);
    await run(page, `await teach(['cat', 'dog'])`);
    const before = await run(page, 'return ask()');
    await writeFormer(
      page,
      async function* () {
        const { picture } = /** @type {any} */ (globalThis);
        const session = 's';
        const bytes = (/** @type {Float32Array<ArrayBuffer>} */ x) => new Uint8Array(x.buffer);
        const numbers = bytes(picture(0, 0));
        const nan = picture(0, 0);
        nan[3] = NaN;
        const x = (/** @type {unknown} */ order, /** @type {unknown} */ embedding, more = {}) => ({ session, class: 'cat', order, embedding, ...more });
        yield ['cat', 'dog'].flatMap((id, k) => [
          ['classes', id, { id, session, name: id, order: k }],
          ...[0, 1, 2].map(
            (i) =>
              /** @type {[string, unknown, unknown]} */ (['examples', id + i, { id: id + i, session, class: id, order: i, embedding: bytes(picture(k, i)) }]),
          ),
        ]);
        yield [
          ['sessions', session, { id: session, name: 'My classes', created: 1, updated: 2, sort: 'probability', nonePrior: 0.2 }],
          ['meta', 'current', session],
          ['examples', 'a', x(-9, numbers.slice(0, 400))],
          ['examples', 'b', x(9, numbers.slice(0, 401))],
          ['examples', 'c', x(9, bytes(nan))],
          ['examples', 'd', x(9, 'numbers')],
          ['examples', 'e', x(9, null)],
          ['examples', 'f', x(9, numbers, { class: 'gone' })],
          ['examples', 'g', x(9, [1, 2, 3])],
          ['examples', 'l', x(5n, 'numbers')],
          ['examples', 'm', x(9, 5n)],
          ['sessions', 'n', { id: 'n', name: 'Large', created: 7n }],
          ['examples', 1, x(9, numbers)],
          ['examples', ['o'], x(9, numbers)],
          ['classes', new Date(0), { session, name: 'x' }],
          ['thumbnails', 'p', new Uint8Array(3)],
          ['examples', 'h', 'oops'],
          ['classes', 'i', 7],
          ['classes', 'j', { session: 'gone', name: 'x' }],
          ['sessions', 'k', 'oops'],
          ['sessions', 9, {}],
          ['priors', 'p', 'oops'],
        ];
      },
      null,
    );
    await page.reload();
    await start(page);
    const look = `return { state: await engine.state(), probabilities: await ask(), file: JSON.parse(new TextDecoder().decode(await engine.damaged())), sessions: await engine.sessions() }`;
    const { state, probabilities, file, sessions } = await run(page, look);
    const p = (/** @type {any} */ answer) => Object.values(answer.probabilities).map((one) => one.toFixed(9));
    assert.deepEqual(p(probabilities), p(before));
    assert.equal(state.storage.kept, true);
    assert.equal(state.damaged, 9);
    assert.deepEqual(file.records.map((/** @type {any} */ r) => r.key).sort(), [
      '"1970-01-01T00:00:00.000Z"',
      '1',
      '9',
      '["o"]',
      'a',
      'b',
      'c',
      'd',
      'e',
      'f',
      'g',
      'h',
      'i',
      'j',
      'l',
      'm',
      'p',
    ]);
    for (const r of file.records) assert.ok(r.reason && 'record' in r, JSON.stringify(r));
    assert.equal(Buffer.from(file.records.find((/** @type {any} */ r) => r.key === 'b').record.embedding, 'base64').length, 401);
    assert.deepEqual(sessions.map((/** @type {any} */ s) => s.name).sort(), ['Large', 'My classes', 'Recovered session']);
    await page.reload();
    await start(page);
    const again = await run(page, look);
    assert.deepEqual([again.state.damaged, again.file.records.length], [state.damaged, file.records.length]);
  }));

test('records of a log that are damaged are named and exportable, and the rest works', () =>
  blank(async ({ page }) => {
    await start(page);
    await run(page, `await teach(['cat', 'dog'])`);
    const { sessionId } = await run(page, 'return engine.state()');
    const written = await run(
      page,
      `
    const db = await new Promise((resolve) => { const r = indexedDB.open('metaqda'); r.onsuccess = () => resolve(r.result); });
    const t = db.transaction([...db.objectStoreNames], 'readwrite');
    const steps = t.objectStore('log');
    const keys = await new Promise((resolve) => { const r = steps.getAllKeys(); r.onsuccess = () => resolve(r.result); });
    const [session, last] = keys.at(-1);
    const cut = (key) => { const r = steps.get(key); r.onsuccess = () => steps.put(r.result.slice(0, -5), key); };
    cut([session, last]); // the third picture of the dog
    cut([session, last - 1]);
    steps.put('oops', [session, last - 4]); // the third picture of the cat
    for (const [table, key, value] of [['log', 7, new Uint8Array(3)], ['snapshots', ['gone', 1], new Uint8Array(3)], ['thumbnails', 'p', new Uint8Array(3)], ['snapshots', [session, 9], 5n], ['damaged', [session, 1], 'oops']]) t.objectStore(table).put(value, key);
    await new Promise((resolve, reject) => { t.oncomplete = resolve; t.onerror = () => reject(t.error); });
    db.close();
    return last;`,
    );
    assert.equal(written, 9);
    await page.reload();
    await start(page);
    const { state, file, added } = await run(
      page,
      `
    const state = await engine.state();
    await ask();
    const { result: id } = await taught.addExampleSync(picture(0, 7), state.classes[0].name);
    return { state, file: JSON.parse(new TextDecoder().decode(await engine.damaged())), added: id };`,
    );
    assert.equal(state.sessionId, sessionId);
    assert.deepEqual([state.storage.kept, state.damaged], [true, 5]);
    assert.deepEqual(
      state.classes.map((/** @type {any} */ c) => [c.name, c.examples.length]),
      [
        ['cat', 2],
        ['dog', 1],
      ],
    );
    for (const r of file.records) assert.ok(r.reason && 'record' in r, JSON.stringify(r));
    assert.ok(
      ['7', 'gone/1', 'p'].every((key) => file.records.some((/** @type {any} */ r) => r.key === key)),
      JSON.stringify(file.records.map((/** @type {any} */ r) => r.key)),
    );
    await run(page, 'await engine.forgetUndo()'); // writes a snapshot, and sets aside what it would cover
    await page.reload();
    await start(page);
    const again = await run(page, 'return engine.state()');
    assert.equal(again.damaged, 5);
    assert.ok(again.classes[0].examples.some((/** @type {any} */ x) => x.id === added));
  }));

test('a database that is not there any more at the next visit is missed, with what was in it', () =>
  blank(async ({ page }) => {
    await start(page);
    await run(page, `await teach(['cat', 'dog'])`);
    await run(
      page,
      `
    const place = await caches.open('kept-sessions-metaqda');
    const noted = async () => (await Promise.all((await place.keys()).map(async (key) => (await place.match(key)).text()))).join();
    while (!/"Examples":6/.test(await noted())) await new Promise(requestAnimationFrame);`,
    );
    await page.reload();
    await start(page);
    assert.equal((await run(page, 'return engine.state()')).storage.vanished, '');
    await page.reload();
    await run(
      page,
      `await new Promise((resolve, reject) => { const r = indexedDB.deleteDatabase('metaqda'); r.onsuccess = resolve; r.onerror = r.onblocked = reject; })`,
    );
    await start(page);
    const { storage, classes } = await run(page, 'return engine.state()');
    assert.match(storage.vanished, /lost or deleted what was kept here: “My classes” \(2 classes, 6 pictures\)\. .* open the file/);
    assert.deepEqual([storage.kept, classes.length], [true, 0]);
  }));

test("pictures that are taught while the site's data are cleared are refused, each in a sentence", () =>
  blank(async ({ page }) => {
    await start(page);
    await run(page, `[globalThis.cat] = await teach(['cat', 'dog'])`);
    const adding = run(
      page,
      `
    const answers = [];
    for (let i = 0; i < 20; answers.length && i++) answers.push(...[await refusal(taught.addExampleSync(picture(0, 9), cat, { thumbnail: new Uint8Array(9) }))].filter(Boolean));
    return { answers, file: (await engine.saveSession()).length, state: await engine.state() };`,
    );
    await (await page.context().newCDPSession(page)).send('Storage.clearDataForOrigin', { origin: site.origin, storageTypes: 'all' });
    const { answers, file, state } = await adding;
    assert.equal(answers.length, 20, 'once one is refused, all are');
    for (const { code, message } of answers)
      assert.ok(['aborted', 'closed', 'cleared'].includes(code) && /save|export/i.test(message) && !/JavaScript/.test(message), `${code}: ${message}`);
    assert.ok(file > 0);
    assert.deepEqual([state.storage.kept, state.storage.message], [false, answers.at(-1).message]);
  }));

test('data that are cleared while the page is open are missed, and what is here goes out as a file', () =>
  blank(async ({ page, context }) => {
    // Caches that never answer keep nothing from starting.
    await run(page, 'caches.open = () => new Promise(() => {}); const { timeout } = AbortSignal; AbortSignal.timeout = () => timeout.call(AbortSignal, 1)');
    await start(page);
    await run(page, `await teach(['cat', 'dog'])`);
    const devtools = await context.newCDPSession(page);
    await devtools.send('Storage.clearDataForOrigin', { origin: site.origin, storageTypes: 'indexeddb' });
    await run(page, 'await until(({ storage }) => !storage.kept)');
    const { storage, classes, bytes } = await run(
      page,
      `
    const { storage, classes } = await engine.state();
    return { storage, classes, bytes: (await engine.saveSession()).length };`,
    );
    assert.equal(storage.kept, false);
    assert.match(storage.message, /cleared.*only in this tab: save it to a file/);
    assert.deepEqual(
      classes.map((/** @type {any} */ c) => c.examples.length),
      [3, 3],
    );
    assert.ok(bytes > 6 * 4 * DIMENSION);
  }));

/** @type {Record<string, [code: string, message: RegExp]>} */
const without = {
  'without IndexedDB everything works but says that nothing is kept': [
    "Object.defineProperty(globalThis, 'indexedDB', { get() { throw new DOMException('no', 'SecurityError'); } })",
    /allows no storage.*Save the session to a file/,
  ],
  'a database of a newer version is left alone': [
    "await new Promise((resolve) => { const r = indexedDB.open('metaqda', 99); r.onsuccess = () => { r.result.close(); resolve(); }; })",
    /newer version of this page.*Close all its tabs/,
  ],
};
for (const [name, [code, message]] of Object.entries(without))
  test(name, () =>
    blank(async ({ page }) => {
      await run(page, code);
      await start(page);
      await worksInMemory(page, message);
    }),
  );

test('an engine lets go of the database when a newer version wants it, and says so', () =>
  blank(async ({ page }) => {
    await start(page);
    await run(
      page,
      `
    await taught.addClass('cat');
    await new Promise((resolve, reject) => { const r = indexedDB.open('metaqda', 99); r.onblocked = () => reject(new Error('blocked')); r.onsuccess = () => { r.result.close(); resolve(); }; });`,
    );
    const refused = await run(page, `return [await refusal(taught.addClass('dog')), await refusal(taught.addClass('hen'))]`);
    assert.deepEqual(
      refused.map((/** @type {any} */ r) => r.code),
      ['closed', 'closed'],
    );
    const { storage, classes } = await run(page, 'return engine.state()');
    assert.equal(classes.length, 2, 'what found it closed is in the tab alone, and what came after is not taken');
    assert.equal(storage.kept, false);
    assert.match(storage.message, /storage was closed.*reload the page/);
  }));

test('what a storage does not take in time is in the tab, is said, and is stored with the next change', () =>
  blank(async ({ page }) => {
    await start(page);
    const { held, after } = await run(
      page,
      `
    const [cat] = await teach(['cat', 'dog']);
    const db = await new Promise((resolve) => { indexedDB.open('metaqda').onsuccess = ({ target }) => resolve(target.result); });
    let go = true;
    const store = db.transaction([...db.objectStoreNames], 'readwrite').objectStore('meta');
    const hold = () => { if (go) store.get('x').onsuccess = hold; };
    hold();
    // Half a minute passes at once: Go's clock is put forward, and its timers look at it often.
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (f, ms, ...args) => setTimeout(f, Math.min(ms, 50), ...args);
    const answer = refusal(taught.addExampleSync(picture(0, 7), cat));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const now = performance.now.bind(performance);
    performance.now = () => now() + 31_000;
    const held = { refused: await answer, storage: (await engine.state()).storage };
    go = false;
    await taught.addExampleSync(picture(0, 8), cat);
    db.close();
    return { held, after: (await engine.state()).storage };`,
    );
    assert.deepEqual([held.refused, held.storage.kept], [null, false]);
    assert.match(held.storage.message, /storage does not answer.*Save the session to a file/);
    assert.deepEqual([after.kept, after.message], [true, '']);
    await page.reload();
    await start(page);
    const { classes } = await run(page, 'return engine.state()');
    assert.deepEqual(
      classes.map((/** @type {any} */ c) => c.examples.length),
      [5, 3],
    );
  }));

test('when the storage is full that is said, and what waited is stored once there is room', () =>
  blank(async ({ page, context }) => {
    const devtools = await context.newCDPSession(page);
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: site.origin, quotaSize: 2e6 });
    await start(page);
    const full = await run(
      page,
      `
    const [cat] = await teach(['cat', 'dog']);
    await taught.addExampleSync(picture(0, 7), cat, { thumbnail: new Uint8Array(5e6) });
    return { storage: (await engine.state()).storage };`,
    );
    assert.equal(full.storage.kept, false);
    assert.match(full.storage.message, /storage is full.*Save the session to a file/);
    // What is removed meanwhile is gone for good, room or not.
    const kept = await run(
      page,
      `
    const [, dog] = (await engine.state()).classes;
    await taught.removeExample(dog.examples[0].id);
    const { loadEngine } = await import('/tests/modules.js');
    const other = await loadEngine({ base: location.origin + '/' }); // sees what is stored
    const there = (await other.state()).classes[1].examples.map(({ id }) => id);
    return { there, gone: dog.examples[0].id, probabilities: await ask() };`,
    );
    assert.deepEqual([kept.there.length, kept.there.includes(kept.gone)], [2, false]);
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: site.origin });
    const { storage } = await run(page, `const [cat] = (await engine.state()).classes; await taught.renameClass(cat.name, 'lion'); return engine.state()`);
    assert.deepEqual([storage.kept, storage.message], [true, '']);
    await page.reload();
    await start(page);
    const probabilities = await run(page, 'return ask()');
    assert.deepEqual(Object.values(probabilities.probabilities), Object.values(kept.probabilities.probabilities));
  }));
