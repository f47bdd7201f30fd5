// @ts-check
/** metaqda/storage from the tarball, in Chromium without a network: what was taught stays, and all classifiers answer alike. */
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { assertServed, servedMeanwhile, serveSite, visit } from '../browser/harness.js';
import { project } from './project.js';

/** @import {Page} from 'playwright-core' */

const installed = project();
const folder = path.join(installed.folder, 'app');
cpSync(installed.package, path.join(folder, 'metaqda'), { recursive: true });
writeFileSync(
  path.join(folder, 'index.html'),
  `<!doctype html><meta charset="utf-8"><title>storage</title><link rel="icon" href="data:,">
<p id="verdict">mine</p><div id="meters"></div><script type="module" src="./main.js"></script>`,
);
writeFileSync(
  path.join(folder, 'main.js'),
  `
  import { openStorage, Batch, learn } from './metaqda/storage.js';
  const before = new Set(Object.getOwnPropertyNames(globalThis));
  const all = new Map();
  globalThis.storage = async (name) => { if (!all.has(name)) all.set(name, openStorage({ name })); return all.get(name); };
  globalThis.vector = (k, i, d = 48) => Float32Array.from({ length: d }, (_, j) => Math.abs(Math.sin((k + 1) * (j + 1) * 1.7)) + 0.3 * Math.abs(Math.sin((i + 1) * 7919 + j * 1.3 + k)));
  globalThis.left = () => Object.getOwnPropertyNames(globalThis).filter((n) => !before.has(n) && !['storage', 'vector', 'left', 'Batch', 'learn'].includes(n));
  Object.assign(globalThis, { Batch, learn });
  document.body.dataset.ready = 'true';`,
);

/** @type {import('../browser/harness.js').Site} */
let site;
before(async () => {
  site = await serveSite(folder);
});
after(() => site.stop());

/** Runs a body with \`s\`, a storage, in a page. @param {Page} page @param {string} body @param {string} [name] @returns {Promise<any>} */
const on = (page, body, name = 'mine') => page.evaluate(`(async () => { const s = await storage(${JSON.stringify(name)}); ${body} })()`);

/** @param {Page} page */
async function opened(page) {
  await page.goto(site.origin);
  await page.locator('body[data-ready]').waitFor({ state: 'attached' });
}

const TEACH = `
  for (const [k, name] of ['cup', 'pen'].entries()) {
    for (let i = 0; i < 3; i++) await s.stored((taught) => taught.addExampleSync(vector(k, i), name, { thumbnail: i === 0 ? Uint8Array.of(1, 2, 3 + k) : null }));
  }`;
const SHOWN =
  'const { classes, sessionName, storage: { kept } } = await s.state(); return { sessionName, kept, classes: classes.map((c) => [c.name, c.examples.length]) };';
const PREDICTION = 'const p = await s.taught.predict(vector(1, 9)); return [p.none, ...Object.values(p.probabilities)];';

test('what was taught is there after a reload, apart from other databases, with its thumbnails and a prior that is fetched once', () =>
  visit({ site, open: false }, async ({ page, requested }) => {
    await opened(page);
    const prior =
      "const { priorSource } = await import('./metaqda/efficientnet-lite0.js'); await s.usePrior(priorSource()); return (await s.state()).prior.sha256 === priorSource().sha256;";
    assert.equal(await on(page, prior, 'other'), true);
    await on(page, `await s.renameSession((await s.state()).sessionId, 'Desk'); ${TEACH}`);
    const taught = {
      sessionName: 'Desk',
      kept: true,
      classes: [
        ['cup', 3],
        ['pen', 3],
      ],
    };
    assert.deepEqual(await on(page, SHOWN), taught);
    const prediction = await on(page, PREDICTION);
    assert.ok(prediction[2] > 0.5 && Math.abs(prediction.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b) - 1) < 1e-9);
    assert.deepEqual(await page.evaluate('left()'), [], 'nothing global');
    assert.equal(await page.locator('#verdict').textContent(), 'mine', 'the page is left alone');
    await opened(page);
    assert.deepEqual(await on(page, SHOWN), taught);
    const again = await on(page, PREDICTION);
    prediction.forEach((/** @type {number} */ p, /** @type {number} */ i) => assert.ok(Math.abs(p - again[i]) < 1e-9));
    assert.deepEqual(
      await on(page, 'const { classes } = await s.changes(0); return classes.map((c) => [...c.examples[0].thumbnail, c.examples[1].thumbnail ?? null]);'),
      [
        [1, 2, 3, null],
        [1, 2, 4, null],
      ],
    );
    assert.equal(await on(page, prior, 'other'), true);
    assert.equal(requested.filter((name) => name.endsWith('efficientnet-lite0.safetensors')).length, 1);
    const seen = await on(
      page,
      `
    const { openClassifier } = await import('./metaqda/index.js');
    const c = await openClassifier(await s.saveSession());
    const code = await s.classifier.addClass('cup').catch((error) => [error.code, error.name]);
    return { other: (await (await storage('other')).state()).classes.length, counts: c.counts, databases: (await indexedDB.databases()).map((d) => d.name).sort(), code };`,
    );
    assert.deepEqual(seen, { other: 0, counts: { cup: 3, pen: 3 }, databases: ['mine', 'other'], code: ['label', 'MetaqdaError'] });
    const listening = await on(
      page,
      `
    const called = [false, false];
    const listeners = [0, 1].map((i) => () => { called[i] = true; });
    for (const one of listeners) await s.on('change', one);
    await s.off('change', listeners[0]);
    await s.classifier.addClass('key');
    const step = { undo: '' };
    const begun = await Promise.all([0, 1, 2].map((i) => s.stored((taught) => taught.addExampleSync(vector(1, i, 1280), 'key'), step))).then(() => step.undo);
    const steps = [await s.classifier.undo(begun), await s.classifier.counts];
    const of = (call) => call.then(() => 'taken', ({ code, message }) => code + ': ' + message.split(' in place')[0]);
    return { called, steps, refused: await Promise.all([s.off('gone', listeners[0]), s.frame(NaN), s.frame(''), s.show(undefined), s.frame(null), s.stored((taught) => taught.merge(taught)), s.stored((taught) => taught.merge(s.classifier)), s.stored(() => {}, { undo: 5 })].map(of)) };`,
      'other',
    );
    assert.deepEqual(listening.called, [false, true]);
    assert.deepEqual(listening.steps, ['add 3 examples to key', { key: 0 }], 'changes at the same time with one step');
    assert.deepEqual(listening.refused, [
      'argument: There is no event “gone”: listen for change.',
      'argument: There is NaN',
      'argument: There is an empty string',
      'argument: There is undefined',
      'taken',
      'argument: The classifier of a storage runs in a program of its own: open its save() with openClassifier, and merge that one.',
      'argument: There is an object',
      "argument: The undo of the step is 5: hand over one object { undo: '' } for all its changes, or leave it out.",
    ]);
  }));

test('a database of a newer version is left as it is, and the state says that nothing is kept', () =>
  visit({ site, open: false }, async ({ page }) => {
    await opened(page);
    const newer = 'await new Promise((done) => { indexedDB.open("newer", 99).onsuccess = ({ target }) => { target.result.close(); done(); }; });';
    const [kept, message, version] = await page.evaluate(`(async () => {
      ${newer}
      const s = await storage('newer');
      await s.classifier.addExample([1, 2], 'a');
      const { kept, message } = (await s.state()).storage;
      return [kept, message, (await indexedDB.databases()).find(({ name }) => name === 'newer').version];
    })()`);
    assert.deepEqual([kept, version], [false, 99]);
    assert.match(message, /newer version/);
  }));

test('the classifier of a storage and that of a worker are that of the main entry', () =>
  visit({ site, open: false }, async ({ page }) => {
    await opened(page);
    const seen = await on(
      page,
      `
    const { Classifier, createClassifier, openClassifier } = await import('./metaqda/index.js');
    const { ClassifierWorker } = await import('./metaqda/worker.js');
    const worker = new ClassifierWorker();
    const near = async (c) => (await c.nearest(vector(1, 9), 3)).map(({ label, distance, near }) => [label, distance, near]);
    const extractor = { id: 'doubles', sha256: '', embed: async ({ k, i }) => vector(k, i) };
    await s.useExtractor(extractor);
    const kept = (await (await import('./metaqda/storage.js')).openStorage({ name: 'both', extractor })).classifier;
    const all = [await createClassifier({ extractor, name: 'My classes' }), kept, await worker.createClassifier({ extractor, name: 'My classes' })];
    const differ = [];
    const each = async (what, f) => {
      const answers = await Promise.all(all.map(async (c, i) => { try { return await f(c, i); } catch (error) { return error.code; } }));
      const [a, ...others] = answers.map((x) => JSON.stringify(x, (_, v) => typeof v === 'number' ? v.toPrecision(9) : v) ?? 'nothing');
      if (others.some((b) => b !== a)) differ.push([what, a, ...others]);
    };
    await each('at once', async (c) => {
      const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => c.addExample(vector(i, 0), 'class ' + i % 3)));
      const counts = Object.entries(await c.counts);
      for (let i = 0; i < 3; i++) await c.removeClass('class ' + i);
      return [new Set(ids).size, counts];
    });
    await each('of wrong kinds', (c) => Promise.all([() => c.predict([4, null]), () => c.addExamples([vector(0, 0)], 'a'), () => c.predict(vector(0, 0), { signl: 1 }), () => c.classify([vector(0, 0)], null),
      () => c.predictInto(new Uint8Array(9), vector(0, 0)), () => c.addExample(vector(0, 0), 'a', { group: 1 }), () => c.addExample(vector(0, 0)), () => c.configure({ nonePrior: 2 })].map(async (f) => { try { return await f(); } catch (error) { return [error.name, error.code, error.code === 'argument' && error.message]; } })));
    await each('nothing to ask', async (c) => c.predict(vector(0, 0)));
    await each('add', async (c) => (await c.addExamples([vector(0, 0), { k: 0, i: 1 }, vector(1, 0)], new Set(['cup', ' CUP ', 'Cafe\\u0301']))).length);
    await each('a burst', async (c) => { for (let i = 0; i < 3; i++) await c.addExample({ k: 1, i }, 'caf\\u00e9', { group: 'g' }); });
    await each('undone', async (c) => { await c.addExample(vector(2, 1), 'cup'); return c.undo(); });
    await each('all or none', async (c) => c.addExamples([vector(2, 0), [1, 2]], ['new', 'new']));
    await each('what can be redone after that', async (c) => [(await c.steps).redo || differ.push('a refused batch took the redo away'), await c.labels, await c.redo(), await c.undo()]);
    await each('an option', async (c) => c.addExample(vector(2, 0), 'x', { grup: 'g' }));
    await each('a setting', async (c) => c.configure({ nonprior: 0 }));
    const properties = ['labels', 'counts', 'steps', 'dimension', 'settings'];
    for (const name of properties) await each(name, async (c) => await c[name]);
    const signal = AbortSignal.abort(new Error('enough'));
    const done = all.map(() => []);
    for (const [what, f] of Object.entries({
      embed: async (c) => [...await c.embed({ k: 3, i: 4 })], predict: (c) => c.predict({ k: 1, i: 9 }), predictMany: (c) => c.predictMany([vector(0, 9), vector(5, 9)]),
      classify: (c, i) => c.classify([vector(0, 9), vector(1, 8), vector(5, 9)], { onProgress: (p) => done[i].push(p.done / p.total) }),
      suggest: (c) => c.suggest([vector(3, 0), { k: 3, i: 1 }, vector(4, 0)], { count: 2 }), stopped: (c) => c.classify([vector(0, 9)], { signal }).catch((error) => error.message),
      'progress of inputs': async (c) => { const p = []; await c.classify([{ k: 1, i: 3 }, vector(0, 9)], { onProgress: (one) => p.push(one) }); return [p[0], p.at(-1)]; },
      thrown: (c) => c.classify([vector(0, 9)], { onProgress() { throw new Error('from onProgress'); } }).catch((error) => error.message),
      into: async (c) => { const dst = new Float64Array(4); for (const [label, k] of [['10', 4], ['2', 5]]) await c.addExample(vector(k, 1), label); const none = await c.predictInto(dst, vector(1, 9)); for (const label of ['10', '2']) await c.removeClass(label); return [none, ...dst]; },
      leaveOneOut: async (c) => (await c.leaveOneOut()).map(({ label, prediction }) => [label, prediction]),
      explain: async (c) => { const cells = { embedding: vector(0, 9), values: new Float32Array([...vector(0, 9), ...vector(1, 9)]), views: [{ x: 0, y: 0, width: 1, height: 1, rows: 1, columns: 2 }] }; const x = await c.explain(cells, { label: 'CUP', against: 'Cafe\\u0301' }); return [x, [...x.views[0].values], await c.explain(cells)]; },
      near, 'near a tensor': async (c) => (await c.nearest({ shape: [vector(1, 9).length], dataSync: () => vector(1, 9) }, 3)).map(({ label }) => label), has: async (c) => [await c.has('CUP'), await c.has('nothing')], actions: async (c) => [await c.setActions('cup', 'say it'), await c.setActions(null, 'say nothing'), await c.undo(), await c.undo()],
      'explain nothing': (c) => c.explain({ values: [1] }), 'explain an unknown class': (c) => c.explain({ embedding: vector(0, 9), values: vector(0, 9), views: [{ rows: 1, columns: 1 }] }, { label: 'unknown' }),
      label: async (c) => [await c.label(' CUP'), await c.label('Cafe\\u0301s'), (await c.examples('CUP')).length], 'no label': (c) => c.label(' '),
      rename: (c) => c.renameClass('cup', 'mug'), 'merge classes': (c) => c.mergeClasses('nothing', 'mug'), undo: (c) => c.undo(), redo: (c) => c.redo(), 'redo again': (c) => c.redo(),
      move: async (c) => c.moveExample((await c.examples('mug'))[0], 'Caf\\u00e9'), remove: async (c) => c.removeExample((await c.examples('mug'))[0]), unknown: (c) => c.removeExample('none'),
      'add class': (c) => c.addClass('fork'), 'remove class': (c) => c.removeClass('fork'), configure: (c) => c.configure({ nonePrior: 0.1 }), export: async (c) => [...await c.export()].length,
      'what was saved': async (c) => openClassifier(await c.save()).then((again) => [again.counts, again.settings, again.predictSync(vector(1, 9)).probabilities]),
      merge: async (c) => { const both = await c.merge(c); return [await both.counts, (await both.predict(vector(1, 9))).none]; },
      'merge with another': (c) => c.merge({}),
    })) await each(what, f);
    const others = (c) => [c, Object.getPrototypeOf(c)].flatMap((x) => Object.getOwnPropertyNames(x)).filter((name) => !/Sync$/.test(name)).sort();
    const methods = all.map(others);
    await each('dispose', (c) => c.dispose());
    await each('dispose again', (c) => c.dispose());
    for (const name of ['predict', ...properties]) await each('disposed ' + name, (c) => (name === 'predict' ? c.predict(vector(0, 0)) : c[name]));
    worker.terminate();
    return { differ, methods, done: done.map((p) => p.at(-1)), there: (await s.state()).classes.map((c) => [c.name, c.examples.length]) };`,
      'both',
    );
    assert.deepEqual(seen.differ, []);
    assert.ok(seen.methods[0].length > 25, `${seen.methods[0]}`);
    // A watch answers at once, so a classifier that is elsewhere has none.
    for (const methods of seen.methods.slice(1))
      assert.deepEqual(
        methods,
        seen.methods[0].filter((/** @type {string} */ name) => name !== 'watch'),
      );
    assert.deepEqual(seen.done, [1, 1, 1]);
    assert.deepEqual(
      seen.there,
      [
        ['mug', 0],
        ['Caf\u00e9', 5],
      ],
      'what was taught stays',
    );
  }));

test('many are judged together, and a prior is learned, in a worker', () =>
  visit({ site, open: false }, async ({ page }) => {
    await opened(page);
    const seen = await on(
      page,
      `
    for (let k = 0; k < 8; k++) {
      for (let i = 0; i < 6; i++) await s.classifier.addExample(vector(k, i), 'class ' + k);
    }
    const misled = [() => new Batch(s.classifier), () => new Batch(), () => learn(s.classifier), () => new Batch(s, { onProgress: 5 }), () => new Batch(s, { progress() {} })];
    const refused = await Promise.all(misled.map(async (f) => f()).map((one) => one.catch(({ code }) => code)));
    const asked = new Batch(s);
    const unasked = await Promise.all([asked.suggest(2), asked.alike([[0]])].map((one) => one.catch(({ code }) => code)));
    const pictures = [0, 1, 7, 7, 7, 7].map((k, i) => vector(k, 9 + i));
    const { classes, probabilities, taken, doubtful, headlines } = await asked.classify(pictures);
    const rows = pictures.map((_, i) => [...probabilities.subarray(i * 9, i * 9 + 9)]);
    const alone = await s.taught.classify(pictures);
    const same = alone.map(({ none, probabilities: p, decision, doubtful: d, headline }, i) =>
      [none, ...Object.values(p)].every((v, k) => v === rows[i][k]) && decision === s.taught.labels[taken[i]] && d === (doubtful[i] === 1) && headline === headlines[i]);
    const { places, like } = await asked.suggest(2);
    const suggested = await s.taught.suggest(pictures, { count: 2 });
    const wrong = [];
    for (const sets of [null, 5, [['x']]]) wrong.push(await asked.alike(sets).catch(({ code }) => code));
    for (const out of [null, [['x']]]) wrong.push(await asked.classify(pictures, out).catch(({ code }) => code));
    const [none, alike] = await asked.alike([[1], [0, 2, 3, 4, 5]]);
    const out = await asked.classify(pictures, [new Set(classes), new Set([classes[1], 'gone'])]);
    const left = [0, 1, 2].map((i) => [...out.probabilities.subarray(i * 9, i * 9 + 9)]);
    const kept = left[1].every((v, k) => k === 2 ? v === 0 : Math.abs(v - rows[1][k] / (1 - rows[1][2])) < 1e-12);
    asked.close();
    const early = await learn(s).catch((error) => error.code);
    await s.newSession('another');
    const { classes: from, sessions, before, after } = await learn(s);
    return {
      n: classes.length, refused, unasked, wrong, same, taken: [...taken], suggested: String(places) === String(suggested) && like.length === 2, alike: [none.length, ...alike.map((group) => group.sort().join())],
      left: left[0], kept, untouched: String(left[2]) === String(rows[2]), out: [out.taken[0], out.taken[1] !== 1, /none of these/.test(out.headlines[0])],
      early, from, sessions, measured: [before, after].map(({ accuracy }) => accuracy) };`,
    );
    assert.deepEqual(seen, {
      n: 8,
      refused: Array(5).fill('argument'),
      unasked: ['argument', 'argument'],
      wrong: Array(5).fill('argument'),
      same: [true, true, true, true, true, true],
      taken: [0, 1, 7, 7, 7, 7],
      suggested: true,
      alike: [0, '2,3,4,5'],
      left: [1, 0, 0, 0, 0, 0, 0, 0, 0],
      kept: true,
      untouched: true,
      out: [-1, true, true],
      early: 'too-little',
      from: 8,
      sessions: 1,
      measured: [1, 1],
    });
  }));

test('a batch is judged in the window in slices, between which frames are drawn and keys are heard', () =>
  visit({ site, open: false }, async ({ page }) => {
    await opened(page);
    await servedMeanwhile(page, 'globalThis.progress ?? null');
    await page.evaluate(`(async () => {
    const { createClassifier } = await import('./metaqda/index.js');
    const c = await createClassifier();
    for (let k = 0; k < 5; k++) for (let i = 0; i < 3; i++) c.addExampleSync(vector(k, i, 1280), 'class ' + k);
    const batch = Array.from({ length: 3000 }, (_, i) => vector(i % 5, 10 + i, 1280));
    globalThis.judged = 0;
    const judge = async (rounds) => { // more than one where keys are pressed slowly; one that comes between two does not count
      const { length } = await c.classify(batch, { onProgress: ({ done }) => { globalThis.progress = done; } });
      globalThis.progress = null;
      if (rounds > 1 && served.keys.size < 3) return judge(rounds - 1);
      globalThis.judged = length;
    };
    void judge(20);
  })()`);
    while (!(await page.evaluate('judged'))) await page.keyboard.press('Shift');
    assert.equal(await page.evaluate('judged'), 3000);
    await assertServed(page);
  }));
