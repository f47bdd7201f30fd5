// @ts-check
/** The rooms of web/: what each is for, where to begin, and which others it may know. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('../../', import.meta.url));

/** @type {Record<string, {begin: string, knows: string[]}>} */
const rooms = {
  /** The page: what people see and press. Fetched first. Of what recognises it knows what the npm package exports. */
  ui: { begin: 'app.js', knows: ['base', 'extractor', 'library', 'offline', 'share'] },
  /** The npm package. The page uses its modules for storage and extractors. */
  library: { begin: 'index.js', knows: ['base', 'engine', 'extractor'] },
  /** The Go program: loading it, calling it, a worker for what takes long. */
  engine: { begin: 'index.js', knows: ['base'] },
  /** From a picture to an embedding, in a worker or in the window. */
  extractor: { begin: 'index.js', knows: ['base'] },
  /** The service worker and the page's side of it. */
  offline: { begin: 'index.js', knows: [] },
  /** One file out of all that was taught; page/ is the program of that file, on the page's own rooms and the npm package; use/, node/ and scratch/ are programs for other places. */
  share: { begin: 'assemble.js', knows: ['base', 'extractor', 'library'] },
  /** What the others share and nothing of theirs: calls to a worker, the probe for SIMD, safetensors files. */
  base: { begin: 'remote.js', knows: [] },
};

/** Not modules of the page: npm's packages, build scripts, tests, pictures, the prior, and the examples. */
const others = ['node_modules', 'build', 'test', 'samples', 'icons', 'prior', 'examples'];

/**
 * The modules of a room with what each names of others, in imports at the top, by import(), in types and as workers.
 *
 * @param {string} room
 * @returns {Promise<[name: string, targets: string[]][]>} relative to web/
 */
async function modules(room) {
  const nested = ['ui', 'extractor', 'library'].includes(room); // of others what lies deeper is a program of its own
  const names = (await readdir(path.join(web, room), { recursive: nested })).filter((name) => /\.m?js$/.test(name));
  return Promise.all(
    names.map(async (name) => {
      const source = await readFile(path.join(web, room, name), 'utf8');
      const found = [...source.matchAll(/(?:\bfrom |\bimport |\bimport\(|\bnew URL\()'(\.{1,2}\/[^']+)'/g)];
      return /** @type {[string, string[]]} */ ([`${room}/${name}`, found.map(([, target]) => path.posix.join(room, path.posix.dirname(name), target))]);
    }),
  );
}

const all = new Map((await Promise.all(Object.keys(rooms).map(modules))).flat());

test('every folder of web is a room or known not to be, and every room has its beginning', async () => {
  const entries = await readdir(web, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.deepEqual(
    folders.filter((name) => !rooms[name] && !others.includes(name)),
    [],
  );
  assert.deepEqual(
    entries.map(({ name }) => name).filter((name) => /\.m?js$/.test(name)),
    [],
    'modules outside all rooms',
  );
  for (const [room, { begin }] of Object.entries(rooms)) assert.ok(all.has(`${room}/${begin}`), `${room}/${begin}`);
});

test('a room names only those that it may know, types included', () => {
  let crossings = 0;
  for (const [name, targets] of all) {
    const [room] = name.split('/');
    for (const target of targets) {
      const [other] = target.split('/');
      if (other === room) continue;
      crossings++;
      assert.ok(rooms[room].knows.includes(other), `${name} names ${target}`);
    }
  }
  assert.ok(crossings > 20, `only ${crossings} imports between rooms were found`);
});

test('which room may know which runs in no circle', () => {
  const settled = /** @type {string[]} */ ([]);
  let left = Object.keys(rooms);
  while (left.length) {
    const next = left.filter((room) => rooms[room].knows.every((other) => settled.includes(other)));
    assert.notDeepEqual(next, [], `in a circle: ${left.join(', ')}`);
    settled.push(...next);
    left = left.filter((room) => !next.includes(room));
  }
});

test('what is named is there', () => {
  // What stands beside the built workers, and what build/package.mjs writes into the package.
  const built =
    /^(extractor\/(runtime|own\/(graphs|onnx)|(kinds|sounds|hands)\/(runtime|start))\.js|library\/written\/(engine|go|kernels|record)\.js|library\/(metaqda|storage)\.wasm|library\/(efficientnet-lite0|kinds|priors)\/.*)$/;
  for (const [name, targets] of all) {
    for (const target of targets) assert.ok(all.has(target) || built.test(target), `${name} names ${target}`);
  }
});
