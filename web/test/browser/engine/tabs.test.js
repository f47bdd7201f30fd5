// @ts-check
/** The engine by itself in several tabs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blank, run, site, start } from './blank.js';

test('two tabs that change one session at random come to the same, and nothing acknowledged is missing', () =>
  blank(async ({ page, context }) => {
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
      if (!c || kind < 2) note(taught.addClass('class ' + random(8)), () => {});
      else if (kind < 12) note(taught.addExampleSync(picture(random(4), ${seed} * 1000 + i), c.name), ({ result }) => log.added.push(result));
      else if (kind < 14 && c.examples.length) { const { id } = c.examples[random(c.examples.length)]; note(taught.removeExample(id), () => log.removed.push(id)); }
      else if (kind === 14) note(taught.removeClass(c.name), () => log.removed.push(...c.examples.map(({ id }) => id)));
      else if (kind < 17) note(taught.renameClass(c.name, 'class ' + random(8)), () => {});
      else if (kind < 19) note(taught.configure({ nonePrior: random(9) / 10 }), () => {});
      else note(engine.renameSession((await engine.state()).sessionId, 'session ' + random(99)), () => {});
      if (random(4) === 0) await Promise.all(waiting);
    }
    await Promise.all(waiting);
    return log;`;
    const logs = await Promise.all([run(page, act(1)), run(other, act(2))]);
    const file = `
    const { sessionName, nonePrior, classes } = await engine.state();
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await engine.saveSession()));
    return { sum: digest.join(), state: JSON.stringify({ sessionName, nonePrior, classes }) };`;
    let [a, b] = await Promise.all([run(page, file), run(other, file)]);
    for (let i = 0; i < 1000 && (a.sum !== b.sum || a.state !== b.state); i++) {
      // notes are on their way, each a task
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

test('a tab that starts while another one changes the session follows it', () =>
  blank(async ({ page, context }) => {
    await start(page);
    await run(page, `await teach(['cat', 'dog'])`);
    const other = await context.newPage();
    await other.goto(`${site.origin}/LICENSE.txt`);
    await other.route('**/held', async (route) => {
      await run(page, `await taught.addClass('hen')`); // its note comes before the other tab listens
      await route.fulfill({ body: '' });
    });
    await run(
      other,
      `
    const Channel = globalThis.BroadcastChannel;
    globalThis.BroadcastChannel = function (name) {
      const request = new XMLHttpRequest();
      request.open('GET', '/held', false);
      request.send();
      return new Channel(name);
    };`,
    );
    await start(other);
    await run(other, 'await until(({ classes }) => classes.length === 3)');
  }));

test('a tab that missed what another one changed follows once it is seen again', () =>
  blank(async ({ page, context }) => {
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'BroadcastChannel'));
    await page.reload();
    await start(page);
    await run(page, `await teach(['cat', 'dog'])`);
    const other = await context.newPage();
    await other.goto(`${site.origin}/LICENSE.txt`);
    await start(other);
    await run(other, `await taught.addClass('hen')`);
    const after = await run(page, `const { classes } = await engine.state(); document.dispatchEvent(new Event('visibilitychange')); return classes.length`);
    assert.equal(after, 2, 'it heard of the change all the same');
    await run(page, 'await until(({ classes }) => classes.length === 3)');
  }));
