// @ts-check
/** index.html and the files it speaks of. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { pageBundles } from '../../build/page.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = await readFile(path.join(root, 'index.html'), 'utf8');

test('the page holds no inline style or script, which its policy would refuse', () => {
  assert.doesNotMatch(page, /\sstyle=|<style|\son\w+=/);
  for (const [, attributes, body] of page.matchAll(/<script([^>]*)>([^<]*)/g)) {
    assert.match(attributes, /src=/);
    assert.equal(body.trim(), '');
  }
});

test('the page names no other origin', () => {
  for (const [, address] of page.matchAll(/(?:href|src)="([^"]+)"/g)) assert.doesNotMatch(address, /^(\w+:)?\/\//);
});

test('every icon that is used is drawn', async () => {
  const drawn = new Set([...page.matchAll(/<symbol id="([^"]+)"/g)].map((match) => match[1]));
  const used = [...page.matchAll(/<use href="#([^"]+)"/g)].map((match) => match[1]);
  const { metafile } = await build({ ...pageBundles(root), write: false, metafile: true });
  for (const name of Object.keys(metafile.inputs)) {
    const source = await readFile(path.join(root, name), 'utf8');
    for (const [, icon] of source.matchAll(/\bicon(?:\(|: )'([\w-]+)'/g)) used.push(`icon-${icon}`);
  }
  for (const icon of used) assert.ok(drawn.has(icon), icon);
  for (const icon of drawn) assert.ok(used.includes(icon), `${icon} is drawn but not used`);
});

test('the web app manifest names icons that are there, of the size it says', async () => {
  const folder = path.join(root, 'web');
  const manifest = JSON.parse(await readFile(path.join(folder, 'manifest.webmanifest'), 'utf8'));
  for (const { src, sizes, type } of manifest.icons) {
    const icon = await readFile(path.join(folder, src));
    if (type !== 'image/png') continue;
    assert.equal(`${icon.readUInt32BE(16)}x${icon.readUInt32BE(20)}`, sizes, src);
  }
  assert.equal(new URL(manifest.start_url, 'http://site/app/web/manifest.webmanifest').href, 'http://site/app/');
});
