// @ts-check
/**
 * A browser that is killed at random moments while it is taught. What the page was told
 * to be kept is compared with what the next start of the same profile finds.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import puppeteer from 'puppeteer-core';
import { temporaryFolder } from '../../temporary.js';
import { FLAGS, PATIENCE, serveSite } from '../harness.js';

/** @typedef {{key: string, kind: 'class'|'picture', is: string|null}} Fact a class is called so, a picture is of a class, or is gone */

/**
 * What the operations acknowledged so far come to, and those under way.
 *
 * @typedef {{facts: Map<string, Fact>, open: Map<number, Fact[]>}} Book
 */

/**
 * Teaches without end: in the page. Each operation says what it is about to do, and
 * that it was acknowledged; four go on at a time, each in classes of its own.
 *
 * @param {number} round
 * @param {number} seed
 */
async function teach(round, seed) {
  const scope = /** @type {any} */ (globalThis);
  let state = seed;
  const random = (/** @type {number} */ n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  let operations = 0;
  const change = (/** @type {(taught: any) => unknown} */ work) => scope.engine.stored(work);
  /** @type {(facts: Fact[], work: () => Promise<any>) => Promise<any>} */
  const done = async (facts, work) => {
    const number = ++operations;
    await scope.begun(number, facts);
    const result = await work();
    await scope.ended(number);
    return result;
  };
  const lane = async (/** @type {number} */ k) => {
    let label = '';
    /** @type {string[]} */ let pictures = [];
    for (let i = 0; ; i++) {
      const name = `${round}/${k}/${i}`;
      const what = random(10);
      if (!label || what === 0) {
        await done([{ key: name, kind: 'class', is: name }], () => change((taught) => taught.addClass(name)));
        label = name;
        pictures = [];
      } else if (what === 1 && pictures.length) {
        const at = random(pictures.length);
        const [id] = pictures.splice(at, 1);
        await done([{ key: scope.named.get(id), kind: 'picture', is: null }], () => change((taught) => taught.removeExample(id)));
      } else if (what === 2 && pictures.length > 3) {
        const facts = pictures.map((id) => ({ key: scope.named.get(id), kind: /** @type {const} */ ('picture'), is: null }));
        const { undo } = await done([{ key: label, kind: 'class', is: null }, ...facts], () => change((taught) => taught.removeClass(label)));
        if (random(2)) {
          await done([{ key: label, kind: 'class', is: label }, ...facts.map((fact) => ({ ...fact, is: label }))], () => change((taught) => taught.undo(undo)));
        } else label = '';
      } else {
        const x = Float32Array.from({ length: 1280 }, (_, j) => Math.sin((k + 1) * (j + 1)) + random(1000) / 1000);
        const { result: id } = await done([{ key: name, kind: 'picture', is: label }], () =>
          change((taught) => taught.addExampleSync(x, label, { thumbnail: new TextEncoder().encode(name) })),
        );
        scope.named.set(id, name);
        pictures.push(id);
      }
    }
  };
  for (let k = 0; k < 4; k++) void lane(k);
}

/**
 * What is kept, in the page: classes by name, pictures by what their thumbnail says; and why it is not, empty if it is.
 *
 * @returns {Promise<{facts: Fact[], damaged: number, why: string}>}
 */
async function look() {
  const { engine } = /** @type {any} */ (globalThis);
  const { classes, storage } = await engine.state();
  /** @type {Fact[]} */
  const facts = [];
  for (const { name, examples } of classes) {
    facts.push({ key: name, kind: 'class', is: name });
    const thumbnails = await engine.thumbnails(examples.map((/** @type {{id: string}} */ x) => x.id));
    for (const one of thumbnails) facts.push({ key: new TextDecoder().decode(one), kind: 'picture', is: name });
  }
  return { facts, why: storage.message + storage.vanished, damaged: JSON.parse(new TextDecoder().decode(await engine.damaged())).records.length };
}

/** @param {Book} book @param {Awaited<ReturnType<typeof look>>} found */
function compare(book, found) {
  assert.equal(found.why, '');
  assert.equal(found.damaged, 0, 'damaged or unreachable records');
  const kept = new Map(found.facts.map((fact) => [fact.kind + fact.key, fact]));
  assert.equal(kept.size, found.facts.length, 'something is there twice');
  const open = new Map([...book.open.values()].flat().map((fact) => [fact.kind + fact.key, fact]));
  for (const [key, { is }] of book.facts) {
    const now = kept.get(key)?.is ?? null;
    if (now !== is) assert.equal(now, open.get(key)?.is, `${key} was ${is}, is ${now}`); // else one under way came through
  }
  for (const [key, { is }] of kept) {
    if (!book.facts.has(key)) assert.equal(is, open.get(key)?.is, `${key} is there, and nobody taught it`);
  }
  // What came through, or did not, is so from now on.
  book.facts = new Map(
    [...new Set([...book.facts.keys(), ...kept.keys()])].map((key) => [
      key,
      kept.get(key) ?? { key: key.replace(/^class|^picture/, ''), kind: key.startsWith('class') ? 'class' : 'picture', is: null },
    ]),
  );
  book.open.clear();
}

const BLOCK = 32768;

/**
 * Leaves the log of Chromium's database as a kill in the middle of a write does, which is rare, and hard on it (see rewrite
 * in wasm/log/idb_js.go): with the head of a record of nine bytes, and one of them. Returns the log, and whether the kill itself has.
 *
 * @param {string} profile
 */
async function tear(profile) {
  const folder = path.join(profile, 'Default/IndexedDB');
  const names = (await readdir(folder, { recursive: true })).filter((name) => /leveldb.\d+\.log$/.test(name)).sort();
  const log = path.join(folder, /** @type {string} */ (names.at(-1)));
  const bytes = await readFile(log);
  let at = 0,
    kind = 0; // of records: whole, or the first, a middle, the last part of one
  while (at + 7 <= bytes.length) {
    const left = BLOCK - (at % BLOCK);
    kind = left < 7 ? kind : bytes[at + 6];
    at += left < 7 ? left : 7 + bytes.readUInt16LE(at + 4);
  }
  const torn = at !== bytes.length || kind === 2 || kind === 3;
  if (!torn && BLOCK - (at % BLOCK) > 16) await appendFile(log, Uint8Array.of(1, 2, 3, 4, 9, 0, 1, 5));
  return { log, torn };
}

/** Writes to the disk without end. @param {string} file */
function writer(file) {
  const child = spawn(process.execPath, [
    '-e',
    `const fs = require('fs'), to = fs.openSync(process.argv[1], 'w'), some = Buffer.alloc(1 << 20, 1);
    for (let i = 0; ; i++) if (fs.writeSync(to, some, 0, some.length, i % 64 * some.length), i % 64 === 63) fs.fsyncSync(to);`,
    file,
  ]);
  return () => void child.kill('SIGKILL');
}

/**
 * Starts a browser on a profile that a killed one may have left behind.
 *
 * @param {'chrome'|'firefox'} kind
 * @param {string} executablePath
 * @param {string} profile
 */
async function launch(kind, executablePath, profile) {
  const args =
    kind === 'chrome' ? [...FLAGS, '--headless=new', `--user-data-dir=${profile}`, 'about:blank'] : ['--headless', '--no-remote', '--profile', profile];
  const child = spawn(executablePath, ['--remote-debugging-port=0', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  const address = await new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`no answer of the browser: ${text}`)), PATIENCE);
    child.stderr.on('data', (chunk) => {
      text += chunk;
      const found = / listening on (ws:\S+)/.exec(text);
      if (found) {
        clearTimeout(timer);
        resolve(found[1]);
      }
    });
  });
  const browser = await puppeteer.connect(
    kind === 'chrome'
      ? { browserWSEndpoint: address, protocolTimeout: PATIENCE }
      : { browserWSEndpoint: `${address}/session`, protocol: 'webDriverBiDi', protocolTimeout: PATIENCE },
  );
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return { browser, kill };
}

// A profile is killed so many times, then another begins: what is taught grows, and with it the time that a start takes.
const EACH = 100;

/**
 * Kills a browser so many times.
 *
 * @param {'chrome'|'firefox'} kind
 * @param {string} executablePath
 * @param {number} kills
 * @param {{seed?: number, writes?: boolean}} [options] writes: beside a process that writes to the disk
 */
export async function killMany(kind, executablePath, kills, { seed = 1, writes = true } = {}) {
  const site = await serveSite();
  const rest = writes ? writer(path.join(temporaryFolder('written'), 'written')) : () => {};
  let acknowledged = 0,
    natural = 0,
    longest = 0;
  /** @param {number} from @param {number} to kills */
  const killOne = async (from, to) => {
    const profile = temporaryFolder('killed');
    /** @type {Book} */
    const book = { facts: new Map(), open: new Map() };
    let torn = '';
    let end = async () => {};
    try {
      for (let round = from; round <= to; round++) {
        const { browser, kill } = await launch(kind, executablePath, profile);
        end = kill;
        const page = await browser.newPage();
        await page.goto(`${site.origin}/LICENSE.txt`);
        await page.evaluate(async () => {
          const scope = /** @type {any} */ (globalThis);
          const { loadEngine } = await import(/** @type {any} */ ('/tests/modules.js'));
          scope.engine = await loadEngine({ base: `${location.origin}/` });
          scope.named = new Map();
        });
        compare(book, await page.evaluate(look));
        if (round === to) break;
        // Killed again before the browser has begun a new log, which it does in the background, it would lose everything.
        const since = Date.now();
        while (torn && existsSync(torn)) {
          if (Date.now() - since > PATIENCE)
            throw new Error(`no new log was begun: ${await readdir(path.join(profile, 'Default/IndexedDB'), { recursive: true })}`);
          await new Promise((resolve) => {
            setTimeout(resolve, 2);
          });
        }
        longest = Math.max(longest, Date.now() - since);
        let killed = false;
        await page.exposeFunction('begun', (/** @type {number} */ number, /** @type {Fact[]} */ facts) => {
          if (!killed) book.open.set(number, facts);
        });
        await page.exposeFunction('ended', (/** @type {number} */ number) => {
          if (killed) return;
          for (const fact of book.open.get(number) ?? []) book.facts.set(fact.kind + fact.key, fact);
          book.open.delete(number);
          acknowledged++;
        });
        await page.evaluate(teach, round, seed + round);
        const moment = (kind === 'firefox' ? 4 : 1) * (50 + 1000 * ((Math.imul(seed + round, 2654435761) >>> 0) / 2 ** 32));
        await new Promise((resolve) => {
          setTimeout(resolve, moment);
        });
        killed = true;
        await kill();
        if (kind === 'chrome') {
          const left = await tear(profile);
          torn = left.log;
          if (left.torn) natural++;
        }
      }
    } finally {
      await end();
      await rm(profile, { recursive: true, force: true });
    }
  };
  try {
    for (let from = 0; from < kills; from += EACH) {
      const to = Math.min(kills, from + EACH);
      await killOne(from, to);
      console.log(
        `# ${to} kills, ${acknowledged} acknowledged operations, none missing; ${natural} kills in the middle of a write; a new log ${longest} ms late at most`,
      );
    }
  } finally {
    rest();
    await site.stop();
  }
  assert.ok(acknowledged >= 5 * kills, `only ${acknowledged} operations were acknowledged`);
}
