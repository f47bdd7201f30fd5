// @ts-check
/** The harness fails tests that ought to fail, and the page's policy holds. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { assertProbabilities, PATIENCE, root, visit } from './harness.js';

test('a request to another origin fails the test that makes it', async () => {
  await assert.rejects(
    visit({ open: false, expect: [/.*/] }, async ({ page }) => {
      await page.goto('http://outside.invalid/').catch(() => {});
    }),
    /requests to another origin[\s\S]*outside\.invalid/,
  );
});

test('a complaint on the console fails the test', async () => {
  await assert.rejects(
    visit({ open: false }, async ({ page }) => {
      await page.evaluate(() => console.error('something broke'));
    }),
    /complaints on the console[\s\S]*something broke/,
  );
  await assert.rejects(
    visit({ open: false }, async ({ page }) => {
      await Promise.all([
        page.waitForEvent('pageerror'),
        page.evaluate(() => {
          setTimeout(() => {
            throw new Error('late');
          });
        }),
      ]);
    }),
    /complaints on the console[\s\S]*late/,
  );
});

test('a test that hangs ends at its limit, and so does what it started', async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // with it the inner run would take itself for a file of the outer one
  const hung = promisify(execFile)(process.execPath, ['--test', '--test-timeout=3000', path.join(root, 'web/test/browser/hangs.mjs')], {
    env,
    timeout: PATIENCE,
  });
  await assert.rejects(hung, { code: 1, stdout: /test timed out after 3000ms/ }); // killed by PATIENCE it would have no code
});

test('numbers that are no probabilities are found', () => {
  assertProbabilities({ a: 0.25, b: 0.75 });
  assert.throws(() => assertProbabilities({ a: 0.25, b: 0.7500021 }), /sum to/);
  assert.throws(() => assertProbabilities({ a: -0.25, b: 1.25 }), /no probability/);
  assert.throws(() => assertProbabilities({ a: NaN }), /no probability/);
});

test('the page itself cannot send anything to another origin', () =>
  visit({ expect: [/Content Security Policy/] }, async ({ page }) => {
    const refused = await page.evaluate(async () => {
      const broken = /** @type {string[]} */ ([]);
      document.addEventListener('securitypolicyviolation', (event) => broken.push(event.effectiveDirective));
      await fetch('http://outside.invalid/').catch(() => {});
      await new Promise((resolve) => {
        const image = new Image();
        image.onerror = resolve;
        image.src = 'http://outside.invalid/x.png';
      });
      navigator.sendBeacon('http://outside.invalid/');
      const style = document.createElement('style');
      style.textContent = 'body { color: red }';
      document.head.append(style);
      while (new Set(broken).size < 3)
        await new Promise((resolve) => {
          setTimeout(resolve);
        }); // they are told in tasks of their own
      return [...new Set(broken)].sort();
    });
    assert.deepEqual(refused, ['connect-src', 'img-src', 'style-src-elem']);
  }));
