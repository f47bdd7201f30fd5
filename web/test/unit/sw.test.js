// @ts-check
/** The service worker in a world of fakes: caches, fetch and events. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import vm from 'node:vm';

const source = await readFile(new URL('../../offline/sw.js', import.meta.url), 'utf8');
const SCOPE = 'https://site.test/app/';

class FakeCache {
  /** @type {Map<string, string>} */
  files = new Map();
  /** @param {string|{url: string}} request @param {{ignoreSearch?: boolean}} [options] */
  async match(request, { ignoreSearch = false } = {}) {
    const url = new URL(typeof request === 'string' ? request : request.url);
    if (ignoreSearch) url.search = '';
    const body = this.files.get(url.href);
    return body === undefined ? undefined : new Response(body);
  }

  /** @param {string} url @param {Response} response */
  async put(url, response) {
    this.files.set(url, await response.text());
  }
}

/** The world outside the worker; it outlives one version of it. */
class World {
  /** @type {Map<string, FakeCache>} */
  stores = new Map();
  /** @type {Record<string, string>} path to content */
  site = {};
  /** @type {string[]} */
  fetched = [];
  online = true;

  /** @param {string} version @param {Record<string, string>} site content by path; the sha256 is faked by the content itself */
  publish(version, site) {
    const files = Object.entries(site).map(([path, content]) => ({ path, bytes: content.length, sha256: content }));
    this.site = { ...site, 'manifest.json': JSON.stringify({ version, files }) };
  }

  /** @param {string} version */
  worker(version) {
    /** @type {Record<string, (event: any) => void>} */
    const listeners = {};
    const log = { claimed: false, skipped: false };
    vm.runInNewContext(`const VERSION = ${JSON.stringify(version)};\n${source}`, {
      URL, Response, Promise, Array, Map,
      self: {
        registration: { scope: SCOPE },
        clients: { claim: async () => { log.claimed = true; } },
        skipWaiting: async () => { log.skipped = true; },
        addEventListener: (/** @type {string} */ type, /** @type {(event: any) => void} */ listener) => { listeners[type] = listener; },
      },
      caches: {
        open: async (/** @type {string} */ name) => {
          if (!this.stores.has(name)) this.stores.set(name, new FakeCache());
          return this.stores.get(name);
        },
        keys: async () => [...this.stores.keys()],
        delete: async (/** @type {string} */ name) => this.stores.delete(name),
      },
      fetch: async (/** @type {string|{url: string}} */ request) => {
        const url = typeof request === 'string' ? request : request.url;
        if (!this.online) throw new TypeError('offline');
        const path = url.slice(SCOPE.length);
        this.fetched.push(path);
        return path in this.site ? new Response(this.site[path]) : new Response('no', { status: 404 });
      },
    });
    const wait = async (/** @type {string} */ type) => {
      /** @type {Promise<unknown>} */
      let work = Promise.resolve();
      listeners[type]({ waitUntil: (/** @type {Promise<unknown>} */ promise) => { work = promise; } });
      await work;
    };
    const ask = async (/** @type {string} */ url, { mode = 'cors', method = 'GET' } = {}) => {
      /** @type {Promise<Response>|undefined} */
      let answer;
      listeners.fetch({ request: { url, mode, method }, respondWith: (/** @type {Promise<Response>} */ response) => { answer = response; } });
      return answer;
    };
    return { log, wait, ask, send: (/** @type {any} */ data, /** @type {any} */ from = undefined) => listeners.message({ data, source: from }) };
  }
}

const first = { 'index.html': 'page 1', 'web/app.js': 'app', 'metaqda.wasm': 'engine', 'web/screenshot.png': 'large', 'THIRD_PARTY.md': 'notices' };

test('installing keeps everything that is needed offline, and then answers without the network', async () => {
  const world = new World();
  world.publish('v1', first);
  const worker = world.worker('v1');
  await worker.wait('install');
  assert.deepEqual([...world.stores.keys()], ['metaqda-v1']);
  await worker.wait('activate');
  assert.ok(worker.log.claimed);
  world.online = false;
  const text = async (/** @type {string} */ path, options = {}) => (await worker.ask(SCOPE + path, options))?.text();
  assert.equal(await text('web/app.js'), 'app');
  assert.equal(await text('', { mode: 'navigate' }), 'page 1');
  assert.equal(await text('?simd=0', { mode: 'navigate' }), 'page 1');
  assert.equal(await text('anything/else', { mode: 'navigate' }), 'page 1');
  assert.equal(await text('THIRD_PARTY.md', { mode: 'navigate' }), 'notices');
  const missing = await worker.ask(`${SCOPE}web/screenshot.png`);
  assert.equal(missing?.status, 504);
});

test('an update fetches only what changed, waits to be asked, and deletes the former version', async () => {
  const world = new World();
  world.publish('v1', first);
  const old = world.worker('v1');
  await old.wait('install');
  await old.wait('activate');
  world.stores.set('someone-else', new FakeCache());
  world.publish('v2', { ...first, 'index.html': 'page 2' });
  world.fetched = [];
  const next = world.worker('v2');
  await next.wait('install');
  assert.deepEqual(world.fetched, ['manifest.json', 'index.html']);
  assert.ok(!next.log.skipped);
  assert.equal(await (await old.ask(SCOPE, { mode: 'navigate' }))?.text(), 'page 1', 'the old version still answers');
  next.send({ type: 'activate', id: 1, args: [] });
  assert.ok(next.log.skipped);
  await next.wait('activate');
  assert.deepEqual([...world.stores.keys()].sort(), ['metaqda-v2', 'someone-else']);
  assert.equal(await (await next.ask(SCOPE, { mode: 'navigate' }))?.text(), 'page 2');
});

test('a site that is being replaced is not installed half', async () => {
  const world = new World();
  world.publish('v2', first);
  await assert.rejects(world.worker('v1').wait('install'), /this is version v1, the site is v2/);
  world.publish('v1', first);
  delete world.site['metaqda.wasm'];
  await assert.rejects(world.worker('v1').wait('install'), /metaqda\.wasm: status 404/);
});

test('requests to elsewhere and those that change something are left alone', async () => {
  const world = new World();
  world.publish('v1', first);
  const worker = world.worker('v1');
  assert.equal(await worker.ask('https://other.test/app/web/app.js'), undefined);
  assert.equal(await worker.ask('https://site.test/beside/x'), undefined);
  assert.equal(await worker.ask(`${SCOPE}web/app.js`, { method: 'POST' }), undefined);
});

test('the version is told in the envelope it was asked in', () => {
  const world = new World();
  /** @type {unknown[]} */
  const answers = [];
  world.worker('v1').send({ type: 'version', id: 7, args: [] }, { postMessage: (/** @type {unknown} */ data) => answers.push(data) });
  assert.deepEqual(JSON.parse(JSON.stringify(answers)), [{ type: 'version', id: 7, result: 'v1' }]);
});
