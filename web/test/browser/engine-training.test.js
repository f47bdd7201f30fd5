// @ts-check
/** Learning a prior in a worker, in Chromium: begun, paused, interrupted, used, taken back. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { serveSite, visit } from './harness.js';
import { LONG } from '../long.js';

/** @typedef {import('playwright-core').Page} Page */

/** @type {import('./harness.js').Site} */
let site;
before(async () => { site = await serveSite(); });
after(() => site.stop());

/** @param {(visit: import('./harness.js').Visit) => Promise<void>} check */
function blank(check) {
  return visit({ site, open: false, expect: [/favicon/] }, async (visited) => {
    await visited.page.goto(`${site.origin}/LICENSE.txt`);
    await check(visited);
  });
}

/** Evaluates in the page. @param {Page} page @param {string} code @returns {Promise<any>} */
const run = (page, code) => page.evaluate(`(async () => { ${code} })()`);

/**
 * Starts engine and trainer as globals. Classes differ in the first numbers of an
 * embedding and their pictures in the others: that can be learned.
 *
 * @param {Page} page
 * @param {number} dimension
 */
const start = (page, dimension) => run(page, `
  const { loadEngine } = await import('/web/library/storage.js');
  const { Trainer } = await import('/web/library/storage.js');
  globalThis.engine = await loadEngine({ base: location.origin + '/' });
  globalThis.progress = [];
  globalThis.trainer = new Trainer(engine, { base: location.origin + '/', onProgress: (p) => progress.push(p) });
  let seed = 1;
  const random = () => { seed = (seed * 48271) % 2147483647; return seed / 2147483647 - 0.5; };
  globalThis.world = (classes, pictures, from = 1) => {
    seed = from;
    return Array.from({ length: classes }, () => {
      const mean = Array.from({ length: ${dimension} }, (_, i) => (i < ${dimension} / 4 ? 2 * random() : 0));
      return Array.from({ length: pictures }, () => Float32Array.from(mean, (m, i) => m + (i < ${dimension} / 4 ? 0.3 : 2) * random()));
    });
  };
  globalThis.teach = async (classes) => {
    for (const [k, pictures] of classes.entries()) {
      const { id } = await engine.addClass('class ' + k);
      for (const x of pictures) await engine.addExample(id, x, null);
    }
  };
  // The share of the queries of new classes that three pictures each are enough for.
  globalThis.accuracy = async () => {
    let right = 0, all = 0;
    const prior = await engine.exportPrior();
    const before = (await engine.state()).sessionId;
    await engine.newSession('trial');
    await engine.importPrior(prior);
    const classes = world(5, 13, 4242);
    await teach(classes.map((pictures) => pictures.slice(0, 3)));
    for (const [k, pictures] of classes.entries()) for (const x of pictures.slice(3)) {
      const { classes: probabilities } = await engine.probabilities(x);
      const best = probabilities.reduce((a, b) => (b.probability > a.probability ? b : a));
      all++;
      if (best.name === 'class ' + k) right++;
    }
    await engine.openSession(before);
    return right / all;
  };`);

test('a prior learned on the session\'s classes is better on new ones, is used and taken back', LONG, () => blank(async ({ page }) => {
  await start(page, 32);
  const seen = await run(page, `
    await teach(world(16, 8));
    const prior = (await engine.state()).prior;
    const before = await accuracy();
    const started = await trainer.begin({ steps: 200 });
    const learned = await trainer.finished();
    await engine.undo((await trainer.use(learned)).undo);
    const undone = (await engine.state()).prior;
    await trainer.use(learned);
    const used = (await engine.state()).prior;
    const after = await accuracy();
    const pending = await trainer.pending();
    await engine.resetPrior();
    return { started, before, after, used, prior, undone, pending, back: (await engine.state()).prior, learned: { ...learned, prior: learned.prior.length }, progress };`);
  assert.deepEqual(seen.started, { step: 0, steps: 200, history: [] });
  assert.ok(seen.after > seen.before + 0.05, `accuracy ${seen.before} before, ${seen.after} after`);
  assert.ok(seen.learned.best.validation.accuracy >= seen.learned.before.validation.accuracy);
  assert.equal(seen.used.name, 'Learned here');
  assert.equal(seen.pending, null, 'nothing is left to resume');
  assert.deepEqual(seen.undone, seen.prior);
  assert.deepEqual(seen.back, seen.prior);
  const points = seen.progress.filter((/** @type {any} */ p) => p.point).map((/** @type {any} */ p) => p.point);
  assert.equal(points.length, 21);
  assert.equal(points.at(-1).step, 200);
  assert.ok(points.at(-1).validation.loss < points[0].validation.loss);
  assert.equal(seen.progress.at(-1).done, true);
}));

test('learning pauses, goes on after a reload, and ends where it would have ended', () => blank(async ({ page }) => {
  await start(page, 24);
  const whole = await run(page, `
    await teach(world(8, 6));
    await trainer.begin({ steps: 400 });
    const learned = await trainer.finished();
    await trainer.forget();
    return Array.from(learned.prior);`);
  await run(page, `
    progress.length = 0;
    await trainer.begin({ steps: 400 });
    while (!progress.some((p) => p.step > 30)) await new Promise((resolve) => setTimeout(resolve, 5));
    await trainer.pause();`);
  const paused = await run(page, `
    const at = progress.at(-1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { at, later: progress.at(-1), busy: await trainer.begin({ steps: 5 }).catch((error) => error.code) };`);
  assert.equal(paused.at.paused, true);
  assert.deepEqual(paused.later, paused.at, 'it went on while paused');
  assert.equal(paused.busy, 'busy');
  await run(page, `
    await trainer.proceed();
    while (!progress.some((p) => !p.paused && p.step > ${paused.at.step})) await new Promise((resolve) => setTimeout(resolve, 5));
    await trainer.pause();`);
  await page.reload();
  await start(page, 24);
  const resumed = await run(page, `
    const pending = await trainer.pending();
    const started = await trainer.resume();
    return { pending, started, prior: Array.from((await trainer.finished()).prior) };`);
  assert.equal(resumed.pending.steps, 400);
  assert.ok(resumed.pending.done > paused.at.step && resumed.pending.done < 400, `stored at step ${resumed.pending.done}`);
  assert.equal(resumed.started.step, resumed.pending.done);
  assert.ok(resumed.started.history.length > 0);
  assert.deepEqual(resumed.prior, whole);
}));

test('learning is cancelled, and too little to learn from is said', () => blank(async ({ page }) => {
  await start(page, 16);
  const seen = await run(page, `
    const code = (promise) => promise.then(() => '', (error) => error.code + ': ' + error.message);
    const empty = await code(trainer.begin());
    await teach(world(3, 5));
    const few = await code(trainer.begin());
    await teach(world(6, 5).slice(3).map((c) => c)).catch(() => {});
    const { id } = await engine.addClass('fourth');
    for (const x of world(4, 5, 9)[3]) await engine.addExample(id, x, null);
    await trainer.begin({ steps: 20000 });
    const end = code(trainer.finished());
    await trainer.cancel();
    return { empty, few, end: await end, pending: await trainer.pending(), steps: await code(trainer.begin({ steps: 0 })), prior: (await engine.state()).prior.name };`);
  assert.match(seen.empty, /^too-little: .*at least 4 classes/);
  assert.match(seen.few, /^too-little: .*here are 3/);
  assert.match(seen.end, /^cancelled: /);
  assert.equal(seen.pending, null);
  assert.match(seen.steps, /^value: /);
  assert.equal(seen.prior, 'Hand-crafted');
}));

test('a data set is learned from, of other embeddings than the session\'s too', LONG, () => blank(async ({ page }) => {
  await start(page, 20);
  const learned = await run(page, `
    const classes = world(10, 6);
    const embeddings = new Float32Array(10 * 6 * 20);
    classes.flat().forEach((x, i) => embeddings.set(x, 20 * i));
    const dataset = { embeddings, dimension: 20, labels: Int32Array.from({ length: 60 }, (_, i) => Math.floor(i / 6)), names: classes.map((_, k) => 'c' + k) };
    const wrong = await trainer.begin({ dataset: { ...dataset, labels: dataset.labels.subarray(1) } }).catch((error) => error.code);
    await trainer.begin({ steps: 60, dataset });
    const { before, best } = await trainer.finished();
    return { wrong, before, best };`);
  assert.equal(learned.wrong, 'format');
  assert.ok(learned.best.validation.loss <= learned.before.validation.loss);
}));

/**
 * The longest tasks of pages' main threads in a trace, in milliseconds of processor
 * time: what other programs of the machine take does not count.
 *
 * @param {Buffer} trace
 */
function longestTasks(trace) {
  const { traceEvents } = JSON.parse(trace.toString());
  const threads = new Set(traceEvents.filter((/** @type {any} */ e) => e.name === 'thread_name' && e.args.name === 'CrRendererMain').map((/** @type {any} */ e) => `${e.pid} ${e.tid}`));
  return traceEvents.filter((/** @type {any} */ e) => /RunTask$/.test(e.name) && e.tdur !== undefined && threads.has(`${e.pid} ${e.tid}`))
    .map((/** @type {any} */ e) => e.tdur / 1000).sort((/** @type {number} */ a, /** @type {number} */ b) => b - a);
}

test('the page stays responsive while a prior is learned at the extractor\'s dimension', LONG, () => blank(async ({ page, context }) => {
  await start(page, 1280);
  await run(page, `
    await teach(world(6, 5));
    await engine.usePrior({ url: '/prior.safetensors', sha256: (await (await fetch('/manifest.json')).json()).files.find((f) => f.path === 'prior.safetensors').sha256 });`);
  const browser = /** @type {import('playwright-core').Browser} */ (context.browser());
  await browser.startTracing(page, { categories: ['toplevel'] });
  const seen = await run(page, `
    await trainer.begin({ steps: 20 });
    const begun = performance.now();
    let done = false;
    const end = trainer.finished().then((learned) => { done = true; return learned; });
    let answers = 0;
    const x = world(1, 1, 7)[0][0];
    while (!done) {
      await engine.probabilities(x);
      answers++;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await end;
    return { answers, seconds: (performance.now() - begun) / 1000 };`);
  const tasks = longestTasks(await browser.stopTracing());
  console.log(`# d = 1280: ${seen.seconds.toFixed(1)} s for 20 steps and 21 validations; ${seen.answers} answers meanwhile; longest tasks of the page ${tasks.slice(0, 5).map((/** @type {number} */ t) => t.toFixed(1)).join(', ')} ms of processor time`);
  assert.ok(tasks.length > seen.answers, `${tasks.length} tasks seen`);
  assert.ok(tasks[0] < 50, `a task of ${tasks[0]} ms on the page`);
}));

test('a run ends, with a word, when a picture that it learns from is removed', () => blank(async ({ page }) => {
  await start(page, 16);
  const seen = await run(page, `
    await teach(world(6, 6));
    const { classes } = await engine.state();
    await trainer.begin({ steps: 20000 });
    const ended = trainer.finished().then(() => null, ({ code, message }) => ({ code, message }));
    await engine.removeExample(classes[2].id, classes[2].examples[3].id);
    const why = await ended;
    const db = await new Promise((resolve) => { const r = indexedDB.open('metaqda'); r.onsuccess = () => resolve(r.result); });
    const kept = await new Promise((resolve) => { const r = db.transaction('checkpoints').objectStore('checkpoints').getAllKeys(); r.onsuccess = () => resolve(r.result); });
    db.close();
    return { why, kept, told: progress.at(-1).error, pending: await trainer.pending() };`);
  assert.equal(seen.why?.code, 'removed');
  assert.match(seen.why?.message, /something it learned from was removed.*begin anew/);
  assert.equal(seen.told.code, 'removed');
  assert.deepEqual([seen.kept, seen.pending], [[], null]);
}));
