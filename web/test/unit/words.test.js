// @ts-check
/** What the page's small functions say. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { added, removed, repeated } from '../../ui/teach/words.js';
import { counted, sentence } from '../../ui/kit/dom.js';
import { credit } from '../../ui/teach/samples.js';
import { describe, describeKeeping, sessionFile } from '../../ui/sessions/sessions.js';
import { describePrior } from '../../ui/sessions/settings.js';
import { answerOf } from '../../ui/recognise/good.js';
import { whyAsked } from '../../ui/sort/ask.js';

test('counts have their plural', () => {
  assert.equal(counted(1, 'picture'), '1 picture');
  assert.equal(counted(0, 'picture'), '0 pictures');
  assert.equal(counted(2, 'class', 'classes'), '2 classes');
});

test('a name in an error is shown as it was given', () => {
  for (const [name, escaped] of [
    ['👩\u200d🚀', '👩\\u200d🚀'],
    ['می\u200cخواهم', 'می\\u200cخواهم'],
    ['🏴\u{e0067}\u{e007f}', '🏴\\U000e0067\\U000e007f'],
    ['5" \\u200d', '5\\" \\\\u200d'],
  ])
    assert.equal(sentence(new Error(`class "${escaped}" exists already: choose another name`)), `Class “${name}” exists already: choose another name.`);
});

test('a picture is asked about for the number of those that look like it', () => {
  assert.equal(whyAsked(0), 'The page finds no other picture like it: naming it helps with this one alone.');
  assert.equal(whyAsked(1), '1 other picture looks like it: naming it helps with that one, too.');
  assert.equal(whyAsked(12), '12 other pictures look like it: naming it helps with them, too.');
});

test('a comparison with good ones says what it decides', () => {
  const said = (/** @type {number} */ wrong) => {
    const { decision, headline } = answerOf({ wrong }, 'Good');
    return [decision, headline];
  };
  assert.deepEqual(said(0.1), ['Good', 'Like the examples of “Good”: 90 %']);
  assert.deepEqual(said(0.45), ['Good', 'Perhaps like the examples of “Good”']);
  assert.deepEqual(said(0.5), ['Good', 'Perhaps like the examples of “Good”']);
  assert.deepEqual(said(0.51), [null, 'Perhaps not like the examples of “Good”']);
  assert.deepEqual(said(0.999), [null, 'Not like the examples of “Good”: > 99 %']);
});

test('anything thrown becomes a sentence', () => {
  assert.equal(sentence(new Error('Try again.')), 'Try again.');
  assert.equal(sentence(new Error('class "cup" exists already: choose another name')), 'Class “cup” exists already: choose another name.');
  assert.equal(sentence('plain'), 'plain');
  assert.match(sentence(''), /Reload/);
});

test('a session is described by what it holds', () => {
  const session = { id: '1', name: 'x', classes: 1, examples: 2, noun: 'sound', updated: 0, saved: 0 };
  assert.equal(describe(session), '1 class, 2 sounds, never saved to a file');
  assert.equal(describe({ ...session, examples: 0 }), '1 class, 0 sounds');
  assert.equal(describe(session, { open: true }), '1 class, 2 sounds'); // the dialog says it above
  const at = (/** @type {number} */ date, hour = 12) => new Date(2026, 2, date, hour).getTime(); // in local time
  for (const [now, when] of /** @type {[number, string][]} */ ([
    [at(13), '3 days ago'],
    [at(11, 1), 'yesterday'], // two hours later
    [at(10, 23), 'today'],
    [at(9), 'today'], // the clock was set back
  ]))
    assert.equal(describe({ ...session, saved: at(10, 23) }, { now }), `1 class, 2 sounds, saved to a file ${when}`);
  assert.match(describe({ ...session, saved: at(3), updated: at(4) }, { now: at(5) }), /saved to a file 2 days ago and changed since$/);
  assert.match(describe({ ...session, updated: at(4) }), /^1 class, 2 sounds, .*4.*, never/);
  const [one, other] = [12, 13].map((second) => describe({ ...session, updated: Date.UTC(2026, 2, 4, 12, 0, second) }, { exact: true }));
  assert.notEqual(one, other, 'two sessions of one name are told apart');
});

test('pictures that a class had already are counted', () => {
  assert.equal(added('Cat', 5, 0), '5 pictures added to “Cat”.');
  assert.equal(added('Cat', 5, 2), '5 pictures added to “Cat”. 2 of them were there already.');
  assert.equal(added('Cat', 5, 1), '5 pictures added to “Cat”. 1 of them was there already.');
  assert.equal(added('Cat', 5, 5), '5 pictures added to “Cat”. All of them were there already.');
  assert.equal(added('Cat', 1, 1), '1 picture added to “Cat”. It was there already.');
});

test('a removal tells what the probabilities rest on', () => {
  assert.equal(removed('Cat', 1, 2), 'Removed a picture of “Cat”. It now has 2 pictures, so its percentages may change.');
  assert.equal(removed('Cat', 1, 1), 'Removed a picture of “Cat”. It now has 1 picture, so its percentages may change.');
  assert.equal(removed('Cat', 1, 0), 'Removed the last picture of “Cat”.');
});

test('a class of near-copies is told how many they are, while most of it is', () => {
  const copies = 'are nearly the same picture: turn it, or change the background.';
  assert.equal(repeated([8, 1, 1, 1, 1], 'turn it, or change the background'), `8 of these 12 ${copies}`);
  assert.equal(repeated([3], 'turn it, or change the background'), `All 3 ${copies}`);
  assert.equal(repeated([6, 1, 4, 1], 'turn it, or change the background'), '10 of these 12 nearly repeat one another: turn it, or change the background.');
  assert.equal(repeated([5, 5], 'turn it, or change the background'), 'All 10 nearly repeat one another: turn it, or change the background.');
  for (const enough of [[], [1], [2], [2, 1], [2, 1, 1, 1], [3, 1, 1, 1], [8, 1, 1, 1, 1, 1, 1, 1]])
    assert.equal(repeated(enough, 'turn it, or change the background'), '', `${enough}`);
});

test('the prior is described by name, size and hash', () => {
  const prior = { sha256: 'abcdef0123456789', name: 'Learned', site: false, facts: {} };
  assert.equal(describePrior({ prior, dimension: 7 }), 'Learned: 7 numbers per picture, sha256 abcdef012345…');
  const site = { ...prior, site: true };
  assert.equal(describePrior({ prior: site, dimension: 1280 }), 'Built in: 1,280 numbers per picture, sha256 abcdef012345…');
  assert.equal(describePrior({ prior: { ...site, sha256: '' }, dimension: 0 }), 'Generic, not learned');
  const learned = { ...prior, facts: { 'learned-on': '6 classes' } };
  assert.match(describePrior({ prior: learned, dimension: 7 }), /^Learned in a browser tab from 6 classes: 7 numbers/);
});

test('the credit names author and licence of each style that is used', () => {
  const style = (/** @type {string} */ id) => ({ id, name: id.toUpperCase(), author: `${id}’s maker`, licence: 'L', url: '' });
  const text = credit(['unused', 'noto', 'twemoji', 'openmoji', 'fluent-emoji-flat'].map(style));
  assert.equal(
    text,
    'Pictures: NOTO by noto’s maker (L), TWEMOJI by twemoji’s maker (L), ' +
      'OPENMOJI by openmoji’s maker (L), FLUENT-EMOJI-FLAT by fluent-emoji-flat’s maker (L).',
  );
});

test('a session’s file has its name', () => {
  assert.equal(sessionFile('My classes (2)'), 'My classes (2).safetensors');
  assert.equal(sessionFile('a/b: c?'), 'a_b_ c_.safetensors');
});

test('sessions tell how safe what was taught is', () => {
  const storage = (/** @type {''|'yes'|'no'} */ persistent) => ({ kept: true, message: '', vanished: '', persistent });
  const saved = Date.UTC(2026, 4, 3, 12);
  assert.equal(describeKeeping({ storage: storage(''), saved: 0, updated: 5, damaged: 0 }), 'Never saved to a file.');
  assert.match(describeKeeping({ storage: storage('yes'), saved: 0, updated: 5, damaged: 0 }), /^Never saved to a file\. This browser has promised to keep/);
  assert.match(
    describeKeeping({ storage: storage('no'), saved: 0, updated: 5, damaged: 1 }),
    /^Never saved to a file\. This browser may delete the session .*save it to a file\. One stored record .* was left out\.$/,
  );
  assert.match(
    describeKeeping({ storage: storage('no'), saved, updated: saved, damaged: 2 }),
    /Last saved to a file: .*2026.*So save it again after changes\. 2 stored records .* were left out/,
  );
  assert.equal(
    describeKeeping({ storage: { ...storage('no'), kept: false }, saved: 0, updated: 5, damaged: 0 }),
    'Never saved to a file. It may be gone when this window is closed: save it to a file first.',
  );
  assert.match(
    describeKeeping({ storage: storage('no'), saved, updated: saved + 1, damaged: 0 }),
    /^Last saved to a file: .*\. It was changed since: save it again\. This browser may delete the session .* without a visit\.$/,
  );
});
