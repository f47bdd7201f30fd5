// @ts-check
/** The page in WebKit (Debian's WebKitGTK, by WebDriver): load, teach, recognise, reload. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { assertProbabilities, assertSame, most, PATIENCE, sample, serveSite } from '../browser/harness.js';

/** Where Debian puts the small browser that comes with the driver. */
const BROWSER = process.env.WEBKIT_BROWSER ?? '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';
const DRIVER = process.env.WEBKIT ?? '/usr/bin/WebKitWebDriver';
/** The key under which WebDriver hands out elements. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** A port that nobody has. @returns {Promise<number>} */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

/**
 * One window.
 *
 * @typedef {object} Window
 * @property {(url: string) => Promise<unknown>} open
 * @property {() => Promise<unknown>} reload
 * @property {(script: string, ...args: unknown[]) => Promise<any>} run the body of a function, in the page
 * @property {(script: string, ...args: unknown[]) => Promise<any>} until runs until there is something
 * @property {(selector: string, text: string) => Promise<unknown>} type for a file field: names, one to a line
 */

/** Runs a check in a fresh browser on a screen of its own. @param {(window: Window, origin: string) => Promise<void>} check */
async function visit(check) {
  const site = await serveSite();
  const port = await freePort();
  const driver = spawn('xvfb-run', ['-a', DRIVER, `--port=${port}`], { stdio: 'ignore', detached: true });
  /** @type {(method: string, where: string, body?: unknown) => Promise<any>} */
  const call = async (method, where, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${where}`, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
    });
    const { value } = /** @type {any} */ (await response.json());
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  let session = '';
  try {
    const limit = Date.now() + PATIENCE;
    while (!(await call('GET', '/status').catch(() => null))) {
      assert.ok(Date.now() < limit, 'the driver does not answer');
      await new Promise((resolve) => {
        setTimeout(resolve, 100);
      });
    }
    const { sessionId } = await call('POST', '/session', {
      capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': { binary: BROWSER, args: ['--automation'] } } },
    });
    session = `/session/${sessionId}`;
    const run = (/** @type {string} */ script, /** @type {unknown[]} */ ...args) => call('POST', `${session}/execute/sync`, { script, args });
    await check(
      {
        open: (url) => call('POST', `${session}/url`, { url }),
        reload: () => call('POST', `${session}/refresh`, {}),
        run,
        until: async (script, ...args) => {
          for (const last = Date.now() + PATIENCE; ; ) {
            // The driver answers so while one page makes room for the next.
            const found = await run(script, ...args).catch((error) => {
              if (!error.message.endsWith('Could not parse script result')) throw error;
            });
            if (found) return found;
            assert.ok(
              Date.now() < last,
              `waited in vain for: ${script} ${args}; the page says ${await run("return document.querySelector('#trouble').textContent + document.querySelector('#query-error').textContent")}`,
            );
            await new Promise((resolve) => {
              setTimeout(resolve, 50);
            });
          }
        },
        type: async (selector, text) => {
          const element = await call('POST', `${session}/element`, { using: 'css selector', value: selector });
          return call('POST', `${session}/element/${element[ELEMENT]}/value`, { text });
        },
      },
      site.origin,
    );
  } finally {
    if (session) await call('DELETE', session).catch(() => {});
    process.kill(-(/** @type {number} */ (driver.pid)));
    await site.stop();
  }
}

/** @param {Window} window */
async function ready({ until, run }) {
  await until("return document.body.dataset.ready || document.querySelector('#trouble').textContent");
  assert.equal(await run("return document.querySelector('#trouble').textContent"), '', 'the page started');
}

/** @param {Window} window @param {string} name @param {string[]} styles */
async function teach({ type, until }, name, styles) {
  const card = `.card:has([aria-label="Name of the class ${name}"])`;
  await type('#class-name', `${name}\uE007`); // the key Enter, as WebDriver calls it
  await until('return document.querySelector(arguments[0]) !== null', card);
  await type(`${card} input[type="file"]`, styles.map((style) => sample(style, name.toLowerCase())).join('\n'));
  await until('return document.querySelectorAll(arguments[0]).length === arguments[1]', `${card} .thumb`, styles.length);
  await until("return document.querySelector('#status').textContent.includes(arguments[0])", `added to “${name}”`); // behind which comes nothing else
}

/** @param {Window} window @param {string} file @returns {Promise<Record<string, number>>} */
async function recognise({ type, until, run }, file) {
  await type('#query-file', file);
  await until("return document.querySelector('#status').textContent.includes(arguments[0])", `Recognised “${path.basename(file)}”.`);
  return Object.fromEntries(
    await run(
      "return [...document.querySelectorAll('[role=\"meter\"]')].map((one) => [one.getAttribute('aria-label'), Number(one.getAttribute('aria-valuenow'))])",
    ),
  );
}

const names = ['Banana', 'Umbrella', 'Bicycle'];

test('three classes are taught and recognised in WebKit, and again after a reload', { timeout: 180_000 }, () =>
  visit(async (window, origin) => {
    await window.open(`${origin}/`);
    await ready(window);
    for (const name of names) await teach(window, name, ['noto', 'twemoji', 'openmoji']);
    /** @type {Record<string, Record<string, number>>} */
    const before = {};
    for (const name of names) {
      const got = (before[name] = await recognise(window, sample('emojione', name.toLowerCase())));
      assert.deepEqual(Object.keys(got).sort(), [...names, 'None of these'].sort());
      assertProbabilities(got);
      assert.equal(most(got), name);
    }
    await window.run("document.querySelector('#settings-button').click()");
    assert.equal(
      await window.run("const dialog = document.querySelector('#settings'); return dialog.scrollWidth - dialog.clientWidth"),
      0,
      'it scrolls to no side',
    );
    await window.reload();
    await ready(window);
    assert.equal(await window.run('return document.querySelectorAll(".thumb").length'), 9);
    await window.until('return [...document.querySelectorAll(".thumb-picture")].every((image) => image.naturalWidth > 0)');
    for (const name of names) assertSame(await recognise(window, sample('emojione', name.toLowerCase())), before[name], name);
  }),
);
