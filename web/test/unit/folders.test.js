// @ts-check
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { unzipSync } from 'fflate';
import { claimsPicture } from '../../ui/kinds/pictures/decode.js';
import { chosenFolder, classesOf, filesIn, filesOf, folderNames, pathOf, writable, zippedFolders } from '../../ui/kit/folders.js';
import { Zip } from '../../ui/kit/zip.js';
import { temporaryFolder } from '../temporary.js';

/** A folder of a drop, which answers its children two at a time. @param {string} name @param {any[]} children */
const folder = (name, children) => ({
  name,
  isFile: false,
  createReader() {
    let at = 0;
    return { readEntries: (/** @type {(some: any[]) => void} */ answer) => answer(children.slice(at, (at += 2))) };
  },
});
/** @param {string} name @param {string} [type] */
const file = (name, type = 'image/png') => ({
  name,
  isFile: true,
  file: (/** @type {(file: File) => void} */ answer) => answer(new File(['x'], name, { type })),
});
/** @param {any[]} entries @returns {DataTransfer} */
const drop = (entries) => /** @type {any} */ ({ items: entries.map((entry) => ({ kind: 'file', webkitGetAsEntry: () => entry })) });

test('a drop gives the pictures of all its folders with their paths, and what came alone as it is', async () => {
  const files = await filesOf(
    drop([
      folder('photos', [
        folder('cats', [file('10.png'), file('9.png'), file('.hidden.png'), file('Thumbs.db', '')]),
        file('notes.txt', 'text/plain'),
        folder('.git', [file('a.png')]),
        folder('empty', []),
      ]),
      file('alone.txt', 'text/plain'),
    ]),
    claimsPicture,
  );
  assert.deepEqual(files.map(pathOf), ['photos/cats/9.png', 'photos/cats/10.png', 'alone.txt']);
});

test('a drop without files gives none, one of an older browser its files', async () => {
  assert.deepEqual(await filesOf(null, claimsPicture), []);
  assert.deepEqual(await filesOf(/** @type {any} */ ({ items: [{ kind: 'string' }] }), claimsPicture), []);
  const plain = new File(['x'], 'a.png', { type: 'image/png' });
  assert.deepEqual(await filesOf(/** @type {any} */ ({ items: [{ kind: 'file', getAsFile: () => plain }] }), claimsPicture), [plain]);
  assert.equal(pathOf(plain), 'a.png');
});

test('a folder that cannot be read is empty, and it is told like a picture that cannot be', async () => {
  const broken = { name: 'x', isFile: false, createReader: () => ({ readEntries: (/** @type {any} */ _, /** @type {() => void} */ fail) => fail() }) };
  const gone = (/** @type {string} */ name) => ({ name, isFile: true, file: (/** @type {any} */ _, /** @type {() => void} */ fail) => fail() });
  /** @type {string[]} */
  const unread = [];
  const [photo] = await filesOf(drop([folder('f', [broken, file('1.png'), gone('2.png'), gone('notes.txt')]), gone('y')]), claimsPicture, unread);
  assert.equal(pathOf(photo), 'f/1.png');
  assert.deepEqual(unread.sort(), ['f/2.png', 'f/x', 'y']);
});

test('of a chosen folder the pictures are taken, in the order of their names and folders, as of a drop', () => {
  const chosen = ['f/Cup 2/1.png', 'f/Cup/1.png', 'f/10.png', 'f/9.png', 'f/.x/1.png', 'f/notes.txt'].map((path) =>
    Object.defineProperty(new File(['x'], path.split('/').at(-1) ?? '', { type: path.endsWith('png') ? 'image/png' : 'text/plain' }), 'webkitRelativePath', {
      value: path,
    }),
  );
  assert.deepEqual(filesIn(chosen, claimsPicture).map(pathOf), ['f/9.png', 'f/10.png', 'f/Cup/1.png', 'f/Cup 2/1.png']);
});

test('each folder with pictures is a class by its name', () => {
  const of = (/** @type {string[]} */ ...paths) => {
    const { classes, rest } = classesOf(paths, (path) => path);
    return [Object.fromEntries(classes), rest];
  };
  assert.deepEqual(of('all/cat/1.png', 'all/cat/2.png', 'all/dog/1.png'), [{ cat: ['all/cat/1.png', 'all/cat/2.png'], dog: ['all/dog/1.png'] }, []]);
  assert.deepEqual(of('cat/1.png'), [{ cat: ['cat/1.png'] }, []]);
  assert.deepEqual(of('1.png', 'all/cover.png', 'all/cat/1.png'), [{ cat: ['all/cat/1.png'] }, ['1.png', 'all/cover.png']], 'beside folders');
  assert.deepEqual(of('cats/1.png', 'cats2/1.png'), [{ cats: ['cats/1.png'], cats2: ['cats2/1.png'] }, []], 'a longer name is no folder below');
  assert.deepEqual(of('a/cat/1.png', 'b/cat/2.png'), [{ cat: ['a/cat/1.png', 'b/cat/2.png'] }, []]);
  assert.deepEqual(of(), [{}, []]);
});

test('names that a system would refuse are made so that it does not', () => {
  assert.deepEqual(['a/b', 'CON: x?', '..', 'end. ', '', 'Äpfel'].map(writable), ['a_b', 'CON_ x_', '_', 'end', '_', 'Äpfel']);
  assert.deepEqual(
    ['Nul', 'aux.', 'COM1.old', 'lpt0', 'Nulla', 'Console'].map(writable),
    ['Nul_', 'aux_', 'COM1_.old', 'lpt0_', 'Nulla', 'Console'],
    'devices of Windows',
  );
  assert.deepEqual(folderNames(['a/b', 'A:b', 'a_b.c', 'A_B.c']), ['a_b', 'A_b (2)', 'a_b.c', 'A_B (2).c'], 'no two classes share a folder');
});

test('a copy overwrites nothing, and does not repeat a file that is there', async () => {
  /** @type {Record<string, string>} */
  const there = { 'a.png': 'theirs' };
  const refuse = (/** @type {string} */ name) => Promise.reject(Object.assign(new Error('no'), { name }));
  const handle = {
    getFileHandle: async (/** @type {string} */ name, { create = false } = {}) => {
      if (name === 'b.png') return refuse('TypeMismatchError');
      if (!create && !(name in there)) return refuse('NotFoundError');
      return {
        getFile: async () => new File([there[name]], name),
        createWritable: async () => ({
          write: async (/** @type {File} */ file) => {
            there[name] = await file.text();
          },
          close: async () => {},
        }),
      };
    },
  };
  Object.assign(globalThis, { showDirectoryPicker: async () => ({ name: 'top', getDirectoryHandle: async () => handle }) });
  const folders = await chosenFolder();
  const put = async (/** @type {string} */ name, text = `mine ${name}`) => folders?.put('cat', new File([text], name));
  const names = ['a.png', 'b.png', 'c'];
  for (const name of names) assert.equal(await put(name), true, `${name} is written`);
  for (const name of names) assert.equal(await put(name), false, `${name} is there`);
  assert.equal(await put('c', 'mine d'), true, 'as long, of another content');
  assert.deepEqual(there, { 'a.png': 'theirs', 'a (2).png': 'mine a.png', 'b (2).png': 'mine b.png', c: 'mine c', 'c (2)': 'mine d' });
});

test('a copy that fails leaves no file behind, and is named', async () => {
  /** @type {string[]} */
  const done = [];
  const stream = {
    write: () => Promise.reject(new Error('no room')),
    close: async () => done.push('close'),
    abort: async () => done.push('abort'),
  };
  const handle = {
    getFileHandle: (/** @type {string} */ _, { create = false } = {}) =>
      create ? { createWritable: async () => stream } : Promise.reject(Object.assign(new Error('no'), { name: 'NotFoundError' })),
    removeEntry: async (/** @type {string} */ name) => done.push(`remove ${name}`),
  };
  Object.assign(globalThis, { showDirectoryPicker: async () => ({ name: 'top', getDirectoryHandle: async () => handle }) });
  const folders = await chosenFolder();
  await assert.rejects(async () => folders?.put('cat', new File(['mine'], 'a.png')), /^Error: “a\.png” could not be copied into “cat”: .*\(no room\)$/);
  assert.deepEqual(done, ['abort', 'remove a.png']);
});

test('a zip holds each file as it was, under its path, and more than 4 GB are refused', async () => {
  const zip = new Zip();
  const files = Array.from({ length: 300 }, (_, i) => new File([`file ${i} `.repeat(i)], `${i}.png`));
  for (const [i, file] of files.entries()) await zip.add(`Äpfel ${i % 3}/${file.name}`, file, { smaller: i % 2 === 1 });
  const bytes = new Uint8Array(await zip.end().arrayBuffer());
  const whole = files.reduce((sum, { size }) => sum + size, 0);
  assert.ok(bytes.length < 0.6 * whole, `${bytes.length} bytes of ${whole}: every second file is packed`);
  const found = Object.entries(unzipSync(bytes)).map(([name, content]) => [name, new TextDecoder().decode(content)]);
  assert.deepEqual(found, await Promise.all(files.map(async (file, i) => [`Äpfel ${i % 3}/${file.name}`, await file.text()])));
  await assert.rejects(zippedFolders('photos.zip', 5 * 2 ** 30), /holds less than 4 GB and these files have 5\.0 GB: choose fewer at a time/);
  await assert.rejects(zippedFolders('photos.zip', 2 ** 32 - 1), /holds less than 4 GB and these files have 4\.0 GB/);
});

test('unzip unpacks a zip under its own names, for reading', { skip: spawnSync('unzip', ['-v']).error && 'unzip is not installed' }, async () => {
  const to = temporaryFolder('zip');
  const zip = new Zip();
  await zip.add('Äpfel 猫/é.txt', new File(['one'], 'é.txt'));
  writeFileSync(path.join(to, 'a.zip'), new Uint8Array(await zip.end().arrayBuffer()));
  const { status, stderr } = spawnSync('unzip', ['-q', 'a.zip'], { cwd: to, encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } });
  assert.equal(status, 0, stderr);
  assert.deepEqual(readdirSync(to).sort(), ['a.zip', 'Äpfel 猫']);
  assert.equal(readFileSync(path.join(to, 'Äpfel 猫/é.txt'), 'utf8'), 'one');
  assert.equal(statSync(path.join(to, 'Äpfel 猫/é.txt')).mode & 0o444, 0o444);
});
