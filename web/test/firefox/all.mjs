// @ts-check
/**
 * Runs the tests of web/test/browser in Firefox, all but those in this list:
 *
 *   FIREFOX=/usr/bin/firefox-esr node web/test/firefox/all.mjs [FILE …] [-- OPTION OF NODE …]
 *
 * Options that choose tests by name choose among those of the list too.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../browser/', import.meta.url));

const DOWNLOADS = 'this Firefox tells nobody of downloads by WebDriver BiDi';
const TYPING = 'text put into a field by WebDriver BiDi is no change for this Firefox when the field is left';
const SLOW = 'to choose a file by WebDriver BiDi takes longer than to add it, so that nothing waits';
const CAMERA = 'a made-up camera or microphone is a flag of Chromium';
const MEASURED = 'it reads the times of tasks, which Chromium alone tells';

/** Names of tests, or their beginnings, and why they cannot run; a file by itself is left out whole. @type {Record<string, string|Record<string, string>>} */
const EXCEPT = {
  'kills.test.js': 'web/test/firefox/kills.test.js does it in Firefox',
  'share.test.js': 'web/test/firefox/share.test.js does it in Firefox',
  'brought.test.js': 'web/test/firefox/share.test.js does it in Firefox',
  'camera.test.js': CAMERA,
  'then.test.js': CAMERA,
  'messages.test.js': CAMERA,
  'scale.test.js': MEASURED,
  'harness.test.js': 'it is about what Chromium asks of the network',
  'access.test.js': 'it speaks with Chromium about what is drawn',
  'parity.test.js': 'it compares what Chromium computes with another program',
  'path.test.js': { 'a classifier saved to a file': DOWNLOADS, 'a prior is exported': DOWNLOADS },
  'answers.test.js': { 'names that people take': TYPING, 'the second click of a double click': 'WebDriver BiDi counts no clicks' },
  'engine.test.js': { 'an engine that cannot be fetched': 'this Firefox complains of the file on the console' },
  'met.test.js': { 'axe finds nothing': CAMERA },
  'eye.test.js': { 'a thing held before the camera': CAMERA },
  'hands.test.js': { 'the camera draws': CAMERA },
  'sounds.test.js': {
    'what is held is recorded': CAMERA,
    'a microphone that': CAMERA,
    'sounds from files': 'it lets sounds play unasked by a flag of Chromium',
  },
  'files.test.js': { 'files of another feature extractor are refused': DOWNLOADS },
  'sessions.test.js': { 'a session that': DOWNLOADS, 'sessions are made': TYPING },
  'turn.test.js': { 'pictures chosen while others are added': SLOW, 'what is said covers nothing in a dialog': DOWNLOADS },
};

const [files, options] = process.argv.slice(2).reduce(
  (/** @type {[string[], string[]]} */ [some, rest], word) => {
    if (word === '--' || rest.length) rest.push(word);
    else some.push(word);
    return [some, rest];
  },
  [[], []],
);
const wanted = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js') && (!files.length || files.includes(path.basename(file))))
  .sort();
let failed = 0;
for (const file of wanted) {
  const except = EXCEPT[path.basename(file)] ?? {};
  if (typeof except === 'string') {
    console.log(`-- not in Firefox: ${file}: ${except}`);
    continue;
  }
  for (const [name, why] of Object.entries(except)) console.log(`-- not in Firefox: ${file}: ${name} …: ${why}`);
  // What holds the tests of a file is asked too, and would let all of them in.
  const names = Object.keys(except).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const { status } = spawnSync(
    process.execPath,
    [
      '--test',
      '--test-concurrency=1',
      '--test-force-exit',
      '--test-timeout=300000',
      '--test-reporter=spec',
      ...(names.length && !options.length ? [`--test-name-pattern=/^(?!${['<root>', ...names].join('|')})/`] : []),
      ...options.slice(1),
      `${folder}${file}`,
    ],
    { stdio: 'inherit', env: { ...process.env, METAQDA_BROWSER: 'firefox' } },
  );
  if (status !== 0) failed++;
}
if (failed) {
  console.error(`in Firefox tests of ${failed} of ${wanted.length} files failed`);
  process.exit(1);
}
