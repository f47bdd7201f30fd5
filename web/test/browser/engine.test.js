// @ts-check
/**
 * The engine by itself in Chromium: storage, priors, several tabs, storage that
 * fails, and what it draws. The pages here are blank but for the engine.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { serveSite, siteFolder, visit } from './harness.js';
import { LONG } from '../long.js';

/** @typedef {import('playwright-core').Page} Page */

/** @type {import('./harness.js').Site} */
let site;
before(async () => { site = await serveSite(); });
after(() => site.stop());

const DIMENSION = 1280;

/**
 * Visits a blank page of the site.
 *
 * @param {(visit: import('./harness.js').Visit) => Promise<void>} check
 */
function blank(check) {
  return visit({ site, open: false, expect: [/favicon/] }, async (visited) => {
    await visited.page.goto(`${site.origin}/LICENSE.txt`);
    await check(visited);
  });
}

/**
 * Starts an engine in the page, as the global `engine`, with some helpers.
 *
 * @param {Page} page
 * @param {{simd?: boolean}} [options]
 */
async function start(page, options = {}) {
  await page.evaluate(async ([dimension, settings]) => {
    const scope = /** @type {any} */ (globalThis);
    const { loadEngine } = await import(/** @type {any} */ ('/web/library/storage.js'));
    scope.engine = await loadEngine({ base: `${location.origin}/`, .../** @type {object} */ (settings) });
    // A picture of class k: the same numbers for the same arguments.
    scope.picture = (/** @type {number} */ k, /** @type {number} */ i) =>
      Float32Array.from({ length: /** @type {number} */ (dimension) }, (_, j) => Math.sin((k + 1) * (j + 1)) + 0.5 * Math.sin(i * 7919 + j * 1.3));
    scope.teach = async (/** @type {string[]} */ names, shots = 3) => {
      const ids = [];
      for (const [k, name] of names.entries()) {
        const { id } = await scope.engine.addClass(name);
        ids.push(id);
        for (let i = 0; i < shots; i++) await scope.engine.addExample(id, scope.picture(k, i), new Uint8Array([k, i]));
      }
      return ids;
    };
    scope.ask = () => scope.engine.probabilities(scope.picture(0, 50));
    scope.refusal = (/** @type {Promise<unknown>} */ promise) => promise.then(() => null, (error) => ({ code: error.code, message: error.message }));
  }, /** @type {const} */ ([DIMENSION, options]));
}

/** Evaluates in the page, where `engine`, `teach`, `ask`, `picture` and `refusal` are. @param {Page} page @param {string} code @returns {Promise<any>} */
const run = (page, code) => page.evaluate(`(async () => { ${code} })()`);

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

test('the answers with and without SIMD agree', () => blank(async ({ page }) => {
  await start(page, { simd: true });
  const fast = await run(page, `await teach(['cat', 'dog', 'hen'], 5); return { probabilities: await ask(), simd: (await engine.modules).kernels !== null }`);
  await page.reload();
  await start(page, { simd: false });
  const slow = await run(page, `return { probabilities: await ask(), simd: (await engine.modules).kernels !== null }`);
  assert.equal(fast.simd, true);
  assert.equal(slow.simd, false);
  for (const [i, c] of fast.probabilities.classes.entries()) assert.ok(Math.abs(c.probability - slow.probabilities.classes[i].probability) < 1e-9);
  assert.ok(Math.abs(fast.probabilities.none - slow.probabilities.none) < 1e-9);
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
    return { state: await engine.state(), probabilities: await engine.probabilities(new Float32Array([1, 0, 0, 0, 0, 0])), names,
      thumbnails: [...await engine.thumbnails('cat', ['x0']), ...await engine.thumbnails('dog', ['x1'])].map((b) => b && [...b]) };`);
  assert.deepEqual(thumbnails, [null, [7, 8]]); // which were in the same record then
  assert.equal(state.sessionName, 'Old');
  assert.equal(state.nonePrior, 0.25);
  assert.deepEqual(state.classes.map((/** @type {any} */ c) => [c.name, c.examples.length]), [['cat', 1], ['dog', 1]]);
  assert.ok(probabilities.classes[0].probability > probabilities.classes[1].probability);
  assert.ok(!names.includes('checkpoints'), 'what learning went on from is gone');
}));

test('a database that another tab holds back is complete once it is let go', LONG, () => blank(async ({ page }) => {
  await run(page, `
    globalThis.held = await new Promise((resolve) => {
      const r = indexedDB.open('metaqda', 1);
      r.onsuccess = () => resolve(r.result);
      r.onupgradeneeded = () => {
        for (const name of ['sessions', 'priors', 'meta']) r.result.createObjectStore(name);
        for (const name of ['classes', 'examples']) r.result.createObjectStore(name).createIndex('session', 'session');
      };
    });`);
  await start(page);
  await worksInMemory(page, /does not answer.*close other tabs/);
  const found = await run(page, `
    held.close();
    const db = await new Promise((resolve) => { const r = indexedDB.open('metaqda'); r.onsuccess = () => resolve(r.result); });
    const t = db.transaction(['classes', 'examples']);
    const found = [[...db.objectStoreNames], [...t.objectStore('classes').indexNames], [...t.objectStore('examples').indexNames]];
    db.close();
    return found;`);
  assert.deepEqual(found, [['classes', 'examples', 'meta', 'priors', 'sessions', 'steps', 'thumbnails'], ['name', 'place', 'session'], ['class', 'place', 'session']]);
}));

test('a second tab sees what the first one teaches, and neither loses anything', () => blank(async ({ page, context }) => {
  await start(page);
  const [cat] = await run(page, `return teach(['cat', 'dog'])`);
  const other = await context.newPage();
  await other.goto(`${site.origin}/LICENSE.txt`);
  await start(other);
  await run(other, `globalThis.changed = new Promise((resolve) => engine.on('change', resolve))`);
  await run(page, `await engine.addExample('${cat}', picture(0, 9), null)`);
  await run(other, 'await changed');
  assert.deepEqual(await run(other, 'return ask()'), await run(page, 'return ask()'));
  // Both at once, without waiting for each other.
  await Promise.all([
    run(page, `for (let i = 10; i < 15; i++) await engine.addExample('${cat}', picture(0, i), null)`),
    run(other, `const { id } = await engine.addClass('hen'); for (let i = 0; i < 5; i++) await engine.addExample(id, picture(2, i), null)`),
  ]);
  await page.reload();
  await start(page);
  const state = await run(page, 'return engine.state()');
  assert.deepEqual(state.classes.map((/** @type {any} */ c) => [c.name, c.examples.length]), [['cat', 9], ['dog', 3], ['hen', 5]]);
  // What is open in one tab is deleted in the other.
  await run(other, `
    await new Promise((resolve) => { const look = async () => ((await engine.state()).classes.length === 3 ? resolve() : setTimeout(look, 20)); look(); });
    await engine.deleteSession('${state.sessionId}');`);
  await run(page, `await new Promise((resolve) => { const look = async () => ((await engine.state()).sessionId === '${state.sessionId}' ? setTimeout(look, 20) : resolve()); look(); })`);
  assert.deepEqual((await run(page, 'return engine.sessions()')).map((/** @type {any} */ s) => s.examples), [0]);
}));

test('two tabs that change one session at random come to the same, and nothing acknowledged is missing', () => blank(async ({ page, context }) => {
  await start(page);
  await run(page, `return teach(['cat', 'dog'])`);
  const other = await context.newPage();
  await other.goto(`${site.origin}/LICENSE.txt`);
  await start(other);
  // Each does things without waiting for what it did before, and writes down what was acknowledged.
  const act = (/** @type {number} */ seed) => `
    let r = ${seed};
    const random = (n) => (r = (r * 1664525 + 1013904223) >>> 0) % n;
    const log = { added: [], removed: [], refused: 0 };
    const waiting = [];
    for (let i = 0; i < 100; i++) {
      const { classes } = await engine.state();
      const c = classes[random(classes.length)];
      const kind = random(20);
      const note = (promise, then) => waiting.push(promise.then(then, (error) => { log.refused++; if (!error.code) throw error; }));
      if (!c || kind < 2) note(engine.addClass('class ' + random(8)), ({ id }) => log.added.push(id));
      else if (kind < 12) note(engine.addExample(c.id, picture(random(4), ${seed} * 1000 + i), null), ({ id }) => log.added.push(id));
      else if (kind < 14 && c.examples.length) { const { id } = c.examples[random(c.examples.length)]; note(engine.removeExample(c.id, id), () => log.removed.push(id)); }
      else if (kind === 14) note(engine.removeClass(c.id), () => log.removed.push(c.id, ...c.examples.map(({ id }) => id)));
      else if (kind < 17) note(engine.renameClass(c.id, 'class ' + random(8)), () => {});
      else if (kind < 19) note(engine.configure({ nonePrior: random(9) / 10 }), () => {});
      else note(engine.renameSession((await engine.state()).sessionId, 'session ' + random(99)), () => {});
      if (random(4) === 0) await Promise.all(waiting);
    }
    await Promise.all(waiting);
    return log;`;
  const logs = await Promise.all([run(page, act(1)), run(other, act(2))]);
  const file = `
    const { sessionName, nonePrior, classes } = await engine.state();
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await engine.exportSession()));
    return { sum: digest.join(), state: JSON.stringify({ sessionName, nonePrior, classes }) };`;
  let [a, b] = [{ sum: 'a', state: '' }, { sum: 'b', state: '' }];
  for (let i = 0; i < 50 && (a.sum !== b.sum || a.state !== b.state); i++) {
    await new Promise((resolve) => { setTimeout(resolve, 100); }); // notes are on their way
    [a, b] = await Promise.all([run(page, file), run(other, file)]);
  }
  assert.deepEqual(JSON.parse(a.state), JSON.parse(b.state));
  assert.equal(a.sum, b.sum);
  await other.close();
  await page.reload();
  await start(page);
  assert.equal((await run(page, file)).sum, a.sum, 'stored is something else');
  const there = new Set(JSON.parse(a.state).classes.flatMap((/** @type {any} */ c) => [c.id, ...c.examples.map((/** @type {any} */ x) => x.id)]));
  const gone = new Set(logs.flatMap(({ removed }) => removed));
  for (const id of logs.flatMap(({ added }) => added)) assert.ok(there.has(id) || gone.has(id), `${id} was acknowledged and is gone`);
  assert.ok(logs[0].added.length + logs[1].added.length > 50);
}));

/** Writes records by hand: [table, key, value]. @param {Page} page @param {string} records code */
const write = (page, records) => run(page, `
  const db = await new Promise((resolve) => { const r = indexedDB.open('metaqda'); r.onsuccess = () => resolve(r.result); });
  const { sessionId: session, classes } = await engine.state();
  const t = db.transaction([...db.objectStoreNames], 'readwrite');
  for (const [table, key, value] of (${records})(session, classes)) t.objectStore(table).put(value, key);
  await new Promise((resolve, reject) => { t.oncomplete = resolve; t.onerror = () => reject(t.error); });
  db.close();`);

test('records that are damaged are set aside, named and exportable, and the rest works', () => blank(async ({ page }) => {
  await start(page);
  await run(page, `await teach(['cat', 'dog'])`);
  const before = await run(page, 'return ask()');
  await write(page, `(session, [cat]) => {
    const numbers = new Uint8Array(picture(0, 0).buffer);
    const nan = picture(0, 0); nan[3] = NaN;
    const x = (order, embedding, more = {}) => ({ session, class: cat.id, order, embedding, ...more });
    return [
      ['examples', 'a', x(-9, numbers.slice(0, 400))], ['examples', 'b', x(9, numbers.slice(0, 401))], ['examples', 'c', x(9, new Uint8Array(nan.buffer))],
      ['examples', 'd', x(9, 'numbers')], ['examples', 'e', x(9, null)], ['examples', 'f', x(9, numbers, { class: 'gone' })], ['examples', 'g', x(9, [1, 2, 3])],
      ['examples', 'l', x(5n, 'numbers')], ['examples', 'm', x(9, 5n)], ['sessions', 'n', { id: 'n', name: 'Large', created: 7n }],
      ['examples', 1, x(9, numbers)], ['examples', ['o'], x(9, numbers)], ['classes', new Date(0), { session, name: 'x' }], ['thumbnails', 'p', new Uint8Array(3)],
      ['examples', 'h', 'oops'], ['classes', 'i', 7], ['classes', 'j', { session: 'gone', name: 'x' }], ['sessions', 'k', 'oops'], ['sessions', 9, {}],
      ['priors', 'p', 'oops'],
    ];
  }`);
  await page.reload();
  await start(page);
  const { state, probabilities, file, sessions } = await run(page, `
    return { state: await engine.state(), probabilities: await ask(), file: JSON.parse(new TextDecoder().decode(await engine.damaged())), sessions: await engine.sessions() }`);
  assert.deepEqual(probabilities, before);
  assert.equal(state.storage.kept, true);
  assert.equal(state.damaged, 9);
  assert.deepEqual(file.records.map((/** @type {any} */ r) => r.key).sort(),
    ['"1970-01-01T00:00:00.000Z"', '1', '9', '["o"]', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'l', 'm', 'p']);
  for (const r of file.records) assert.ok(r.reason && 'record' in r, JSON.stringify(r));
  assert.equal(Buffer.from(file.records.find((/** @type {any} */ r) => r.key === 'b').record.embedding, 'base64').length, 401);
  assert.deepEqual(sessions.map((/** @type {any} */ s) => s.name).sort(), ['Large', 'My classes', 'Recovered session']);
}));

test('a database that is not there any more at the next visit is missed, with what was in it', () => blank(async ({ page }) => {
  await start(page);
  await run(page, `await teach(['cat', 'dog'])`);
  await run(page, `while (!(await (await caches.open('kept-sessions-metaqda')).keys()).length) await new Promise(requestAnimationFrame)`);
  await page.reload();
  await start(page);
  assert.equal((await run(page, 'return engine.state()')).storage.vanished, '');
  await page.reload();
  await run(page, `await new Promise((resolve, reject) => { const r = indexedDB.deleteDatabase('metaqda'); r.onsuccess = resolve; r.onerror = r.onblocked = reject; })`);
  await start(page);
  const { storage, classes } = await run(page, 'return engine.state()');
  assert.match(storage.vanished, /lost or deleted what was kept here: “My classes” \(2 classes, \d pictures?\)\. .* open the file/);
  assert.deepEqual([storage.kept, classes.length], [true, 0]);
}));

test('pictures that are taught while the site\'s data are cleared are refused, each in a sentence', () => blank(async ({ page }) => {
  await start(page);
  await run(page, `[globalThis.cat] = await teach(['cat', 'dog'])`);
  const adding = run(page, `
    const answers = [];
    for (let i = 0; i < 20; answers.length && i++) answers.push(...[await refusal(engine.addExample(cat, picture(0, 9), new Uint8Array(9)))].filter(Boolean));
    return { answers, file: (await engine.exportSession()).length, state: await engine.state() };`);
  await (await page.context().newCDPSession(page)).send('Storage.clearDataForOrigin', { origin: site.origin, storageTypes: 'all' });
  const { answers, file, state } = await adding;
  assert.equal(answers.length, 20, 'once one is refused, all are');
  for (const { code, message } of answers) assert.ok(['aborted', 'closed', 'cleared'].includes(code) && /save|export/.test(message) && !/JavaScript/.test(message), `${code}: ${message}`);
  assert.ok(file > 0);
  assert.deepEqual([state.storage.kept, state.storage.message], [false, answers.at(-1).message]);
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

test('data that are cleared while the page is open are missed, and what is here goes out as a file', () => blank(async ({ page, context }) => {
  await start(page);
  await run(page, `await teach(['cat', 'dog']); globalThis.changed = new Promise((resolve) => engine.on('change', resolve))`);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Storage.clearDataForOrigin', { origin: site.origin, storageTypes: 'indexeddb' });
  await run(page, 'await changed');
  const { storage, classes, bytes } = await run(page, `
    const { storage, classes } = await engine.state();
    return { storage, classes, bytes: (await engine.exportSession()).length };`);
  assert.equal(storage.kept, false);
  assert.match(storage.message, /cleared.*only in this tab: save it to a file/);
  assert.deepEqual(classes.map((/** @type {any} */ c) => c.examples.length), [3, 3]);
  assert.ok(bytes > 6 * 4 * DIMENSION);
}));

test('the browser is asked to keep what is taught with the first picture, and when it was saved is told', () => blank(async ({ page }) => {
  await run(page, `
    globalThis.asked = [];
    navigator.storage.persisted = async () => { asked.push('persisted'); return false; };
    navigator.storage.persist = async () => { asked.push('persist'); return true; };
    const transaction = IDBDatabase.prototype.transaction;
    globalThis.durable = [];
    IDBDatabase.prototype.transaction = function (names, mode, options) { if (mode === 'readwrite') durable.push(options?.durability); return transaction.call(this, names, mode, options); };`);
  await start(page);
  const { asked, states, saved, durable } = await run(page, `
    const { id } = await engine.addClass('cat');
    const states = [(await engine.state()).storage.persistent];
    const early = [...asked];
    await engine.addExample(id, picture(0, 0), null);
    await engine.addExample(id, picture(0, 1), null);
    states.push((await engine.state()).storage.persistent);
    const before = (await engine.state()).saved;
    await engine.exportSession();
    return { asked: [early, asked], states, saved: [before, (await engine.state()).saved], durable };`);
  assert.deepEqual(asked, [['persisted'], ['persisted', 'persist']]);
  assert.deepEqual(states, ['', 'yes']);
  assert.equal(saved[0], 0);
  assert.ok(Math.abs(saved[1] - Date.now()) < 60_000);
  assert.ok(durable.length >= 4 && durable.every((/** @type {string} */ d) => d === 'strict'), durable.join());
  await page.reload();
  await start(page);
  assert.equal((await run(page, 'return engine.state()')).saved, saved[1]);
}));

/** What an engine whose storage fails still does. @param {Page} page @param {RegExp} message */
async function worksInMemory(page, message) {
  const { probabilities, state } = await run(page, `await teach(['cat', 'dog']); return { probabilities: await ask(), state: await engine.state() }`);
  assert.equal(state.storage.kept, false);
  assert.match(state.storage.message, message);
  assert.ok(probabilities.classes[0].probability > probabilities.classes[1].probability);
}

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

test('without IndexedDB everything works but says that nothing is kept', () => blank(async ({ page }) => {
  await run(page, `Object.defineProperty(globalThis, 'indexedDB', { get() { throw new DOMException('no', 'SecurityError'); } })`);
  await start(page);
  await worksInMemory(page, /allows no storage.*export the session/);
}));

test('a database of a newer version is left alone', () => blank(async ({ page }) => {
  await run(page, `await new Promise((resolve) => { const r = indexedDB.open('metaqda', 99); r.onsuccess = () => { r.result.close(); resolve(); }; })`);
  await start(page);
  await worksInMemory(page, /newer version of this page.*close all its tabs/);
}));

test('an engine lets go of the database when a newer version wants it, and says so', () => blank(async ({ page }) => {
  await start(page);
  await run(page, `
    await engine.addClass('cat');
    await new Promise((resolve, reject) => { const r = indexedDB.open('metaqda', 99); r.onblocked = () => reject(new Error('blocked')); r.onsuccess = () => { r.result.close(); resolve(); }; });`);
  const refused = await run(page, `return [await refusal(engine.addClass('dog')), await refusal(engine.addClass('hen'))]`);
  assert.deepEqual(refused.map((/** @type {any} */ r) => r.code), ['closed', 'closed']);
  const { storage, classes } = await run(page, 'return engine.state()');
  assert.equal(classes.length, 2, 'what found it closed is in the tab alone, and what came after is not taken');
  assert.equal(storage.kept, false);
  assert.match(storage.message, /storage was closed.*reload the page/);
}));

test('when the storage is full that is said, and what waited is stored once there is room', () => blank(async ({ page, context }) => {
  const devtools = await context.newCDPSession(page);
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: site.origin, quotaSize: 2e6 });
  await start(page);
  const full = await run(page, `
    const [cat] = await teach(['cat', 'dog']);
    await engine.addExample(cat, picture(0, 7), new Uint8Array(5e6));
    return { storage: (await engine.state()).storage };`);
  assert.equal(full.storage.kept, false);
  assert.match(full.storage.message, /storage is full.*export the session/);
  // What is removed meanwhile is gone for good, room or not.
  const kept = await run(page, `
    const [, dog] = (await engine.state()).classes;
    await engine.removeExample(dog.id, dog.examples[0].id);
    const db = await new Promise((resolve) => { const r = indexedDB.open('metaqda'); r.onsuccess = () => resolve(r.result); });
    const there = await new Promise((resolve) => { const r = db.transaction('examples').objectStore('examples').count(dog.examples[0].id); r.onsuccess = () => resolve(r.result); });
    db.close();
    return { there, probabilities: await ask() };`);
  assert.equal(kept.there, 0);
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: site.origin });
  const { storage } = await run(page, `const [cat] = (await engine.state()).classes; await engine.renameClass(cat.id, 'lion'); return engine.state()`);
  assert.deepEqual([storage.kept, storage.message], [true, '']);
  await page.reload();
  await start(page);
  const probabilities = await run(page, 'return ask()');
  assert.deepEqual(probabilities.classes.map((/** @type {any} */ c) => c.probability), kept.probabilities.classes.map((/** @type {any} */ c) => c.probability));
}));

test('wrong arguments are refused with a code and a sentence, and nothing breaks', () => blank(async ({ page }) => {
  await start(page);
  const refusals = await run(page, `
    const [cat] = await teach(['cat', 'dog']);
    const before = [await ask(), await engine.state()];
    const nan = picture(0, 0); nan[17] = NaN;
    const infinite = picture(0, 0); infinite[0] = -Infinity;
    const all = await Promise.all([
      engine.addClass(), engine.addClass(7), engine.addClass('cat'), engine.renameClass(cat, ''), engine.removeClass('nowhere'),
      engine.addExample(cat, [1, 2, 3], null), engine.addExample(cat, nan, null), engine.addExample(cat, infinite, null),
      engine.addExample(cat, new Float32Array(3), null), engine.addExample(cat, new Float32Array(0), null), engine.addExample(cat, picture(0, 1), 'thumbnail'),
      engine.recognise(new Float64Array(1280)), engine.probabilities(null), engine.configure({ nonePrior: 1 }), engine.configure({ sort: 7 }), engine.configure(),
      engine.openSession('nowhere'), engine.importSession(new Uint8Array(9)), engine.importPrior(new ArrayBuffer(9)), engine.undo('nowhere'), engine.usePrior(), engine.on('change'),
    ].map(refusal));
    return { all, before, after: [await ask(), await engine.state()] };`);
  assert.deepEqual(refusals.all.map((/** @type {any} */ r) => r?.code), [
    'argument', 'argument', 'label', 'label', 'class', 'argument', 'value', 'value', 'dimension', 'dimension', 'argument',
    'argument', 'argument', 'setting', 'argument', 'argument', 'session', 'format', 'format', 'undo', 'argument', 'argument']);
  for (const { message } of refusals.all) assert.ok(message.length > 20, message);
  assert.deepEqual(refusals.after, refusals.before);
}));

test('a view of a larger buffer is taken as what it shows', () => blank(async ({ page }) => {
  await start(page);
  const [plain, view] = await run(page, `
    await teach(['cat', 'dog']);
    const x = picture(0.5, 3);
    const buffer = new Float32Array(2000).fill(NaN);
    buffer.set(x, 11);
    return [await engine.probabilities(x), await engine.probabilities(buffer.subarray(11, 11 + x.length))];`);
  assert.deepEqual(view, plain);
}));

// The first answer after a change goes through syscall/js, those after it through exported functions.
test('the direct way to an answer follows every change', LONG, () => blank(async ({ page }) => {
  await start(page);
  const result = await run(page, `
    const answers = [];
    const both = async () => {
      const x = picture(0.3, answers.length);
      const all = [await engine.recognise(x), await engine.recognise(x), await engine.probabilities(x), await engine.probabilities(x), await engine.probabilities(x), await engine.probabilities(x.slice())];
      answers.push(all.map((answer) => JSON.stringify(answer && [answer.none, ...answer.classes.map(({ id, name, probability }) => [id, name, probability])])));
    };
    await both();
    const [cat, dog] = await teach(['cat', 'dog', 'hen']);
    await both();
    await engine.renameClass(cat, 'lion');
    await both();
    await engine.configure({ nonePrior: 0.5 });
    await both();
    const { undo } = await engine.removeClass(cat);
    await both();
    await engine.undo(undo);
    await both();
    await teach(Array.from({ length: 60 }, (_, i) => 'class ' + i), 12); // the program's memory grows
    await both();
    const nan = picture(0, 0); nan[17] = NaN;
    const refusals = [];
    for (const x of [nan, nan, new Float32Array(3), new Float32Array(3), picture(0, 1), new Float32Array(0), new Float32Array(0), new Float32Array(70000), new Float32Array(70000)]) {
      refusals.push(await refusal(engine.probabilities(x)));
    }
    await both();
    return { answers, refusals };`);
  for (const [i, all] of result.answers.entries()) assert.equal(new Set(all).size, 1, `change ${i}: ${all.join(' ')}`.slice(0, 500));
  assert.equal(new Set(result.answers.map((/** @type {string[]} */ all) => all[0])).size, result.answers.length);
  assert.deepEqual(result.refusals.map((/** @type {any} */ r) => r?.code), ['value', 'value', 'dimension', 'dimension', undefined, 'dimension', 'dimension', 'dimension', 'dimension']);
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

test('meters are changed in place, ordered as asked, and keep the focus', () => blank(async ({ page }) => {
  await run(page, `
    const verdict = document.createElement('p'); verdict.id = 'verdict';
    const meters = document.createElement('ol'); meters.id = 'meters';
    document.body.append(verdict, meters);`);
  await start(page);
  const seen = await run(page, `
    const rows = () => [...document.querySelectorAll('#meters [role=meter]')];
    const names = () => rows().map((m) => m.getAttribute('aria-label'));
    const say = () => document.querySelector('#verdict').textContent;
    const out = { empty: say() };
    const [cat, dog] = await teach(['cat', 'dog']);
    out.unasked = [say(), rows().length];
    const p = await engine.recognise(picture(1, 40));
    out.first = names();
    out.now = rows().map((m) => Number(m.getAttribute('aria-valuenow')));
    out.probabilities = [...p.classes.map((c) => c.probability), p.none].sort((a, b) => b - a);
    out.complete = rows().every((m) => m.getAttribute('aria-valuemin') === '0' && m.getAttribute('aria-valuemax') === '1' && / %$/.test(m.getAttribute('aria-valuetext')));
    const nodes = new Map(rows().map((m) => [m.getAttribute('aria-label'), m]));
    const focused = nodes.get('cat');
    focused.tabIndex = 0;
    focused.focus();
    await engine.recognise(picture(0, 41));
    out.second = names();
    out.kept = rows().every((m) => nodes.get(m.getAttribute('aria-label')) === m);
    out.focus = document.activeElement === focused;
    await engine.configure({ sort: 'taught' });
    out.taught = names();
    await engine.renameClass(dog, '<b>hound</b>');
    out.renamed = names();
    await engine.removeClass(dog);
    out.removed = names();
    await engine.recognise(null);
    out.cleared = rows().length;
    return out;`);
  assert.match(seen.empty, /^Add a class/);
  assert.deepEqual(seen.unasked, ['Choose something to recognise.', 0]);
  assert.equal(seen.first[0], 'dog');
  assert.deepEqual(seen.now, seen.probabilities);
  assert.ok(seen.complete);
  assert.equal(seen.second[0], 'cat');
  assert.ok(seen.kept, 'the same nodes');
  assert.ok(seen.focus, 'the focus stayed');
  assert.deepEqual(seen.taught, ['cat', 'dog', 'None of these']);
  assert.deepEqual(seen.renamed, ['cat', '<b>hound</b>', 'None of these']);
  assert.deepEqual(seen.removed, ['cat', 'None of these']);
  assert.equal(seen.cleared, 0);
}));

test('loading reports the bytes of the manifest', () => blank(async ({ page }) => {
  const { steps, bytes } = await run(page, `
    const { loadEngine } = await import('/web/library/storage.js');
    const steps = [];
    const total = fetch('/manifest.json').then((response) => response.json()).then(({ files }) => files.find((f) => f.path === 'metaqda.wasm').bytes);
    await loadEngine({ base: location.origin + '/', total, onProgress: (p) => steps.push(p) });
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { steps, bytes: await total };`);
  assert.ok(steps.length > 1);
  assert.deepEqual(steps.at(-1), { loaded: bytes, total: bytes });
  for (const { loaded, total } of steps) assert.ok(loaded <= total && total === bytes);
}));

test('an engine that cannot be fetched says so', () => visit({ site, open: false, expect: [/404/, /favicon/] }, async ({ page }) => {
  await page.goto(`${site.origin}/LICENSE.txt`);
  const { code, message } = await run(page, `
    const { loadEngine } = await import('/web/library/storage.js');
    return loadEngine({ base: location.origin + '/nowhere/' }).then(() => ({}), ({ code, message }) => ({ code, message }));`);
  assert.equal(code, 'fetch', message);
}));

test('at the extractor\'s dimension an answer and an example take little time', () => blank(async ({ page }) => {
  await start(page);
  const times = await run(page, `
    const median = (t) => t.sort((a, b) => a - b)[t.length >> 1];
    const ids = await teach(['a', 'b', 'c', 'd', 'e'], 5);
    const time = async (n, f) => { const all = []; for (let i = 0; i < n; i++) { const t = performance.now(); await f(i); all.push(performance.now() - t); } return median(all); };
    for (let i = 0; i < 50; i++) await ask();
    const answer = await time(300, ask);
    const recognise = await time(100, (i) => engine.recognise(picture(1, i)));
    const undo = [];
    const enrol = await time(20, (i) => engine.addExample(ids[0], picture(0, 100 + i), new Uint8Array(3000)));
    return { answer, recognise, enrol };`);
  console.log(`# d = ${DIMENSION}, 5 classes: answer ${times.answer.toFixed(3)} ms, with view ${times.recognise.toFixed(3)} ms, example with storage ${times.enrol.toFixed(2)} ms (medians)`);
  assert.ok(times.answer < 50 && times.enrol < 500, JSON.stringify(times));
}));

// A frame of the camera comes every few tenths of a second, and a person presses
// keys meanwhile: whatever changes, the page must answer. Longest piece of work on
// the main thread in ms, medians of seven on two busy cores: with 1,000 pictures add
// 13 to 23, recognise 4 to 6, remove 15 to 23, state 4 to 6; with 1,000 classes 26
// to 36, 6 to 12, 22 to 27, 7 to 11. What is taken back was any picture, or a class
// with all it holds. What is promised, 50 ms for the median, is asked for where nothing
// else runs (make soak-scale); elsewhere other programs interrupt, so the shortest counts.
const WAITING = process.env.METAQDA_SOAK ? { of: 3, most: 50 } : { of: 0, most: 100 };
for (const [what, classes, shots] of /** @type {[string, number, number][]} */ ([['a class of 1,000 pictures', 1, 1000], ['1,000 classes', 1000, 1]])) {
  test(`with ${what} nothing keeps the page waiting`, { timeout: 240_000, ...LONG }, () => blank(async ({ page }) => {
    const file = await readFile(path.join(siteFolder, 'prior.safetensors'));
    await start(page);
    const seen = await run(page, `
      await engine.usePrior({ url: '/prior.safetensors', sha256: '${createHash('sha256').update(file).digest('hex')}' });
      let seed = 1;
      const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
      const noise = () => Float32Array.from({ length: ${DIMENSION} }, () => random() * random());
      const adding = [];
      for (let k = 0; k < ${classes}; k++) {
        const { id } = await engine.addClass('class ' + k);
        for (let i = 0; i < ${shots}; i++) adding.push(engine.addExample(id, noise(), null));
        if (adding.length >= 100 || k === ${classes} - 1) await Promise.all(adding.splice(0));
      }
      await engine.recognise(noise());

      // Messages to oneself arrive between pieces of work: the longest time between two is the longest piece.
      let last = 0;
      let worst = 0;
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        const now = performance.now();
        worst = Math.max(worst, now - last);
        last = now;
        port2.postMessage(0);
      };
      port2.postMessage(0);
      const blocked = async (work) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        last = performance.now();
        worst = 0;
        await work();
        await new Promise((resolve) => setTimeout(resolve, 20));
        return worst;
      };
      const judged = (t) => t.sort((a, b) => a - b)[${WAITING.of}];
      const { classes: all } = await engine.state();
      const times = { add: [], recognise: [], remove: [], undo: [], state: [], removeClass: [], undoClass: [] };
      let size = 0;
      for (let i = 0; i < 7; i++) {
        const { id } = all[i % all.length];
        let added, token;
        const { revision } = await engine.changes(0);
        times.add.push(await blocked(async () => { added = await engine.addExample(id, noise(), null); }));
        const { state, ...changed } = await engine.changes(revision);
        size = Math.max(size, JSON.stringify(changed).length);
        times.recognise.push(await blocked(() => engine.recognise(noise())));
        times.state.push(await blocked(() => engine.state()));
        times.remove.push(await blocked(async () => { token = await engine.removeExample(id, i % 2 ? added.id : all[i % all.length].examples[0].id); }));
        times.undo.push(await blocked(() => engine.undo(token.undo)));
        times.removeClass.push(await blocked(async () => { token = await engine.removeClass(id); }));
        times.undoClass.push(await blocked(() => engine.undo(token.undo)));
      }
      port1.close();
      return { times: Object.fromEntries(Object.entries(times).map(([name, t]) => [name, judged(t)])), size };`);
    const { times: longest, size } = seen;
    console.log(`# ${what}: longest piece of work, ms: ${Object.entries(longest).map(([name, t]) => `${name} ${t.toFixed(1)}`).join(', ')}`);
    assert.ok(size < 400, `one more picture changes ${size} bytes`);
    for (const [name, t] of Object.entries(longest)) assert.ok(t < WAITING.most, `${name}: ${t.toFixed(1)} ms`);
  }));
}

test('memory stays as it is over 10,000 answers and 1,000 pictures that come and go', LONG, () => blank(async ({ page }) => {
  await start(page);
  const [warm, ...after] = await run(page, `
    const [cat] = await teach(['cat', 'dog', 'hen'], 5);
    const round = async () => {
      for (let i = 0; i < 10000; i++) await ask();
      for (let i = 0; i < 1000; i++) {
        const { id } = await engine.addExample(cat, picture(0, i), new Uint8Array(2000));
        await engine.removeExample(cat, id);
      }
      return engine.memory();
    };
    const sizes = [await round()]; // its memory never gets smaller, and when it is collected is by chance: what leaks makes every round larger
    do sizes.push(await round()); while (sizes.at(-1) > sizes.at(-2) * 1.05 && sizes.length < 5);
    return sizes;`);
  console.log(`# memory after each round: ${[warm, ...after].map((size) => (size / 1e6).toFixed(1)).join(', ')} MB`);
  const [before, last] = [warm, ...after].slice(-2);
  assert.ok(last <= before * 1.05, `${before} bytes before, ${last} after`);
}));
