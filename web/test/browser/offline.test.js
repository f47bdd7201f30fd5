// @ts-check
/** New versions of the site, and the prior that is fetched once. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { identityOf } from '../../extractor/manifest.js';
import {
  assertSame,
  card,
  changeFile,
  copySite,
  eventually,
  likeliest,
  offlineReady,
  open,
  priorText,
  ready,
  recognise,
  sample,
  serveSite,
  status,
  teach,
  touchPrior,
  visit,
} from './harness.js';
import { LONG } from '../long.js';

/** @param {(site: import('./harness.js').Site) => Promise<void>} check */
async function onCopy(check) {
  const { folder, remove } = await copySite();
  const site = await serveSite(folder);
  try {
    await check(site);
  } finally {
    await site.stop();
    await remove();
  }
}

test('a new version is announced and comes with one press', () =>
  onCopy((site) =>
    visit({ site, offline: true }, async ({ page }) => {
      await offlineReady(page);
      const first = await caches(page);
      assert.equal(first.length, 1);
      const version = await changeFile(site.folder, 'web/ui/style.css', (css) => Buffer.from(`${css}\n:root { --changed: 1; }\n`));
      await page.reload();
      await page.getByText('A new version is ready.').waitFor();
      const changed = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--changed').trim());
      assert.equal(await changed(), '', 'the old version stays until the person agrees');
      await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Reload' }).click()]);
      await ready(page);
      assert.equal(await changed(), '1');
      await onlyVersion(page, version);
    }),
  ));

test('a tab that did not ask for the new version goes on with the files of its own, and is told that another has started it', LONG, () =>
  onCopy((site) =>
    visit({ site, offline: true }, async ({ page, context }) => {
      await offlineReady(page);
      const other = await context.newPage();
      await open(other, site);
      const version = await changeFile(site.folder, 'web/ui/thread.js', (code) => Buffer.concat([code, Buffer.from('\nexport const changed = 1;\n')]));
      await page.reload();
      await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Reload' }).click()]);
      await ready(page);
      const changed = (/** @type {import('playwright-core').Page} */ tab) =>
        tab.evaluate(async () => {
          const answer = await fetch('web/ui/thread.js');
          return (await answer.text()).includes('changed = 1');
        });
      assert.deepEqual([await changed(page), await changed(other)], [true, false]);
      await other.getByText('Another tab has started a new version.').waitFor();
      await other.close();
      await changed(page);
      await onlyVersion(page, version);
    }),
  ),
);

test('a session taught under the former extractor is read anew with one press', () =>
  onCopy(async (site) => {
    const [built, ...parts] = await Promise.all(
      ['extractor.json', 'model.json', 'weights.bin'].map((name) => readFile(path.join(site.folder, 'extractor', name))),
    );
    // The former one: what the last block answers to one view, 320 numbers.
    const former = {
      ...JSON.parse(built.toString()),
      id: 'former@1',
      dimension: 320,
      views: [{ name: 'whole' }],
      outputs: [{ node: 'blocks.15._project_conv', pooling: 'mean' }],
    };
    former.sha256 = await identityOf(
      former,
      parts.map((part) => new Uint8Array(part)),
    );
    await changeFile(site.folder, 'extractor/extractor.json', () => Buffer.from(JSON.stringify(former)));
    await visit({ site, offline: true }, async ({ page }) => {
      await offlineReady(page);
      await teach(page, 'Cat', ['noto', 'twemoji', 'openmoji']);
      await teach(page, 'Rocket', ['noto', 'twemoji']);
      await recognise(page, sample('emojione', 'cat'));
      const slider = page.getByRole('slider', { name: 'Chance of something unknown' });
      await page.getByRole('button', { name: 'Settings' }).click();
      await slider.fill('0.4');
      await page.getByRole('dialog').locator('legend').first().click(); // a press in it leaves it open
      await page.mouse.click(5, 300);
      await slider.waitFor({ state: 'hidden' });

      await changeFile(site.folder, 'extractor/extractor.json', () => built);
      await page.reload();
      await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Reload' }).click()]);
      await ready(page);
      const notice = page.getByRole('region', { name: 'Notices' }).getByRole('status').filter({ hasText: 'read by another feature extractor' });
      await notice.waitFor();
      await card(page, 'Cat').getByText('3 pictures').waitFor();
      await page.getByRole('button', { name: 'Read them again' }).click();
      await status(page, '5 pictures read again, into a new session.');
      await notice.waitFor({ state: 'detached' });
      await card(page, 'Cat').getByText('3 pictures').waitFor();
      await card(page, 'Rocket').getByText('2 pictures').waitFor();
      assert.equal(likeliest(await recognise(page, sample('emojione', 'rocket'))), 'Rocket');
      await page.getByRole('button', { name: 'Settings' }).click();
      assert.equal(await slider.inputValue(), '0.4', 'its settings go along');
    });
  }));

/**
 * A new version of two files, of which one has not arrived yet.
 *
 * @param {import('./harness.js').Site} site
 * @returns {Promise<{version: string, rest: () => Promise<void>}>} the rest of the version
 */
async function half({ folder }) {
  const late = path.join(folder, 'web/ui/app.js');
  const former = await readFile(late);
  await changeFile(folder, 'web/ui/style.css', (css) => Buffer.from(`${css}\n:root { --changed: 1; }\n`));
  const version = await changeFile(folder, 'web/ui/app.js', (code) => Buffer.from(`${code}\n// changed\n`));
  const whole = await readFile(late);
  await writeFile(late, former);
  return { version, rest: () => writeFile(late, whole) };
}

/** What a page has of the two files of half(). @param {import('playwright-core').Page} page */
function parts(page) {
  return page.evaluate(async () => [
    getComputedStyle(document.documentElement).getPropertyValue('--changed').trim() === '1',
    (await (await fetch('web/ui/app.js')).text()).includes('// changed'),
  ]);
}

test('a new version met while half of it is there: the former one goes on whole, then the new one comes whole', LONG, () =>
  onCopy((site) =>
    visit({ site, offline: true }, async ({ page }) => {
      await offlineReady(page);
      const first = await caches(page);
      const { version, rest } = await half(site);
      for (let n = 0; n < 2; n++) {
        await page.reload();
        await ready(page);
        await installFailed(page);
        assert.deepEqual(await parts(page), [false, false]);
        await eventually(async () => assert.deepEqual(await caches(page), first)); // the browser may have tried once more by itself
        assert.equal(await page.getByText('A new version is ready.').count(), 0);
      }
      await rest();
      await page.reload();
      await page.getByText('A new version is ready.').waitFor();
      assert.deepEqual(await parts(page), [false, false]);
      await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Reload' }).click()]);
      await ready(page);
      assert.deepEqual(await parts(page), [true, true]);
      await onlyVersion(page, version);
    }),
  ),
);

/** Has the browser look for a new version, and waits until it could not be installed. @param {import('playwright-core').Page} page */
function installFailed(page) {
  return page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    const worker = /** @type {ServiceWorker} */ ((await registration.update()).installing);
    while (worker.state !== 'redundant')
      await new Promise((resolve) => {
        worker.addEventListener('statechange', resolve, { once: true });
      });
  });
}

test('a first visit while half of a version is there is made good without a reload', () =>
  onCopy((site) =>
    visit({ site, open: false, offline: true }, async ({ page }) => {
      const { version, rest } = await half(site);
      await page.clock.install();
      await page.addInitScript(() => {
        if (!globalThis.ServiceWorkerContainer) return; // an empty page of Firefox has none
        const { register } = ServiceWorkerContainer.prototype;
        ServiceWorkerContainer.prototype.register = async function (...given) {
          const registration = await register.apply(this, given);
          const worker = registration.installing;
          worker?.addEventListener('statechange', () => {
            document.documentElement.dataset.installing = worker.state;
          });
          return registration;
        };
      });
      await open(page, site);
      await page.locator('[data-installing="redundant"]').waitFor({ state: 'attached' });
      assert.equal(await page.getByText('Works offline').isVisible(), false);
      await rest();
      while (!(await page.getByText('Works offline').isVisible())) await page.clock.runFor(61_000); // once the page waits for the next try
      assert.deepEqual(await caches(page), [`metaqda-${version}`]);
    }),
  ));

/** @param {import('playwright-core').Page} page */
function caches(page) {
  return page.evaluate(async () => (await window.caches.keys()).filter((name) => name.startsWith('metaqda-')));
}

/** Waits until the caches of other versions are gone; waitForFunction would take a promise for the answer. @param {import('playwright-core').Page} page @param {string} version */
async function onlyVersion(page, version) {
  while (String(await caches(page)) !== `metaqda-${version}`) await page.evaluate(() => new Promise(requestAnimationFrame));
}

test('the prior is fetched once over reloads, and again only when its hash changes', () =>
  onCopy((site) =>
    visit({ site }, async ({ page, requested }) => {
      const fetches = () => requested.filter((path) => path.endsWith('/prior.safetensors')).length;
      assert.equal(fetches(), 1);
      await open(page, site);
      await open(page, site);
      assert.equal(fetches(), 1, 'after two reloads');
      const before = await priorText(page);
      await changeFile(site.folder, 'prior.safetensors', touchPrior);
      await open(page, site);
      assert.equal(fetches(), 2, 'after its hash changed');
      assert.notEqual(await priorText(page), before);
      await open(page, site);
      assert.equal(fetches(), 2, 'and not again');
    }),
  ));

test('where the new prior cannot be fetched the page goes on with the former one', LONG, () =>
  onCopy((site) =>
    visit({ site, expect: [/404/] }, async ({ page }) => {
      await teach(page, 'Cat', ['noto', 'twemoji']);
      await teach(page, 'Rocket', ['noto', 'twemoji']);
      const probabilities = await recognise(page, sample('emojione', 'cat'));
      const before = await priorText(page);
      await changeFile(site.folder, 'prior.safetensors', touchPrior);
      const away = await hide(site.folder, 'prior.safetensors');
      await open(page, site);
      await notice(page, 'The page’s background knowledge could not be fetched. The one from your last visit is used instead.').waitFor();
      assertSame(await recognise(page, sample('emojione', 'cat')), probabilities);
      assert.equal(await priorText(page), before);
      await page.keyboard.press('Escape');
      await away();
      await page.getByRole('button', { name: 'Try again' }).click();
      await notice(page, 'The page’s background knowledge').waitFor({ state: 'detached' });
      await page.waitForFunction((text) => document.querySelector('#settings')?.textContent?.includes(text) === false, /** @type {string} */ (before));
    }),
  ),
);

test('where no prior could ever be fetched the page works with one that was not learned, and a network that cannot be fetched is fetched again', () =>
  onCopy((site) =>
    visit({ site, expect: [/404|ERR_FAILED/], open: false }, async ({ page }) => {
      const back = await hide(site.folder, 'prior.safetensors');
      const fails = () => notice(page, 'The page’s background knowledge could not be fetched. A generic one is used instead').waitFor();
      // A network that wants a login answers everything with a page.
      await page.route('**/manifest.json', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }), { times: 1 });
      await open(page, site);
      await fails();
      await open(page, site);
      await fails();
      await teach(page, 'Cat', ['noto', 'twemoji']);
      await teach(page, 'Rocket', ['noto', 'twemoji']);
      // A style close to those taught: a prior that was not learned takes others for what they are not.
      assert.equal(likeliest(await recognise(page, sample('openmoji', 'cat'))), 'Cat');
      assert.equal(likeliest(await recognise(page, sample('openmoji', 'rocket'))), 'Rocket');
      await back();
      await page.getByRole('button', { name: 'Try again' }).click();
      await notice(page, 'The page’s background knowledge').waitFor({ state: 'detached' });
      await eventually(async () => assert.match((await priorText(page)) ?? '', /sha256/));
      await page.route('**/extractor/extractor.json', (route) => route.abort(), { times: 2 });
      await page.goto(`${site.origin}/`);
      const unreachable = notice(page, 'extractor.json could not be fetched');
      const live = page.locator('#live-button');
      await unreachable.waitFor();
      await page.locator('#loading').waitFor({ state: 'hidden' });
      for (const pressed of ['true', 'false']) {
        await live.click(); // it waits for the network, and says so
        assert.equal(await live.getAttribute('aria-pressed'), pressed);
      }
      const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/extractor.json'));
      await page.getByRole('button', { name: 'Try again' }).click();
      await failed;
      await unreachable.waitFor();
      await page.evaluate(() => dispatchEvent(new Event('online')));
      await ready(page);
      assert.equal(await live.getAttribute('aria-pressed'), 'false', 'what was called off stays so');
      await unreachable.waitFor({ state: 'detached' });
    }),
  ));

/** @param {import('playwright-core').Page} page @param {string} text */
function notice(page, text) {
  return page.getByRole('region', { name: 'Notices' }).getByRole('status').filter({ hasText: text });
}

/**
 * Takes a file away from a site.
 *
 * @param {string} folder
 * @param {string} name
 * @returns {Promise<() => Promise<void>>} brings it back
 */
async function hide(folder, name) {
  const files = ['', '.br', '.gz'].map((suffix) => path.join(folder, name + suffix)).filter((file) => existsSync(file));
  for (const file of files) await rename(file, `${file}.hidden`);
  return async () => {
    for (const file of files) await rename(`${file}.hidden`, file);
  };
}

test('a first visit that got files of two versions is told so', LONG, () =>
  onCopy((site) =>
    visit({ site, open: false, offline: true }, async ({ page }) => {
      await page.exposeFunction('deploy', () => changeFile(site.folder, 'web/ui/style.css', (css) => Buffer.from(`${css}\n:root { --changed: 1; }\n`)));
      await page.addInitScript(() => {
        const scope = /** @type {any} */ (globalThis);
        const { fetch } = scope;
        // The site is replaced when the style has come and the manifest has not.
        scope.fetch = async (/** @type {any[]} */ ...args) => {
          if (args[0] === 'manifest.json' && !sessionStorage.deployed) {
            sessionStorage.deployed = 'yes';
            await scope.deploy();
          }
          return fetch(...args);
        };
      });
      await open(page, site);
      const changed = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--changed').trim());
      assert.equal(await changed(), '');
      await page.getByText('A new version is ready.').waitFor();
      await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Reload' }).click()]);
      await ready(page);
      assert.equal(await changed(), '1');
    }),
  ),
);
