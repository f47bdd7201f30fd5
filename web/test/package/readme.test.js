// @ts-check
/** The JavaScript of README.md, as it stands, with the packed package in Node.js. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { project, root } from './project.js';

test('the ten lines of the README run and print what their comments say', () => {
  const [, code] = /** @type {RegExpExecArray} */ (/```js\n([^]*?)```/.exec(readFileSync(path.join(root, 'README.md'), 'utf8')));
  const wanted = [...code.matchAll(/^console\.log\(.*\/\/ (.*)$/gm)].map(([, comment]) => comment);
  assert.equal(wanted.length, 3);
  assert.equal(code.trim().split('\n').length, 10);
  const { folder } = project({ 'readme.js': code });
  assert.deepEqual(execFileSync(process.execPath, ['readme.js'], { cwd: folder, encoding: 'utf8', timeout: 60_000 }).trim().split('\n'), wanted);
});
