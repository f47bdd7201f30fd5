// @ts-check
/** The engine by itself: what it keeps, and how; databases of former versions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeFormer } from './former.js';
import { blank, run, start } from './blank.js';

test('a database of the first version is brought up to date with all that is in it', () =>
  blank(async ({ page }) => {
    await run(
      page,
      `
    const db = await new Promise((resolve, reject) => {
      const r = indexedDB.open('metaqda', 1);
      r.onerror = () => reject(r.error);
      r.onsuccess = () => resolve(r.result);
      r.onupgradeneeded = () => {
        for (const name of ['sessions', 'priors', 'meta']) r.result.createObjectStore(name);
        for (const name of ['classes', 'examples']) r.result.createObjectStore(name).createIndex('session', 'session');
      };
    });
    const t = db.transaction(['sessions', 'classes', 'examples', 'meta'], 'readwrite');
    t.objectStore('sessions').put({ id: 's', name: 'Old', created: 1, updated: 2, inference: 'fb', sort: 'taught', nonePrior: 0.25, pooled: false, prior: '' }, 's');
    t.objectStore('meta').put('s', 'current');
    for (const [k, name] of ['cat', 'dog'].entries()) {
      t.objectStore('classes').put({ id: name, session: 's', name, order: k + 1 }, name);
      const embedding = new Uint8Array(Float32Array.from({ length: 6 }, (_, j) => (j === k ? 1 : 0)).buffer);
      t.objectStore('examples').put({ id: 'x' + k, session: 's', class: name, order: 1, embedding, thumbnail: k ? new Uint8Array([7, 8]) : null }, 'x' + k);
    }
    await new Promise((resolve, reject) => { t.oncomplete = resolve; t.onerror = () => reject(t.error); });
    db.close();`,
    );
    await start(page);
    const { state, probabilities, names, thumbnails } = await run(
      page,
      `
    const db = await new Promise((resolve) => { const r = indexedDB.open('metaqda'); r.onsuccess = () => resolve(r.result); });
    const names = [...db.objectStoreNames];
    db.close();
    return { state: await engine.state(), probabilities: await engine.taught.predict(new Float32Array([1, 0, 0, 0, 0, 0])), names,
      thumbnails: (await engine.thumbnails(['x0', 'x1'])).map((b) => b && [...b]) };`,
    );
    assert.deepEqual(thumbnails, [null, [7, 8]]); // which were in the same record then
    assert.equal(state.sessionName, 'Old');
    assert.equal(state.nonePrior, 0.25);
    assert.deepEqual(
      state.classes.map((/** @type {any} */ c) => [c.name, c.examples.length]),
      [
        ['cat', 1],
        ['dog', 1],
      ],
    );
    assert.ok(probabilities.probabilities.cat > probabilities.probabilities.dog);
    assert.ok(!names.includes('checkpoints'), 'what learning went on from is gone');
  }));

test('of many records of a former version each is taken over once, whatever its id says', () =>
  blank(async ({ page }) => {
    await start(page);
    await writeFormer(
      page,
      async function* () {
        const { picture } = /** @type {any} */ (globalThis);
        const session = 's';
        const other = { 15: 'x014', 16: 'x014', 17: 'x014', 40: 'x599', 41: 'a', 60: 8, 61: undefined, 90: ['x091'], 300: 'x299', 301: 'x299', 599: '' };
        yield [
          ['sessions', session, { id: session, name: 'Old', created: 1, updated: 2, sort: 'taught', nonePrior: 0.2 }],
          ['meta', 'current', session],
          ['classes', 'cat', { session, name: 'cat', order: 1 }],
        ];
        yield [...Array(600).keys()].map((i) => {
          const key = `x${String(i).padStart(3, '0')}`;
          const id = i in other ? other[/** @type {keyof typeof other} */ (i)] : key;
          return ['examples', key, { ...(id !== undefined && { id }), session, class: 'cat', order: 10 + i, embedding: new Uint8Array(picture(0, i).buffer) }];
        });
        yield [['examples', 7, { id: 'x002', session, class: 'cat', order: 1, embedding: new Uint8Array(picture(0, 0).buffer) }]];
      },
      null,
    );
    for (const visit of ['first', 'second']) {
      await page.reload();
      await start(page);
      const examples = await run(page, 'return (await engine.state()).classes[0].examples');
      assert.deepEqual(
        examples.map((/** @type {any} */ x) => x.id),
        [...Array(600).keys()].map((i) => `x${String(i).padStart(3, '0')}`),
        visit,
      );
    }
  }));

test('the browser is asked to keep what is taught with the first picture, and when it was saved is told', () =>
  blank(async ({ page }) => {
    await run(
      page,
      `
    globalThis.asked = [];
    navigator.storage.persisted = async () => { asked.push('persisted'); return false; };
    navigator.storage.persist = async () => { asked.push('persist'); return true; };`,
    );
    await start(page);
    const { asked, states, saved } = await run(
      page,
      `
    await taught.addClass('cat');
    const states = [(await engine.state()).storage.persistent];
    const early = [...asked];
    await taught.addExampleSync(picture(0, 0), 'cat');
    await taught.addExampleSync(picture(0, 1), 'cat');
    states.push((await engine.state()).storage.persistent);
    const before = (await engine.state()).saved;
    await engine.saveSession();
    return { asked: [early, asked], states, saved: [before, (await engine.state()).saved] };`,
    );
    assert.deepEqual(asked, [['persisted'], ['persisted', 'persist']]);
    assert.deepEqual(states, ['', 'yes']);
    assert.equal(saved[0], 0);
    assert.ok(Math.abs(saved[1] - Date.now()) < 60_000);
    await page.reload();
    await start(page);
    assert.equal((await run(page, 'return engine.state()')).saved, saved[1]);
  }));

test('what is taught and what is removed is written by strict transactions alone', () =>
  blank(async ({ page }) => {
    await run(
      page,
      `
    globalThis.written = [];
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = function (stores, mode, options) {
      if (mode === 'readwrite') written.push({ stores: [stores].flat(), durability: options?.durability });
      return transaction.call(this, stores, mode, options);
    };`,
    );
    await start(page);
    const all = await run(
      page,
      `
    const of = async (work) => {
      written.length = 0;
      const result = await work();
      return [written.map(({ durability }) => durability), result];
    };
    const seen = {};
    const named = async (name, work) => {
      const [how, result] = await of(work);
      seen[name] = how;
      return result;
    };
    await named('addClass', () => taught.addClass('cat'));
    const { result: picture1 } = await named('addExample', () => taught.addExampleSync(picture(0, 1), 'cat'));
    await named('renameClass', () => taught.renameClass('cat', 'lion'));
    const { undo } = await named('removeExample', () => taught.removeExample(picture1));
    await named('undo', () => taught.undo(undo));
    await named('configure', () => taught.configure({ nonePrior: 0.3 }));
    await named('order', () => engine.order('taught'));
    await named('removeClass', () => taught.removeClass('lion'));
    const { sessionId } = await engine.state();
    await named('newSession', () => engine.newSession('Other'));
    await named('deleteSession', () => engine.deleteSession(sessionId));
    return seen;`,
    );
    for (const [name, how] of Object.entries(all)) {
      assert.ok(how.length > 0 && how.every((/** @type {string} */ one) => one === 'strict'), `${name}: ${how}`);
    }
  }));
