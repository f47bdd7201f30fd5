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
const FOLDER = 'WebDriver BiDi chooses no folder for this Firefox';
const TYPING = 'text put into a field by WebDriver BiDi is no change for this Firefox when the field is left';
const SLOW = 'to choose a file by WebDriver BiDi takes longer than to add it, so that nothing waits';
const CAMERA = 'a made-up camera or microphone is a flag of Chromium';
const MEASURED = 'it reads the times of tasks, which Chromium alone tells';
const CLEARED = 'it clears or fills the storage by the protocol of Chromium';

/** By file, names of tests, or their beginnings, and why they cannot run; a file with a reason is left out whole. @type {Record<string, string|Record<string, string>>} */
const EXCEPT = {
  'access.test.js': 'it speaks with Chromium about what is drawn',
  'agree.test.js': { 'of mixed pictures': DOWNLOADS },
  'answers.test.js': {
    'names that people take': TYPING,
    'all that changes what is taught': TYPING,
    'the second click of a double click': 'WebDriver BiDi counts no clicks',
    'what was taught is taken home': DOWNLOADS,
  },
  'camera.test.js': CAMERA,
  'engine/engine.test.js': { 'an engine that cannot be fetched': 'this Firefox complains of the file on the console' },
  'engine/kills.test.js': 'web/test/firefox/kills.test.js does it in Firefox',
  'engine/scale.test.js': MEASURED,
  'engine/trouble.test.js': { 'pictures that are taught while the site': CLEARED, 'data that are cleared while': CLEARED, 'when the storage is full': CLEARED },
  'extractor/eye.test.js': { 'a thing held before the camera': CAMERA },
  'extractor/hands.test.js': { 'hands from files': DOWNLOADS, 'left and right hands': DOWNLOADS, 'the camera draws': CAMERA },
  'extractor/own.test.js': {
    'an ONNX network': FOLDER,
    'a TensorFlow.js graph': FOLDER,
    'what does not fit': FOLDER,
    'reading anew is cancelled': FOLDER,
    'background knowledge that was learned': FOLDER,
  },
  'extractor/parity.test.js': 'it compares what Chromium computes with another program',
  'extractor/python.test.js': DOWNLOADS,
  'extractor/sounds.test.js': {
    'what is held is recorded': CAMERA,
    'a pause while': CAMERA,
    'a microphone that': CAMERA,
    'a site without YAMNet': CAMERA,
    'sounds from files': 'it lets sounds play unasked by a flag of Chromium',
  },
  'files.test.js': { 'files of another feature extractor are refused': DOWNLOADS },
  'good.test.js': { 'many pictures are compared': DOWNLOADS, live: CAMERA, 'a shared file of good ones': DOWNLOADS },
  'harness.test.js': 'it is about what Chromium asks of the network',
  'late.test.js': {
    'pictures that come while others are encoded': 'Firefox copies into no folder',
    'a picture that is read while': FOLDER,
    'a picture that is cleared as it appears': CAMERA,
  },
  'met.test.js': { 'axe finds nothing': CAMERA },
  'path.test.js': { 'a classifier saved to a file': DOWNLOADS, 'a prior is exported': DOWNLOADS },
  'pictures.test.js': {
    'files dropped on a card': 'a pasting that a script makes has no files in Firefox',
    'files that are no pictures': 'Firefox reads SVG with HTML in it',
  },
  'sessions.test.js': {
    'a session that': DOWNLOADS,
    'sessions are made': TYPING,
    'what a tab said': FOLDER,
    'what is sorted belongs': DOWNLOADS,
    "where the site's data are cleared": CLEARED,
  },
  'share/brought.test.js': 'web/test/firefox/share.test.js does it in Firefox',
  'share/share.test.js': 'web/test/firefox/share.test.js does it in Firefox',
  'sort.test.js': {
    '120 pictures are sorted': DOWNLOADS,
    'photographs of nothing taught': DOWNLOADS,
    'pictures are corrected': DOWNLOADS,
    'pictures are copied': DOWNLOADS,
  },
  'then/messages.test.js': CAMERA,
  'then/then.test.js': CAMERA,
  'turn.test.js': { 'pictures chosen while others are added': SLOW, 'what is said covers nothing in a dialog': DOWNLOADS },
  'use/hands.test.js': DOWNLOADS,
  'use/scratch.test.js': DOWNLOADS,
  'use/sounds.test.js': DOWNLOADS,
  'use/use.test.js': DOWNLOADS,
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
  const except = EXCEPT[file] ?? {};
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
      '--test-timeout=1800000',
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
