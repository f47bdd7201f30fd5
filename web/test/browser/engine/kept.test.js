// @ts-check
/** The engine by itself: what it keeps, and how; undo, priors, files, databases of former versions. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { siteFolder } from '../harness.js';
import { blank, run, start } from './blank.js';

test('what was taught is there after a reload, with the same numbers', () => blank(async ({ page }) => {
  await start(page);
  const taught = await run(page, `
    const ids = await teach(['cat', 'dog', 'hen']);
    const { undo } = await engine.removeExample(ids[0], (await engine.state()).classes[0].examples[1].id);
    await engine.undo(undo);
    await engine.configure({ sort: 'taught', nonePrior: 0.4 });
    return { probabilities: await ask(), state: await engine.state() };`);
  await page.reload();
  await start(page);
  const found = await run(page, 'return { probabilities: await ask(), state: await engine.state() }');
  found.state.storage.persistent = taught.state.storage.persistent; // told by the browser when it likes
  assert.deepEqual(found, taught);
  assert.equal(found.state.storage.kept, true);
  const sum = found.probabilities.classes.reduce((/** @type {number} */ s, /** @type {any} */ c) => s + c.probability, found.probabilities.none);
  assert.ok(Math.abs(sum - 1) < 1e-12, `sum ${sum}`);
}));

test('what was changed is undone and redone after a reload, in order, until it is forgotten', () => blank(async ({ page }) => {
  await start(page);
  const before = await run(page, `
    const [cat] = await teach(['cat', 'dog']);
    const answer = await ask();
    await engine.beginStep();
    for (let i = 10; i < 13; i++) await engine.addExample(cat, picture(0, i), new Uint8Array([9, i]));
    await engine.endStep();
    await engine.removeClass(cat);
    return answer;`);
  await page.reload();
  await start(page);
  const after = await run(page, `
    const names = [(await engine.state()).undo];
    for (let i = 0; i < 2; i++) names.push((await engine.undo()).name);
    const answer = await ask();
    names.push((await engine.redo()).name, (await engine.state()).redo);
    const { classes } = await engine.changes(0);
    await engine.forgetUndo();
    names.push((await engine.undo()).name, (await engine.redo()).name);
    return { names, answer, thumbnail: [...classes[0].examples[4].thumbnail] };`);
  assert.deepEqual(after.names, ['remove cat', 'remove cat', 'add 3 examples to cat', 'add 3 examples to cat', 'remove cat', '', '']);
  assert.deepEqual(after.answer, before);
  assert.deepEqual(after.thumbnail, [9, 11]);
}));

test('a prior is fetched once while its hash stands, and a changed one replaces it', () => blank(async ({ page, requested }) => {
  const file = await readFile(path.join(siteFolder, 'prior.safetensors'));
  const sum = createHash('sha256').update(file).digest('hex');
  const changed = Buffer.from(file);
  const place = changed.indexOf('"fact.') + '"fact.'.length;
  changed[place] = changed[place] === 120 ? 121 : 120; // another name for one fact
  const changedSum = createHash('sha256').update(changed).digest('hex');
  await page.route('**/changed.safetensors', (route) => route.fulfill({ body: changed }));
  const fetches = () => requested.filter((name) => name.endsWith('.safetensors')).length;

  await start(page);
  await run(page, `await teach(['cat', 'dog']); await engine.usePrior({ url: '/prior.safetensors', sha256: '${sum}' });`);
  assert.equal(fetches(), 1);
  const before = await run(page, 'return { probabilities: await ask(), prior: (await engine.state()).prior }');
  assert.equal(before.prior.sha256, sum);
  await page.reload();
  await start(page);
  assert.deepEqual(await run(page, 'return { probabilities: await ask(), prior: (await engine.state()).prior }'), before);
  await run(page, `await engine.usePrior({ url: '/prior.safetensors', sha256: '${sum}' })`);
  assert.equal(fetches(), 1, 'fetched again though the hash stands');

  const refused = await run(page, `return refusal(engine.usePrior({ url: '/prior.safetensors', sha256: '${changedSum}' }))`);
  assert.equal(refused.code, 'prior-mismatch');
  await run(page, `await engine.usePrior({ url: '/changed.safetensors', sha256: '${changedSum}' })`);
  assert.equal((await run(page, 'return engine.state()')).prior.sha256, changedSum);
  const stored = await run(page, `
    const db = await new Promise((resolve) => { const r = indexedDB.open('metaqda'); r.onsuccess = () => resolve(r.result); });
    return new Promise((resolve) => { const r = db.transaction('priors').objectStore('priors').getAllKeys(); r.onsuccess = () => { db.close(); resolve(r.result); }; });`);
  assert.deepEqual(stored, [changedSum]);
}));

test('a database of the first version is brought up to date with all that is in it', () => blank(async ({ page }) => {
  await run(page, `
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
    db.close();`);
  await start(page);
  const { state, probabilities, names, thumbnails } = await run(page, `
    const db = await new Promise((resolve) => { const r = indexedDB.open('metaqda'); r.onsuccess = () => resolve(r.result); });
    const names = [...db.objectStoreNames];
    db.close();
    return { state: await engine.state(), probabilities: await engine.predict(new Float32Array([1, 0, 0, 0, 0, 0])), names,
      thumbnails: [...await engine.thumbnails('cat', ['x0']), ...await engine.thumbnails('dog', ['x1'])].map((b) => b && [...b]) };`);
  assert.deepEqual(thumbnails, [null, [7, 8]]); // which were in the same record then
  assert.equal(state.sessionName, 'Old');
  assert.equal(state.nonePrior, 0.25);
  assert.deepEqual(state.classes.map((/** @type {any} */ c) => [c.name, c.examples.length]), [['cat', 1], ['dog', 1]]);
  assert.ok(probabilities.classes[0].probability > probabilities.classes[1].probability);
  assert.ok(!names.includes('checkpoints'), 'what learning went on from is gone');
}));

test('of many records each is read once, whatever its id says', () => blank(async ({ page }) => {
  await start(page);
  await run(page, `await teach(['cat', 'dog'])`);
  const { keys, ids } = await page.evaluate(async () => {
    const { engine, picture } = /** @type {any} */ (globalThis);
    const { sessionId: session, classes: [cat] } = await engine.state();
    const db = await new Promise((resolve) => { const r = indexedDB.open('metaqda'); r.onsuccess = () => resolve(r.result); });
    const t = db.transaction('examples', 'readwrite');
    const store = t.objectStore('examples');
    const keys = [...Array(600).keys()].map((i) => `x${String(i).padStart(3, '0')}`);
    const other = { 15: 'x014', 16: 'x014', 17: 'x014', 40: 'x599', 41: 'a', 60: 8, 61: undefined, 90: ['x091'], 300: 'x299', 301: 'x299', 599: '' };
    for (const [i, key] of keys.entries()) {
      const id = i in other ? other[/** @type {keyof typeof other} */ (i)] : key;
      store.put({ ...id !== undefined && { id }, session, class: cat.id, order: 10 + i, embedding: new Uint8Array(picture(0, i).buffer) }, key);
    }
    store.put({ id: 'x002', session, class: cat.id, order: 1, embedding: new Uint8Array(picture(0, 0).buffer) }, 7);
    await new Promise((resolve) => { t.oncomplete = resolve; });
    db.close();
    return { keys, ids: cat.examples.map((/** @type {any} */ x) => x.id) };
  });
  await page.reload();
  await start(page);
  const examples = await run(page, 'return (await engine.state()).classes[0].examples');
  assert.deepEqual(examples.map((/** @type {any} */ x) => x.id), [...ids, ...keys]);
}));

test('the browser is asked to keep what is taught with the first picture, and when it was saved is told', () => blank(async ({ page }) => {
  await run(page, `
    globalThis.asked = [];
    navigator.storage.persisted = async () => { asked.push('persisted'); return false; };
    navigator.storage.persist = async () => { asked.push('persist'); return true; };`);
  await start(page);
  const { asked, states, saved } = await run(page, `
    const { id } = await engine.addClass('cat');
    const states = [(await engine.state()).storage.persistent];
    const early = [...asked];
    await engine.addExample(id, picture(0, 0), null);
    await engine.addExample(id, picture(0, 1), null);
    states.push((await engine.state()).storage.persistent);
    const before = (await engine.state()).saved;
    await engine.exportSession();
    return { asked: [early, asked], states, saved: [before, (await engine.state()).saved] };`);
  assert.deepEqual(asked, [['persisted'], ['persisted', 'persist']]);
  assert.deepEqual(states, ['', 'yes']);
  assert.equal(saved[0], 0);
  assert.ok(Math.abs(saved[1] - Date.now()) < 60_000);
  await page.reload();
  await start(page);
  assert.equal((await run(page, 'return engine.state()')).saved, saved[1]);
}));

test('what is taught and what is removed is written by strict transactions alone', () => blank(async ({ page }) => {
  await run(page, `
    globalThis.written = [];
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = function (stores, mode, options) {
      if (mode === 'readwrite') written.push({ stores: [stores].flat(), durability: options?.durability });
      return transaction.call(this, stores, mode, options);
    };`);
  await start(page);
  const all = await run(page, `
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
    const { id } = await named('addClass', () => engine.addClass('cat'));
    const { id: picture1 } = await named('addExample', () => engine.addExample(id, picture(0, 1), null));
    await named('renameClass', () => engine.renameClass(id, 'lion'));
    const { undo } = await named('removeExample', () => engine.removeExample(id, picture1));
    await named('undo', () => engine.undo(undo));
    await named('configure', () => engine.configure({ nonePrior: 0.3 }));
    await named('removeClass', () => engine.removeClass(id));
    const { sessionId } = await engine.state();
    await named('newSession', () => engine.newSession('Other'));
    await named('deleteSession', () => engine.deleteSession(sessionId));
    return seen;`);
  for (const [name, how] of Object.entries(all)) {
    assert.ok(how.length > 0 && how.every((/** @type {string} */ one) => one === 'strict'), `${name}: ${how}`);
  }
}));

test('sessions and priors go out as files and come in again', () => blank(async ({ page }) => {
  await start(page);
  const result = await run(page, `
    await teach(['cat', 'dog']);
    const before = await ask();
    const file = await engine.exportSession();
    const prior = await engine.exportPrior();
    await engine.newSession('Empty');
    const empty = (await engine.state()).classes.length;
    await engine.importSession(file);
    const { undo } = await engine.importPrior(prior);
    const withPrior = await ask();
    const again = await engine.exportPrior();
    await engine.undo(undo);
    await engine.resetPrior();
    return { before, empty, withPrior, after: await ask(), sessions: (await engine.sessions()).length, thumbnail: (await engine.changes(0)).classes[1].examples[2].thumbnail, same: again.length === prior.length && again.every((b, i) => b === prior[i]) };`);
  const probabilities = (/** @type {any} */ p) => [...p.classes.map((/** @type {any} */ c) => c.probability), p.none];
  assert.equal(result.empty, 0);
  assert.deepEqual(probabilities(result.after), probabilities(result.before));
  for (const [i, p] of probabilities(result.withPrior).entries()) assert.ok(Math.abs(p - probabilities(result.before)[i]) < 1e-6); // it was rounded to float32
  assert.equal(result.sessions, 3);
  assert.deepEqual(Object.values(result.thumbnail), [1, 2]);
  assert.ok(result.same, 'an imported prior is exported as the bytes it came as');
}));
