// @ts-check
/** The service worker in a world of fakes: caches, fetch and events. */
import assert from 'node:assert/strict';
import { createHash, webcrypto } from 'node:crypto';
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

  /** @param {string} url */
  async delete(url) {
    return this.files.delete(url);
  }

  async keys() {
    return [...this.files.keys()].map((url) => ({ url }));
  }
}

/** The world outside the worker; it outlives one version of it. */
class World {
  /** @type {Map<string, FakeCache>} */
  stores = new Map();
  /** @type {Record<string, string>} path to content */
  site = {};
  /** @type {Record<string, string>} what a cache on the way gives instead */
  stale = {};
  /** @type {string[]} */
  fetched = [];
  online = true;
  /** @type {Set<string>} tabs and workers that are there */
  clients = new Set();

  /** @param {string} version @param {Record<string, string>} site content by path */
  constructor(version, site) {
    this.publish(version, site);
  }

  /** Puts another version in the place of what there is. @param {string} version @param {Record<string, string>} site content by path */
  publish(version, site) {
    const files = Object.entries(site).map(([path, content]) => ({ path, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }));
    this.site = { ...site, 'manifest.json': JSON.stringify({ version, files }) };
  }

  /** A worker that has installed its version. @param {string} version */
  async installed(version) {
    const worker = this.worker(version);
    await worker.wait('install');
    return worker;
  }

  /** One that answers from now on. @param {string} version */
  async started(version) {
    const worker = await this.installed(version);
    await worker.wait('activate');
    return worker;
  }

  /** @param {string} version */
  worker(version) {
    /** @type {Record<string, (event: any) => void>} */
    const listeners = {};
    const log = { claimed: false, skipped: false };
    vm.runInNewContext(`const VERSION = ${JSON.stringify(version)};\n${source}`, {
      URL,
      Response,
      Promise,
      Array,
      Map,
      Set,
      Uint8Array,
      crypto: webcrypto,
      self: {
        registration: { scope: SCOPE },
        clients: {
          claim: async () => {
            log.claimed = true;
          },
          matchAll: async () => [...this.clients].map((id) => ({ id })),
        },
        skipWaiting: async () => {
          log.skipped = true;
        },
        addEventListener: (/** @type {string} */ type, /** @type {(event: any) => void} */ listener) => {
          listeners[type] = listener;
        },
      },
      caches: {
        open: async (/** @type {string} */ name) => {
          if (!this.stores.has(name)) this.stores.set(name, new FakeCache());
          return this.stores.get(name);
        },
        keys: async () => [...this.stores.keys()],
        delete: async (/** @type {string} */ name) => this.stores.delete(name),
      },
      fetch: async (/** @type {string|{url: string}} */ request, /** @type {{cache?: string}} */ { cache = '' } = {}) => {
        const url = typeof request === 'string' ? request : request.url;
        if (!this.online) throw new TypeError('offline');
        const path = url.slice(SCOPE.length) || 'index.html';
        this.fetched.push(path);
        if (cache !== 'reload' && path in this.stale) return new Response(this.stale[path]);
        return path in this.site ? new Response(this.site[path]) : new Response('no', { status: 404 });
      },
    });
    const wait = async (/** @type {string} */ type) => {
      /** @type {Promise<unknown>} */
      let work = Promise.resolve();
      listeners[type]({
        waitUntil: (/** @type {Promise<unknown>} */ promise) => {
          work = promise;
        },
      });
      await work;
    };
    const ask = async (/** @type {string} */ url, { mode = 'cors', method = 'GET', from = '', to = '' } = {}) => {
      /** @type {Promise<Response>|undefined} */
      let answer;
      /** @type {Promise<unknown>[]} */
      const work = [];
      listeners.fetch({
        request: { url, mode, method },
        clientId: from,
        resultingClientId: to,
        respondWith: (/** @type {Promise<Response>} */ response) => {
          answer = response;
        },
        waitUntil: (/** @type {Promise<unknown>} */ promise) => work.push(promise),
      });
      const response = await answer;
      await Promise.all(work);
      return response;
    };
    const text = async (/** @type {string} */ path, options = {}) => (await ask(SCOPE + path, options))?.text();
    /** A person opens a tab. */
    const open = async (/** @type {string} */ id) => {
      this.clients.add(id);
      return text('', { mode: 'navigate', to: id });
    };
    return { log, wait, ask, text, open, send: (/** @type {any} */ data, /** @type {any} */ from = undefined) => listeners.message({ data, source: from }) };
  }
}

/** @type {Record<string, string>} */
const first = { 'index.html': 'page 1', 'web/app.js': 'app', 'metaqda.wasm': 'engine', 'use/p5.min.js': 'for sketches', 'THIRD_PARTY.md': 'notices' };

test('installing keeps everything that is needed offline, and then answers without the network', async () => {
  const world = new World('v1', first);
  const worker = await world.installed('v1');
  assert.deepEqual([...world.stores.keys()], ['metaqda-v1']);
  await worker.wait('activate');
  assert.ok(worker.log.claimed);
  world.online = false;
  const { text } = worker;
  assert.equal(await text('web/app.js'), 'app');
  assert.equal(await text('', { mode: 'navigate' }), 'page 1');
  assert.equal(await text('?simd=0', { mode: 'navigate' }), 'page 1');
  assert.equal(await text('anything/else', { mode: 'navigate' }), 'page 1');
  assert.equal(await text('THIRD_PARTY.md', { mode: 'navigate' }), 'notices');
  const missing = await worker.ask(`${SCOPE}use/p5.min.js`);
  assert.equal(missing?.status, 504);
});

test('an update fetches only what changed, waits to be asked, and deletes the former version', async () => {
  const world = new World('v1', first);
  const old = await world.started('v1');
  world.stores.set('someone-else', new FakeCache());
  world.publish('v2', { ...first, 'index.html': 'page 2' });
  world.fetched = [];
  const next = await world.installed('v2');
  assert.deepEqual(world.fetched, ['manifest.json', 'index.html']);
  assert.ok(!next.log.skipped);
  assert.equal(await (await old.ask(SCOPE, { mode: 'navigate' }))?.text(), 'page 1', 'the old version still answers');
  next.send({ type: 'activate' });
  assert.ok(next.log.skipped);
  await next.wait('activate');
  assert.deepEqual([...world.stores.keys()].sort(), ['metaqda-v2', 'someone-else']);
  assert.equal(await (await next.ask(SCOPE, { mode: 'navigate' }))?.text(), 'page 2');
});

test('a tab that is loading keeps the version that it was answered from', async () => {
  const world = new World('v1', first);
  await world.started('v1');
  const again = world.worker('v1'); // a cold start, which tidies up first
  const cache = /** @type {FakeCache} */ (world.stores.get('metaqda-v1'));
  cache.keys = async () => {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    return FakeCache.prototype.keys.call(cache);
  };
  await again.ask(SCOPE, { mode: 'navigate', to: 'loading' }); // it is no client yet
  assert.ok(cache.files.has(`${SCOPE}.client/loading`));
  world.clients.add('loading');
  world.publish('v2', { ...first, 'web/app.js': 'app 2' });
  const next = await world.started('v2');
  assert.equal(await next.text('web/app.js', { from: 'loading' }), 'app');
});

test('a site that is being replaced is not installed half, and nothing of it is kept', async () => {
  const world = new World('v2', first);
  await assert.rejects(world.worker('v1').wait('install'), /this is version v1, the site is v2/);
  world.publish('v1', first);
  delete world.site['metaqda.wasm'];
  await assert.rejects(world.worker('v1').wait('install'), /metaqda\.wasm: status 404/);
  world.publish('v1', first);
  world.site['web/app.js'] = 'app of another version';
  await assert.rejects(world.worker('v1').wait('install'), /web\/app\.js is not the file that the manifest of version v1 lists/);
  assert.deepEqual([...world.stores.keys()], []);
});

test('what a cache on the way holds in the place of a file is passed by, and a damaged copy in the former cache fetched anew', async () => {
  const world = new World('v1', first);
  world.stale['web/app.js'] = 'old app';
  assert.equal(await (await world.installed('v1')).text('web/app.js'), 'app');
  world.stores.get('metaqda-v1')?.files.set(`${SCOPE}web/app.js`, 'damaged');
  world.publish('v2', { ...first, 'index.html': 'page 2' });
  assert.equal(await (await world.installed('v2')).text('web/app.js'), 'app');
});

test('what runs other extractors is kept from its first use on, also by the next version', async () => {
  const site = { ...first, 'networks/onnx.js': 'runtime', 'networks/graphs.js': 'another' };
  const world = new World('v1', site);
  const old = await world.started('v1');
  assert.deepEqual(
    world.fetched.filter((path) => path.startsWith('networks/')),
    [],
  );
  await old.open('tab');
  assert.equal(await old.text('networks/onnx.js', { from: 'tab' }), 'runtime');
  world.online = false;
  assert.equal(await old.text('networks/onnx.js', { from: 'tab' }), 'runtime');
  assert.equal((await old.ask(`${SCOPE}networks/graphs.js`, { from: 'tab' }))?.status, 504);
  world.online = true;
  world.fetched = [];
  world.publish('v2', { ...site, 'index.html': 'page 2' });
  await world.worker('v2').wait('install');
  assert.deepEqual(world.fetched, ['manifest.json', 'index.html']);
  world.clients.delete('tab');
  world.publish('v3', { ...site, 'networks/onnx.js': 'runtime 3' });
  const next = await world.started('v3');
  await next.open('tab 3');
  world.online = false;
  assert.equal(await next.text('networks/onnx.js', { from: 'tab 3' }), 'runtime 3');
});

test('a file that left the cache comes from the network only where it is that of the version', async () => {
  const world = new World('v1', first);
  const worker = await world.installed('v1');
  await worker.open('tab');
  world.stores.get('metaqda-v1')?.files.delete(`${SCOPE}web/app.js`);
  assert.equal(await worker.text('web/app.js?x=1', { from: 'tab' }), 'app');
  world.publish('v2', { ...first, 'web/app.js': 'app 2' });
  assert.equal((await worker.ask(`${SCOPE}web/app.js`, { from: 'tab' }))?.status, 504);
});

test('where the page itself left the cache, all comes from the network', async () => {
  const world = new World('v1', first);
  const worker = await world.installed('v1');
  world.publish('v2', { ...first, 'index.html': 'page 2', 'web/app.js': 'app 2' });
  world.stores.get('metaqda-v1')?.files.delete(`${SCOPE}index.html`);
  assert.equal(await worker.open('tab'), 'page 2');
  assert.equal(await worker.text('web/app.js', { from: 'tab' }), 'app 2');
  assert.equal(await world.worker('v1').text('web/app.js', { from: 'tab' }), 'app 2', 'also after the worker started anew');
});

test('a tab goes on with its version after another started a new one, and then its files are deleted', async () => {
  const world = new World('v1', first);
  const old = await world.started('v1');
  await old.open('early');
  await old.text('web/worker.js', { from: 'early', to: 'its worker' });
  world.clients.add('its worker');
  world.publish('v2', { ...first, 'index.html': 'page 2', 'web/app.js': 'app 2' });
  const next = await world.started('v2');
  assert.equal(await next.open('late'), 'page 2');
  for (const worker of [next, world.worker('v2')]) {
    // also one that was started anew
    assert.equal(await worker.text('web/app.js', { from: 'early' }), 'app');
    assert.equal(await worker.text('web/app.js', { from: 'its worker' }), 'app');
    assert.equal(await worker.text('web/app.js', { from: 'late' }), 'app 2');
  }
  assert.deepEqual([...world.stores.keys()].sort(), ['metaqda-v1', 'metaqda-v2']);
  world.clients.delete('early');
  world.clients.delete('its worker');
  await next.text('web/app.js', { from: 'late' });
  assert.deepEqual([...world.stores.keys()], ['metaqda-v2']);
});

test('a tab that was there before the first version goes on with that version, too', async () => {
  const world = new World('v1', first);
  world.clients.add('first visit'); // loaded from the network, before there was a worker
  const old = await world.started('v1');
  assert.equal(await old.text('web/app.js', { from: 'first visit' }), 'app');
  world.publish('v2', { ...first, 'index.html': 'page 2', 'web/app.js': 'app 2' });
  const next = await world.started('v2');
  assert.equal(await next.open('late'), 'page 2');
  for (const worker of [next, world.worker('v2')]) assert.equal(await worker.text('web/app.js', { from: 'first visit' }), 'app');
  world.clients.delete('first visit');
  await next.text('web/app.js', { from: 'late' });
  assert.deepEqual([...world.stores.keys()], ['metaqda-v2']);
});

test('where the browser cannot read its caches, all comes from the network', async () => {
  const world = new World('v1', first);
  const worker = await world.started('v1');
  const broken = () => Promise.reject(new Error('Unexpected internal error.'));
  for (const cache of world.stores.values()) Object.assign(cache, { match: broken, put: broken, keys: broken });
  assert.equal(await worker.open('tab'), 'page 1');
  assert.equal(await worker.text('web/app.js', { from: 'tab' }), 'app');
});

test('requests to elsewhere and those that change something are left alone', async () => {
  const world = new World('v1', first);
  const worker = world.worker('v1');
  assert.equal(await worker.ask('https://other.test/app/web/app.js'), undefined);
  assert.equal(await worker.ask('https://site.test/beside/x'), undefined);
  assert.equal(await worker.ask(`${SCOPE}web/app.js`, { method: 'POST' }), undefined);
});

// FUZZ_SECONDS makes it go on for as long, with a seed of its own, which is told.
test('a changed manifest is refused, or what it lists is kept and nothing else', async () => {
  const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
  let state = seconds ? Date.now() | 0 : 1;
  const seed = state;
  const any = (/** @type {number} */ below) => Math.floor(((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32) * below);
  const end = Date.now() + 1000 * seconds;
  let done = 0;
  let installed = 0;
  for (; done < 400 || Date.now() < end; done++) {
    const world = new World('v1', first);
    const text = Buffer.from(world.site['manifest.json']);
    for (let n = 1 + any(3); n > 0; n--) {
      const at = any(text.length);
      switch (any(4)) {
        case 0:
          text[at] = 32 + any(95);
          break;
        case 1:
          text.copy(text, at, any(text.length));
          break;
        case 2:
          text.write(['null', '1e999', '-1', '"', '[]', '{}', '../', '//x'][any(8)], at);
          break;
        case 3:
          text.fill(48 + any(10), at, at + 1);
          break;
      }
    }
    world.site['manifest.json'] = text.toString();
    const worker = world.worker('v1');
    try {
      await worker.wait('install');
    } catch {
      continue; // the browser tries again later
    }
    installed++;
    const { files } = JSON.parse(text.toString());
    for (const [url, content] of [...world.stores.values()].flatMap(({ files: kept }) => [...kept])) {
      if (url.endsWith('manifest.json')) continue;
      const listed = files.find((/** @type {{path: string}} */ { path }) => new URL(path, SCOPE).href === url);
      assert.equal(createHash('sha256').update(content).digest('hex'), listed?.sha256, `seed ${seed}, manifest ${done}: ${url}`);
    }
  }
  if (seconds) console.log(`manifests: ${done}, ${installed} of them installed, seed ${seed}`);
  assert.ok(installed > 0);
});
